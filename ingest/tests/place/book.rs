//! What a command does with places, over a store that is a list: the driver of the tests.

use std::hash::{DefaultHasher, Hasher};

use boundlane_ingest::DigestKey;
use boundlane_ingest::place::{
    ContentId, Decision, Hints, Identified, Identify, Known, MarkMaker, Place, Replaced, gap_for,
};
use boundlane_record::Mark;

/// All bytes before a line, as a length and a hash: equal for equal bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Before {
    bytes: usize,
    hasher: DefaultHasher,
}

impl Before {
    pub(crate) fn of(bytes: &[u8]) -> Before {
        let mut before = Before::default();
        before.pass(bytes);
        before
    }

    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.hasher.write(bytes);
    }

    pub(crate) fn key(&self) -> (usize, u64) {
        (self.bytes, self.hasher.finish())
    }
}

/// One stored line: all bytes of its input before it, and itself without newline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stored {
    pub(crate) before: (usize, u64),
    pub(crate) line: Vec<u8>,
    pub(crate) terminated: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) place: Place,
    pub(crate) marks: Vec<Mark>,
    pub(crate) stored: Vec<Stored>,
}

#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) key: DigestKey,
    pub(crate) contents: Vec<Content>,
    pub(crate) every_bytes: u64,
}

/// How one run goes: in reads of `read_bytes`, commits of `commit_lines`, and not past `killed_after`
/// commits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) read_bytes: usize,
    pub(crate) commit_lines: usize,
    pub(crate) killed_after: usize,
}

pub(crate) const WHOLE: Run = Run {
    read_bytes: 1 << 16,
    commit_lines: 500,
    killed_after: usize::MAX,
};

/// What one run did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) decision: Decision,
    pub(crate) stored: usize,
    pub(crate) repeats: usize,
    pub(crate) replaced: Option<Replaced>,
    pub(crate) held_bytes: usize,
    pub(crate) content: Option<usize>,
}

/// A line of an input, and where it starts.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| match line.strip_suffix(b"\n") {
            Some(line) => (line, true),
            None => (line, false),
        })
}

impl Book {
    pub(crate) fn new(every_bytes: u64) -> Book {
        Book {
            key: DigestKey::new(&[9; 32]),
            contents: Vec::new(),
            every_bytes,
        }
    }

    pub(crate) fn known(&self) -> Vec<Known> {
        let known = |(id, content): (usize, &Content)| {
            Known::new(
                ContentId(id as u64),
                content.place.clone(),
                content.marks.clone(),
            )
        };
        self.contents.iter().enumerate().map(known).collect()
    }

    fn identify(&self, input: &[u8], read_bytes: usize) -> Identified {
        let mut identify = Identify::new(&self.key, self.known());
        let mut reads = input.chunks(read_bytes);
        while !identify.is_decided() {
            match reads.next() {
                Some(bytes) => identify.feed(bytes),
                None => return identify.finish(true),
            }
        }
        identify.finish(false)
    }

    /// Reads `input`, found at `hints`, to its end or to where it is killed.
    pub(crate) fn ingest(
        &mut self,
        input: &[u8],
        hints: &Hints,
        others: &[Hints],
        run: Run,
    ) -> Ran {
        let known = self.known();
        let identified = self.identify(input, run.read_bytes);
        let replaced = gap_for(&identified.decision, hints, &known, others);
        let held_bytes = identified.held.bytes().len();
        let decision = identified.decision;
        let (content, maker) = match decision {
            Decision::Empty | Decision::Known { .. } => {
                return Ran {
                    decision,
                    stored: 0,
                    repeats: 0,
                    replaced,
                    held_bytes,
                    content: None,
                };
            }
            Decision::Rejoin { .. } => unreachable!("files are not superseded"),
            Decision::Continue { content, .. } => {
                let at = usize::try_from(content.0).unwrap();
                (
                    Some(at),
                    MarkMaker::resume(&self.key, identified.point, &known[at]),
                )
            }
            Decision::NewGeneration { .. } => (
                None,
                MarkMaker::after(&self.key, identified.point, identified.agreed),
            ),
        };
        let mut ran = Ran {
            decision,
            stored: 0,
            repeats: 0,
            replaced,
            held_bytes,
            content,
        };
        self.read_on(
            input,
            hints,
            maker.every_bytes(self.every_bytes),
            run,
            &mut ran,
        );
        ran
    }

    fn read_on(
        &mut self,
        input: &[u8],
        hints: &Hints,
        mut maker: MarkMaker,
        run: Run,
        ran: &mut Ran,
    ) {
        let start = usize::try_from(maker.offset()).unwrap();
        let mut pending = ran.content.and_then(|at| self.contents[at].place.pending);
        let all: Vec<_> = lines(&input[start..]).collect();
        let mut before = Before::of(&input[..start]);
        for commit in all.chunks(run.commit_lines).take(run.killed_after) {
            let mut stored = Vec::new();
            for (line, terminated) in commit {
                let verdict = pending
                    .take()
                    .map(|line_before| line_before.judge(&self.key, line, *terminated));
                if verdict.is_none_or(|verdict| verdict.stores()) {
                    let line = line.to_vec();
                    stored.push(Stored {
                        before: before.key(),
                        line,
                        terminated: *terminated,
                    });
                } else {
                    ran.repeats += 1;
                }
                let end = before.bytes + line.len() + usize::from(*terminated);
                let bytes = &input[before.bytes..end];
                maker.feed(bytes);
                before.pass(bytes);
            }
            ran.stored += stored.len();
            self.commit(hints, &mut maker, stored, ran);
        }
    }

    fn commit(&mut self, hints: &Hints, maker: &mut MarkMaker, stored: Vec<Stored>, ran: &mut Ran) {
        let at = *ran.content.get_or_insert_with(|| {
            let displaced = ran.replaced.map(|replaced| replaced.content);
            let place = Place {
                displaced,
                ..Place::default()
            };
            self.contents.push(Content {
                place,
                marks: Vec::new(),
                stored: Vec::new(),
            });
            self.contents.len() - 1
        });
        let content = &mut self.contents[at];
        let update = maker.take();
        content.marks.extend(update.fixed);
        content.place.mark = update.place;
        content.place.pending = maker.tail();
        content.place.hints = hints.clone();
        content.stored.extend(stored);
        // Through the text, as a checkpoint goes.
        content.place = Place::from_json(&content.place.to_json()).unwrap();
    }

    /// Every stored line, in all contents.
    pub(crate) fn stored(&self) -> Vec<Stored> {
        self.contents
            .iter()
            .flat_map(|content| content.stored.iter().cloned())
            .collect()
    }

    /// The texts stored, in order.
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |stored: Stored| String::from_utf8_lossy(&stored.line).into_owned();
        self.stored().into_iter().map(text).collect()
    }
}

/// Hints of a file with this path and inode.
pub(crate) fn found_at(path: &str, inode: u64) -> Hints {
    Hints {
        path: Some(path.into()),
        device: Some(1),
        inode: Some(inode),
        ..Hints::default()
    }
}

/// `count` lines of about 100 bytes, each one different.
pub(crate) fn log(from: usize, count: usize) -> Vec<u8> {
    let line = |n| {
        format!(
            "2026-04-01T00:00:00.{n:06}Z OCSF NET:OPEN [INFO] ALLOWED /usr/bin/curl({n}) -> host-{n}:443 [policy:{n} engine:opa]\n"
        )
    };
    (from..from + count)
        .map(line)
        .collect::<String>()
        .into_bytes()
}
