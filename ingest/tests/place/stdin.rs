//! Standard input: what is piped in run after run, as whole logs and as tails of one.

use boundlane_ingest::DigestKey;
use boundlane_ingest::place::{
    Ahead, Align, AlignLine, Chain, ContentId, Decision, Fit, Identified, Identify, Known,
    LINES_KEPT_MAX, MarkMaker, Part, Place, Verdict,
};
use boundlane_record::{Extent, Fingerprint, GapCause, Mark};
use proptest::prelude::*;

use crate::book::{lines, log};

/// How many inputs a chain may have here.
const INPUTS_MAX: u64 = 1000;

/// What a store holds of one chain.
#[derive(Debug, Default)]
struct Stored {
    place: Place,
    /// The last place of each input, and its marks.
    inputs: Vec<(Place, Vec<Mark>)>,
    fingerprints: Vec<Fingerprint>,
    texts: Vec<String>,
    gaps: Vec<(GapCause, Extent)>,
}

struct Pipe {
    key: DigestKey,
    chains: Vec<Stored>,
}

/// What is decided before the first line is stored.
struct Plan {
    chain: usize,
    input: u64,
    maker: MarkMaker,
    ahead: Ahead,
    gap: Option<(GapCause, Extent)>,
}

impl Pipe {
    fn new() -> Pipe {
        Pipe {
            key: DigestKey::new(&[3; 32]),
            chains: Vec::new(),
        }
    }

    fn known(&self) -> Vec<Known> {
        let mut known = Vec::new();
        for (chain, stored) in self.chains.iter().enumerate() {
            for (input, (place, marks)) in stored.inputs.iter().enumerate() {
                let id = ContentId(chain as u64 * INPUTS_MAX + input as u64);
                known.push(match input as u64 == stored.place.input {
                    true => Known::new(id, stored.place.clone(), marks.clone()),
                    false => Known::superseded(id, place.clone(), marks.clone()),
                });
            }
        }
        known
    }

    fn identify(&self, bytes: &[u8]) -> Identified {
        let mut identify = Identify::new(&self.key, self.known());
        let mut reads = bytes.chunks(777);
        while !identify.is_decided() {
            match reads.next() {
                Some(read) => identify.feed(read),
                None => return identify.finish(true),
            }
        }
        identify.finish(false)
    }

    /// Reads `bytes` in commits of `commit_lines`, and dies after `killed_after` of them.
    fn ingest(&mut self, bytes: &[u8], commit_lines: usize, killed_after: usize) -> Decision {
        let identified = self.identify(bytes);
        let decision = identified.decision;
        if let Some(plan) = self.plan(identified, bytes) {
            self.read_on(bytes, plan, commit_lines, killed_after);
        }
        decision
    }

    fn plan(&self, identified: Identified, bytes: &[u8]) -> Option<Plan> {
        let at = |content: ContentId| usize::try_from(content.0 / INPUTS_MAX).unwrap();
        let input = |content: ContentId| content.0 % INPUTS_MAX;
        let rest = &bytes[usize::try_from(identified.point.offset).unwrap()..];
        let known = self.known();
        let of = |content| known.iter().find(|known| known.id == content).unwrap();
        let resume = |content| MarkMaker::resume(&self.key, identified.point.clone(), of(content));
        match identified.decision {
            Decision::Empty | Decision::Known { .. } => None,
            Decision::Continue { content, .. } => {
                let stored = &self.chains[at(content)];
                let ahead = Ahead::resume(stored.place.ahead, &stored.fingerprints);
                let maker = resume(content);
                Some(Plan {
                    chain: at(content),
                    input: input(content),
                    maker,
                    ahead,
                    gap: None,
                })
            }
            Decision::Rejoin { content, .. } => {
                let (maker, stored) = (resume(content), &self.chains[at(content)]);
                let (place, input) = (&of(content).place, input(content));
                Some(
                    match Ahead::rejoin(place, &stored.place, &stored.fingerprints) {
                        Some(ahead) => Plan {
                            chain: at(content),
                            input,
                            maker,
                            ahead,
                            gap: None,
                        },
                        None => self.align(rest, at(content), input, maker),
                    },
                )
            }
            Decision::NewGeneration { after, .. }
                if after.offset == 0 && !self.chains.is_empty() =>
            {
                let chain = self.chains.len() - 1;
                let input = self.chains[chain].inputs.len() as u64;
                Some(self.align(rest, chain, input, MarkMaker::new(&self.key)))
            }
            Decision::NewGeneration { .. } => {
                let maker = MarkMaker::after(&self.key, identified.point, identified.agreed);
                let ahead = Ahead::default();
                Some(Plan {
                    chain: self.chains.len(),
                    input: 0,
                    maker,
                    ahead,
                    gap: None,
                })
            }
        }
    }

    fn align(&self, rest: &[u8], chain: usize, input: u64, maker: MarkMaker) -> Plan {
        let stored = &self.chains[chain];
        let mut align = Align::new(
            stored.fingerprints.clone(),
            stored.place.lines + stored.place.older_lines,
        );
        for (line, terminated) in lines(rest) {
            if align.is_full() {
                break;
            }
            let fingerprint = self.key.fingerprint(line);
            align.feed(AlignLine {
                fingerprint,
                bytes: line.len() + 1,
                timed: true,
                terminated,
            });
        }
        let found = align.finish();
        match found.fit {
            Fit::None => {
                let ahead = Ahead::default();
                Plan {
                    chain: self.chains.len(),
                    input: 0,
                    maker,
                    ahead,
                    gap: found.gap,
                }
            }
            _ => Plan {
                chain,
                input,
                maker,
                ahead: found.ahead,
                gap: found.gap,
            },
        }
    }

    fn read_on(&mut self, bytes: &[u8], mut plan: Plan, commit_lines: usize, killed_after: usize) {
        let mut at = usize::try_from(plan.maker.offset()).unwrap();
        let whole: Vec<_> = lines(&bytes[at..]).collect();
        let mut pending = self
            .chains
            .get(plan.chain)
            .and_then(|stored| stored.place.pending);
        for commit in whole.chunks(commit_lines).take(killed_after) {
            let (mut texts, mut fingerprints, mut older) = (Vec::new(), Vec::new(), 0);
            for (line, terminated) in commit {
                let fingerprint = self.key.fingerprint(line);
                let part = plan.ahead.next(fingerprint, *terminated);
                if part == Part::Refuted {
                    plan.gap = Some((GapCause::Ambiguous, Extent::Unknown));
                }
                let stores = match part {
                    Part::Older => true,
                    Part::Repeat => false,
                    Part::New | Part::Refuted => pending.take().is_none_or(|stored| {
                        stored.judge(&self.key, line, *terminated) != Verdict::Repeat
                    }),
                };
                if stores {
                    texts.push(String::from_utf8_lossy(line).into_owned());
                }
                match part {
                    Part::New | Part::Refuted if *terminated => fingerprints.push(fingerprint),
                    Part::Older if *terminated => older += 1,
                    _ => {}
                }
                let end = at + line.len() + usize::from(*terminated);
                plan.maker.feed(&bytes[at..end]);
                at = end;
            }
            self.commit(&mut plan, texts, fingerprints, older);
            let stored = &mut self.chains[plan.chain];
            stored.place.pending = plan.maker.tail().or(pending);
        }
    }

    fn commit(&mut self, plan: &mut Plan, texts: Vec<String>, new: Vec<Fingerprint>, older: u64) {
        if plan.chain == self.chains.len() {
            self.chains.push(Stored::default());
        }
        let input = usize::try_from(plan.input).unwrap();
        let stored = &mut self.chains[plan.chain];
        let inputs = stored.inputs.len().max(input + 1);
        stored.inputs.resize_with(inputs, Default::default);
        let update = plan.maker.take();
        stored.inputs[input].1.extend(update.fixed);
        stored.place = Place {
            mark: update.place,
            ahead: plan.ahead.lines(),
            chain: Chain::Stdin,
            input: plan.input,
            lines: stored.place.lines + new.len() as u64,
            older_lines: stored.place.older_lines + older,
            ..stored.place.clone()
        };
        stored.inputs[input].0 = stored.place.clone();
        stored.texts.extend(texts);
        stored.gaps.extend(plan.gap.take());
        stored.fingerprints.extend(new);
        let from = stored.fingerprints.len().saturating_sub(LINES_KEPT_MAX);
        stored.fingerprints.drain(..from);
    }

    fn all_texts(&self) -> Vec<String> {
        self.chains
            .iter()
            .flat_map(|stored| stored.texts.clone())
            .collect()
    }

    fn all_gaps(&self) -> Vec<(GapCause, Extent)> {
        self.chains
            .iter()
            .flat_map(|stored| stored.gaps.clone())
            .collect()
    }
}

fn texts(from: usize, count: usize) -> Vec<String> {
    String::from_utf8(log(from, count))
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

const WHOLE: usize = usize::MAX;

/// A tail of 200 lines every 50 lines: each line once, one chain, no gap.
#[test]
fn overlapping_tails_are_one_chain_without_a_gap() {
    let mut pipe = Pipe::new();
    for end in (200..2000).step_by(50) {
        pipe.ingest(&log(end - 200, 200), 30, WHOLE);
    }
    assert_eq!(pipe.chains.len(), 1);
    assert_eq!(pipe.all_texts(), texts(0, 1950));
    assert_eq!(pipe.all_gaps(), []);
}

/// B026: more lines than the tail shows between two reads are a gap, and a new chain.
#[test]
fn tail_that_was_outrun_is_an_unknown_gap() {
    let mut pipe = Pipe::new();
    pipe.ingest(&log(0, 200), 500, WHOLE);
    pipe.ingest(&log(600, 200), 500, WHOLE);
    pipe.ingest(&log(700, 200), 500, WHOLE);
    assert_eq!(pipe.chains.len(), 2);
    assert_eq!(
        pipe.all_gaps(),
        [(GapCause::HistoryUnavailable, Extent::Unknown)]
    );
    assert_eq!(pipe.all_texts().len(), 500);
}

/// The same bytes piped in again are known, whichever input they were and however long ago.
#[test]
fn earlier_input_piped_again_adds_nothing() {
    let mut pipe = Pipe::new();
    let first = log(0, 6000);
    pipe.ingest(&first, 500, WHOLE);
    pipe.ingest(&log(5800, 5000), 500, WHOLE);
    assert!(matches!(
        pipe.ingest(&first, 500, WHOLE),
        Decision::Known {
            content: ContentId(0),
            ..
        }
    ));
    assert_eq!(pipe.all_texts(), texts(0, 10_800));
    assert_eq!(pipe.all_gaps(), []);
}

/// An earlier input that has grown rejoins its chain: what another input brought since is not stored
/// again.
#[test]
fn earlier_input_that_has_grown_rejoins_its_chain() {
    let mut pipe = Pipe::new();
    pipe.ingest(&log(0, 1000), 500, WHOLE);
    pipe.ingest(&log(900, 200), 500, WHOLE);
    assert!(matches!(
        pipe.ingest(&log(0, 1150), 500, WHOLE),
        Decision::Rejoin { .. }
    ));
    assert_eq!(pipe.all_texts(), texts(0, 1150));
    assert!(matches!(
        pipe.ingest(&log(0, 1200), 500, WHOLE),
        Decision::Continue { .. }
    ));
    assert_eq!(pipe.all_texts(), texts(0, 1200));
}

/// An input that lies inside of what is stored, and then grows, still adds nothing until it is past it.
#[test]
fn input_from_the_middle_adds_only_what_is_past_the_end() {
    let mut pipe = Pipe::new();
    pipe.ingest(&log(0, 1000), 500, WHOLE);
    for end in [500, 800, 1000, 1100] {
        pipe.ingest(&log(400, end - 400), 7, WHOLE);
    }
    assert_eq!(pipe.all_texts(), texts(0, 1100));
    assert_eq!(pipe.all_gaps(), []);
}

/// A longer tail than before brings older lines; a kill among them neither loses nor repeats any.
#[test]
fn older_lines_are_stored_once_through_a_kill() {
    for killed_after in 0..12 {
        let mut pipe = Pipe::new();
        pipe.ingest(&log(100, 50), 500, WHOLE);
        pipe.ingest(&log(70, 90), 10, killed_after);
        pipe.ingest(&log(70, 95), 10, WHOLE);
        let mut stored = pipe.all_texts();
        stored.sort();
        assert_eq!(stored, texts(70, 95), "killed after {killed_after}");
        assert_eq!(pipe.all_gaps(), []);
    }
}

/// A tail far longer than the kept fingerprints, killed at every commit and fed from its start again:
/// its own marks carry it, where alignment could not.
#[test]
fn long_aligned_pipe_is_refed_through_kills() {
    let mut pipe = Pipe::new();
    pipe.ingest(&log(0, 500), 500, WHOLE);
    let long = log(300, 12_000);
    for _ in 0..20 {
        pipe.ingest(&long, 700, 1);
    }
    assert_eq!(pipe.all_texts(), texts(0, 12_300));
    assert_eq!(pipe.all_gaps(), []);
}

/// A chain's last line was cut: the next tail brings it whole, and it is stored once more.
#[test]
fn cut_end_of_a_chain_is_stored_whole_by_the_next_tail() {
    let mut pipe = Pipe::new();
    let first = log(0, 100);
    pipe.ingest(&first[..first.len() - 30], 500, WHOLE);
    pipe.ingest(&log(50, 60), 500, WHOLE);
    let stored = pipe.all_texts();
    assert_eq!(stored.len(), 111);
    assert!(stored[100].starts_with(&stored[99]));
    assert_eq!(stored[100..], texts(99, 11));
    let mut same = Pipe::new();
    same.ingest(&first[..first.len() - 1], 500, WHOLE);
    same.ingest(&log(50, 60), 500, WHOLE);
    assert_eq!(same.all_texts(), texts(0, 110));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    /// For all sequences of tails of one log of different lines, each of them overlapping what is
    /// stored by eight lines or more, fed by runs that are killed at any commit and then fed again from
    /// the start: every line from the first one on is stored once, and there is no gap.
    #[test]
    fn tails_are_stored_once_through_kills(
        tails in prop::collection::vec((8..60usize, 0..60usize, 1..9usize, 0..6usize), 1..12),
    ) {
        let mut pipe = Pipe::new();
        let (mut first, mut end) = (500usize, 540usize);
        pipe.ingest(&log(first, end - first), 500, WHOLE);
        for (overlap, more, commit_lines, killed_after) in tails {
            let start = (end - overlap).min(end.saturating_sub(8));
            let tail = log(start, overlap + more);
            pipe.ingest(&tail, commit_lines, killed_after);
            pipe.ingest(&tail, commit_lines, WHOLE);
            first = first.min(start);
            end += more;
        }
        let mut stored = pipe.all_texts();
        stored.sort();
        prop_assert_eq!(stored, texts(first, end - first));
        prop_assert_eq!(pipe.all_gaps(), []);
        prop_assert_eq!(pipe.chains.len(), 1);
    }
}
