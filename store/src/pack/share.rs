//! What a block holds of each stream, and how its packed bytes are divided among them.

use crate::admission::{Held, Region, Waiting};
use crate::block::StreamId;

/// What a block holds of one stream, before it is packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) stream: StreamId,
    all: Held,
    last_tenth: Held,
}

/// What the row of a block says of one stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) stream: StreamId,
    /// Its entries, and its part of the body.
    pub(crate) all: Held,
    /// Of these, what was let into the last tenth.
    pub(crate) last_tenth: Held,
}

impl Part {
    pub(super) fn new(stream: StreamId) -> Part {
        Part {
            stream,
            all: Held::default(),
            last_tenth: Held::default(),
        }
    }

    pub(super) fn add(&mut self, bytes: usize, region: Region) {
        let one = Held::one(bytes as u64);
        self.all += one;
        if region == Region::LastTenth {
            self.last_tenth += one;
        }
    }
}

impl Share {
    /// As the queue counts it.
    pub(crate) fn waiting(&self) -> Waiting {
        Waiting {
            general: self.all - self.last_tenth,
            last_tenth: self.last_tenth,
        }
    }
}

/// Divides the body as the bytes before packing are; what does not divide is the first stream's.
pub(super) fn divide(parts: &[Part], body_bytes: u64) -> impl Iterator<Item = Share> {
    let plain: u64 = parts.iter().map(|part| part.all.stored_bytes).sum();
    let divided = move |held: Held| Held {
        stored_bytes: held.stored_bytes * body_bytes / plain.max(1),
        ..held
    };
    let sum: u64 = parts
        .iter()
        .map(|part| divided(part.all).stored_bytes)
        .sum();
    let mut rest = body_bytes - sum;
    parts.iter().map(move |part| {
        let mut share = Share {
            stream: part.stream,
            all: divided(part.all),
            last_tenth: divided(part.last_tenth),
        };
        share.all.stored_bytes += std::mem::take(&mut rest);
        share
    })
}
