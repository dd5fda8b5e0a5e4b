//! `query`, in a program that was built without the engine.

use crate::args::QueryArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Outcome};
use crate::output::out::Out;

/// Ends with 3.
pub(crate) fn run(_: &QueryArgs, _: &Context, _: &mut Out) -> Outcome {
    let failure = Failure::new(Exit::NotReady, "this program was built without `query`");
    Err(failure.advise("`boundlane log` works without it; build with the feature `query` for SQL"))
}
