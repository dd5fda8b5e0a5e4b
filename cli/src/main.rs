//! boundlane
fn main() {}
