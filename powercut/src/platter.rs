//! What a disk holds for certain, and what it was told since: one file.

use crate::rng::Rng;

/// Bytes that a disk writes whole or not at all.
const SECTOR_BYTES: usize = 512;

/// One file: what its last sync made certain, and what came after that, oldest first.
#[derive(Debug, Default, Clone)]
pub(crate) struct Platter {
    certain: Vec<u8>,
    since: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Cut { length: usize },
}

impl Platter {
    /// A file that was there before anybody looked: all of it is certain.
    pub(crate) fn holding(certain: Vec<u8>) -> Platter {
        Platter {
            certain,
            since: Vec::new(),
        }
    }

    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        self.since.push(Change::Write { at, bytes });
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.since.push(Change::Cut { length });
    }

    pub(crate) fn sync(&mut self) {
        for change in self.since.drain(..) {
            change.apply(&mut self.certain);
        }
    }

    /// What is there after the power went: what was certain, and of the rest nothing, everything, a
    /// beginning whose last write is torn, or sectors in no order.
    pub(crate) fn after_cut(&self, rng: &mut Rng) -> Vec<u8> {
        let mut left = self.certain.clone();
        match rng.below(4) {
            0 => {}
            1 => self.since.iter().for_each(|change| change.apply(&mut left)),
            2 => self.beginning(&mut left, rng),
            _ => self.sectors(&mut left, rng),
        }
        left
    }

    fn beginning(&self, left: &mut Vec<u8>, rng: &mut Rng) {
        let whole = rng.below(self.since.len() + 1);
        for change in &self.since[..whole] {
            change.apply(left);
        }
        if let Some(Change::Write { at, bytes }) = self.since.get(whole) {
            let sectors: Vec<_> = sectors(*at, bytes).collect();
            for (at, sector) in &sectors[..rng.below(sectors.len() + 1)] {
                put(left, *at, sector);
            }
        }
    }

    fn sectors(&self, left: &mut Vec<u8>, rng: &mut Rng) {
        for change in &self.since {
            match change {
                Change::Write { at, bytes } => sectors(*at, bytes)
                    .filter(|_| rng.below(2) == 0)
                    .for_each(|(at, sector)| put(left, at, sector)),
                Change::Cut { .. } if rng.below(2) == 0 => {}
                cut @ Change::Cut { .. } => cut.apply(left),
            }
        }
    }
}

impl Change {
    fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Change::Write { at, bytes } => put(file, *at, bytes),
            Change::Cut { length } => file.resize(*length, 0),
        }
    }
}

/// Bytes beyond the end make the file longer; a hole is zeros.
fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[at..end].copy_from_slice(bytes);
}

/// The write's part in each sector of the file.
fn sectors(at: usize, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let first = (SECTOR_BYTES - at % SECTOR_BYTES).min(bytes.len());
    let (head, rest) = bytes.split_at(first);
    let rest = rest.chunks(SECTOR_BYTES);
    let mut at = at;
    std::iter::once(head)
        .chain(rest)
        .filter(|part| !part.is_empty())
        .map(move |part| {
            let here = at;
            at += part.len();
            (here, part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For 1000 seeds: what was synced is there, each sector is the old one or the new one, and all the
    /// ways to lose occur.
    #[test]
    fn a_cut_leaves_each_sector_old_or_new() {
        let mut platter = Platter::default();
        platter.write(0, &[1; 2048]);
        platter.sync();
        platter.write(512, &[2; 1000]);
        platter.write(1600, &[3; 1000]);
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..1000 {
            let left = platter.after_cut(&mut Rng::new(seed));
            assert!(left.len() >= 2048);
            let whole =
                |range: std::ops::Range<usize>, of: u8| left[range].iter().all(|b| *b == of);
            assert!(whole(0..512, 1) && whole(1512..1600, 1));
            assert!(whole(512..1024, 1) || whole(512..1024, 2));
            assert!(whole(1024..1512, 1) || whole(1024..1512, 2));
            assert!(whole(1600..2048, 1) || whole(1600..2048, 3));
            seen.insert(left);
        }
        assert!(seen.len() > 10, "{}", seen.len());
    }

    #[test]
    fn a_write_is_cut_where_the_files_sectors_end() {
        let parts: Vec<_> = sectors(500, &[0; 1036])
            .map(|(at, part)| (at, part.len()))
            .collect();
        assert_eq!(parts, [(500, 12), (512, 512), (1024, 512)]);
    }
}
