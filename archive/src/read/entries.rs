//! The entries of a file as a stream.

use boundlane_record::Seq;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use super::{BadFile, OpenFile, next_batch};

/// The entries of one file, in number order.
#[derive(Debug)]
pub struct Entries<'f> {
    file: &'f OpenFile,
    /// The row group after the one being read.
    group: usize,
    /// The number of the first row that is not spelled yet.
    next: Seq,
    /// Numbers below are passed over.
    from: Seq,
    batches: Option<ParquetRecordBatchReader>,
    spelled: Spelled,
    at: usize,
    failed: bool,
}

impl<'f> Entries<'f> {
    /// Reads row group `group`, whose first row is `next`, and on; numbers below `from` are passed over.
    pub(super) fn new(file: &'f OpenFile, group: usize, next: Seq, from: Seq) -> Entries<'f> {
        Entries {
            file,
            group,
            next,
            from,
            batches: None,
            spelled: Spelled::default(),
            at: 0,
            failed: false,
        }
    }

    /// The next entry: its number and its canonical bytes. After an error there are no more.
    #[allow(
        clippy::should_implement_trait,
        reason = "an entry borrows from the reader, which an iterator cannot say"
    )]
    pub fn next(&mut self) -> Option<Result<(Seq, &[u8]), BadFile>> {
        while !self.failed {
            if self.at == self.spelled.ends.len() {
                match self.refill() {
                    Ok(true) => continue,
                    Ok(false) => return None,
                    Err(why) => {
                        self.failed = true;
                        return Some(Err(self.file.bad(why)));
                    }
                }
            }
            let at = self.at;
            self.at += 1;
            let seq = Seq(self.next.0 - (self.spelled.ends.len() - at) as u64);
            if seq >= self.from {
                return Some(Ok((seq, self.spelled.entry(at))));
            }
        }
        None
    }

    /// Spells the next batch; `false` at the end of the file.
    fn refill(&mut self) -> Result<bool, String> {
        loop {
            if let Some(batch) = self.batches.as_mut().and_then(next_batch) {
                let batch = batch?;
                self.file.spell(&batch, self.next, &mut self.spelled)?;
                self.next = Seq(self.next.0 + batch.num_rows() as u64);
                self.at = 0;
                return Ok(true);
            }
            if self.group == self.file.groups.len() {
                let whole = self.next == self.file.footer.last.next();
                return whole
                    .then_some(false)
                    .ok_or_else(|| "it holds fewer rows than it says".to_owned());
            }
            self.batches = Some(self.file.batches(self.group)?);
            self.group += 1;
        }
    }
}

/// Canonical entries back to back.
#[derive(Debug, Default)]
pub(super) struct Spelled {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Spelled {
    pub(super) fn entry(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    pub(super) fn add(&mut self, spell: impl FnOnce(&mut Vec<u8>)) {
        spell(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}
