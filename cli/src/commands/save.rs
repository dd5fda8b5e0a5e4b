//! `save`: makes a durable copy of what a sandbox said, before it is deleted.
//!
//! The gateway is asked for all that it holds; the greatest cursor of that is the mark. The journal has
//! to reach it, by whoever follows or by this command; then the prefix is archived, read back, and
//! `saved` is written.

mod mark;
mod report;

use std::sync::Arc;
use std::time::Duration;

use boundlane_gateway::{Client, Sandbox};
use boundlane_ingest::DecodeState;
use boundlane_ingest::watch::WatchPlace;
use boundlane_record::{Books, EntryBatch, Session, SessionKind};
use boundlane_store::{AppendError, Checkpoint, Item, Journal, Lock, LockError, LockName};
use tokio::sync::watch;

use super::recorded::{open_journal, read_failure};
use super::{forward, health};
use crate::archiving;
use crate::args::SaveArgs;
use crate::context::{Context, wall_clock};
use crate::exit::{Exit, Failure, Outcome};
use crate::follow::pace::Pace;
use crate::follow::shared::{self, Setup, Signal, Until};
use crate::follow::stream::{Stream, name_of};
use crate::journal;
use crate::output::out::Out;
use crate::time;
use mark::Mark;
use report::Report;

/// Of how many parts of the queue one may wait when a sandbox is saved.
const QUEUE_PARTS: u64 = 4;
/// Between two looks whether the journal has reached the mark.
const LOOK: Duration = Duration::from_millis(20);

/// Saves one sandbox.
pub(crate) fn run(args: &SaveArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let wait = time::span(&args.wait).ok_or_else(|| {
        Failure::usage(format_args!(
            "`--wait {}` is no span of time, such as `20s` or `2m`",
            args.wait
        ))
    })?;
    let pace = Pace::new(args.pace);
    let client = forward::client(args.gateway.as_deref(), args.workspace.as_deref(), pace)?;
    let runtime = forward::runtime()?;
    let found = runtime
        .block_on(client.sandbox(&args.sandbox))
        .map_err(|error| forward::unreachable_gateway(&error))?;
    let Some(sandbox) = found else {
        return report::already_gone(args, ctx, out);
    };
    journal::state_dir(ctx)?.create().map_err(Failure::failed)?;
    make_room(ctx)?;
    let mark = runtime.block_on(async {
        let mark = tokio::time::timeout(wait, mark::read(&client, &sandbox, pace))
            .await
            .map_err(|_| late(&args.wait))?
            .map_err(|why| Failure::new(Exit::NotReady, why))?;
        reach(&mark, client, &sandbox, (wait, args), ctx).await?;
        Ok::<Mark, Failure>(mark)
    })?;
    let (mut journal, _) = journal::open_for_writing(ctx)?;
    let lock = archiving::wait_for_lock(ctx)?;
    let archived = archiving::archive_prefix(ctx, &mut journal, &lock)?;
    let report = Report::of(&sandbox, &mark, archived.through, ctx)?;
    append_saved(&mut journal, &sandbox, &report)?;
    report.print(args.json, out)?;
    out.flush_now()?;
    health::warn_if_losing(open_journal(ctx)?.as_ref(), ctx)?;
    Ok(match args.require_complete && !report.is_complete() {
        true => Exit::Incomplete,
        false => Exit::Done,
    })
}

/// Archives what waits when that is much: a sandbox that is saved must not lose lines to a full queue.
fn make_room(ctx: &Context) -> Outcome<()> {
    let (mut journal, _) = journal::open_for_writing(ctx)?;
    let (waiting, limits) = journal
        .waiting()
        .and_then(|waiting| Ok((waiting.all(), journal.limits()?)))
        .map_err(read_failure)?;
    let is_much = waiting.entries > limits.queued_entries_max / QUEUE_PARTS
        || waiting.stored_bytes > limits.queued_stored_bytes_max / QUEUE_PARTS;
    if is_much {
        let lock = archiving::wait_for_lock(ctx)?;
        archiving::archive_prefix(ctx, &mut journal, &lock)?;
    }
    Ok(())
}

/// Waits until the journal has everything up to the mark, following the sandbox when nobody does.
async fn reach(
    mark: &Mark,
    client: Client,
    sandbox: &Sandbox,
    (wait, args): (Duration, &SaveArgs),
    ctx: &Context,
) -> Outcome<()> {
    let follows = match Lock::take(&journal::state_dir(ctx)?, LockName::Follow) {
        Ok(lock) => Some(lock),
        Err(LockError::HeldBy { .. }) => None,
        Err(error) => return Err(Failure::failed(error)),
    };
    let setup = Setup {
        client,
        pace: Pace::new(args.pace),
        // With nothing to reach, reading ends once that is sure: what was recorded before may have gone.
        until: match mark {
            Mark::Nothing => Until::CaughtUp,
            Mark::Cursor(_) | Mark::Lines(_) => Until::Told,
        },
        board: Arc::default(),
    };
    let (writer, shared) = shared::open(ctx, setup)?;
    let shared = Arc::new(shared);
    let (signal, receiver) = watch::channel(Signal::Run(0));
    let mut following = match follows {
        Some(_) => {
            let stream = Stream::new(Arc::clone(&shared), sandbox.clone());
            Some(tokio::spawn(stream.map_err(Failure::failed)?.run(receiver)))
        }
        None => None,
    };
    let name = name_of(sandbox);
    let sought = mark.sought(&shared.key);
    let is_reached = || {
        shared
            .stored(&name)
            .is_ok_and(|stored| sought.is_reached(&stored))
    };
    let reached = tokio::time::timeout(wait, async {
        if let (Mark::Nothing, Some(following)) = (mark, following.as_mut()) {
            // How it ended, the journal says.
            let _ = following.await;
        }
        while !is_reached() {
            tokio::time::sleep(LOOK).await;
        }
    })
    .await;
    // Nobody listens when another process follows.
    let _ = signal.send(Signal::Stop);
    if let Some(following) = following.filter(|following| !following.is_finished()) {
        let _ = following.await;
    }
    drop(shared);
    let written = tokio::task::spawn_blocking(move || writer.finish()).await;
    drop(follows);
    match written {
        Ok(Ok(())) => reached.map_err(|_| late(&args.wait)),
        Ok(Err(error)) => Err(Failure::failed(error)),
        Err(_) => Err(Failure::failed("writing the journal failed")),
    }
}

fn late(wait: &str) -> Failure {
    Failure::failed(format_args!(
        "not everything that the gateway holds was recorded within {wait}: do not delete the sandbox yet"
    ))
    .advise("run the same command again, with a longer `--wait`; `boundlane status` says who follows")
}

/// Writes that the sandbox is saved, beside whoever follows it.
fn append_saved(journal: &mut Journal, sandbox: &Sandbox, report: &Report) -> Outcome<()> {
    let name = name_of(sandbox);
    loop {
        let state = journal.stream(&name.stream).map_err(Failure::failed)?;
        let checkpoint = match &state {
            Some(state) => Checkpoint {
                place: state.place.clone(),
                decode_state: state.decode_state.clone(),
                policy: state.policy.clone(),
                ..Checkpoint::default()
            },
            None => Checkpoint {
                place: WatchPlace::default().to_json(),
                decode_state: DecodeState::default().to_json(),
                ..Checkpoint::default()
            },
        };
        let now = wall_clock();
        let saved = Session {
            what: SessionKind::Saved,
            from: None,
            to: None,
            count: state.as_ref().map(|state| state.tally.records()),
            evidence: Some(report.evidence().to_string()),
        };
        let mut entries = EntryBatch::new();
        entries.push(&saved.row(Some(&name), now));
        let item = Item {
            stream: &name,
            entries: &entries,
            at: now,
            books: Books::default(),
            expects: state.as_ref().map(|state| state.version),
            checkpoint: &checkpoint,
            open_losses: &[],
            when_full: boundlane_store::WhenFull::Wait,
        };
        match journal.append(&[item]) {
            Ok(_) => return Ok(()),
            // Whoever follows committed in between.
            Err(AppendError::Conflict { .. } | AppendError::Busy) => {}
            Err(error) => return Err(Failure::failed(error)),
        }
    }
}
