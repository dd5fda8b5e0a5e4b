//! How far the journal has to reach: the newest line that the gateway holds.

use std::collections::HashMap;
use std::time::Duration;

use boundlane_gateway::{Client, GatewayError, Sandbox};
use boundlane_ingest::DigestKey;
use boundlane_ingest::watch::{StreamEnd, TAIL_LINES, WatchEvent, WatchFrom, WatchedLine};
use boundlane_record::Fingerprint;
use tokio::time::Instant;

use crate::follow::pace::Pace;
use crate::follow::shared::Stored;

/// Without a line, after which a tail has been read at the earliest.
const SILENCE_MIN: Duration = Duration::from_millis(500);

/// What has to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// The gateway holds nothing.
    Nothing,
    /// Everything up to this cursor.
    Cursor(String),
    /// These lines, of a gateway without cursors.
    Lines(Vec<WatchedLine>),
}

/// A mark that is looked for in what is stored.
pub(super) enum Sought<'m> {
    Nothing,
    Cursor(&'m str),
    /// How often each line was said.
    Lines(HashMap<Fingerprint, usize>),
}

impl Mark {
    /// The mark, to be found again by lines hashed with `key`.
    pub(super) fn sought(&self, key: &DigestKey) -> Sought<'_> {
        match self {
            Mark::Nothing => Sought::Nothing,
            Mark::Cursor(cursor) => Sought::Cursor(cursor),
            Mark::Lines(lines) => {
                let prints = lines.iter().map(|line| line.fingerprint(&line.text(), key));
                Sought::Lines(counted(prints))
            }
        }
    }

    /// For the evidence.
    pub(super) fn cursor(&self) -> Option<&str> {
        match self {
            Mark::Cursor(cursor) => Some(cursor),
            Mark::Nothing | Mark::Lines(_) => None,
        }
    }
}

impl Sought<'_> {
    /// Whether what is stored goes so far. Lines that are said in the same words at the same moment are
    /// told apart by how many they are.
    pub(super) fn is_reached(&self, stored: &Stored) -> bool {
        match self {
            Sought::Nothing => true,
            Sought::Cursor(cursor) => stored.place.has_reached(cursor),
            Sought::Lines(lines) => {
                let kept = counted(stored.kept.iter().copied());
                let has = |(line, count)| kept.get(line).is_some_and(|kept| kept >= count);
                lines.iter().all(has)
            }
        }
    }
}

fn counted(prints: impl Iterator<Item = Fingerprint>) -> HashMap<Fingerprint, usize> {
    let mut counts = HashMap::new();
    prints.for_each(|print| *counts.entry(print).or_insert(0) += 1);
    counts
}

/// Reads the whole tail once. Without cursors, waits until what is held stays the same for a while.
///
/// # Errors
/// What is wrong with the gateway, for people.
pub(super) async fn read(client: &Client, sandbox: &Sandbox, pace: Pace) -> Result<Mark, String> {
    let held = held_lines(client, sandbox).await?;
    if held == 0 {
        return Ok(Mark::Nothing);
    }
    let from = WatchFrom::Tail(TAIL_LINES);
    let mut watch = client
        .watch(sandbox, &from)
        .await
        .map_err(|end| ended(&end))?;
    let mut greatest = String::new();
    let silence = pace.once().max(SILENCE_MIN);
    let mut read = 0;
    while read < held {
        // Another replica may hold fewer.
        let Ok(event) = tokio::time::timeout(silence, watch.next()).await else {
            break;
        };
        let line = match event {
            Ok(WatchEvent::Line(line)) => line.bounded(),
            Ok(_) => continue,
            Err(end) => return Err(ended(&end)),
        };
        read += 1;
        if line.cursor > greatest {
            greatest = line.cursor;
        }
    }
    match greatest.is_empty() {
        true => unchanged(client, sandbox, pace).await,
        false => Ok(Mark::Cursor(greatest)),
    }
}

/// How many lines the tail has at least; all that it can have when they are too long for one answer.
async fn held_lines(client: &Client, sandbox: &Sandbox) -> Result<usize, String> {
    match held(client, sandbox, TAIL_LINES).await {
        Ok(lines) => Ok(lines.len()),
        Err(_) => {
            let newest = held(client, sandbox, 1).await?;
            Ok(newest.len() * TAIL_LINES as usize)
        }
    }
}

/// Without cursors: what is held, once it has stayed the same.
async fn unchanged(client: &Client, sandbox: &Sandbox, pace: Pace) -> Result<Mark, String> {
    let mut last = held(client, sandbox, TAIL_LINES).await?;
    let mut since = Instant::now();
    while since.elapsed() < pace.once() {
        tokio::time::sleep(pace.once() / 10).await;
        let now = held(client, sandbox, TAIL_LINES).await?;
        if now != last {
            last = now;
            since = Instant::now();
        }
    }
    Ok(match last.is_empty() {
        true => Mark::Nothing,
        false => Mark::Lines(last),
    })
}

async fn held(client: &Client, sandbox: &Sandbox, lines: u32) -> Result<Vec<WatchedLine>, String> {
    let asked: Result<_, GatewayError> = client.snapshot(sandbox, lines).await;
    Ok(asked.map_err(|error| error.to_string())?.lines)
}

fn ended(end: &StreamEnd) -> String {
    format!("the gateway ended the reading: {end:?}")
}
