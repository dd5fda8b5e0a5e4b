//! How far the journal has to reach: the newest line that the gateway holds.

use boundlane_gateway::{Client, GatewayError, Sandbox};
use boundlane_ingest::DigestKey;
use boundlane_ingest::watch::{StreamEnd, TAIL_LINES, WatchEvent, WatchFrom, WatchedLine};
use tokio::time::Instant;

use crate::follow::pace::Pace;
use crate::follow::shared::Stored;

/// What has to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// The gateway holds nothing.
    Nothing,
    /// Everything up to this cursor.
    Cursor(String),
    /// This line, of a gateway without cursors.
    Line(Box<WatchedLine>),
}

impl Mark {
    /// Whether what is stored goes so far.
    pub(super) fn is_reached(&self, stored: &Stored, key: &DigestKey) -> bool {
        match self {
            Mark::Nothing => true,
            Mark::Cursor(cursor) => stored.place.has_reached(cursor),
            Mark::Line(line) => stored.kept.contains(&line.fingerprint(&line.text(), key)),
        }
    }

    /// For the evidence.
    pub(super) fn cursor(&self) -> Option<&str> {
        match self {
            Mark::Cursor(cursor) => Some(cursor),
            Mark::Nothing | Mark::Line(_) => None,
        }
    }
}

/// Reads the whole tail once. Without cursors, waits until the newest line stays the same for a while.
///
/// # Errors
/// What is wrong with the gateway, for people.
pub(super) async fn read(client: &Client, sandbox: &Sandbox, pace: Pace) -> Result<Mark, String> {
    let Some(newest) = newest(client, sandbox).await? else {
        return Ok(Mark::Nothing);
    };
    let from = WatchFrom::Tail(TAIL_LINES);
    let mut watch = client
        .watch(sandbox, &from)
        .await
        .map_err(|end| ended(&end))?;
    let mut greatest = String::new();
    for _ in 0..TAIL_LINES {
        let line = match watch.next().await {
            Ok(WatchEvent::Line(line)) => line.bounded(),
            Ok(_) => continue,
            Err(end) => return Err(ended(&end)),
        };
        if line.cursor > greatest {
            greatest.clone_from(&line.cursor);
        }
        if is_same(&line, &newest) {
            break;
        }
    }
    match greatest.is_empty() {
        true => unchanged(client, sandbox, newest, pace).await,
        false => Ok(Mark::Cursor(greatest)),
    }
}

/// Without cursors: the newest line, once it has stayed the same.
async fn unchanged(
    client: &Client,
    sandbox: &Sandbox,
    mut last: WatchedLine,
    pace: Pace,
) -> Result<Mark, String> {
    let mut since = Instant::now();
    while since.elapsed() < pace.once() {
        tokio::time::sleep(pace.once() / 10).await;
        if let Some(now) = newest(client, sandbox).await?
            && !is_same(&now, &last)
        {
            last = now;
            since = Instant::now();
        }
    }
    Ok(Mark::Line(Box::new(last)))
}

async fn newest(client: &Client, sandbox: &Sandbox) -> Result<Option<WatchedLine>, String> {
    let asked: Result<_, GatewayError> = client.snapshot(sandbox, 1).await;
    Ok(asked.map_err(|error| error.to_string())?.lines.pop())
}

/// The same line, whether it has its cursor or not.
fn is_same(a: &WatchedLine, b: &WatchedLine) -> bool {
    a.time == b.time && a.text() == b.text()
}

fn ended(end: &StreamEnd) -> String {
    format!("the gateway ended the reading: {end:?}")
}
