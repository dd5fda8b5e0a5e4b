//! `fsck`.

use crate::args::FsckArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Outcome};
use crate::output::out::Out;

/// Ends with 3: this build comes without it.
pub(crate) fn run(_args: &FsckArgs, _ctx: &Context, _out: &mut Out) -> Outcome {
    Err(Failure::new(
        Exit::NotReady,
        "`fsck` is not built into this program",
    ))
}
