//! What the streams of one run share.

use std::sync::Arc;

use boundlane_gateway::Client;
use boundlane_ingest::DecodeState;
use boundlane_ingest::DigestKey;
use boundlane_ingest::watch::WatchPlace;
use boundlane_record::redact::Redactor;
use boundlane_record::{Fingerprint, StreamName};
use boundlane_store::{Reader, StateDir};

use super::board::Board;
use super::pace::Pace;
use super::tell::Teller;
use super::writer::{Handle, Writer};
use crate::context::{Context, Verbosity};
use crate::exit::{Failure, Outcome};
use crate::journal;
use crate::pruning;

/// Everything a stream needs besides its sandbox.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) writer: Handle,
    pub(crate) dir: StateDir,
    pub(crate) key: DigestKey,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) pace: Pace,
    pub(crate) teller: Arc<Teller>,
    pub(crate) until: Until,
    pub(crate) board: Arc<Board>,
}

/// How following is to be done.
pub(crate) struct Setup {
    pub(crate) client: Client,
    pub(crate) pace: Pace,
    pub(crate) until: Until,
    pub(crate) board: Arc<Board>,
}

/// When a stream has been read enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// When it is over, or it is told to stop.
    Told,
    /// Once it was silent for a while.
    Quiet,
    /// Once everything was read that the gateway held when it was asked.
    CaughtUp,
}

/// Opens the journal for writing, for streams to share.
///
/// # Errors
/// As [`journal::open_for_writing`], and 2 for a pattern of `redact` that is none.
pub(crate) fn open(ctx: &Context, setup: Setup) -> Outcome<(Writer, Shared)> {
    let (journal, _) = journal::open_for_writing(ctx)?;
    let teller = Arc::new(Teller::new(ctx.verbosity == Verbosity::Quiet));
    let (writer, handle) = Writer::start(
        (journal::state_dir(ctx)?, journal),
        Arc::clone(&teller),
        pruning::query_micros_max(&ctx.config),
    );
    Ok((writer, reading(ctx, setup, handle, teller)?))
}

/// The same with another place for what is read to go to.
///
/// # Errors
/// 2 for a pattern of `redact` that is none, 1 when the state directory cannot be used.
pub(crate) fn reading(
    ctx: &Context,
    setup: Setup,
    writer: Handle,
    teller: Arc<Teller>,
) -> Outcome<Shared> {
    let dir = journal::state_dir(ctx)?;
    // Without a key nothing is recorded here, so nothing is compared with what is.
    let key = dir
        .read_digest_key()
        .map_err(Failure::failed)?
        .unwrap_or_default();
    let redactor = Redactor::new(ctx.redact_patterns())
        .map_err(|error| Failure::usage(format_args!("`redact`: {error}")))?;
    Ok(Shared {
        client: setup.client,
        writer,
        dir,
        key: DigestKey::new(&key),
        redactor: Arc::new(redactor),
        pace: setup.pace,
        teller,
        until: setup.until,
        board: setup.board,
    })
}

/// What a run says to its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Go on; a new number means that every stream proves its place again.
    Run(u64),
    /// Stop reading, commit, and end.
    Stop,
}

/// What the journal has of a stream.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) place: WatchPlace,
    pub(crate) decode_state: DecodeState,
    pub(crate) kept: Vec<Fingerprint>,
}

impl Shared {
    /// The stored place of a stream; a default one when it is new.
    ///
    /// # Errors
    /// What is wrong with the journal, for people.
    pub(crate) fn stored(&self, name: &StreamName) -> Result<Stored, String> {
        let Some(reader) = Reader::open(&self.dir).map_err(|error| error.to_string())? else {
            return Ok(Stored::default());
        };
        let state = reader
            .stream(&name.stream)
            .map_err(|error| error.to_string())?;
        let Some(state) = state else {
            return Ok(Stored::default());
        };
        Ok(Stored {
            place: WatchPlace::from_json(&state.place).map_err(|error| error.to_string())?,
            decode_state: DecodeState::from_json(&state.decode_state)
                .map_err(|error| error.to_string())?,
            kept: reader
                .fingerprints(state.id)
                .map_err(|error| error.to_string())?,
        })
    }
}
