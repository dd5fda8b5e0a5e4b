//! `forward`: follows a gateway's sandboxes into the journal, and archives.

mod archiver;
pub(crate) mod metrics;
mod reloading;
mod report;
mod stopping;
pub(crate) mod unit;

use std::sync::Arc;

use boundlane_gateway::{Client, Discover, DiscoverError, GatewayError, Kind, Limits};
use boundlane_gateway::{ProcessSurroundings, discover};
use boundlane_store::{Lock, LockError, LockName};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::args::ForwardArgs;
use crate::context::{Context, wall_clock};
use crate::exit::{Exit, Failure, Outcome};
use crate::follow::board::Board;
use crate::follow::pace::Pace;
use crate::follow::roster::{Finished, Roster, Wanted};
use crate::follow::shared::{self, Setup, Shared, Signal, Until};
use crate::follow::writer::Writer;
use crate::journal;
use crate::output::out::Out;
use crate::state_dir::From;
use archiver::Archiver;
pub(crate) use archiver::ENTRIES as ARCHIVED_ENTRIES;
use reloading::Reloading;
use report::Report;
use stopping::{GRACE, Stopping};
use unit::UnitKind;

/// Follows until it is told to stop.
pub(crate) fn run(args: &ForwardArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let wanted = wanted(args)?;
    if let Some(kind) = args.print_unit {
        return print_unit(kind, args, ctx, out);
    }
    ctx.interrupt.defer();
    let runtime = runtime()?;
    let (stopping, reloading) = runtime
        .block_on(async { Ok((Stopping::listen()?, Reloading::listen()?)) })
        .map_err(|error: std::io::Error| {
            Failure::failed(format_args!("cannot listen for signals: {error}"))
        })?;
    let dir = journal::state_dir(ctx)?;
    dir.create().map_err(Failure::failed)?;
    let _lock = Lock::take(&dir, LockName::Follow).map_err(held)?;
    let board = Arc::new(Board::default());
    let _report = Report::begin(&runtime, dir, Arc::clone(&board), Pace::new(args.pace));
    if let Some(address) = args.metrics {
        metrics::begin(address, &runtime, &board, ctx)?;
    }
    loop {
        board.all_over();
        let follower = Following::begin(args, ctx, &wanted, &board)?;
        match runtime.block_on(follower.run(args, ctx, &stopping, &reloading))? {
            Finished::Done => return Ok(Exit::Done),
            Finished::NoGateway(error) => return Err(unreachable_gateway(&error)),
            Finished::Unread(why) => {
                let text = format_args!("not everything was read: {why}");
                return Err(Failure::new(Exit::NotReady, text));
            }
            // What was not committed is read again from the stored places.
            Finished::JournalClosed => ctx.warn("the journal was closed; opening it again"),
        }
        runtime.block_on(async { tokio::time::sleep(std::time::Duration::from_secs(1)).await });
    }
}

fn print_unit(kind: UnitKind, args: &ForwardArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed(format_args!("cannot tell which program this is: {error}"))
    })?;
    let located = ctx.state_dir()?;
    let state_dir = (located.from != From::Default).then_some(located.path.as_path());
    out.text(&unit::unit(kind, &program, state_dir, &again(args)))?;
    Ok(Exit::Done)
}

/// The options that say what is followed, as they were given.
fn again(args: &ForwardArgs) -> Vec<String> {
    let mut again = Vec::new();
    let mut give = |name: &str, value: Option<&String>| {
        if let Some(value) = value {
            again.extend([name.to_owned(), value.clone()]);
        }
    };
    give("--gateway", args.gateway.as_ref());
    give("--workspace", args.workspace.as_ref());
    let metrics = args.metrics.as_ref().map(ToString::to_string);
    give("--metrics", metrics.as_ref());
    args.sandbox
        .iter()
        .for_each(|name| give("--sandbox", Some(name)));
    if !args.all && args.sandbox.is_empty() {
        give("--selector", Some(&args.selector));
    }
    let flags = [
        ("--all", args.all),
        ("--all-workspaces", args.all_workspaces),
        ("--no-archive", args.no_archive),
    ];
    let set = flags.iter().filter(|(_, is_set)| *is_set);
    again.extend(set.map(|(name, _)| (*name).to_owned()));
    again
}

/// What asks the gateway: one thread, beside the one that writes the journal.
pub(crate) fn runtime() -> Outcome<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format_args!("cannot start: {error}")))
}

/// One opening of the journal.
struct Following {
    writer: Writer,
    shared: Arc<Shared>,
    wanted: Wanted,
}

impl Following {
    fn begin(
        args: &ForwardArgs,
        ctx: &Context,
        wanted: &Wanted,
        board: &Arc<Board>,
    ) -> Outcome<Following> {
        let pace = Pace::new(args.pace);
        let setup = Setup {
            client: client(args.gateway.as_deref(), args.workspace.as_deref(), pace)?,
            pace,
            until: if args.once { Until::Quiet } else { Until::Told },
            board: Arc::clone(board),
        };
        let (writer, shared) = shared::open(ctx, setup)?;
        Ok(Following {
            writer,
            shared: Arc::new(shared),
            wanted: wanted.clone(),
        })
    }

    async fn run(
        self,
        args: &ForwardArgs,
        ctx: &Context,
        stopping: &Stopping,
        reloading: &Reloading,
    ) -> Outcome<Finished> {
        let Following {
            writer,
            shared,
            wanted,
        } = self;
        let (signal, receiver) = watch::channel(Signal::Run(0));
        let workspace = match (&args.workspace, args.all_workspaces) {
            (_, true) => None,
            (named, false) => Some(
                named
                    .clone()
                    .unwrap_or_else(|| shared.client.workspace().to_owned()),
            ),
        };
        let mut archiver = Archiver::new(ctx, args.no_archive)?;
        let committed = Arc::clone(&shared);
        reloading.again(&committed);
        let mut roster = Roster::new(Arc::clone(&shared), wanted, workspace);
        let mut grace = None;
        let finished = {
            let following = roster.run(receiver, |roster| {
                committed.writer.tick(wall_clock());
                archiver.tick(&mut roster.ended, &committed);
            });
            tokio::pin!(following);
            loop {
                tokio::select! {
                    finished = &mut following => break finished,
                    () = stopping.asked() => {
                        // Nobody listens when every stream has ended already.
                        let _ = signal.send(Signal::Stop);
                        let end = Instant::now() + GRACE;
                        let finished = stopping.until(end, &mut following).await;
                        // Who did not wait for that does not wait for the journal.
                        grace = Some(if finished.is_some() { end } else { Instant::now() });
                        break finished.unwrap_or(Finished::Done);
                    }
                    () = reloading.asked() => reloading.reload(ctx, &committed),
                    steps = stopping.clock_stepped(shared.pace) => {
                        let _ = signal.send(Signal::Run(steps));
                    }
                }
            }
        };
        drop((roster, committed, shared));
        let mut written = writer.finishing();
        let written = match grace {
            Some(end) => stopping.until(end, &mut written).await,
            None => Some(written.await),
        };
        match written {
            Some(Ok(Ok(()))) => {}
            Some(Ok(Err(error))) => ctx.warn(&error.to_string()),
            Some(Err(_)) => ctx.warn("writing the journal failed: this is a fault of the program"),
            None => ctx.warn("ended before everything that was read was written; it is read again"),
        }
        if args.once && grace.is_none() && matches!(finished, Finished::Done) {
            archiver.finish(ctx);
        }
        Ok(finished)
    }
}

fn wanted(args: &ForwardArgs) -> Outcome<Wanted> {
    if args.all {
        return Ok(Wanted::All);
    }
    if !args.sandbox.is_empty() {
        return Ok(Wanted::Names(args.sandbox.clone()));
    }
    let labels = args.selector.split(',').map(|label| {
        let (key, value) = label.split_once('=').ok_or_else(|| {
            Failure::usage(format_args!(
                "`--selector` has to be `key=value`, or several with commas between, not `{label}`"
            ))
        })?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    });
    labels.collect::<Outcome<_>>().map(Wanted::Labels)
}

/// The client of the gateway that is named or found.
pub(crate) fn client(
    gateway: Option<&str>,
    workspace: Option<&str>,
    pace: Pace,
) -> Outcome<Client> {
    let wanted = Discover {
        gateway,
        workspace,
        ..Discover::default()
    };
    let target = discover(&wanted, &ProcessSurroundings).map_err(|error| not_found(&error))?;
    // Deadlines of calls stay as they are: a machine is not faster because waits are shorter.
    let usual = Limits::default();
    let limits = Limits {
        keepalive: usual.keepalive / pace.divisor(),
        ..usual
    };
    Client::new(target, limits).map_err(|error| unreachable_gateway(&error))
}

fn not_found(error: &DiscoverError) -> Failure {
    match error {
        DiscoverError::NotInstalled { .. } => Failure::new(Exit::NotReady, error),
        _ => Failure::usage(error),
    }
}

pub(crate) fn unreachable_gateway(error: &GatewayError) -> Failure {
    match error.kind() {
        Kind::Setup => Failure::usage(error),
        _ => Failure::new(Exit::NotReady, error),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "used as `map_err(held)`")]
fn held(error: LockError) -> Failure {
    match &error {
        LockError::HeldBy { .. } => Failure::new(Exit::NotReady, &error).advise(
            "one process follows for a state directory; end it, or use another `--state-dir`",
        ),
        LockError::Dir(_) => Failure::failed(error),
    }
}
