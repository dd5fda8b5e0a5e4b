//! A file read at stated places only: safe to share between threads, and never past its end.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Bytes read at once for page headers.
const BUFFER_BYTES: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct Positioned {
    file: Arc<File>,
    len: u64,
}

impl Positioned {
    pub(super) fn open(path: &Path) -> std::io::Result<Positioned> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        Ok(Positioned {
            file: Arc::new(file),
            len: metadata.len(),
        })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// `length` bytes at `start`.
    pub(super) fn bytes(&self, start: u64, length: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }

    /// A length that comes from the file itself is checked before memory is taken for it.
    fn check(&self, start: u64, length: u64) -> Result<()> {
        let end = start.checked_add(length);
        if end.is_some_and(|end| end <= self.len) {
            return Ok(());
        }
        let len = self.len;
        Err(ParquetError::EOF(format!(
            "{length} bytes at {start} lie past the end at {len}"
        )))
    }
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<Forward>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.check(start, 0)?;
        let forward = Forward {
            file: Arc::clone(&self.file),
            at: start,
        };
        Ok(BufReader::with_capacity(BUFFER_BYTES, forward))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.check(start, length as u64)?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// Reads on from a place, without moving anybody else's.
pub(super) struct Forward {
    file: Arc<File>,
    at: u64,
}

impl Read for Forward {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
