//! Messages from the `.proto`, without a protoc.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto/gateway.proto");
    let files = protox::compile(["proto/gateway.proto"], ["proto"])?;
    prost_build::Config::new()
        .btree_map(["."])
        .compile_fds(files)?;
    Ok(())
}
