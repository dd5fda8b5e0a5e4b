//! The journal beside a plain one in memory: whatever is done to both, both say the same.

mod plain;

use std::time::{Duration, Instant};

use boundlane_record::{Books, EntryBatch, Micros, Row, Seq, StreamName};
use boundlane_store::{
    AppendError, Appended, Checkpoint, Consumer, Found, Item, Journal, Limits, Prune, PruneTerms,
    Select, StateDir, WhenFull,
};

use crate::feed::{assert_sound, open, reader, state};
use plain::{Kept, Line, Model};

const BOUND: u64 = 5000;
const SANDBOXES: u64 = 5;

/// A small generator of its own: a seed gives the same history everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

struct World {
    random: Random,
    dir: StateDir,
    journal: Option<Journal>,
    model: Model,
    now: i64,
    lines: u64,
    /// Sizes after commits: blocks end there.
    ends: Vec<u64>,
    compared: usize,
}

fn name(sandbox: u64) -> StreamName {
    StreamName {
        stream: format!("gateway/{sandbox}"),
        sandbox: Some("demo".into()),
        sandbox_id: Some(format!("id-{sandbox}")),
        source: "gateway".into(),
        ..StreamName::default()
    }
}

impl World {
    fn new(seed: u64, dir: StateDir) -> World {
        let mut journal = open(&dir);
        let limits = Limits {
            queued_entries_max: BOUND,
            kept_age_seconds_max: 5,
            ..Limits::default()
        };
        journal.set_limits(&limits).unwrap();
        let start = Kept {
            text: "session journal_start".into(),
            sandbox: None,
            in_tenth: false,
        };
        World {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            dir,
            journal: Some(journal),
            model: Model {
                entries: vec![start],
                ..Model::default()
            },
            now: 1_000_000,
            lines: 0,
            ends: vec![1],
            compared: 0,
        }
    }

    fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().unwrap()
    }

    fn step(&mut self) {
        self.now += i64::try_from(self.random.below(700_000)).unwrap();
        match self.random.below(24) {
            0..=16 => self.bring(),
            17 | 18 => self.take(),
            19 => self.prune(),
            20 => self.number_all(),
            21 => self.reopen(),
            _ => self.now += 1_500_000,
        }
        self.compare();
    }

    fn some_lines(&mut self) -> Vec<Line> {
        let lines = match self.random.below(4) {
            0 => self.random.below(20),
            _ => 100 + self.random.below(400),
        };
        let denials = self.random.below(5);
        let line = |number: u64, is_denied| Line {
            text: format!("line {number}"),
            is_denied,
        };
        (0..lines)
            .map(|_| {
                self.lines += 1;
                line(self.lines, self.random.below(4) < denials)
            })
            .collect()
    }

    /// One to three items in one commit; those who wait are alone, so that only they are held back.
    fn bring(&mut self) {
        let waits = self.random.below(6) == 0;
        let items = if waits { 1 } else { 1 + self.random.below(3) };
        let when_full = if waits {
            WhenFull::Wait
        } else {
            WhenFull::Shed
        };
        // One is loud: it speaks as often as all others together.
        let sandboxes: Vec<u64> = (0..items)
            .map(|_| self.random.below(2 * SANDBOXES).saturating_sub(SANDBOXES))
            .collect();
        let parts: Vec<(u64, Vec<Line>)> = sandboxes
            .into_iter()
            .map(|sandbox| (sandbox, self.some_lines()))
            .collect();
        let appended = self.append(&parts, when_full);
        let is_let_in = parts
            .iter()
            .all(|(sandbox, lines)| self.model.item(*sandbox, lines, when_full, self.now));
        match appended {
            Ok(_) => assert!(is_let_in, "the model holds back what the journal took"),
            Err(AppendError::QueueFull { .. }) => assert!(!is_let_in, "held back without need"),
            Err(error) => panic!("{error}"),
        }
    }

    fn append(
        &mut self,
        parts: &[(u64, Vec<Line>)],
        when_full: WhenFull,
    ) -> Result<Appended, AppendError> {
        let at = Micros(self.now);
        let batches: Vec<(StreamName, EntryBatch)> = parts
            .iter()
            .map(|(sandbox, lines)| batch(&name(*sandbox), lines, at))
            .collect();
        let mut versions = self.model.versions.clone();
        let checkpoint = Checkpoint::default();
        let items: Vec<Item<'_>> = parts
            .iter()
            .zip(&batches)
            .map(|((sandbox, lines), (name, entries))| {
                let expects = versions.get(sandbox).copied();
                *versions.entry(*sandbox).or_default() += 1;
                Item {
                    stream: name,
                    entries,
                    at,
                    books: Books {
                        lines_read: lines.len() as u64,
                        records: lines.len() as u64,
                        ..Books::default()
                    },
                    expects,
                    checkpoint: &checkpoint,
                    open_losses: &[],
                    when_full,
                }
            })
            .collect();
        self.journal.as_mut().unwrap().append(&items)
    }

    /// A consumer takes everything through the end of some commit.
    fn take(&mut self) {
        let at = self.random.below(self.ends.len() as u64);
        let through = self.ends[usize::try_from(at).unwrap()];
        let now = Micros(self.now);
        self.journal()
            .acknowledge(Consumer::Archiver, Seq(through), now)
            .unwrap();
        let through = usize::try_from(through).unwrap();
        self.model.taken = self.model.taken.max(through);
    }

    fn prune(&mut self) {
        let terms = PruneTerms {
            now: Micros(self.now),
            query_micros_max: 0,
            boot: None,
            receipted: None,
        };
        while let Prune::Done { first, through } = self.journal().prune(&terms).unwrap() {
            assert_eq!(first.0, self.model.pruned as u64 + 1);
            self.model.pruned = usize::try_from(through.0).unwrap();
            assert!(
                self.model.pruned <= self.model.taken,
                "L1: pruned before it was taken"
            );
            self.model.entries.push(Kept {
                text: "session pruned".into(),
                sandbox: None,
                in_tenth: false,
            });
            self.compare();
        }
    }

    fn number_all(&mut self) {
        let now = Micros(self.now);
        self.journal()
            .number_open_losses(boundlane_store::Number::All, now)
            .unwrap();
        self.model.number(|_, _| true);
    }

    /// As after a crash: what was open is numbered.
    fn reopen(&mut self) {
        self.journal = None;
        self.journal = Some(open(&self.dir));
        self.model.number(|_, _| true);
    }

    fn compare(&mut self) {
        let reader = reader(&self.dir);
        let totals = reader.totals().unwrap();
        let model = &self.model;
        assert_eq!(totals.size.0, model.entries.len() as u64, "numbers");
        assert_eq!(totals.books, model.books);
        let open: u64 = model.open.values().map(|open| open.lines).sum();
        assert_eq!(totals.open_drops, open);
        let numbers = totals.pruned + totals.acknowledged + totals.queued;
        assert_eq!(totals.size.0, numbers, "L4");
        let all = model.waits(|_| true);
        let waiting = totals.waiting;
        assert_eq!(
            (waiting.general.entries, waiting.last_tenth.entries),
            (all.general, all.tenth)
        );
        let mut seen = Vec::new();
        let select = Select::all().after(Seq(self.compared.max(model.pruned) as u64));
        reader
            .each_entry(select, |found| {
                let Found::Entry(seq, entry) = found else {
                    panic!("{found:?}")
                };
                seen.push((seq.0, text_of(entry)));
                std::ops::ControlFlow::<()>::Continue(())
            })
            .unwrap();
        let skipped = self.compared.max(model.pruned);
        let expected = model.entries.iter().enumerate().skip(skipped);
        let expected: Vec<_> = expected
            .map(|(at, kept)| (at as u64 + 1, kept.text.clone()))
            .collect();
        assert_eq!(seen, expected);
        self.compared = model.entries.len();
        if self.ends.last() != Some(&totals.size.0) {
            self.ends.push(totals.size.0);
        }
    }
}

fn batch(name: &StreamName, lines: &[Line], at: Micros) -> (StreamName, EntryBatch) {
    let mut entries = EntryBatch::new();
    for line in lines {
        let outcome = if line.is_denied { "denied" } else { "allowed" };
        let mut row = Row {
            kind: Some("decision".into()),
            outcome: Some(outcome.into()),
            observed: Some(at),
            raw: Some(line.text.as_str().into()),
            ..Row::default()
        };
        name.label(&mut row);
        entries.push(&row);
    }
    (name.clone(), entries)
}

fn text_of(entry: &[u8]) -> String {
    let row = boundlane_record::canonical::decode(entry).unwrap();
    match (row.kind.as_deref(), row.raw) {
        (Some("drops"), _) => format!("drops {} {}", row.count.unwrap(), row.denied.unwrap()),
        (_, Some(raw)) => raw.into_owned(),
        (kind, None) => format!("{} {}", kind.unwrap(), row.cause.unwrap()),
    }
}

fn run(seed: u64) {
    let (_parent, dir) = state();
    let mut world = World::new(seed, dir.clone());
    for _ in 0..120 {
        world.step();
    }
    assert_sound(&dir);
}

/// Drops that get their number in front of an item of a commit take room from the next item of the same sandbox.
#[test]
fn drops_numbered_in_a_commit_take_no_room_in_it() {
    run(11);
}

/// Seeds from `BOUNDLANE_MODEL_SEED` on, for `BOUNDLANE_MODEL_SECONDS` or as many as `BOUNDLANE_MODEL_SEEDS`.
#[test]
fn the_journal_differs_from_a_plain_one() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().unwrap())
    };
    let first = number("BOUNDLANE_MODEL_SEED").unwrap_or(1);
    let seconds = number("BOUNDLANE_MODEL_SECONDS").unwrap_or(10);
    let most = number("BOUNDLANE_MODEL_SEEDS");
    let (began, mut seeds) = (Instant::now(), 0);
    while most.map_or(began.elapsed() < Duration::from_secs(seconds), |most| {
        seeds < most
    }) {
        let seed = first + seeds;
        let ended = std::panic::catch_unwind(|| run(seed));
        assert!(
            ended.is_ok(),
            "seed {seed}: replay with BOUNDLANE_MODEL_SEED={seed} BOUNDLANE_MODEL_SEEDS=1"
        );
        seeds += 1;
    }
    println!("seeds run: {seeds}");
}
