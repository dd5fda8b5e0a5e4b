//! What a file says about itself in its footer's key-value metadata.
//!
//! One text value a key, each key beginning `boundlane.`; times are Unix microseconds, edges and hashes
//! lower-case hex, counts by word JSON objects. Absent where there is nothing to say.

use std::collections::BTreeMap;

use boundlane_record::tree::{Edge, Hash};
use boundlane_record::{Micros, SCHEMA_VERSION, Seq};
use parquet::file::metadata::KeyValue;

use crate::error::Head;
use crate::layout::JournalId;
use crate::seal::{self, Seal};
use crate::tally::{Counts, Losses, Span, Tally};

const PREFIX: &str = "boundlane.";

/// A footer that fits itself: edges of the sizes that the range says, a head that is the edge's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footer {
    /// The version of the canonical entry.
    pub schema_version: u32,
    /// The program that wrote the file.
    pub program: String,
    /// Whose entries.
    pub journal: JournalId,
    /// The first entry.
    pub first: Seq,
    /// The last entry.
    pub last: Seq,
    /// The right edge of the journal's tree before the first entry.
    pub edge_before: Edge,
    /// The right edge after the last entry.
    pub edge_after: Edge,
    /// What the entries are.
    pub tally: Tally,
    /// Digests of the row groups' bytes; empty when the file was rewritten by a program that has none.
    pub(crate) seals: Vec<Seal>,
}

impl Footer {
    /// The head after the last entry.
    pub fn head(&self) -> Head {
        Head::of(&self.edge_after)
    }

    pub(crate) fn to_key_values(&self) -> Vec<KeyValue> {
        let tally = &self.tally;
        let head = self.head();
        let moment = |micros: Option<Micros>| micros.map(|micros| micros.0.to_string());
        let values = [
            ("schema_version", Some(self.schema_version.to_string())),
            ("program", Some(self.program.clone())),
            ("journal", Some(self.journal.to_string())),
            ("first_seq", Some(self.first.to_string())),
            ("last_seq", Some(self.last.to_string())),
            ("rows", Some(tally.rows.to_string())),
            ("edge_before", Some(hex(&self.edge_before.to_bytes()))),
            ("edge_after", Some(hex(&self.edge_after.to_bytes()))),
            ("head_size", Some(head.size.to_string())),
            ("head_root", Some(head.root.to_hex())),
            ("time_first", moment(tally.time.first())),
            ("time_last", moment(tally.time.last())),
            ("observed_first", moment(tally.observed.first())),
            ("observed_last", moment(tally.observed.last())),
            ("losses", Some(tally.losses.rows.to_string())),
            ("losses_from", moment(tally.losses.from)),
            ("losses_to", moment(tally.losses.to)),
            ("kinds", Some(json(&tally.kinds))),
            ("outcomes", Some(json(&tally.outcomes))),
            ("seals", Some(seal::to_text(&self.seals))),
        ];
        let pair = |(key, value): (&str, Option<String>)| {
            value.map(|value| KeyValue::new(format!("{PREFIX}{key}"), value))
        };
        values.into_iter().filter_map(pair).collect()
    }

    /// Reads the footer back, or says what is wrong with it.
    pub(crate) fn from_key_values(pairs: Option<&Vec<KeyValue>>) -> Result<Footer, String> {
        let values = Values::of(pairs.map(Vec::as_slice).unwrap_or_default());
        if values.0.is_empty() {
            return Err("it was not written by this program".to_owned());
        }
        let schema_version = values.number("schema_version")?;
        if schema_version > u64::from(SCHEMA_VERSION) {
            return Err(format!(
                "it was written by a newer program (entry version {schema_version}, known here: {SCHEMA_VERSION}); upgrade to read it"
            ));
        }
        let footer = Footer {
            schema_version: u32::try_from(schema_version).unwrap_or(SCHEMA_VERSION),
            program: values.text("program")?.to_owned(),
            journal: values.parse("journal", JournalId::parse)?,
            first: Seq(values.number("first_seq")?),
            last: Seq(values.number("last_seq")?),
            edge_before: values.parse("edge_before", edge)?,
            edge_after: values.parse("edge_after", edge)?,
            tally: values.tally()?,
            seals: values.seals()?,
        };
        let head = Head {
            size: boundlane_record::TreeSize(values.number("head_size")?),
            root: values.parse("head_root", Hash::from_hex)?,
        };
        footer.fits(head)?;
        Ok(footer)
    }

    fn fits(&self, stated: Head) -> Result<(), String> {
        let range = Seq::FIRST <= self.first && self.first <= self.last;
        let before = self.edge_before.size().0.checked_add(1) == Some(self.first.0);
        let after = self.edge_after.size() == self.last.tree_size();
        let rows = self
            .last
            .0
            .checked_sub(self.first.0)
            .and_then(|n| n.checked_add(1));
        if range && before && after && rows == Some(self.tally.rows) && stated == self.head() {
            return Ok(());
        }
        Err("its footer contradicts itself".to_owned())
    }
}

struct Values<'f>(BTreeMap<&'f str, &'f str>);

impl<'f> Values<'f> {
    fn of(pairs: &'f [KeyValue]) -> Values<'f> {
        let ours =
            |pair: &'f KeyValue| Some((pair.key.strip_prefix(PREFIX)?, pair.value.as_deref()?));
        Values(pairs.iter().filter_map(ours).collect())
    }

    fn text(&self, key: &str) -> Result<&'f str, String> {
        self.0
            .get(key)
            .copied()
            .ok_or_else(|| format!("its footer lacks `{key}`"))
    }

    fn parse<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, String> {
        parse(self.text(key)?).ok_or_else(|| format!("its footer's `{key}` cannot be read"))
    }

    fn number(&self, key: &str) -> Result<u64, String> {
        self.parse(key, |text| text.parse().ok())
    }

    fn moment(&self, key: &str) -> Result<Option<Micros>, String> {
        if !self.0.contains_key(key) {
            return Ok(None);
        }
        self.parse(key, |text| {
            text.parse().ok().map(|micros| Some(Micros(micros)))
        })
    }

    fn span(&self, first: &str, last: &str) -> Result<Span, String> {
        Ok(match (self.moment(first)?, self.moment(last)?) {
            (Some(first), Some(last)) => Span::between(first, last),
            _ => Span::default(),
        })
    }

    fn seals(&self) -> Result<Vec<Seal>, String> {
        if self.0.contains_key("seals") {
            return self.parse("seals", seal::from_text);
        }
        Ok(Vec::new())
    }

    fn tally(&self) -> Result<Tally, String> {
        let counts = |text: &str| serde_json::from_str::<Counts>(text).ok();
        Ok(Tally {
            rows: self.number("rows")?,
            time: self.span("time_first", "time_last")?,
            observed: self.span("observed_first", "observed_last")?,
            losses: Losses {
                rows: self.number("losses")?,
                from: self.moment("losses_from")?,
                to: self.moment("losses_to")?,
            },
            kinds: self.parse("kinds", counts)?,
            outcomes: self.parse("outcomes", counts)?,
        })
    }
}

fn json(counts: &Counts) -> String {
    serde_json::to_string(counts).unwrap_or_else(|_| "{}".to_owned())
}

fn edge(hex: &str) -> Option<Edge> {
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks_exact(2).map(byte).collect();
    Edge::from_bytes(&bytes?)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
