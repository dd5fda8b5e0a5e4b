//! Reading a file back before it is published: every byte, and some row groups down to their entries.
//!
//! A disk can return other bytes than it was given; that shows in the hash of any byte. That columns give the
//! entries back is a property of this program, not of the disk: it is tested, proved on a sample of each file
//! here, and on every entry by [`OpenFile::verify`] whenever somebody asks.

use std::path::Path;

use boundlane_record::tree::{Hash, root};

use crate::error::ArchiveError;
use crate::footer::Footer;
use crate::read::OpenFile;
use crate::seal::Seal;

/// What a file must read back as, beside its footer.
pub(super) struct Proof {
    /// Everything behind the last row group, to the end of the file.
    pub(super) tail: Seal,
    pub(super) samples: Vec<Sample>,
}

/// A row group that is rebuilt.
pub(super) struct Sample {
    pub(super) group: usize,
    /// The root of the tree over its entries alone, as they were pushed in.
    pub(super) root: Hash,
}

impl Proof {
    /// Reads the file again. Gives its length.
    pub(super) fn read_back(
        &self,
        path: &Path,
        written: &Footer,
        workers: usize,
    ) -> Result<u64, ArchiveError> {
        let fail = |why: String| ArchiveError::ReadBack {
            path: path.to_owned(),
            why,
        };
        let file = OpenFile::open(path).map_err(|bad| fail(bad.why))?;
        if file.footer() != written {
            return Err(fail("its footer differs".to_owned()));
        }
        file.check_bytes(self.tail).map_err(fail)?;
        self.rebuild(&file, workers.max(1)).map_err(fail)?;
        Ok(file.bytes())
    }

    /// Rebuilds the samples, each worker its share.
    fn rebuild(&self, file: &OpenFile, workers: usize) -> Result<(), String> {
        let share = self.samples.len().div_ceil(workers).max(1);
        std::thread::scope(|scope| {
            let check = |samples: &[Sample]| samples.iter().try_for_each(|it| it.check(file));
            let shares = self.samples.chunks(share);
            let threads: Vec<_> = shares.map(|it| scope.spawn(move || check(it))).collect();
            threads.into_iter().try_for_each(|thread| {
                let joined = thread.join();
                joined.unwrap_or_else(|_| Err("its rows cannot be read".to_owned()))
            })
        })
    }
}

impl Sample {
    fn check(&self, file: &OpenFile) -> Result<(), String> {
        let found = root(&file.leaves(self.group)?);
        (found == self.root)
            .then_some(())
            .ok_or_else(|| "its rows are other entries".to_owned())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use boundlane_record::Seq;
    use boundlane_record::tree::{Edge, leaf_hash};

    use super::*;
    use crate::{Archiver, JournalId, Root};

    #[test]
    fn a_row_group_that_holds_other_entries_than_were_pushed_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let journal = JournalId::parse("0123456789abcdef0123456789abcdef").unwrap();
        let entry: &[u8] = br#"{"kind":"event","observed":1}"#;
        let archiver = Archiver::open(Root::at(directory.path())).unwrap();
        let archived = archiver
            .write(&journal, &Edge::new(), [(Seq(1), entry)])
            .unwrap();
        let file = OpenFile::open(&archived.files[0].path).unwrap();
        let check = |entry: &[u8]| {
            let root = leaf_hash(entry);
            Sample { group: 0, root }.check(&file)
        };
        assert_eq!(check(entry), Ok(()));
        assert!(check(br#"{"kind":"event","observed":2}"#).is_err());
    }
}
