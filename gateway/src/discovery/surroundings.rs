//! What discovery sees of the machine.

use std::io::{self, Read as _};
use std::path::Path;

/// Variables and files.
pub trait Surroundings {
    /// An environment variable; `None` when it is unset or no UTF-8.
    fn var(&self, name: &str) -> Option<String>;
    /// The text of a file.
    fn read(&self, path: &Path) -> io::Result<String>;
    /// Whether a file is there. A secret is asked for in this way and not read.
    fn has(&self, path: &Path) -> bool;
    /// The names in a directory, ascending; empty when it is not there.
    fn names(&self, dir: &Path) -> Vec<String>;
}

/// Those of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessSurroundings;

/// A registration is some hundred bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

impl Surroundings for ProcessSurroundings {
    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        let mut text = String::new();
        let file = std::fs::File::open(path)?;
        file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    }

    fn has(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn names(&self, dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }
}
