//! What the gateway holds and nobody has recorded: shown beside the record, never written.
//!
//! Reading goes on from the stored place, so what is recorded is not shown twice, and what may be missing
//! between is a row as everywhere.

use std::sync::Arc;

use boundlane_gateway::{
    Client, Discover, Kind as GatewayFault, Limits, ProcessSurroundings, discover,
};
use boundlane_record::{Kind, SessionKind};
use boundlane_store::{Lock, LockName, OpenLoss, StateDir};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::Shown;
use super::listing::Listing;
use crate::commands::entries::Met;
use crate::commands::recorded::decode;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::follow::bundle::Bundle;
use crate::follow::pace::Pace;
use crate::follow::shared::{self, Setup, Signal, Until};
use crate::follow::stream::{Ended, Stream};
use crate::follow::tell::Teller;
use crate::follow::writer::{self, Sink};
use crate::output::cell::Placed;
use crate::output::out::Out;

/// A sandbox that is read from the gateway.
pub(super) struct Live {
    runtime: Runtime,
    sink: Sink,
    task: JoinHandle<Ended>,
    // Dropped, it stops the stream.
    _signal: watch::Sender<Signal>,
}

/// What the gateway says of a sandbox that nobody follows here.
pub(super) enum Asked {
    /// Nothing: somebody follows, there is no gateway, or it does not answer.
    Nothing,
    /// It knows no such sandbox.
    Unknown,
    /// It lives there.
    Living(Live),
}

/// Asks the gateway for the sandbox `name`, unless somebody follows here. `until` says when reading is
/// done.
pub(super) fn open(name: &str, until: Until, ctx: &Context) -> Outcome<Asked> {
    let dir = StateDir::at(ctx.state_dir()?.path.clone());
    if Lock::owner(&dir, LockName::Follow).is_some() {
        return Ok(Asked::Nothing);
    }
    let Ok(target) = discover(&Discover::default(), &ProcessSurroundings) else {
        return Ok(Asked::Nothing);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format_args!("cannot start: {error}")))?;
    let asked = runtime.block_on(async {
        let client = Client::new(target, Limits::default())?;
        let found = client.sandbox(name).await?;
        Ok::<_, boundlane_gateway::GatewayError>((client, found))
    });
    let (client, sandbox) = match asked {
        Ok((client, Some(sandbox))) => (client, sandbox),
        Ok((_, None)) => return Ok(Asked::Unknown),
        Err(error) if error.kind() == GatewayFault::NotInstalled => return Ok(Asked::Nothing),
        Err(error) => {
            ctx.note(&format!("what the gateway holds is not shown: {error}"));
            return Ok(Asked::Nothing);
        }
    };
    let setup = Setup {
        client,
        pace: Pace::new(1),
        until,
        board: Arc::default(),
    };
    let (handle, sink) = writer::sink();
    let shared = shared::reading(ctx, setup, handle, Arc::new(Teller::new(true)))?;
    let stream = Stream::new(Arc::new(shared), sandbox).map_err(Failure::failed)?;
    let (signal, receiver) = watch::channel(Signal::Run(0));
    let task = runtime.spawn(stream.run(receiver));
    Ok(Asked::Living(Live {
        runtime,
        sink,
        task,
        _signal: signal,
    }))
}

impl Live {
    /// The next rows; `None` when the stream has ended. Blocks.
    pub(super) fn next(&mut self) -> Option<Vec<Placed<'static>>> {
        self.sink.next().map(|bundle| rows(&bundle))
    }

    /// What kept it from being read to its end.
    pub(super) fn unread(self) -> Option<String> {
        match self.ended() {
            Ended::Failed(why) | Ended::Unreachable(why) => Some(why),
            Ended::Over | Ended::Gone | Ended::Replaced | Ended::Stopped | Ended::Quiet => None,
        }
    }

    /// How it ended.
    fn ended(self) -> Ended {
        self.runtime
            .block_on(self.task)
            .unwrap_or(Ended::Failed("reading the gateway failed".to_owned()))
    }
}

/// Prints rows as they come, until the sandbox's stream ends.
pub(super) fn follow(
    mut live: Live,
    shown: &mut Shown,
    listing: &mut Listing<'_>,
    ctx: &Context,
    out: &mut Out,
) -> Outcome<()> {
    listing.settle(out)?;
    out.flush_now()?;
    while let Some(rows) = live.next() {
        for placed in rows {
            shown.met(Met::Entry(placed), listing, out)?;
        }
        listing.settle(out)?;
        out.flush_now()?;
    }
    match live.ended() {
        Ended::Failed(why) | Ended::Unreachable(why) => Err(Failure::failed(why)),
        Ended::Gone | Ended::Replaced => {
            ctx.note("the sandbox is gone; what it said last may be missing");
            Ok(())
        }
        Ended::Over | Ended::Stopped | Ended::Quiet => {
            ctx.note("the sandbox has ended");
            Ok(())
        }
    }
}

/// The rows of a bundle, losses in their place. That this command attached is no news.
fn rows(bundle: &Bundle) -> Vec<Placed<'static>> {
    let mut rows = Vec::new();
    for part in &bundle.parts {
        rows.extend(
            part.entries
                .iter()
                .map(|(bytes, _)| decode(bytes).into_owned()),
        );
        for loss in &part.open_losses {
            let row = match loss {
                OpenLoss::Gap(gap) => gap.row(&bundle.stream, bundle.at),
                OpenLoss::Drops(drops) => drops.row(&bundle.stream, bundle.at),
            };
            rows.push(row.into_owned());
        }
    }
    let is_news = |row: &boundlane_record::Row<'_>| {
        row.kind.as_deref() != Some(Kind::Session.word())
            || row.cause.as_deref() == Some(SessionKind::End.word())
    };
    rows.retain(is_news);
    let place = |row| Placed {
        journal: String::new().into(),
        seq: None,
        row,
    };
    rows.into_iter().map(place).collect()
}
