//! Servers and clients of both generations of the gateway's interface, without a protoc.

use std::path::Path;

const GENERATIONS: [(&str, &str); 2] = [("old", "proto/0.0.116"), ("new", "proto/0.1.5")];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let out = std::env::var("OUT_DIR")?;
    for (name, directory) in GENERATIONS {
        let to = Path::new(&out).join(name);
        std::fs::create_dir_all(&to)?;
        let files = protox::compile([format!("{directory}/openshell.proto")], [directory])?;
        tonic_prost_build::configure()
            .btree_map(".")
            .out_dir(to)
            .compile_fds(files)?;
    }
    Ok(())
}
