//! What is stored beside the entries of a stream, in the same transaction: its place, the policy in
//! force there, its books. Plain values; what a place means is the source's own business.

/// The policy that a sandbox runs under, as far as its own lines say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyInForce {
    /// The version as printed.
    pub version: Option<String>,
    /// The hash as printed.
    pub hash: Option<String>,
    /// Whether a line of this stream said so since the last gap.
    pub known: bool,
}

/// The books of a stream or a journal, in lines: law L4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Books {
    /// Physical lines read, each time they were read; bytes skipped as known are not read.
    pub lines_read: u64,
    /// Lines that became records, unparsed ones included.
    pub records: u64,
    /// Blank lines and the program's own tracing.
    pub ignored: u64,
    /// Lines that the journal has already.
    pub repeats: u64,
    /// Lines shed and counted in drops.
    pub refused: u64,
}

impl Books {
    /// Whether `lines_read = records + ignored + repeats + refused`.
    pub fn balance(&self) -> bool {
        let sum = [self.records, self.ignored, self.repeats, self.refused]
            .iter()
            .try_fold(0u64, |sum, n| sum.checked_add(*n));
        sum == Some(self.lines_read)
    }
}

impl std::ops::AddAssign for Books {
    fn add_assign(&mut self, more: Books) {
        self.lines_read += more.lines_read;
        self.records += more.records;
        self.ignored += more.ignored;
        self.repeats += more.repeats;
        self.refused += more.refused;
    }
}

/// A keyed digest of the first `offset` decompressed bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Bytes before the mark; always the start of a line.
    pub offset: u64,
    /// HMAC-SHA-256 of those bytes.
    pub digest: [u8; 32],
}

/// The first 16 bytes of the HMAC-SHA-256 of one line as it came, without its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 16]);
