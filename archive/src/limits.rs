//! What a run may take: memory, threads, and the size of a file.

/// Bounds of one archive run, each with its unit last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A file is cut after this many entries.
    pub file_entries_max: u64,
    /// A file is cut after this many canonical bytes.
    pub file_bytes_max: u64,
    /// A row group holds at most this many entries. 16,384 keeps one row group, in all its forms, under 20 MiB.
    pub row_group_entries_max: usize,
    /// A row group holds at most this many canonical bytes, or one larger entry.
    pub row_group_bytes_max: usize,
    /// One row group in so many, the first of each file among them, is read back to its entries before the file
    /// is published; of the others, the bytes. 1: all of them.
    pub rebuilt_groups_every: usize,
    /// Threads that encode and read back; each holds one row group.
    pub workers_max: usize,
    /// The level of zstd. Above 3, files are hardly smaller and take much longer.
    pub zstd_level: i32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            file_entries_max: 1_000_000,
            file_bytes_max: 2 << 30,
            row_group_entries_max: 16_384,
            row_group_bytes_max: 12 << 20,
            rebuilt_groups_every: 16,
            workers_max: 2,
            zstd_level: 3,
        }
    }
}
