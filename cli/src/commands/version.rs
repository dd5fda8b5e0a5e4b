//! `version`.

use boundlane_record::SCHEMA_VERSION;
use serde_json::json;

use crate::exit::{Exit, Outcome};
use crate::output::out::Out;

/// Prints the program's version and that of the entries it writes.
pub(crate) fn run(as_json: bool, out: &mut Out) -> Outcome {
    let version = env!("CARGO_PKG_VERSION");
    if as_json {
        let document = json!({
            "name": "boundlane",
            "version": version,
            "schema": SCHEMA_VERSION,
            "query": cfg!(feature = "query"),
        });
        out.line(&document.to_string())?;
    } else {
        out.line(&format!(
            "boundlane {version} (entries of version {SCHEMA_VERSION})"
        ))?;
    }
    Ok(Exit::Done)
}
