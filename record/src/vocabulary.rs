//! The words of the record: fixed sets of names with their wire spellings and OCSF 1.8 numbers.
//!
//! Every set is closed here and open on disk: a reader meets words from newer writers as plain text
//! (see [`crate::Row`]) and asks `from_word` for the ones it knows.

/// Declares an enum whose variants have one spelling each, in columns and on the wire.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$vmeta])* #[doc = concat!("Spelled `", $word, "`.")] $variant,)+
        }

        impl $name {
            /// Every value, in the order of the documentation's table.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The spelling in columns.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// The value spelled `word`, or `None` for a word of a newer writer.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

mod ocsf;

pub use ocsf::{Action, ClassTag, Disposition, Severity};

words! {
    /// What kind of entry a row is.
    Kind {
        Decision = "decision",
        Event = "event",
        Dispatch = "dispatch",
        Unparsed = "unparsed",
        Gap = "gap",
        Drops = "drops",
        Session = "session",
        Rejected = "rejected",
    }
}

impl Kind {
    /// Whether rows of this kind state a loss: lines or entries that are not here as records.
    pub const fn is_loss(self) -> bool {
        matches!(self, Kind::Gap | Kind::Drops | Kind::Rejected)
    }

    /// Whether rows of this kind hold one received line.
    pub const fn is_record(self) -> bool {
        matches!(
            self,
            Kind::Decision | Kind::Event | Kind::Dispatch | Kind::Unparsed
        )
    }
}

words! {
    /// What we count a decision by. Every count, filter and total uses this.
    Outcome {
        Allowed = "allowed",
        Denied = "denied",
        /// A tunnel closed because the policy changed: denied on the wire, not a decision about the request.
        Reset = "reset",
        /// Audit mode: it would have been denied.
        WouldDeny = "would_deny",
        Other = "other",
    }
}

words! {
    /// How a line reached us.
    Source {
        Gateway = "gateway",
        CliText = "cli_text",
        FileShorthand = "file_shorthand",
        FileOcsf = "file_ocsf",
        Openbox = "openbox",
        Import = "import",
    }
}

words! {
    /// Who spoke, according to the line.
    Origin {
        Sandbox = "sandbox",
        Gateway = "gateway",
    }
}

words! {
    /// How far the source can prove where a record ends.
    Trust {
        /// One physical line of text: a newline inside a field starts what looks like another record.
        Text = "text",
        /// One message or one JSON object is one record.
        Framed = "framed",
    }
}

words! {
    /// Where `time` came from.
    TimeFrom {
        Line = "line",
        DateAssumed = "date_assumed",
    }
}

words! {
    /// What a `session` entry says; its `cause` column.
    SessionKind {
        JournalStart = "journal_start",
        Attached = "attached",
        Mark = "mark",
        Detached = "detached",
        Saved = "saved",
        End = "end",
        Pruned = "pruned",
    }
}

words! {
    /// Why lines never reached us; the `cause` column of a `gap`.
    GapCause {
        Lagged = "lagged",
        Evicted = "evicted",
        /// The gateway restarted: a new numbering.
        SpaceChanged = "space_changed",
        StreamEnded = "stream_ended",
        HistoryUnavailable = "history_unavailable",
        Ambiguous = "ambiguous",
        SourceTruncated = "source_truncated",
        Oversize = "oversize",
        CheckpointLost = "checkpoint_lost",
        Damaged = "damaged",
        Forked = "forked",
        Restored = "restored",
        CollectorBehind = "collector_behind",
    }
}

words! {
    /// Why we shed lines; the `cause` column of `drops`.
    DropCause {
        QueueFull = "queue_full",
        FairShare = "fair_share",
        DiskFull = "disk_full",
        Expired = "expired",
    }
}

words! {
    /// How certain `count` is; the `extent` column.
    ExtentKind {
        Exact = "exact",
        AtLeast = "at_least",
        AtMost = "at_most",
        Unknown = "unknown",
    }
}

words! {
    /// Why a line that should be a record could not be parsed; the `cause` column of `unparsed`.
    UnparsedReason {
        /// The line has no form that is known here.
        UnknownForm = "unknown_form",
        /// A known prefix, and then no `CLASS:ACTIVITY [SEV]`.
        BadHead = "bad_head",
        /// The class is known and its body breaks the grammar.
        BadBody = "bad_body",
        /// Begins as JSON and is not a JSON object.
        BadJson = "bad_json",
        /// A JSON object without what every OCSF event has.
        NotOcsf = "not_ocsf",
        /// The line was longer than the limit and what is left cannot be parsed.
        Oversize = "oversize",
        /// `--format` forced another form.
        OtherFormat = "other_format",
    }
}

words! {
    /// Something about a record that a reader has to know; a comma-separated list in `flags`.
    Flag {
        /// The destination can be split in several ways; none was guessed.
        Ambiguous = "ambiguous",
        /// The last line of its input had no newline: it may be cut.
        Unterminated = "unterminated",
        /// A text longer than its limit was cut, after redaction.
        CutField = "cut_field",
        /// The body breaks the grammar: head and action are certain, `message` has the rest.
        BadBody = "bad_body",
        /// NUL bytes stood in front of the line; the attribute `nul_bytes` says how many.
        Nuls = "nuls",
    }
}

/// How many lines a loss stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// This many.
    Exact(u64),
    /// This many or more.
    AtLeast(u64),
    /// None, or up to this many.
    AtMost(u64),
    /// Nothing can be said.
    Unknown,
}

impl Extent {
    /// The words of the `extent` and `count` columns.
    pub const fn columns(self) -> (ExtentKind, Option<u64>) {
        match self {
            Extent::Exact(n) => (ExtentKind::Exact, Some(n)),
            Extent::AtLeast(n) => (ExtentKind::AtLeast, Some(n)),
            Extent::AtMost(n) => (ExtentKind::AtMost, Some(n)),
            Extent::Unknown => (ExtentKind::Unknown, None),
        }
    }

    /// The extent that the two columns state; what cannot be read is `Unknown`, never less.
    pub fn from_columns(extent: Option<&str>, count: Option<i64>) -> Extent {
        let count = count.and_then(|n| u64::try_from(n).ok());
        match (extent.and_then(ExtentKind::from_word), count) {
            (Some(ExtentKind::Exact), Some(n)) => Extent::Exact(n),
            (Some(ExtentKind::AtLeast), Some(n)) => Extent::AtLeast(n),
            (Some(ExtentKind::AtMost), Some(n)) => Extent::AtMost(n),
            _ => Extent::Unknown,
        }
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Extent::Exact(n) => write!(f, "{n}"),
            Extent::AtLeast(n) => write!(f, "at least {n}"),
            Extent::AtMost(n) => write!(f, "at most {n}"),
            Extent::Unknown => f.write_str("an unknown number of"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_as_the_value_that_wrote_them() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_word(kind.word()), Some(*kind));
        }
        for cause in GapCause::ALL {
            assert_eq!(GapCause::from_word(cause.word()), Some(*cause));
        }
        assert_eq!(Kind::from_word("Decision"), None);
    }

    #[test]
    fn an_extent_that_cannot_be_read_is_unknown() {
        assert_eq!(
            Extent::from_columns(Some("exact"), Some(3)),
            Extent::Exact(3)
        );
        assert_eq!(Extent::from_columns(Some("exact"), None), Extent::Unknown);
        assert_eq!(
            Extent::from_columns(Some("exact"), Some(-1)),
            Extent::Unknown
        );
        assert_eq!(
            Extent::from_columns(Some("newer"), Some(1)),
            Extent::Unknown
        );
    }
}
