//! From a run of entries to blocks.
//!
//! Packing takes longer than all else that a commit does with an entry. So a full block is packed on a thread
//! of its own while the next one is gathered and hashed; the last one of a commit, most often the only one,
//! is packed where it is: nothing is left to do meanwhile.

mod draft;
mod share;

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use boundlane_record::{EntryMeta, Seq};
use zstd::bulk::Compressor;

use crate::admission::Region;
use crate::block::StreamId;
use crate::error::AppendError;
use draft::Draft;
pub(crate) use draft::Sealed;

/// zstd level 1: a higher one costs more writer time than it saves disk.
const ZSTD_LEVEL: i32 = 1;

/// Gathers entries and seals them into blocks. Reused from commit to commit: it keeps its memory.
pub(crate) struct Packer {
    draft: Draft,
    spare: Vec<Draft>,
    compressor: Compressor<'static>,
    /// To the thread, which ends when this is dropped.
    drafts: SyncSender<Draft>,
    sealed: Receiver<Sealed>,
    /// Whether the thread has a block.
    under_way: bool,
}

impl Packer {
    pub(crate) fn new() -> std::io::Result<Packer> {
        let mut compressor = Compressor::new(ZSTD_LEVEL)?;
        let (drafts, taken) = sync_channel::<Draft>(1);
        let (done, sealed) = sync_channel(1);
        std::thread::Builder::new()
            .name("packer".to_owned())
            .spawn(move || {
                for draft in taken {
                    if done.send(draft.seal(&mut compressor)).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Packer {
            draft: Draft::default(),
            spare: Vec::new(),
            compressor: Compressor::new(ZSTD_LEVEL)?,
            drafts,
            sealed,
            under_way: false,
        })
    }

    /// Whether an entry of `bytes` still goes into the block at hand.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.draft.has_room(bytes)
    }

    /// Adds the entry numbered `seq`, which follows the last one added.
    pub(crate) fn add(&mut self, seq: Seq, of: (StreamId, Region), entry: &[u8], meta: &EntryMeta) {
        self.draft.add(seq, of, entry, meta);
    }

    /// Begins to pack the block at hand, and gives the one before it, which is packed by then.
    ///
    /// # Errors
    /// [`AppendError::Poisoned`] when the thread is gone.
    pub(crate) fn turn(&mut self) -> Result<Option<Sealed>, AppendError> {
        let before = self.packed()?;
        let full = self.take();
        self.drafts.send(full).map_err(|_| AppendError::Poisoned)?;
        self.under_way = true;
        Ok(before)
    }

    /// At the end of a commit: the blocks that are left, in order, then none.
    ///
    /// # Errors
    /// As [`Packer::turn`].
    pub(crate) fn rest(&mut self) -> Result<Option<Sealed>, AppendError> {
        if self.under_way || self.draft.is_empty() {
            return self.packed();
        }
        let last = self.take();
        Ok(Some(last.seal(&mut self.compressor)))
    }

    /// Takes the block at hand and begins another.
    fn take(&mut self) -> Draft {
        let next = self.spare.pop().unwrap_or_default();
        std::mem::replace(&mut self.draft, next)
    }

    /// Waits for the block that the thread has.
    fn packed(&mut self) -> Result<Option<Sealed>, AppendError> {
        if !std::mem::take(&mut self.under_way) {
            return Ok(None);
        }
        let sealed = self.sealed.recv();
        sealed.map(Some).map_err(|_| AppendError::Poisoned)
    }

    /// Takes back the memory of a block whose row is written.
    pub(crate) fn reuse(&mut self, sealed: Sealed) {
        self.spare.push(sealed.into_draft());
    }

    /// Forgets what a commit that failed has left.
    pub(crate) fn clear(&mut self) -> Result<(), AppendError> {
        self.draft.clear();
        self.packed().map(drop)
    }
}
