//! Numbers that must not be swapped, each with its own type.

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Micros(pub i64);

impl Micros {
    /// From whole milliseconds, `None` beyond the range.
    pub fn from_millis(millis: i64) -> Option<Micros> {
        millis.checked_mul(1000).map(Micros)
    }

    /// The UTC day as days since 1970-01-01.
    pub fn utc_day(self) -> i64 {
        self.0.div_euclid(86_400_000_000)
    }
}

/// The number of an entry in its journal. Dense, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seq(pub u64);

impl Seq {
    /// The first entry of every journal.
    pub const FIRST: Seq = Seq(1);

    /// The number after this one.
    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }

    /// The size of the tree whose last entry this is.
    pub fn tree_size(self) -> TreeSize {
        TreeSize(self.0)
    }
}

impl std::fmt::Display for Seq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How many entries a tree holds; the number of its last entry, 0 when empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TreeSize(pub u64);

impl std::fmt::Display for TreeSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
