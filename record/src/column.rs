//! The columns of an entry, said once: name, type, order, Parquet field id.
//!
//! [`Row`] is one entry as columns. The order of the table is the order of the keys in the
//! canonical bytes; new columns are added at its end only, and a name, type or id is never reused.

use std::borrow::Cow;

use crate::canonical;
use crate::number::Micros;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8 text.
    Text,
    /// Signed 32-bit integer.
    Int,
    /// Signed 64-bit integer.
    Long,
    /// Microseconds since the epoch, UTC.
    Time,
    /// True or false.
    Bool,
}

impl ColumnType {
    /// The word in `docs/FORMATS.md`.
    pub const fn word(self) -> &'static str {
        match self {
            ColumnType::Text => "text",
            ColumnType::Int => "int32",
            ColumnType::Long => "int64",
            ColumnType::Time => "timestamp",
            ColumnType::Bool => "bool",
        }
    }
}

/// A column's value in one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'r> {
    /// UTF-8 text.
    Text(&'r str),
    /// 32 bits.
    Int(i32),
    /// 64 bits.
    Long(i64),
    /// A moment.
    Time(Micros),
    /// True or false.
    Bool(bool),
}

macro_rules! rust_type {
    ($l:lifetime, Text) => { Option<Cow<$l, str>> };
    ($l:lifetime, Int) => { Option<i32> };
    ($l:lifetime, Long) => { Option<i64> };
    ($l:lifetime, Time) => { Option<Micros> };
    ($l:lifetime, Bool) => { Option<bool> };
}

macro_rules! value_of {
    ($field:expr, Text) => {
        $field.as_deref().map(Value::Text)
    };
    ($field:expr, Int) => {
        $field.map(Value::Int)
    };
    ($field:expr, Long) => {
        $field.map(Value::Long)
    };
    ($field:expr, Time) => {
        $field.map(Value::Time)
    };
    ($field:expr, Bool) => {
        $field.map(Value::Bool)
    };
}

macro_rules! encode_column {
    ($field:expr, $name:ident, Text, $out:ident) => {
        if let Some(text) = $field.as_deref() {
            $out.extend_from_slice(concat!(",\"", stringify!($name), "\":\"").as_bytes());
            canonical::encode_inside(text, $out);
        }
    };
    ($field:expr, $name:ident, Bool, $out:ident) => {
        if let Some(is_so) = $field {
            $out.extend_from_slice(concat!(",\"", stringify!($name), "\":").as_bytes());
            $out.extend_from_slice(if is_so { b"true" } else { b"false" });
        }
    };
    ($field:expr, $name:ident, Time, $out:ident) => {
        encode_column!($field.map(|time| time.0), $name, Long, $out)
    };
    ($field:expr, $name:ident, $integer:ident, $out:ident) => {
        if let Some(n) = $field {
            $out.extend_from_slice(concat!(",\"", stringify!($name), "\":").as_bytes());
            canonical::encode_integer(i64::from(n), $out);
        }
    };
}

macro_rules! owned {
    ($field:expr, Text) => {
        $field.map(|text| Cow::Owned(text.into_owned()))
    };
    ($field:expr, $other:ident) => {
        $field
    };
}

macro_rules! columns {
    ($($name:ident : $type:ident = $id:literal, $doc:literal;)+) => {
        /// A column of the entry.
        #[allow(non_camel_case_types, reason = "a variant is spelled as its column")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Column {
            $(#[doc = $doc] $name,)+
        }

        impl Column {
            /// All columns, in canonical order.
            pub const ALL: &'static [Column] = &[$(Column::$name),+];

            /// The column's name: its key in the canonical bytes.
            pub const fn name(self) -> &'static str {
                match self { $(Column::$name => stringify!($name)),+ }
            }

            /// The key as it is spelled in the canonical bytes.
            pub(crate) const fn key(self) -> &'static str {
                match self { $(Column::$name => concat!("\"", stringify!($name), "\":")),+ }
            }

            /// The column's type.
            pub const fn column_type(self) -> ColumnType {
                match self { $(Column::$name => ColumnType::$type),+ }
            }

            /// The Parquet field id.
            pub const fn field_id(self) -> i32 {
                match self { $(Column::$name => $id),+ }
            }

            /// The column called `name`.
            pub fn from_name(name: &str) -> Option<Column> {
                match name { $(stringify!($name) => Some(Column::$name),)+ _ => None }
            }
        }

        /// One entry as columns; absent is `None`.
        ///
        /// Texts are borrowed from the bytes they were read from wherever they can be.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Row<'a> {
            $(#[doc = $doc] pub $name: rust_type!('a, $type),)+
            /// What follows the last known key, verbatim: `,"newer":1`. Empty when nothing does.
            pub rest: Cow<'a, str>,
        }

        impl<'a> Row<'a> {
            /// The value of `column`, `None` when absent.
            pub fn value(&self, column: Column) -> Option<Value<'_>> {
                match column { $(Column::$name => value_of!(self.$name, $type)),+ }
            }

            /// The same row, borrowing from nothing.
            pub fn into_owned(self) -> Row<'static> {
                Row {
                    $($name: owned!(self.$name, $type),)+
                    rest: Cow::Owned(self.rest.into_owned()),
                }
            }

            /// Calls `each` with every present column, in canonical order.
            #[inline]
            pub fn each_present<'r>(&'r self, mut each: impl FnMut(Column, Value<'r>)) {
                $(if let Some(value) = value_of!(self.$name, $type) {
                    each(Column::$name, value);
                })+
            }

            /// Appends every present column as `,"key":value`, in canonical order. Each key is a constant
            /// in the code that writes it: this is the hot half of writing an entry.
            pub(crate) fn encode_present(&self, out: &mut Vec<u8>) {
                $(encode_column!(self.$name, $name, $type, out);)+
            }

            pub(crate) fn set(&mut self, column: Column, value: Parsed<'a>) -> bool {
                match column { $(Column::$name => assign!(self.$name, value, $type)),+ }
            }
        }
    };
}

/// A value read from canonical bytes, before its column's type is known to fit.
pub(crate) enum Parsed<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
    Bool(bool),
}

impl Parsed<'_> {
    /// The value of a column of this type, `None` when it is no such.
    pub(crate) fn value(&self, column_type: ColumnType) -> Option<Value<'_>> {
        match (column_type, self) {
            (ColumnType::Text, Parsed::Text(text)) => Some(Value::Text(text)),
            (ColumnType::Int, Parsed::Integer(n)) => i32::try_from(*n).ok().map(Value::Int),
            (ColumnType::Long, Parsed::Integer(n)) => Some(Value::Long(*n)),
            (ColumnType::Time, Parsed::Integer(n)) => Some(Value::Time(Micros(*n))),
            (ColumnType::Bool, Parsed::Bool(is_so)) => Some(Value::Bool(*is_so)),
            _ => None,
        }
    }
}

macro_rules! assign {
    ($field:expr, $value:expr, Text) => {
        match $value {
            Parsed::Text(text) => {
                $field = Some(text);
                true
            }
            _ => false,
        }
    };
    ($field:expr, $value:expr, Int) => {
        match $value {
            Parsed::Integer(n) => match i32::try_from(n) {
                Ok(n) => {
                    $field = Some(n);
                    true
                }
                Err(_) => false,
            },
            _ => false,
        }
    };
    ($field:expr, $value:expr, Long) => {
        match $value {
            Parsed::Integer(n) => {
                $field = Some(n);
                true
            }
            _ => false,
        }
    };
    ($field:expr, $value:expr, Time) => {
        match $value {
            Parsed::Integer(n) => {
                $field = Some(Micros(n));
                true
            }
            _ => false,
        }
    };
    ($field:expr, $value:expr, Bool) => {
        match $value {
            Parsed::Bool(b) => {
                $field = Some(b);
                true
            }
            _ => false,
        }
    };
}

columns! {
    kind: Text = 1, "What the entry is.";
    outcome: Text = 2, "What a decision is counted by.";
    action: Text = 3, "OCSF action caption.";
    disposition: Text = 4, "OCSF disposition caption, only where the line prints one, or `Reset`.";
    severity: Text = 5, "OCSF severity caption.";
    class: Text = 6, "OCSF class caption.";
    class_uid: Int = 7, "OCSF class number.";
    class_tag: Text = 8, "The shorthand's word for the class.";
    activity: Text = 9, "OCSF activity caption, or the word as printed.";
    time: Time = 10, "When it happened, according to the line.";
    observed: Time = 11, "When this program read it.";
    time_from: Text = 12, "Where `time` came from.";
    stream: Text = 13, "The stream within its journal; rows of one stream share it.";
    sandbox: Text = 14, "The sandbox's name.";
    sandbox_id: Text = 15, "The sandbox's id, where the source states one.";
    workspace: Text = 16, "The gateway's workspace.";
    source: Text = 17, "How the line reached us.";
    origin: Text = 18, "Who spoke, according to the line.";
    trust: Text = 19, "How far the source proves where a record ends.";
    cursor: Text = 20, "The gateway's opaque resume token.";
    process: Text = 21, "The executable, as printed.";
    pid: Int = 22, "The process id; 0 when the gateway did not know it.";
    host: Text = 23, "The destination's name or address, without brackets.";
    port: Int = 24, "The destination's port.";
    protocol: Text = 25, "The transport, where printed.";
    method: Text = 26, "The HTTP method.";
    scheme: Text = 27, "The URL's scheme.";
    path: Text = 28, "The URL's path, without its query.";
    destination: Text = 29, "The destination or URL as printed.";
    rule: Text = 30, "The policy rule that decided; absent for `-`.";
    engine: Text = 31, "What decided.";
    reason: Text = 32, "Why it was denied.";
    message: Text = 33, "The text of a line that is not about a destination.";
    policy_version: Text = 34, "The version of the policy in force.";
    policy_hash: Text = 35, "The hash of the policy in force.";
    policy_known: Bool = 36, "Whether the policy in force is known.";
    attributes: Text = 37, "Other named values, a JSON object as text.";
    raw: Text = 38, "The line as it came, redacted.";
    redactions: Int = 39, "How many places were cut out of `raw`.";
    truncated: Bool = 40, "The line was longer than the limit; `raw` is its head.";
    escaped: Bool = 41, "Bytes that were not UTF-8 are spelled `\\xNN`, a backslash `\\\\`.";
    continuation: Bool = 42, "A bare line after a prefixed one: possibly the rest of that record.";
    flags: Text = 43, "Words about the record, comma-separated.";
    original_bytes: Long = 44, "The length of the line or text before it was cut.";
    digest: Text = 45, "Keyed digest of what was cut, lower-case hex.";
    cause: Text = 46, "Why: of a loss, a session entry or an unparsed line.";
    extent: Text = 47, "How certain `count` is.";
    count: Long = 48, "How many lines or entries it stands for.";
    denied: Long = 49, "How many of those were denials.";
    from: Time = 50, "The last moment the stream was known to be whole.";
    to: Time = 51, "The moment it was attached again.";
    after_cursor: Text = 52, "The last cursor before.";
    before_cursor: Text = 53, "The first cursor after.";
    evidence: Text = 54, "What supports it, a JSON object as text.";
    expunged: Text = 55, "Reserved: the leaf hash of an entry whose content was taken out.";
}

/// The columns that stand around the entry in the archive: its place, and what a reader did not know.
#[allow(non_camel_case_types, reason = "a variant is spelled as its column")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceColumn {
    /// The entry's number in its journal.
    seq,
    /// The journal's id.
    journal,
    /// The machine, as the receiver knows it; null in a local archive.
    machine,
    /// Canonical keys that the writer of the file did not know, verbatim.
    rest,
}

impl PlaceColumn {
    /// All of them, in the archive's order.
    pub const ALL: &'static [PlaceColumn] = &[
        PlaceColumn::seq,
        PlaceColumn::journal,
        PlaceColumn::machine,
        PlaceColumn::rest,
    ];

    /// The column's name.
    pub const fn name(self) -> &'static str {
        match self {
            PlaceColumn::seq => "seq",
            PlaceColumn::journal => "journal",
            PlaceColumn::machine => "machine",
            PlaceColumn::rest => "rest",
        }
    }

    /// The column's type.
    pub const fn column_type(self) -> ColumnType {
        match self {
            PlaceColumn::seq => ColumnType::Long,
            _ => ColumnType::Text,
        }
    }

    /// The Parquet field id: from 1001, apart from the entry's own.
    pub const fn field_id(self) -> i32 {
        1001 + self as i32
    }
}
