//! Files from row groups: written outside the table, made durable, read back, and only then published.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use boundlane_record::tree::{Edge, Hash, root};
use boundlane_record::{SCHEMA_VERSION, Seq, TreeSize};
use parquet::file::writer::SerializedFileWriter;

use super::cut::Section;
use super::encode::{Done, Encoded, Encoder};
use super::proof::{Proof, Sample};
use super::{Archived, Archiver, Outcome, WrittenFile};
use crate::disk::{Disk, DiskFile, create_dirs};
use crate::error::{ArchiveError, Head};
use crate::footer::Footer;
use crate::layout::{Day, FileName, JournalId, Root, TEMPORARY_SUFFIX};
use crate::limits::Limits;
use crate::listing::ArchiveFile;
use crate::seal::{Seal, Sealing};
use crate::tally::Tally;

/// The thread that owns the files of a run.
pub(super) struct Assembler {
    root: Root,
    disk: Arc<dyn Disk>,
    limits: Limits,
    journal: JournalId,
    encoder: Arc<Encoder>,
    edge: Edge,
    files: Vec<WrittenFile>,
}

/// The section whose row groups are arriving.
enum Current {
    Nothing,
    New(Box<NewFile>),
    Held(Box<ArchiveFile>),
}

struct NewFile {
    temporary: Temporary,
    writer: SerializedFileWriter<Sealing<Box<dyn DiskFile>>>,
    seals: Vec<Seal>,
    /// Row groups that are rebuilt when the file is read back.
    samples: Vec<Sample>,
    edge_before: Edge,
    tally: Tally,
}

/// A file outside the table, removed when it is not published.
struct Temporary {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    published: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.published {
            // What cannot be removed now is removed when the archive is next opened for writing.
            drop(self.disk.remove(&self.path));
        }
    }
}

impl Assembler {
    pub(super) fn new(
        archiver: &Archiver,
        journal: &JournalId,
        edge: &Edge,
        encoder: Arc<Encoder>,
    ) -> Assembler {
        Assembler {
            root: archiver.root.clone(),
            disk: Arc::clone(&archiver.disk),
            limits: archiver.limits,
            journal: journal.clone(),
            encoder,
            edge: edge.clone(),
            files: Vec::new(),
        }
    }

    /// Takes row groups from the workers in turn until the caller ends or something fails.
    pub(super) fn run(
        mut self,
        lanes: &[Receiver<Result<Done, ArchiveError>>],
    ) -> Result<Archived, ArchiveError> {
        let mut current = Current::Nothing;
        for lane in lanes.iter().cycle() {
            let done = lane.recv().map_err(|_| ArchiveError::Stopped)??;
            let Done::Group {
                begins,
                leaves,
                encoded,
            } = done
            else {
                break;
            };
            if let Some(section) = begins {
                self.close(current)?;
                current = self.open(section)?;
            }
            if let (Current::New(file), Some(encoded)) = (&mut current, encoded) {
                file.sample(&leaves, self.limits.rebuilt_groups_every);
                file.append(*encoded)?;
            }
            leaves.into_iter().for_each(|leaf| {
                self.edge.push(leaf);
            });
        }
        self.close(current)?;
        Ok(Archived {
            files: self.files,
            edge: self.edge,
        })
    }

    fn open(&self, section: Section) -> Result<Current, ArchiveError> {
        match section {
            Section::Held(file) => Ok(Current::Held(file)),
            Section::New => Ok(Current::New(Box::new(self.create()?))),
        }
    }

    fn create(&self) -> Result<NewFile, ArchiveError> {
        let first = self.edge.size().0 + 1;
        let name = format!("{}-{first:012}{TEMPORARY_SUFFIX}", self.journal);
        let path = self.root.temporaries().join(name);
        let file = self
            .disk
            .create(&path)
            .map_err(|error| ArchiveError::disk("create", &path, error))?;
        let temporary = Temporary {
            path,
            disk: Arc::clone(&self.disk),
            published: false,
        };
        let encoder = &self.encoder;
        let (schema, properties) = (Arc::clone(&encoder.schema), Arc::clone(&encoder.properties));
        let writer = SerializedFileWriter::new(Sealing::new(file), schema, properties)
            .map_err(|error| ArchiveError::encode(&temporary.path, error))?;
        Ok(NewFile {
            temporary,
            writer,
            seals: Vec::new(),
            samples: Vec::new(),
            edge_before: self.edge.clone(),
            tally: Tally::default(),
        })
    }

    fn close(&mut self, current: Current) -> Result<(), ArchiveError> {
        let written = match current {
            Current::Nothing => return Ok(()),
            Current::New(file) => self.publish(*file)?,
            Current::Held(file) => self.confirm(&file)?,
        };
        self.files.push(written);
        Ok(())
    }

    /// A file that is already there: the same head, and durable even if its writer died before it knew.
    fn confirm(&self, file: &ArchiveFile) -> Result<WrittenFile, ArchiveError> {
        let (theirs, ours) = (file.footer.head(), Head::of(&self.edge));
        if theirs != ours {
            let path = file.path.clone();
            return Err(ArchiveError::Fork { path, theirs, ours });
        }
        self.sync(&file.path)?;
        self.sync_directories(file.day)?;
        Ok(WrittenFile {
            path: file.path.clone(),
            name: file.name.clone(),
            head: theirs,
            outcome: Outcome::AlreadyThere,
            bytes: file.bytes,
        })
    }

    fn publish(&self, file: NewFile) -> Result<WrittenFile, ArchiveError> {
        let footer = self.footer(&file);
        let name = FileName {
            journal: footer.journal.clone(),
            first: footer.first,
            last: footer.last,
        };
        let observed = footer.tally.observed.first();
        let day = Day::of(observed.unwrap_or(boundlane_record::Micros(0)));
        let (mut temporary, proof) = file.finish(&footer)?;
        let bytes = proof.read_back(&temporary.path, &footer, self.limits.workers_max)?;
        let path = self.root.day(day).join(name.to_string());
        self.rename(&temporary.path, &path, day)?;
        temporary.published = true;
        Ok(WrittenFile {
            path,
            name,
            head: footer.head(),
            outcome: Outcome::Written,
            bytes,
        })
    }

    fn footer(&self, file: &NewFile) -> Footer {
        let before: TreeSize = file.edge_before.size();
        Footer {
            schema_version: SCHEMA_VERSION,
            program: crate::PROGRAM.to_owned(),
            journal: self.journal.clone(),
            first: Seq(before.0 + 1),
            last: Seq(self.edge.size().0),
            edge_before: file.edge_before.clone(),
            edge_after: self.edge.clone(),
            tally: file.tally.clone(),
            seals: file.seals.clone(),
        }
    }

    fn rename(&self, from: &Path, to: &Path, day: Day) -> Result<(), ArchiveError> {
        let directory = self.root.day(day);
        create_dirs(self.disk.as_ref(), &directory)
            .map_err(|error| ArchiveError::disk("create", &directory, error))?;
        if to.symlink_metadata().is_ok() {
            return Err(ArchiveError::InTheWay {
                path: to.to_owned(),
                why: "it appeared while this run was writing".to_owned(),
            });
        }
        self.disk
            .rename(from, to)
            .map_err(|error| ArchiveError::disk("rename to", to, error))?;
        self.sync_directories(day)
    }

    fn sync_directories(&self, day: Day) -> Result<(), ArchiveError> {
        self.sync(&self.root.day(day))?;
        self.sync(&self.root.table())?;
        self.sync(self.root.path())
    }

    fn sync(&self, path: &Path) -> Result<(), ArchiveError> {
        self.disk
            .sync(path)
            .map_err(|error| ArchiveError::disk("sync", path, error))
    }
}

impl NewFile {
    fn append(&mut self, encoded: Encoded) -> Result<(), ArchiveError> {
        let path = &self.temporary.path;
        let fail = |error| ArchiveError::encode(path, error);
        let mut group = self.writer.next_row_group().map_err(fail)?;
        for column in encoded.columns {
            column.append_to_row_group(&mut group).map_err(fail)?;
        }
        group.close().map_err(fail)?;
        self.writer
            .flush()
            .map_err(|error| ArchiveError::disk("write", path, error))?;
        self.seals.push(self.writer.inner_mut().seal());
        self.tally.join(&encoded.tally);
        Ok(())
    }

    /// Keeps the tree over the next row group's leaves, if it is one that is rebuilt.
    fn sample(&mut self, leaves: &[Hash], every: usize) {
        let group = self.seals.len();
        if group.is_multiple_of(every.max(1)) {
            let root = root(leaves);
            self.samples.push(Sample { group, root });
        }
    }

    /// Writes the footer and makes the whole durable.
    fn finish(mut self, footer: &Footer) -> Result<(Temporary, Proof), ArchiveError> {
        let path = &self.temporary.path;
        for pair in footer.to_key_values() {
            self.writer.append_key_value_metadata(pair);
        }
        self.writer
            .finish()
            .map_err(|error| ArchiveError::encode(path, error))?;
        self.writer
            .flush()
            .map_err(|error| ArchiveError::disk("write", path, error))?;
        let sealing = self.writer.inner_mut();
        let tail = sealing.seal();
        sealing
            .inner_mut()
            .sync()
            .map_err(|error| ArchiveError::disk("sync", path, error))?;
        let samples = self.samples;
        Ok((self.temporary, Proof { tail, samples }))
    }
}
