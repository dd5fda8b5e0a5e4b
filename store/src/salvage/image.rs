//! The pages of a database file as its last commit left them, read without SQLite.
//!
//! SQLite gives up on a tree at the first page that does not fit. Salvage reads each page by itself, so
//! that a bad one costs what lies in it and nothing behind it. The format is
//! <https://www.sqlite.org/fileformat2.html>.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::record::{self, Record};
use super::wal::{self, Wal};
use crate::db::beside;

/// What every journal is laid out with.
const PAGE_BYTES: usize = 4096;
/// Bytes of one record: more than a stream's row or a block can have.
const PAYLOAD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Kinds of pages of a tree.
pub(crate) const TABLE_LEAF: u8 = 0x0d;
const TABLE_INTERIOR: u8 = 0x05;
const INDEX_LEAF: u8 = 0x0a;
const INDEX_INTERIOR: u8 = 0x02;
/// How deep a tree is followed.
const DEPTH_MAX: u32 = 16;

/// A file with the commits of its `-wal` laid over it.
pub(crate) struct Image {
    file: File,
    wal: Option<Wal>,
    over: HashMap<u32, u64>,
    page_bytes: usize,
    pages: u32,
}

/// One row of a leaf, or of an inner page of a table without rowids.
pub(crate) struct Cell {
    pub(crate) rowid: i64,
    pub(crate) record: Record,
}

/// Where a page's bytes are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Page(u32),
    /// In the `-wal`, by frame, whatever came of it later.
    Frame(usize),
}

/// What following a tree meets.
pub(crate) enum Met {
    Row(Cell),
    /// A page that cannot be read: rows between those before and after are gone.
    Hole,
}

impl Image {
    /// Opens what lies at `path` with its `-wal`, whatever state they are in.
    pub(crate) fn open(path: &Path) -> io::Result<Image> {
        let file = File::open(path)?;
        let page_bytes = Image::page_bytes_of(path)?;
        let wal = Wal::read(&beside(path, "-wal"), page_bytes)?;
        let page_bytes = wal.as_ref().map_or(page_bytes, |wal| wal.page_bytes);
        let of_file = file.metadata()?.len().div_ceil(page_bytes as u64);
        let of_file = u32::try_from(of_file).unwrap_or(u32::MAX);
        let mut over = HashMap::new();
        for frame in wal.iter().flat_map(|wal| &wal.frames) {
            if frame.sound {
                over.insert(frame.page, frame.at);
            }
        }
        let last = over.keys().max().copied();
        Ok(Image {
            file,
            wal,
            over,
            page_bytes,
            // What a `-wal` says of the size can be anything; a page of it that can be read is there.
            pages: of_file.max(last.unwrap_or(0)),
        })
    }

    /// The size of the pages of the file at `path`, as its header says if it can.
    pub(crate) fn page_bytes_of(path: &Path) -> io::Result<usize> {
        let mut header = Vec::with_capacity(100);
        File::open(path)?.take(100).read_to_end(&mut header)?;
        Ok(page_bytes(&header))
    }

    /// Every page; and where frames of the `-wal` are damaged, all those that are not a page's last state:
    /// what a damaged one held may still be readable there.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = (1..=self.pages).map(Place::Page).collect();
        let frames = self.wal.as_ref().map_or(&[][..], |wal| &wal.frames);
        if frames.iter().all(|frame| frame.sound) {
            return places;
        }
        for (n, frame) in frames.iter().enumerate() {
            if self.over.get(&frame.page) != Some(&frame.at) {
                places.push(Place::Frame(n));
            }
        }
        places
    }

    /// The bytes of a page; `None` where there are none.
    pub(crate) fn page(&mut self, place: Place) -> io::Result<Option<Vec<u8>>> {
        let mut page = vec![0; self.page_bytes];
        let is_whole = match (place, &mut self.wal) {
            (Place::Frame(frame), Some(wal)) => {
                let at = wal.frames[frame].at;
                wal::read_page(&mut wal.file, at, &mut page)?
            }
            (Place::Frame(_), None) => false,
            (Place::Page(number), wal) => match (self.over.get(&number), wal) {
                (Some(at), Some(wal)) => wal::read_page(&mut wal.file, *at, &mut page)?,
                _ => {
                    let at = (u64::from(number) - 1) * self.page_bytes as u64;
                    wal::read_page(&mut self.file, at, &mut page)?
                }
            },
        };
        Ok(is_whole.then_some(page))
    }

    /// Whether the page is as a commit wrote it, as far as checksums tell: only frames have them.
    pub(crate) fn is_sound(&self, place: Place) -> bool {
        match (place, &self.wal) {
            (Place::Frame(frame), Some(wal)) => wal.frames[frame].sound,
            _ => true,
        }
    }

    /// The rows of a table's leaf, by its pointers.
    pub(crate) fn leaf_cells(&mut self, page: &[u8]) -> io::Result<Vec<Cell>> {
        let mut cells = Vec::new();
        for at in pointers(page, 0, 8) {
            cells.extend(self.table_cell(page, at)?);
        }
        Ok(cells)
    }

    /// The row whose cell begins at `at` of a table's leaf.
    pub(crate) fn table_cell(&mut self, page: &[u8], at: usize) -> io::Result<Option<Cell>> {
        let Some((bytes, at)) = record::varint(page, at) else {
            return Ok(None);
        };
        let Some((rowid, at)) = record::varint(page, at) else {
            return Ok(None);
        };
        let usable = self.page_bytes;
        let record = self.record(page, at, bytes, usable - 35)?;
        Ok(record.map(|record| Cell {
            rowid: rowid.cast_signed(),
            record,
        }))
    }

    fn index_cell(&mut self, page: &[u8], at: usize) -> io::Result<Option<Cell>> {
        let Some((bytes, at)) = record::varint(page, at) else {
            return Ok(None);
        };
        let local = (self.page_bytes - 12) * 64 / 255 - 23;
        let record = self.record(page, at, bytes, local)?;
        Ok(record.map(|record| Cell { rowid: 0, record }))
    }

    /// A record of `bytes`, the part beyond `local_max` in overflow pages.
    fn record(
        &mut self,
        page: &[u8],
        at: usize,
        bytes: u64,
        local_max: usize,
    ) -> io::Result<Option<Record>> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if bytes > PAYLOAD_BYTES_MAX {
            return Ok(None);
        }
        let least = (self.page_bytes - 12) * 32 / 255 - 23;
        let local = match bytes {
            bytes if bytes <= local_max => bytes,
            _ => match least + (bytes - least) % (self.page_bytes - 4) {
                local if local <= local_max => local,
                _ => least,
            },
        };
        let Some(begin) = page.get(at..at + local) else {
            return Ok(None);
        };
        // Read before the rest is fetched: most of what is tried here is no record.
        if !record::may_be_one(begin, bytes) {
            return Ok(None);
        }
        let mut payload = begin.to_vec();
        if local < bytes {
            let Some(next) = page.get(at + local..at + local + 4) else {
                return Ok(None);
            };
            if !self.overflow(big_endian(next), bytes, &mut payload)? {
                return Ok(None);
            }
        }
        Ok(record::decode(&payload))
    }

    fn overflow(&mut self, mut next: u32, bytes: usize, payload: &mut Vec<u8>) -> io::Result<bool> {
        while payload.len() < bytes {
            if next == 0 || next > self.pages {
                return Ok(false);
            }
            let Some(page) = self.page(Place::Page(next))? else {
                return Ok(false);
            };
            next = big_endian(&page[..4]);
            let more = (bytes - payload.len()).min(page.len() - 4);
            payload.extend_from_slice(&page[4..4 + more]);
        }
        Ok(true)
    }

    /// Follows a tree from its root, in order.
    pub(crate) fn follow(&mut self, root: u32, meet: &mut dyn FnMut(Met)) -> io::Result<()> {
        let mut left = self.pages;
        self.follow_at(root, 0, &mut left, meet)
    }

    fn follow_at(
        &mut self,
        number: u32,
        depth: u32,
        left: &mut u32,
        meet: &mut dyn FnMut(Met),
    ) -> io::Result<()> {
        let is_there = number > 0 && number <= self.pages && depth < DEPTH_MAX && *left > 0;
        *left = left.saturating_sub(1);
        let page = match is_there {
            true => self.page(Place::Page(number))?,
            false => None,
        };
        let Some(page) = page else {
            meet(Met::Hole);
            return Ok(());
        };
        let head = if number == 1 { 100 } else { 0 };
        let kind = page[head];
        if ![TABLE_LEAF, TABLE_INTERIOR, INDEX_LEAF, INDEX_INTERIOR].contains(&kind) {
            meet(Met::Hole);
            return Ok(());
        }
        let is_inner = kind == TABLE_INTERIOR || kind == INDEX_INTERIOR;
        for at in pointers(&page, head, if is_inner { 12 } else { 8 }) {
            let mut at = at;
            if is_inner {
                let child = page.get(at..at + 4).map_or(0, big_endian);
                self.follow_at(child, depth + 1, left, meet)?;
                at += 4;
            }
            let cell = match kind {
                TABLE_LEAF => self.table_cell(&page, at)?,
                TABLE_INTERIOR => continue,
                _ => self.index_cell(&page, at)?,
            };
            meet(cell.map_or(Met::Hole, Met::Row));
        }
        if is_inner {
            let child = big_endian(&page[head + 8..head + 12]);
            self.follow_at(child, depth + 1, left, meet)?;
        }
        Ok(())
    }
}

/// Where a page's cells begin, as far as its list of them reaches.
fn pointers(page: &[u8], head: usize, header_bytes: usize) -> Vec<usize> {
    let cells = usize::from(page[head + 3]) << 8 | usize::from(page[head + 4]);
    let list = page[head + header_bytes..].chunks_exact(2).take(cells);
    list.map(|pair| usize::from(pair[0]) << 8 | usize::from(pair[1]))
        .collect()
}

fn page_bytes(header: &[u8]) -> usize {
    match header.get(16..18) {
        Some([0, 1]) => 65536,
        Some(&[high, low]) => match usize::from(high) << 8 | usize::from(low) {
            bytes if bytes >= 512 && bytes.is_power_of_two() => bytes,
            _ => PAGE_BYTES,
        },
        _ => PAGE_BYTES,
    }
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}
