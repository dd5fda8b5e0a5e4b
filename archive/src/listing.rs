//! What an archive holds: the live files with their footers, the bad ones, and per journal what is missing.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use boundlane_record::Seq;
use boundlane_record::tree::Edge;

use crate::error::Head;
use crate::footer::Footer;
use crate::layout::{Day, FileName, JournalId, Root, VERSION_DIR};
use crate::read::{BadFile, OpenFile};

/// A live file of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Whose entries it holds, and which.
    pub name: FileName,
    /// The UTC day on which they were received.
    pub day: Day,
    /// Its length in bytes.
    pub bytes: u64,
    /// What it says about itself.
    pub footer: Footer,
}

impl ArchiveFile {
    /// The right edge of the journal's tree after the file's last entry.
    pub fn edge_after(&self) -> &Edge {
        &self.footer.edge_after
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// [`BadFile`] when it changed since it was listed.
    pub fn open(&self) -> Result<OpenFile, BadFile> {
        let file = OpenFile::open(&self.path)?;
        if file.footer() != &self.footer {
            return Err(BadFile {
                path: self.path.clone(),
                why: "it was replaced while the archive was read".to_owned(),
            });
        }
        Ok(file)
    }
}

/// All that was found under a root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The live files by journal, then number.
    pub files: Vec<ArchiveFile>,
    /// Files whose range lies in one live file of their journal; readers leave them out.
    pub superseded: Vec<PathBuf>,
    /// Files that cannot be read as part of the archive, by path.
    pub bad: Vec<BadFile>,
}

/// What the archive holds of one journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Whose entries.
    pub journal: JournalId,
    /// The first number held.
    pub first: Seq,
    /// The last number held.
    pub last: Seq,
    /// The head after `last`.
    pub head: Head,
    /// The right edge after `last`.
    pub edge: Edge,
    /// Ranges between `first` and `last` that no file holds.
    pub missing: Vec<RangeInclusive<u64>>,
    /// Files that begin where the file before them ends, but on another tree: two histories in one archive.
    pub breaks: Vec<PathBuf>,
}

/// Reads the whole archive's footers. A root that does not exist is an empty archive; whatever cannot be
/// read is in [`Listing::bad`], never an error of the whole.
pub fn list(root: &Root) -> Listing {
    list_where(root, |_| true)
}

/// The same for the files whose name `wanted` says yes to.
pub(crate) fn list_where(root: &Root, wanted: impl Fn(&FileName) -> bool) -> Listing {
    let mut scan = Scan::default();
    scan.root(root);
    let mut bad = scan.bad;
    let mut read = Vec::new();
    for (path, day, name) in scan.found {
        if !wanted(&name) {
            continue;
        }
        match read_footer(&path, day, &name) {
            Ok((bytes, footer)) => read.push(ArchiveFile {
                path,
                name,
                day,
                bytes,
                footer,
            }),
            Err(file) => bad.push(file),
        }
    }
    let mut listing = live(read);
    listing.bad.append(&mut bad);
    listing.bad.sort_by(|a, b| a.path.cmp(&b.path));
    listing
}

fn read_footer(path: &Path, day: Day, name: &FileName) -> Result<(u64, Footer), BadFile> {
    let file = OpenFile::open(path)?;
    let footer = file.footer();
    let bad = |why: &str| {
        Err(BadFile {
            path: path.to_owned(),
            why: why.to_owned(),
        })
    };
    if (&footer.journal, footer.first, footer.last) != (&name.journal, name.first, name.last) {
        return bad("its footer is of another range than its name");
    }
    let observed = footer.tally.observed;
    let is_elsewhere = |moment| Day::of(moment) != day;
    if observed.first().is_some_and(is_elsewhere) || observed.last().is_some_and(is_elsewhere) {
        return bad("it lies under another day than its entries were received on");
    }
    Ok((file.bytes(), footer.clone()))
}

/// Leaves out what one other file contains, and names what interleaves with a file before it.
fn live(mut read: Vec<ArchiveFile>) -> Listing {
    read.sort_by(|a, b| {
        let key = |file: &ArchiveFile| (file.name.journal.clone(), file.name.first);
        key(a)
            .cmp(&key(b))
            .then(b.name.last.cmp(&a.name.last))
            .then(a.path.cmp(&b.path))
    });
    let mut listing = Listing::default();
    for file in read {
        match listing.files.last() {
            Some(before) if before.name.contains(&file.name) => listing.superseded.push(file.path),
            Some(before) if before.name.overlaps(&file.name) => listing.bad.push(BadFile {
                why: format!("it overlaps `{}`", before.path.display()),
                path: file.path,
            }),
            _ => listing.files.push(file),
        }
    }
    listing
}

impl Listing {
    /// What is held of each journal, and what is missing in between.
    pub fn holdings(&self) -> Vec<Holding> {
        let mut holdings: BTreeMap<&JournalId, Holding> = BTreeMap::new();
        for file in &self.files {
            match holdings.get_mut(&file.name.journal) {
                Some(holding) => holding.extend(file),
                None => {
                    holdings.insert(&file.name.journal, Holding::begin(file));
                }
            }
        }
        holdings.into_values().collect()
    }

    /// The newest head held of `journal`.
    pub fn head_of(&self, journal: &JournalId) -> Option<Head> {
        let newest = self
            .files
            .iter()
            .rfind(|file| &file.name.journal == journal);
        newest.map(|file| file.footer.head())
    }
}

impl Holding {
    fn begin(file: &ArchiveFile) -> Holding {
        Holding {
            journal: file.name.journal.clone(),
            first: file.name.first,
            last: file.name.last,
            head: file.footer.head(),
            edge: file.footer.edge_after.clone(),
            missing: Vec::new(),
            breaks: Vec::new(),
        }
    }

    fn extend(&mut self, file: &ArchiveFile) {
        if file.name.first > self.last.next() {
            self.missing.push(self.last.0 + 1..=file.name.first.0 - 1);
        } else if file.footer.edge_before != self.edge {
            self.breaks.push(file.path.clone());
        }
        self.last = file.name.last;
        self.head = file.footer.head();
        self.edge = file.footer.edge_after.clone();
    }
}

/// The walk: `v=1`, days, files.
#[derive(Default)]
struct Scan {
    found: Vec<(PathBuf, Day, FileName)>,
    bad: Vec<BadFile>,
}

impl Scan {
    fn root(&mut self, root: &Root) {
        for (path, name) in self.entries(root.path()) {
            if name == VERSION_DIR {
                self.table(&path);
            } else if name.starts_with("v=") {
                let why = format!(
                    "it is of another format than `{VERSION_DIR}`; a newer program reads it"
                );
                self.bad.push(BadFile { path, why });
            }
        }
    }

    fn table(&mut self, table: &Path) {
        for (path, name) in self.entries(table) {
            match name.strip_prefix("date=").map(Day::parse) {
                Some(Some(day)) => self.day(&path, day),
                Some(None) => self.foreign(path),
                None if is_parquet(&name) => self.foreign(path),
                None => {}
            }
        }
    }

    fn day(&mut self, directory: &Path, day: Day) {
        for (path, name) in self.entries(directory) {
            match FileName::parse(&name) {
                Some(name) => self.found.push((path, day, name)),
                None if is_parquet(&name) => self.foreign(path),
                None => {}
            }
        }
    }

    fn foreign(&mut self, path: PathBuf) {
        let why = "it is not named as a file of this archive".to_owned();
        self.bad.push(BadFile { path, why });
    }

    /// The entries of a directory in name order; none when it does not exist.
    fn entries(&mut self, directory: &Path) -> Vec<(PathBuf, String)> {
        let listed = std::fs::read_dir(directory).and_then(|entries| {
            let name = |entry: std::io::Result<std::fs::DirEntry>| {
                entry.map(|entry| {
                    (
                        entry.path(),
                        entry.file_name().to_string_lossy().into_owned(),
                    )
                })
            };
            entries.map(name).collect::<std::io::Result<Vec<_>>>()
        });
        match listed {
            Ok(mut entries) => {
                entries.sort();
                entries
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                let why = format!("it cannot be listed ({error})");
                let path = directory.to_owned();
                self.bad.push(BadFile { path, why });
                Vec::new()
            }
        }
    }
}

/// Hidden files are left alone: sync tools and file managers put them anywhere.
fn is_parquet(name: &str) -> bool {
    name.ends_with(".parquet") && !name.starts_with('.')
}
