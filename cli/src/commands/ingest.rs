//! `ingest`: reads lines to their end into the journal, then archives them.
//!
//! All inputs are opened and looked at before anything is written. Each is compared with what the
//! sandbox ever brought (`plan`), read line by line (`reading`) and handed to the one thread that
//! writes (`writing`); `chained` says how its place is kept.

mod chained;
mod doubt;
mod lines;
mod plan;
mod reading;
mod request;
mod sessions;
mod source;
mod summary;
mod writing;

use std::collections::HashMap;
use std::path::Path;

use boundlane_ingest::DigestKey;
use boundlane_ingest::input::Input;
use boundlane_ingest::place::Hints;
use boundlane_store::{AppendError, Journal};

use super::health;
use super::recorded::open_journal;
use crate::archiving::{self, Report};
use crate::args::IngestArgs;
use crate::context::{Context, without_secrets};
use crate::exit::{Exit, Failure, Outcome};
use crate::journal;
use crate::output::out::Out;
use plan::{Begun, Identity};
use reading::{Ended, Reading};
use request::Request;

use summary::{Tallied, What};
use writing::Writer;

/// Reads everything that is named, archives it, and says what was found.
pub(crate) fn run(args: &IngestArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let request = Request::resolve(args, ctx)?;
    let inputs = open_all(&request)?;
    ctx.interrupt.defer();
    let (journal, _) = journal::open_for_writing(ctx)?;
    let dir = journal::state_dir(ctx)?;
    let key = dir.digest_key().map_err(Failure::failed)?;
    let mut run = Run {
        request: &request,
        ctx,
        key: DigestKey::new(&key),
        journal: Some(journal),
        archives: !args.no_archive,
        told: Vec::new(),
    };
    let ended = run.read_all(inputs);
    let archived = match (&ended, args.no_archive) {
        (Err(Failure::Interrupted), _) | (_, true) => Ok(None),
        _ => run.archive(),
    };
    let report = archived.as_ref().ok().and_then(Option::as_ref);
    summary::print(&run.told, report, args.json, ctx, out)?;
    out.flush_now()?;
    ended?;
    archived?;
    health::warn_if_losing(open_journal(ctx)?.as_ref(), ctx)?;
    Ok(Exit::Done)
}

/// Opens every input: one that cannot be read stops the run before anything is written.
fn open_all(request: &Request) -> Outcome<Vec<(Input, String)>> {
    let stdin = request
        .files
        .iter()
        .filter(|path| *path == Path::new("-"))
        .count();
    if stdin > 1 {
        return Err(Failure::usage("standard input can be named once"));
    }
    let opened = request.files.iter().map(|path| source::open(path, request));
    let several = request.files.len() > 1;
    opened
        .collect::<Outcome<_>>()
        .map_err(|failure| match several {
            true => failure.advise("nothing was read or written, of the other inputs neither"),
            false => failure,
        })
}

struct Run<'r> {
    request: &'r Request,
    ctx: &'r Context,
    key: DigestKey,
    /// Away while a writer has it, and gone when one failed.
    journal: Option<Journal>,
    /// Whether a full queue may be archived.
    archives: bool,
    told: Vec<summary::Input>,
}

impl Run<'_> {
    fn read_all(&mut self, inputs: Vec<(Input, String)>) -> Outcome<()> {
        let hints: Vec<Hints> = inputs
            .iter()
            .map(|(input, _)| input.hints().clone())
            .collect();
        for (at, (input, sandbox)) in inputs.into_iter().enumerate() {
            let others: Vec<Hints> = hints
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, hints)| hints.clone())
                .collect();
            self.read(input, sandbox, &others)?;
        }
        Ok(())
    }

    fn read(&mut self, input: Input, sandbox: String, others: &[Hints]) -> Outcome<()> {
        let journal = self
            .journal
            .take()
            .ok_or_else(|| Failure::failed("the journal is closed"))?;
        let name = without_secrets(input.name()).into_owned();
        let total = size_of(&input);
        let identity = plan::identify(&journal, &self.key, self.request, &sandbox, input, others)?;
        let (stream, what, ended) = match identity {
            Identity::Empty => (None, What::Empty, Ok(())),
            Identity::Known { stream } => (Some(stream), What::Known, Ok(())),
            Identity::Begun(mut begun) => {
                let stream = Some(begun.stream.stream.clone());
                let (tallied, ended) = self.store(journal, &mut begun, total);
                self.told
                    .push(told(name, sandbox, stream, What::Read(Box::new(tallied))));
                return ended;
            }
        };
        self.journal = Some(journal);
        self.told.push(told(name, sandbox, stream, what));
        ended
    }

    fn store(
        &mut self,
        journal: Journal,
        begun: &mut Begun,
        total: Option<u64>,
    ) -> (Tallied, Outcome<()>) {
        let versions: HashMap<String, u64> = begun
            .version
            .map(|version| (begun.stream.stream.clone(), version))
            .into_iter()
            .collect();
        let archives = match self.archives {
            true => archiving::child_command(self.ctx).ok(),
            false => None,
        };
        let writer = Writer::start(journal, versions, archives);
        let mut progress = self.ctx.progress_bytes("reading", total);
        let reading = Reading::new(begun, self.request, &self.key, &writer);
        let (tallied, ended) = reading.run(begun, self.ctx, &mut progress);
        let (journal, written, durable) = writer.finish();
        let tallied = if written.is_ok() {
            tallied.let_in(durable)
        } else {
            Tallied::durable(durable)
        };
        self.journal = journal.filter(|_| written.as_ref().is_ok_and(|()| true));
        let name = begun.rest.input().name();
        let ended = match (written, ended) {
            (Err(error), _) => Err(unwritten(&error, name)),
            (Ok(()), Ended::Failed(failure)) => Err(failure),
            (Ok(()), Ended::Interrupted) => Err(Failure::Interrupted),
            (Ok(()), Ended::AtEnd | Ended::Stopped) => Ok(()),
        };
        (tallied, ended)
    }

    /// Archives what is committed; the lines are durable whatever comes of it.
    fn archive(&mut self) -> Outcome<Option<Report>> {
        let Some(journal) = &mut self.journal else {
            return Ok(None);
        };
        let archived = archiving::wait_for_lock(self.ctx)
            .and_then(|lock| archiving::archive_prefix(self.ctx, journal, &lock));
        archived.map(Some).map_err(|failure| {
            failure.advise("the lines are durable in the journal; `boundlane archive` finishes")
        })
    }
}

fn told(name: String, sandbox: String, stream: Option<String>, what: What) -> summary::Input {
    summary::Input {
        name,
        sandbox,
        stream,
        what,
    }
}

/// How long a plain file is; nobody knows of a pipe or a compressed one.
fn size_of(input: &Input) -> Option<u64> {
    let path = input.hints().path.as_ref()?;
    let is_plain = input.compression() == boundlane_ingest::input::Compression::None;
    std::fs::metadata(path)
        .ok()
        .filter(|_| is_plain)
        .map(|metadata| metadata.len())
}

/// Nothing that was committed is lost; the place says where to go on.
fn unwritten(error: &AppendError, input: &str) -> Failure {
    let again =
        "what was stored so far is durable: run the same command again, it goes on from there";
    match error {
        AppendError::Conflict { .. } => Failure::new(
            Exit::NotReady,
            format_args!("another process is reading the same lines as `{input}`"),
        )
        .advise("run the same command again when it has ended; nothing is stored twice"),
        AppendError::QueueFull { .. } => Failure::failed(error).advise(format_args!(
            "one sandbox can take half of the queue: make room with `boundlane archive`, or raise \
             `queued_entries_max` or `queued_stored_bytes_max` in the configuration; {again}"
        )),
        AppendError::Full => {
            Failure::failed("the disk is full").advise(format_args!("free some space; {again}"))
        }
        other => Failure::failed(other).advise(again),
    }
}
