//! What is asked, checked before anything is opened or written.

use std::path::PathBuf;
use std::sync::Arc;

use boundlane_ingest::{DateYmd, DecodeOptions, Format};
use boundlane_record::redact::Redactor;
use chrono::Datelike;

use crate::args::{IngestArgs, InputFormat};
use crate::context::{Context, without_secrets};
use crate::exit::{Failure, Outcome};

/// A sandbox's name has at most this many bytes.
const SANDBOX_BYTES_MAX: usize = 256;

/// One `ingest` run.
pub(super) struct Request {
    pub(super) files: Vec<PathBuf>,
    /// `None` when only the lines can say it.
    pub(super) sandbox: Option<String>,
    pub(super) options: DecodeOptions,
    /// `--format` named one: no look at the content decides.
    pub(super) is_forced: bool,
    pub(super) align: bool,
    pub(super) redactor: Arc<Redactor>,
}

impl Request {
    /// Reads the arguments and the configuration.
    pub(super) fn resolve(args: &IngestArgs, ctx: &Context) -> Outcome<Request> {
        let redactor = Redactor::new(ctx.redact_patterns())
            .map_err(|error| Failure::usage(error).advise("correct it in the configuration"))?;
        Ok(Request {
            files: args.files.clone(),
            sandbox: args.sandbox.as_deref().map(usable_name).transpose()?,
            options: DecodeOptions {
                format: format(args.format),
                date: args
                    .date
                    .as_deref()
                    .map(|text| date(text, ctx))
                    .transpose()?,
            },
            is_forced: args.format != InputFormat::Auto,
            align: !args.no_align,
            redactor: Arc::new(redactor),
        })
    }
}

/// A name that can stand in rows and in streams: text of one line, not too long.
pub(super) fn usable_name(name: &str) -> Outcome<String> {
    if name.trim().is_empty() {
        return Err(Failure::usage("a sandbox's name cannot be empty"));
    }
    if name.len() > SANDBOX_BYTES_MAX {
        return Err(Failure::usage(format_args!(
            "a sandbox's name has at most {SANDBOX_BYTES_MAX} bytes, this one has {}",
            name.len()
        )));
    }
    if name.chars().any(char::is_control) {
        return Err(Failure::usage(
            "a sandbox's name cannot hold control characters",
        ));
    }
    if without_secrets(name) != name {
        return Err(Failure::usage(
            "this name looks like a secret, and names are stored as they are",
        )
        .advise("take another name for the sandbox"));
    }
    Ok(name.to_owned())
}

fn format(format: InputFormat) -> Format {
    match format {
        InputFormat::Auto => Format::Auto,
        InputFormat::Cli => Format::CliText,
        InputFormat::Shorthand => Format::Shorthand,
        InputFormat::Ocsf => Format::Ocsf,
        InputFormat::Keyvalue => Format::KeyValue,
    }
}

fn date(text: &str, ctx: &Context) -> Outcome<DateYmd> {
    let day = crate::time::date(text, ctx.now, ctx.zone.as_ref()).map_err(|_| {
        Failure::usage(format_args!("`--date {text}` is no day"))
            .advise("write it as `2026-08-21`, `today` or `yesterday`")
    })?;
    let ymd = || {
        let year = u16::try_from(day.year()).ok()?;
        let month = u8::try_from(day.month()).ok()?;
        DateYmd::new(year, month, u8::try_from(day.day()).ok()?)
    };
    ymd().ok_or_else(|| Failure::usage(format_args!("`{text}` is no day that a log can be of")))
}
