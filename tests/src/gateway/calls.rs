//! What the calls do, whichever generation they came in.

use std::sync::Arc;
use std::time::Duration;

use tonic::Status;
use tonic::metadata::MetadataMap;

use super::cursor::Cursor;
use super::model::{Generation, Line, Sandbox};
use super::requests::{Asked, Call, Listing, LogsAsked, Page, Scope, Which};
use super::state::{PUSH_LINES_MAX, Shared, State};
use super::watch::{self, Delivery};

/// How many lines `GetSandboxLogs` gives when none are named.
const LOGS_LINES_DEFAULT: u32 = 2_000;
/// Calls that are remembered; a fake that runs for days is a playground, not a test.
const REQUESTS_MAX: usize = 100_000;

/// One caller: whatever comes over one connection.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) shared: Arc<Shared>,
    pub(super) connection: u64,
    pub(super) replica: usize,
}

/// One page of a listing, and the token of the next.
pub(super) struct Paged {
    pub(super) sandboxes: Vec<Sandbox>,
    pub(super) next: String,
}

/// The last lines of a sandbox.
pub(super) struct LastLines {
    pub(super) sandbox_id: String,
    pub(super) lines: Vec<Arc<Line>>,
    pub(super) buffer_total: u32,
}

impl Caller {
    /// Writes the call down and lets it in, after the time that answers take here.
    pub(super) async fn admit(&self, metadata: &MetadataMap, call: Call) -> Result<(), Status> {
        let is_open = call == Call::Health;
        let (slowness, verdict) = self.shared.change(|state| {
            if state.requests.len() < REQUESTS_MAX {
                state.requests.push(call);
            }
            let verdict = if is_open {
                Ok(())
            } else {
                allowed(state, metadata)
            };
            (state.settings.answer_after_ms, verdict)
        });
        if slowness > 0 {
            tokio::time::sleep(Duration::from_millis(slowness)).await;
        }
        verdict
    }

    pub(super) fn version(&self) -> String {
        self.shared.look().settings.version.clone()
    }

    pub(super) fn sandbox(&self, name: String, scope: Scope) -> Result<Sandbox, Status> {
        let found = self.shared.look().find(&Which::Named(name, scope)).cloned();
        found.ok_or_else(not_found)
    }

    /// Lists by workspace and name, so that a page's place outlives what happens to other sandboxes.
    pub(super) fn list(&self, listing: &Listing) -> Result<Paged, Status> {
        let wanted = labels_of(&listing.selector)?;
        let state = self.shared.look();
        let is_wanted = |one: &&Sandbox| {
            let has =
                |(key, value): &(&str, &str)| one.labels.get(*key).is_some_and(|v| v == value);
            listing.scope.has(&one.workspace) && wanted.iter().all(has)
        };
        let mut all: Vec<&Sandbox> = state.sandboxes.iter().filter(is_wanted).collect();
        all.sort_by_key(|one| key_of(one));
        let from = match &listing.page {
            Page::Offset(offset) => *offset as usize,
            Page::Token(token) if token.is_empty() => 0,
            Page::Token(token) => {
                let after = token.strip_prefix("after:");
                let after = after.ok_or_else(|| Status::invalid_argument("invalid page_token"))?;
                all.partition_point(|one| key_of(one).as_str() <= after)
            }
        };
        let size = page_size(listing.page_size, state.settings.page_size_max)?;
        let page: Vec<Sandbox> = all.iter().skip(from).take(size).copied().cloned().collect();
        let has_more = all.len() > from.saturating_add(page.len());
        let last = page.last().filter(|_| has_more);
        Ok(Paged {
            next: last.map_or(String::new(), |one| format!("after:{}", key_of(one))),
            sandboxes: page,
        })
    }

    pub(super) fn workspaces(&self) -> Vec<String> {
        let state = self.shared.look();
        let mut names: Vec<String> = state
            .sandboxes
            .iter()
            .map(|one| one.workspace.clone())
            .collect();
        names.push("default".into());
        names.sort();
        names.dedup();
        names
    }

    pub(super) fn logs(&self, asked: &LogsAsked) -> Result<LastLines, Status> {
        let mut state = self.shared.look();
        let sandbox_id = state.find(&asked.sandbox).ok_or_else(not_found)?.id.clone();
        let replica = self.replica_of_call(&mut state);
        let count = match asked.lines {
            0 => LOGS_LINES_DEFAULT,
            n => n,
        };
        let filter = super::filter::Filter {
            sources: asked.sources.clone(),
            min_level: asked.min_level.clone(),
            since_ms: asked.since_ms,
        };
        let bus = &state.buffers(replica, &sandbox_id).lines;
        let passes = |line: &Arc<Line>| filter.is_since(line.time_ms) && filter.passes(line);
        let tail = bus
            .tail(count as usize)
            .filter_map(|held| match &held.item {
                super::buffers::Item::Line(line) => Some(Arc::clone(line)),
                super::buffers::Item::Event(_) => None,
            });
        Ok(LastLines {
            lines: tail.filter(passes).collect(),
            buffer_total: count.min(u32::try_from(bus.kept()).unwrap()),
            sandbox_id,
        })
    }

    pub(super) fn watch(&self, asked: Asked) -> Result<Delivery, Status> {
        let replica = {
            let mut state = self.shared.look();
            let cursor = &asked.resume_after_cursor;
            let encoding = state.settings.encoding.as_str();
            if !cursor.is_empty() && Cursor::parse(encoding, cursor).is_none() {
                return Err(Status::invalid_argument(
                    "resume_after_cursor is not a valid watch cursor",
                ));
            }
            self.replica_of_call(&mut state)
        };
        watch::begin(&self.shared, asked, self.connection, replica)
    }

    /// What a supervisor pushes: the first hundred lines of a batch are taken, the rest dropped.
    pub(super) fn push(&self, sandbox_id: &str, batch: Vec<Line>) -> Result<(), Status> {
        if sandbox_id.is_empty() {
            return Ok(());
        }
        self.shared.change(|state| {
            let which = Which::WithId(sandbox_id.to_owned());
            state.find(&which).ok_or_else(not_found)?;
            for line in batch.into_iter().take(PUSH_LINES_MAX) {
                state.publish(sandbox_id, self.replica, line.from("sandbox"));
            }
            Ok(())
        })
    }

    fn replica_of_call(&self, state: &mut State) -> usize {
        match state.settings.spread {
            super::settings::Spread::PerConnection => self.replica,
            super::settings::Spread::PerCall => {
                state.calls_made += 1;
                state.next_replica(state.calls_made - 1)
            }
        }
    }
}

fn not_found() -> Status {
    Status::not_found("sandbox not found")
}

/// The rate limit first, then who it is, then whether they may.
fn allowed(state: &mut State, metadata: &MetadataMap) -> Result<(), Status> {
    if state.settings.refused_calls > 0 {
        state.settings.refused_calls -= 1;
        return Err(Status::resource_exhausted("grpc rate limit exceeded"));
    }
    if let Some(token) = &state.settings.token {
        let Some(given) = metadata.get("authorization") else {
            return Err(Status::unauthenticated("missing authorization header"));
        };
        if given.to_str().ok() != Some(&format!("Bearer {token}")) {
            return Err(Status::unauthenticated("invalid token: InvalidSignature"));
        }
        if state.settings.token_expired {
            return Err(Status::unauthenticated("invalid token: ExpiredSignature"));
        }
    }
    match &state.settings.denied {
        Some(text) => Err(Status::permission_denied(text)),
        None => Ok(()),
    }
}

/// Times before 1970 or with too many nanoseconds are refused.
pub(super) fn since_ms(seconds: i64, nanos: i32) -> Result<i64, Status> {
    let bad = || Status::invalid_argument("since_time is not a valid timestamp");
    if seconds < 0 || !(0..1_000_000_000).contains(&nanos) {
        return Err(bad());
    }
    let ms = seconds.checked_mul(1000).ok_or_else(bad)?;
    Ok(ms + i64::from(nanos / 1_000_000))
}

/// Whether a request of the old shape names a sandbox at all.
pub(super) fn id_of(generation: Generation, id: &str) -> Result<(), Status> {
    match (generation, id) {
        (Generation::Old, "") => Err(Status::invalid_argument("id is required")),
        (Generation::New, "") => Err(Status::invalid_argument("sandbox is required")),
        _ => Ok(()),
    }
}

fn page_size(asked: i64, most: usize) -> Result<usize, Status> {
    match usize::try_from(asked) {
        Ok(0) => Ok(most),
        Ok(n) => Ok(n.min(most)),
        Err(_) => Err(Status::invalid_argument("page_size must not be negative")),
    }
}

fn key_of(sandbox: &Sandbox) -> String {
    format!("{}/{}", sandbox.workspace, sandbox.name)
}

fn labels_of(selector: &str) -> Result<Vec<(&str, &str)>, Status> {
    let terms = selector
        .split(',')
        .map(str::trim)
        .filter(|term| !term.is_empty());
    let bad = || Status::invalid_argument("label_selector: expected key=value");
    terms
        .map(|term| term.split_once('=').ok_or_else(bad))
        .collect()
}
