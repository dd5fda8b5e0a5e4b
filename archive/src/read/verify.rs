//! A whole file recomputed: every entry, every leaf, the tree.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use boundlane_record::Seq;
use boundlane_record::tree::{Hash, leaf_hash};

use super::entries::Spelled;
use super::{BadFile, OpenFile, next_batch};
use crate::error::Head;

pub(crate) type Leaves = Result<Vec<Hash>, String>;

impl OpenFile {
    /// Reads every entry, hashes it, and compares the tree with the footer's: the file holds exactly
    /// what its head says. Constant memory; `workers` row groups at a time.
    ///
    /// # Errors
    /// [`BadFile`] for the first thing that does not fit.
    pub fn verify(&self, workers: usize) -> Result<Head, BadFile> {
        self.try_verify(workers.max(1)).map_err(|why| self.bad(why))
    }

    fn try_verify(&self, workers: usize) -> Result<Head, String> {
        let mut edge = self.footer.edge_before.clone();
        std::thread::scope(|scope| {
            let mut lanes: Vec<Receiver<Leaves>> = Vec::with_capacity(workers);
            for lane in 0..workers {
                let (send, leaves) = sync_channel(1);
                scope.spawn(move || self.hash_groups(lane, workers, &send));
                lanes.push(leaves);
            }
            for group in 0..self.groups.len() {
                let received = lanes[group % workers].recv();
                let leaves = received.map_err(|_| "its rows cannot be read".to_owned())??;
                for leaf in leaves {
                    edge.push(leaf);
                }
            }
            Ok::<(), String>(())
        })?;
        let (found, stated) = (Head::of(&edge), self.footer.head());
        if found == stated {
            return Ok(found);
        }
        Err(format!(
            "its entries hash to {found}, its footer says {stated}"
        ))
    }

    /// Sends the leaves of every `step`th row group from `first` on.
    fn hash_groups(&self, first: usize, step: usize, send: &SyncSender<Leaves>) {
        for group in (first..self.groups.len()).step_by(step) {
            if send.send(self.leaves(group)).is_err() {
                return;
            }
        }
    }

    /// The leaf hashes of one row group, from its entries as they read back.
    pub(crate) fn leaves(&self, group: usize) -> Leaves {
        let mut first = self.footer.first.0 + self.groups[..group].iter().sum::<u64>();
        let mut leaves = Vec::new();
        let mut spelled = Spelled::default();
        let mut batches = self.batches(group)?;
        while let Some(batch) = next_batch(&mut batches) {
            let batch = batch?;
            self.spell(&batch, Seq(first), &mut spelled)?;
            first += batch.num_rows() as u64;
            leaves.extend((0..batch.num_rows()).map(|row| leaf_hash(spelled.entry(row))));
        }
        Ok(leaves)
    }
}
