//! The program: everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    boundlane::run(std::env::args_os())
}
