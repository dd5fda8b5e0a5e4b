//! How following stands now, for whoever asks from outside: `forward.json` and the metrics.
//!
//! Streams and the roster write here as they go; nothing here decides anything about the record.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use boundlane_gateway::{GatewayError, Identity};
use boundlane_record::Micros;

use crate::context::wall_clock;
use crate::forwarder::{Forwarder, GatewayFacts, Listed, Trouble, bounded, is_refusal, word};

/// How a stream stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Lines come as they are published.
    Attached,
    /// It is between two attachments.
    Waiting,
    /// The gateway does not let us read it.
    Refused,
}

/// One process's facts.
#[derive(Debug)]
pub(crate) struct Board {
    since: Micros,
    facts: Mutex<Facts>,
}

#[derive(Debug, Default)]
struct Facts {
    gateway: GatewayFacts,
    sandboxes: Option<Listed>,
    /// By sandbox id.
    streams: HashMap<String, Standing>,
    archiving_failed: bool,
}

impl Default for Board {
    fn default() -> Board {
        Board {
            since: wall_clock(),
            facts: Mutex::default(),
        }
    }
}

impl Board {
    /// The gateway listed its sandboxes.
    pub(crate) fn listed(&self, identity: &Identity, listed: Listed, at: Micros) {
        let mut facts = self.facts();
        facts.name(identity);
        facts.gateway.answered = Some(at.0);
        facts.gateway.trouble = None;
        facts.sandboxes = Some(listed);
    }

    /// It could not be asked.
    pub(crate) fn failed(&self, identity: &Identity, error: &GatewayError, at: Micros) {
        let kind = error.kind();
        let mut facts = self.facts();
        facts.name(identity);
        let since = facts.gateway.trouble.as_ref().map(|trouble| trouble.since);
        facts.gateway.trouble = Some(Trouble {
            why: word(kind).to_owned(),
            is_refusal: is_refusal(kind),
            since: since.unwrap_or(at.0),
        });
    }

    /// A stream stands so.
    pub(crate) fn stream(&self, sandbox_id: &str, standing: Standing) {
        let mut facts = self.facts();
        match facts.streams.get_mut(sandbox_id) {
            Some(known) => *known = standing,
            None => drop(facts.streams.insert(sandbox_id.to_owned(), standing)),
        }
    }

    /// A stream is over.
    pub(crate) fn over(&self, sandbox_id: &str) {
        self.facts().streams.remove(sandbox_id);
    }

    /// Every stream is: the journal is opened anew.
    pub(crate) fn all_over(&self) {
        self.facts().streams.clear();
    }

    /// How archiving went.
    pub(crate) fn archived(&self, is_done: bool) {
        self.facts().archiving_failed = !is_done;
    }

    /// All of it, as of `now`.
    pub(crate) fn forwarder(&self, now: Micros) -> Forwarder {
        let facts = self.facts();
        let standing = |wanted| {
            let streams = facts.streams.values();
            streams.filter(|standing| **standing == wanted).count() as u64
        };
        Forwarder {
            pid: std::process::id(),
            since: self.since.0,
            written: now.0,
            gateway: facts.gateway.clone(),
            sandboxes: facts.sandboxes,
            attached: standing(Standing::Attached),
            refused: standing(Standing::Refused),
            archiving_failed: facts.archiving_failed,
        }
    }

    /// What is there is whole after every change, so a panic elsewhere takes nothing from it.
    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Facts {
    fn name(&mut self, identity: &Identity) {
        self.gateway.name = identity.name.as_deref().map(bounded);
        self.gateway.endpoint = bounded(&identity.endpoint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            endpoint: "http://127.0.0.1:1".to_owned(),
            name: None,
            version: None,
            certificate_sha256: None,
            authenticated: "none",
            verification_skipped: false,
        }
    }

    #[test]
    fn trouble_is_younger_than_it_is_or_outlives_an_answer() {
        let board = Board::default();
        let error = GatewayError::NotRunning {
            endpoint: String::new(),
            why: String::new(),
        };
        board.failed(&identity(), &error, Micros(5));
        board.failed(&identity(), &error, Micros(9));
        let down = board.forwarder(Micros(10));
        let trouble = down.gateway.trouble.clone().unwrap_or_default();
        assert_eq!((trouble.why.as_str(), trouble.since), ("not_running", 5));
        assert!(!trouble.is_refusal && !down.is_gateway_up());
        board.listed(&identity(), Listed::default(), Micros(11));
        let up = board.forwarder(Micros(12));
        assert!(up.is_gateway_up());
        assert_eq!(up.gateway.answered, Some(11));
    }

    #[test]
    fn a_stream_is_counted_twice_or_after_its_end() {
        let board = Board::default();
        board.stream("a", Standing::Attached);
        board.stream("b", Standing::Attached);
        board.stream("b", Standing::Refused);
        board.stream("c", Standing::Waiting);
        let counts = |board: &Board| {
            let forwarder = board.forwarder(Micros(0));
            (forwarder.attached, forwarder.refused)
        };
        assert_eq!(counts(&board), (1, 1));
        board.over("b");
        assert_eq!(counts(&board), (1, 0));
        board.all_over();
        assert_eq!(counts(&board), (0, 0));
    }
}
