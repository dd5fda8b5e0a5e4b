//! `query`.

use crate::args::QueryArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Outcome};
use crate::output::out::Out;

/// Ends with 3: this build comes without it.
pub(crate) fn run(_args: &QueryArgs, _ctx: &Context, _out: &mut Out) -> Outcome {
    Err(Failure::new(
        Exit::NotReady,
        "`query` is not built into this program",
    ))
}
