//! Writing: entries are pushed in, whole files come out.
//!
//! The caller's thread gathers entries into row groups and decides where files are cut; worker threads hash
//! and encode a row group each; one thread assembles files from them, reads each back and publishes it.
//! Row groups go to the workers in turn and come back in turn, over channels that hold nothing, so memory
//! is a row group of entries for the caller and for each worker, and one encoded, whatever their number.

mod assemble;
mod cut;
mod encode;
mod proof;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use boundlane_record::Seq;
use boundlane_record::tree::Edge;

use crate::disk::{Disk, OsDisk, create_dirs};
use crate::error::{ArchiveError, Head};
use crate::explain;
use crate::layout::{FileName, JournalId, Root};
use crate::limits::Limits;
use crate::listing::list_where;
use assemble::Assembler;
use cut::{Cutter, Place, Section};
use encode::{Buffers, Chunk, Encoder, Job};

/// What became of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The file is new.
    Written,
    /// A file with the same head was there.
    AlreadyThere,
}

/// A file that now durably holds a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Which entries it holds.
    pub name: FileName,
    /// The head after its last entry.
    pub head: Head,
    /// Whether this run wrote it.
    pub outcome: Outcome,
    /// Its length in bytes.
    pub bytes: u64,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The files, in number order; they join up.
    pub files: Vec<WrittenFile>,
    /// The right edge after the last entry: where the next run begins.
    pub edge: Edge,
}

/// The writer of an archive. The caller holds the archive's lock for as long as this lives.
pub struct Archiver {
    root: Root,
    disk: Arc<dyn Disk>,
    limits: Limits,
    machine: Option<String>,
}

impl Archiver {
    /// Opens the archive at `root` for writing: creates it where it is missing, removes what an earlier run
    /// left unfinished, and writes what explains the archive where that is missing or outdated.
    ///
    /// # Errors
    /// [`ArchiveError::Disk`].
    pub fn open(root: Root) -> Result<Archiver, ArchiveError> {
        Archiver::open_with(root, Arc::new(OsDisk), Limits::default())
    }

    /// The same on another disk and within other limits.
    ///
    /// # Errors
    /// [`ArchiveError::Disk`].
    pub fn open_with(
        root: Root,
        disk: Arc<dyn Disk>,
        limits: Limits,
    ) -> Result<Archiver, ArchiveError> {
        for directory in [root.temporaries(), root.table()] {
            create_dirs(disk.as_ref(), &directory)
                .map_err(|error| ArchiveError::disk("create", &directory, error))?;
        }
        remove_temporaries(disk.as_ref(), &root)?;
        explain::write(disk.as_ref(), &root)?;
        Ok(Archiver {
            root,
            disk,
            limits,
            machine: None,
        })
    }

    /// Fills the `machine` column: the name that a receiver knows the machine by.
    #[must_use]
    pub fn for_machine(mut self, machine: Option<String>) -> Archiver {
        self.machine = machine;
        self
    }

    /// Archives `entries`, numbered from `edge_before.size() + 1` on without a hole.
    ///
    /// # Errors
    /// See [`ArchiveRun::push`] and [`ArchiveRun::finish`].
    pub fn write<B: AsRef<[u8]>>(
        &self,
        journal: &JournalId,
        edge_before: &Edge,
        entries: impl IntoIterator<Item = (Seq, B)>,
    ) -> Result<Archived, ArchiveError> {
        let mut run = self.begin(journal, edge_before)?;
        for (seq, entry) in entries {
            run.push(seq, entry.as_ref())?;
        }
        run.finish()
    }

    /// Begins a run on `journal`, whose tree has this right edge before the first entry of the run.
    ///
    /// # Errors
    /// [`ArchiveError::Fork`] when the file that ends where the run begins has another tree,
    /// [`ArchiveError::Overlap`] when one ends beyond it, [`ArchiveError::InTheWay`] when one of this
    /// range cannot be read.
    pub fn begin(
        &self,
        journal: &JournalId,
        edge_before: &Edge,
    ) -> Result<ArchiveRun, ArchiveError> {
        let size = edge_before.size();
        let concerns = |name: &FileName| &name.journal == journal && name.last.tree_size() >= size;
        let listing = list_where(&self.root, concerns);
        for bad in listing.bad {
            let name = bad
                .path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let name = name.and_then(|name| FileName::parse(&name));
            if bad.path.is_dir() || name.is_some_and(|name| concerns(&name)) {
                return Err(ArchiveError::InTheWay {
                    path: bad.path,
                    why: bad.why,
                });
            }
        }
        let cutter = Cutter::new(self.limits, edge_before, listing.files)?;
        ArchiveRun::start(self, journal, edge_before, cutter)
    }
}

fn remove_temporaries(disk: &dyn Disk, root: &Root) -> Result<(), ArchiveError> {
    let directory = root.temporaries();
    let fail = |error| ArchiveError::disk("list", &directory, error);
    for entry in std::fs::read_dir(&directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|extension| extension == "tmp") {
            disk.remove(&path)
                .map_err(|error| ArchiveError::disk("remove", &path, error))?;
        }
    }
    Ok(())
}

/// Entries on their way into files. Dropped before [`ArchiveRun::finish`], it leaves the files it had
/// published and nothing else.
pub struct ArchiveRun {
    limits: Limits,
    cutter: Cutter,
    chunk: Chunk,
    emptied: Receiver<Buffers>,
    turn: usize,
    lanes: Vec<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
    assembler: Option<JoinHandle<Result<Archived, ArchiveError>>>,
}

impl ArchiveRun {
    fn start(
        archiver: &Archiver,
        journal: &JournalId,
        edge: &Edge,
        cutter: Cutter,
    ) -> Result<ArchiveRun, ArchiveError> {
        let encoder = Encoder::new(&archiver.limits, journal, archiver.machine.as_deref())
            .map_err(|error| ArchiveError::encode(archiver.root.path(), error))?;
        let encoder = Arc::new(encoder);
        let mut lanes = Vec::new();
        let mut results = Vec::new();
        let mut threads = Vec::new();
        let (returned, emptied) = channel();
        for _ in 0..archiver.limits.workers_max.max(1) {
            let (lane, jobs) = sync_channel(0);
            let (send, done) = sync_channel(0);
            let (encoder, returned) = (Arc::clone(&encoder), returned.clone());
            lanes.push(lane);
            results.push(done);
            threads.push(std::thread::spawn(move || {
                encoder.work(&jobs, &send, &returned);
            }));
        }
        let assembler = Assembler::new(archiver, journal, edge, encoder);
        Ok(ArchiveRun {
            limits: archiver.limits,
            chunk: Chunk::at(edge.size()),
            emptied,
            cutter,
            turn: 0,
            lanes,
            threads,
            assembler: Some(std::thread::spawn(move || assembler.run(&results))),
        })
    }

    /// Takes the next entry: its number and its canonical bytes.
    ///
    /// # Errors
    /// [`ArchiveError::OutOfOrder`] when a number was left out or repeated; otherwise why the run failed,
    /// as [`ArchiveRun::finish`] would say it. After an error the run is over.
    pub fn push(&mut self, seq: Seq, entry: &[u8]) -> Result<(), ArchiveError> {
        match self
            .cutter
            .place(seq, cut::day_of(entry), entry.len() as u64)?
        {
            Place::Begins(section) => self.flush(Some(section))?,
            Place::Continues if self.chunk.is_full(entry.len(), &self.limits) => {
                self.flush(None)?;
            }
            Place::Continues => {}
        }
        self.chunk.push(entry);
        Ok(())
    }

    /// Sends what is gathered to the next worker and gathers on, for a new section where there is one.
    fn flush(&mut self, begins: Option<Section>) -> Result<(), ArchiveError> {
        let next = self.chunk.following(begins);
        let full = std::mem::replace(&mut self.chunk, next);
        if full.is_empty() {
            self.chunk.reuse(full.into_buffers());
            return Ok(());
        }
        self.send(Job::Chunk(full))?;
        // The worker that took it has given back what it had before; the first ones had nothing.
        self.chunk
            .reuse(self.emptied.try_recv().unwrap_or_default());
        Ok(())
    }

    fn send(&mut self, job: Job) -> Result<(), ArchiveError> {
        let lane = self.turn % self.lanes.len();
        self.turn += 1;
        if self.lanes[lane].send(job).is_ok() {
            return Ok(());
        }
        match self.join() {
            Err(error) => Err(error),
            Ok(_) => Err(ArchiveError::Stopped),
        }
    }

    /// Publishes what is left and waits for it. No entry pushed: no file.
    ///
    /// # Errors
    /// [`ArchiveError::Fork`] when a file of the same range has another head, [`ArchiveError::Overlap`] when
    /// the entries end inside of one, [`ArchiveError::NotCanonical`], [`ArchiveError::ReadBack`] and
    /// [`ArchiveError::Disk`]. Files published before stay; nothing of the file that failed is in the table.
    pub fn finish(mut self) -> Result<Archived, ArchiveError> {
        self.cutter.finish()?;
        self.flush(None)?;
        self.send(Job::End)?;
        self.join()
    }

    fn join(&mut self) -> Result<Archived, ArchiveError> {
        self.lanes.clear();
        let joined = self.assembler.take().map(JoinHandle::join);
        for thread in self.threads.drain(..) {
            // A worker that panicked has closed its channel, which ended the assembler already.
            drop(thread.join());
        }
        match joined {
            Some(Ok(result)) => result,
            _ => Err(ArchiveError::Stopped),
        }
    }
}

impl Drop for ArchiveRun {
    fn drop(&mut self) {
        drop(self.join());
    }
}
