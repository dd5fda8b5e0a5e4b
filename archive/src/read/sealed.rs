//! Whether a row group's bytes are the ones that were written.

use super::OpenFile;
use crate::seal::Seal;

/// Bytes hashed at once.
const PIECE_BYTES: u64 = 64 << 10;

impl OpenFile {
    /// Whether the footer's row groups lie where its seals say; asked once, when the file is opened.
    pub(super) fn check_layout(&self) -> Result<(), String> {
        let seals = &self.footer.seals;
        if seals.is_empty() {
            return Ok(());
        }
        let groups = self.metadata.metadata().row_groups();
        let mut start = 0;
        let mut fits = seals.len() == groups.len();
        for (group, seal) in groups.iter().zip(seals) {
            let inside = |(at, length): (u64, u64)| {
                at >= start && at.checked_add(length).is_some_and(|end| end <= seal.end)
            };
            fits &= group
                .columns()
                .iter()
                .all(|column| inside(column.byte_range()));
            start = seal.end;
        }
        let whole = fits && start <= self.reader.len();
        whole
            .then_some(())
            .ok_or_else(|| "its footer contradicts itself".to_owned())
    }

    /// Hashes the row group's bytes.
    pub(super) fn check_seal(&self, group: usize) -> Result<(), String> {
        let Some(&seal) = self.footer.seals.get(group) else {
            return Ok(());
        };
        let before = group
            .checked_sub(1)
            .map(|before| self.footer.seals[before].end);
        self.check_range(before.unwrap_or(0), seal)
    }

    /// Hashes every byte of the file: those of the row groups against their seals, all behind them against
    /// `tail`, which ends where the file must end.
    pub(crate) fn check_bytes(&self, tail: Seal) -> Result<(), String> {
        (0..self.footer.seals.len()).try_for_each(|group| self.check_seal(group))?;
        let start = self.footer.seals.last().map_or(0, |seal| seal.end);
        self.check_range(start, tail)?;
        (self.reader.len() == tail.end)
            .then_some(())
            .ok_or_else(|| "it is longer than it was written".to_owned())
    }

    /// Hashes the bytes from `start` to the seal's end.
    fn check_range(&self, start: u64, seal: Seal) -> Result<(), String> {
        let mut failed = None;
        let mut at = start;
        let pieces = std::iter::from_fn(|| {
            let length = PIECE_BYTES.min(seal.end.checked_sub(at)?);
            let piece = self
                .reader
                .bytes(at, length)
                .map_err(|error| failed = Some(error))
                .ok()?;
            at += length;
            (length > 0).then_some(piece)
        });
        let found = Seal::over(seal.end, pieces);
        if let Some(error) = failed {
            return Err(format!("it cannot be read ({error})"));
        }
        (found == seal)
            .then_some(())
            .ok_or_else(|| "its bytes are damaged".to_owned())
    }
}
