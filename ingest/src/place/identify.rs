//! Which known content an input is, by its bytes alone.
//!
//! The input is hashed from its start. At each offset where some content has a mark, the digests are
//! compared: a content whose mark disagrees is out, and what lies before the greatest mark that agreed
//! is proven to be stored. Bytes after that mark are held, at most as many as lie between two marks (1
//! MiB and a line), NULs in front of them not counted; they come back with the decision, so a pipe needs no second reading.

use boundlane_record::Mark;

use super::{ContentId, Known, Point};
use crate::digest::DigestKey;
use crate::held::Held;

/// Bytes held back before the input counts as another one: 1 MiB and lines of up to 15 MiB.
pub const HELD_BYTES_MAX: usize = 16 << 20;

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The input has no byte.
    Empty,
    /// All of the input is stored, as the first bytes of `content`.
    Known {
        /// The content.
        content: ContentId,
        /// Where the input ends.
        at: Mark,
    },
    /// All marks agree up to the place of `content`: store what follows as more of it. Its first line
    /// is judged by the pending one, if there is any.
    Continue {
        /// The content with the greatest place that agrees.
        content: ContentId,
        /// Its place.
        from: Mark,
    },
    /// All marks of `content` agree, and its chain went on with another input since: what follows may
    /// be stored already. [`Ahead::rejoin`](super::Ahead::rejoin) tells, or else [`Align`](super::Align).
    Rejoin {
        /// The content.
        content: ContentId,
        /// Its place.
        from: Mark,
    },
    /// Store what follows `after` as a new generation.
    NewGeneration {
        /// The last mark that agrees; offset 0 when none does.
        after: Mark,
        /// Whose mark that is.
        diverged_from: Option<ContentId>,
    },
}

/// The decision and where reading goes on.
#[derive(Debug)]
pub struct Identified {
    /// What the input is.
    pub decision: Decision,
    /// The place to go on from, with the running digest of all before it.
    pub point: Point,
    /// The marks up to there, ascending: those of a new generation inherit them.
    pub agreed: Vec<Mark>,
    /// Of a new generation: a content that may hold the same lines from `point` on. Its next mark was not
    /// reached, or lies behind where the two differ; what is stored may be stored already.
    pub may_repeat: Option<ContentId>,
    /// The bytes after `point` that were read already.
    pub held: Held,
}

/// A proof that waits for its offset.
#[derive(Debug)]
struct Proof {
    at: u64,
    digest: [u8; 32],
    /// Which of `known`.
    of: usize,
    kind: ProofKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ProofKind {
    OnlyLine,
    Mark,
    Place,
}

#[derive(Debug, Clone, Copy)]
struct Agreed {
    of: usize,
    kind: ProofKind,
}

/// Identifies one input.
#[derive(Debug)]
pub struct Identify {
    known: Vec<Known>,
    /// Descending, so that the next one is the last.
    proofs: Vec<Proof>,
    /// By content: how many of its proofs wait; none once one disagreed.
    waiting: Vec<usize>,
    alive: usize,
    /// What was read.
    end: Point,
    best: Option<Agreed>,
    /// Where `best` lies, or the start.
    point: Point,
    held: Held,
    held_bytes_max: usize,
}

impl Identify {
    /// Starts with everything that is known of the sandbox.
    pub fn new(key: &DigestKey, known: Vec<Known>) -> Identify {
        let mut proofs: Vec<Proof> = known.iter().enumerate().flat_map(proofs_of).collect();
        let mut waiting = vec![0usize; known.len()];
        for proof in &proofs {
            waiting[proof.of] += 1;
        }
        // Of equal offsets the last pushed decides: places over marks, newer contents over older.
        proofs.sort_by_key(|proof| std::cmp::Reverse((proof.at, proof.kind, known[proof.of].id)));
        Identify {
            alive: waiting.iter().filter(|count| **count > 0).count(),
            known,
            proofs,
            waiting,
            end: Point::start(key),
            best: None,
            point: Point::start(key),
            held: Held::default(),
            held_bytes_max: HELD_BYTES_MAX,
        }
    }

    /// With another bound on what is held.
    #[must_use]
    pub fn held_bytes_max(self, held_bytes_max: usize) -> Identify {
        Identify {
            held_bytes_max,
            ..self
        }
    }

    /// Whether more bytes, or the end, cannot change the decision.
    pub fn is_decided(&self) -> bool {
        self.alive == 0 && !self.held.is_empty()
    }

    /// What it was started with.
    pub fn known(&self) -> &[Known] {
        &self.known
    }

    /// Takes the next bytes of the input, cut anywhere. Once it is decided they are only held.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(ahead) = self.next_offset().map(|at| at - self.end.offset) {
            let length = usize::try_from(ahead)
                .unwrap_or(usize::MAX)
                .min(bytes.len());
            self.end.pass(&bytes[..length]);
            self.held.extend(&bytes[..length]);
            bytes = &bytes[length..];
            if length as u64 == ahead {
                self.compare();
            } else {
                break;
            }
        }
        self.held.extend(bytes);
        if self.held.bytes().len() > self.held_bytes_max {
            self.alive = 0;
        }
    }

    /// The next offset where a content that still agrees has a proof.
    fn next_offset(&mut self) -> Option<u64> {
        if self.alive == 0 {
            return None;
        }
        while self
            .proofs
            .last()
            .is_some_and(|proof| self.waiting[proof.of] == 0)
        {
            self.proofs.pop();
        }
        self.proofs.last().map(|proof| proof.at)
    }

    /// Compares all proofs at the end of what was read.
    fn compare(&mut self) {
        let mark = self.end.mark();
        while self
            .proofs
            .last()
            .is_some_and(|proof| proof.at == mark.offset)
        {
            let Some(proof) = self.proofs.pop() else {
                break;
            };
            if self.waiting[proof.of] == 0 {
                continue;
            }
            self.waiting[proof.of] -= 1;
            if proof.digest != mark.digest {
                self.waiting[proof.of] = 0;
            } else {
                self.agree(Agreed {
                    of: proof.of,
                    kind: proof.kind,
                });
            }
            if self.waiting[proof.of] == 0 {
                self.alive -= 1;
            }
        }
    }

    fn agree(&mut self, agreed: Agreed) {
        if agreed.kind == ProofKind::OnlyLine {
            // Proves nothing up to a line start: what it proves begins at the start of the input.
            if self
                .best
                .is_none_or(|best| best.kind == ProofKind::OnlyLine)
            {
                self.best = Some(agreed);
            }
            return;
        }
        self.best = Some(agreed);
        self.point = self.end.clone();
        self.held.clear();
    }

    /// The decision. `ended` says whether what was fed is all of the input.
    pub fn finish(self, ended: bool) -> Identified {
        let whole = ended && self.held.is_empty();
        let at = self.point.mark();
        let decision = match self.best {
            None if whole => Decision::Empty,
            None => Decision::NewGeneration {
                after: at,
                diverged_from: None,
            },
            Some(best) => self.decide(best, at, whole),
        };
        let agreed = self
            .best
            .map_or(Vec::new(), |best| self.inherited(best, at));
        let may_repeat = self.may_repeat(&decision);
        Identified {
            decision,
            may_repeat,
            point: self.point,
            agreed,
            held: self.held,
        }
    }

    fn decide(&self, best: Agreed, at: Mark, whole: bool) -> Decision {
        let known = &self.known[best.of];
        let content = known.id;
        match best.kind {
            _ if whole => Decision::Known { content, at },
            ProofKind::Mark => Decision::NewGeneration {
                after: at,
                diverged_from: Some(content),
            },
            ProofKind::Place if !known.is_current => Decision::Rejoin { content, from: at },
            ProofKind::Place | ProofKind::OnlyLine => Decision::Continue { content, from: at },
        }
    }

    /// The newest content that the input agrees with as far as it goes; else the one that it left.
    fn may_repeat(&self, decision: &Decision) -> Option<ContentId> {
        let Decision::NewGeneration { diverged_from, .. } = decision else {
            return None;
        };
        // Every content has a mark behind its first line: a whole line before any mark is another one.
        let is_other = self.best.is_none() && memchr::memchr(b'\n', self.held.bytes()).is_some();
        if is_other {
            return None;
        }
        let agrees = self.waiting.iter().zip(&self.known);
        let agrees = agrees.filter(|(waiting, _)| **waiting > 0);
        agrees.map(|(_, known)| known.id).max().or(*diverged_from)
    }

    fn inherited(&self, best: Agreed, at: Mark) -> Vec<Mark> {
        self.known[best.of]
            .proofs()
            .filter(|mark| mark.offset <= at.offset)
            .collect()
    }
}

fn proofs_of((of, known): (usize, &Known)) -> Vec<Proof> {
    let whole = known.proofs().map(|mark| Proof {
        at: mark.offset,
        digest: mark.digest,
        of,
        kind: ProofKind::Mark,
    });
    let mut proofs: Vec<Proof> = whole.collect();
    if let Some(last) = proofs.last_mut() {
        last.kind = ProofKind::Place;
    }
    if let Some(line) = known.only_line().filter(|line| line.bytes > 0) {
        proofs.push(Proof {
            at: line.bytes,
            digest: line.digest,
            of,
            kind: ProofKind::OnlyLine,
        });
    }
    proofs
}
