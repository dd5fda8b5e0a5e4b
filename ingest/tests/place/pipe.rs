//! What a command does with standard input, over a store that is a list: the driver of the tests.

use boundlane_ingest::DigestKey;
use boundlane_ingest::place::{
    Ahead, Align, AlignLine, Chain, ContentId, Decision, Fit, Identified, Identify, Known,
    LINES_KEPT_MAX, MarkMaker, Part, Place, Verdict,
};
use boundlane_record::{Extent, Fingerprint, GapCause, Mark};

use crate::book::lines;

/// How many inputs a chain may have here.
pub(crate) const INPUTS_MAX: u64 = 1000;

/// What a store holds of one chain.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    place: Place,
    /// The last place of each input, and its marks.
    inputs: Vec<(Place, Vec<Mark>)>,
    fingerprints: Vec<Fingerprint>,
    texts: Vec<String>,
    gaps: Vec<(GapCause, Extent)>,
}

pub(crate) struct Pipe {
    key: DigestKey,
    pub(crate) chains: Vec<Stored>,
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
    pub(crate) fn new() -> Pipe {
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
    pub(crate) fn ingest(
        &mut self,
        bytes: &[u8],
        commit_lines: usize,
        killed_after: usize,
    ) -> Decision {
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
        let mut ended = true;
        for (line, terminated) in lines(rest) {
            if align.is_full() {
                ended = false;
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
        let found = align.finish(ended);
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

    pub(crate) fn all_texts(&self) -> Vec<String> {
        self.chains
            .iter()
            .flat_map(|stored| stored.texts.clone())
            .collect()
    }

    pub(crate) fn all_gaps(&self) -> Vec<(GapCause, Extent)> {
        self.chains
            .iter()
            .flat_map(|stored| stored.gaps.clone())
            .collect()
    }
}
