//! One input: opened, looked at, and refused when it cannot be what it is said to be.

use std::path::Path;

use boundlane_ingest::input::{Input, InputError};
use boundlane_ingest::{SNIFF_BYTES_MAX, sniff};
use boundlane_record::StreamName;

use super::request::{self, Request};
use crate::exit::{Exit, Failure, Outcome};

/// Bytes of one read.
pub(super) const READ_BYTES: usize = 256 * 1024;
/// Opens an input and refuses what cannot be a log, before anything is written.
pub(super) fn open(path: &Path, request: &Request) -> Outcome<(Input, String)> {
    let is_stdin = path == Path::new("-");
    let opened = if is_stdin {
        Input::stdin()
    } else {
        Input::open(path)
    };
    let mut input = opened.map_err(unopened)?;
    let head = input.look(SNIFF_BYTES_MAX, |head| sniff(head).recognised > 0);
    let found = sniff(head.bytes());
    let has_nul = found.has_nul || head.nuls() > 0;
    if has_nul && found.recognised == 0 && !request.is_forced {
        return Err(Failure::usage(format_args!(
            "`{}` does not look like a log: it holds NUL bytes and no line that is recognised",
            input.name()
        ))
        .advise("name its form with `--format` if it is one; nothing was written"));
    }
    let sandbox = sandbox(request, &found.stated.unwrap_or_default(), input.name())?;
    Ok((input, sandbox))
}

/// Whose lines they are: as given, unless the lines say another; as the lines say, when nothing is given.
fn sandbox(
    request: &Request,
    stated: &boundlane_ingest::StatedSandbox,
    input: &str,
) -> Outcome<String> {
    let said = stated.name.as_ref().or(stated.id.as_ref());
    match (&request.sandbox, said) {
        (Some(given), _) => {
            let stream = StreamName {
                sandbox: Some(given.clone()),
                ..StreamName::default()
            };
            match stated.contradicts(&stream) {
                true => Err(contradiction(given, said, input)),
                false => Ok(given.clone()),
            }
        }
        (None, Some(said)) => request::usable_name(said),
        (None, None) => Err(Failure::usage(format_args!(
            "nothing in `{input}` says which sandbox its lines are about"
        ))
        .advise("name it with `--sandbox NAME`")),
    }
}

/// The failure for lines that say they are of another sandbox.
pub(super) fn contradiction(given: &str, said: Option<&String>, input: &str) -> Failure {
    let said = said.map_or("another one", String::as_str);
    Failure::usage(format_args!(
        "`--sandbox {given}` was given, but `{input}` says that its lines are of `{said}`"
    ))
    .advise(format_args!(
        "leave `--sandbox` out, or give `--sandbox {said}`"
    ))
}
/// What an input that cannot be read means.
#[allow(clippy::needless_pass_by_value, reason = "used as `map_err(unopened)`")]
pub(super) fn unopened(error: InputError) -> Failure {
    Failure::new(Exit::Failed, error)
}
