//! Gateways up to 0.0.116 subscribe before they read the tail, so what is published between the two
//! comes twice: as the end of the tail and as the beginning of what is live.
//!
//! Lines that a snapshot taken before had are older than both. Behind them a run of lines that comes a
//! second time at once, in the same order, is that overlap.

use std::mem;

use boundlane_record::Fingerprint;

use super::Arrived;

/// Lines behind the snapshot in which the overlap can lie: what one watch buffers.
const LINES_MAX: usize = 1024;

/// Finds the overlap, once an attachment.
#[derive(Debug, Default)]
pub(crate) struct Handoff {
    /// Lines behind the snapshot so far.
    seen: Vec<Fingerprint>,
    /// Where in `seen` the next line lies, for each place where the overlap may begin.
    next: Vec<usize>,
    held: Vec<Arrived>,
    /// So many of the held lines are an overlap that reaches the end of `seen`.
    whole: usize,
    over: bool,
}

/// What became of lines, in their order.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    pub(crate) new: Vec<Arrived>,
    pub(crate) repeats: Vec<Arrived>,
    /// The repeats may as well be lines that were really published twice.
    pub(crate) is_ambiguous: bool,
}

impl Handoff {
    /// A hand-off that cannot repeat anything.
    pub(crate) fn exact() -> Handoff {
        Handoff {
            over: true,
            ..Handoff::default()
        }
    }

    /// A hand-off that may repeat the end of `tail`: what lies in it behind the lines of a snapshot
    /// that was taken before, whose oldest lines may have been pushed out since.
    pub(crate) fn behind(snapshot: &[Fingerprint], tail: &[Fingerprint]) -> Handoff {
        let lines = snapshot.len();
        let pushed_out = (0..=lines).find(|pushed_out| {
            let left = &snapshot[*pushed_out..];
            tail.starts_with(left)
        });
        Handoff {
            seen: tail[lines - pushed_out.unwrap_or(lines)..].to_vec(),
            ..Handoff::default()
        }
    }

    /// Takes the next line behind the snapshot.
    pub(crate) fn feed(&mut self, arrived: Arrived) -> HandedOver {
        if self.over {
            return HandedOver::new(vec![arrived]);
        }
        if self.held.is_empty() {
            self.next = (0..self.seen.len()).collect();
        }
        let is_next = |at: &usize| self.seen[*at] == arrived.fingerprint;
        let next: Vec<usize> = self.next.iter().copied().filter(is_next).collect();
        if next.is_empty() {
            return self.behind_held(arrived);
        }
        self.held.push(arrived);
        if next.contains(&(self.seen.len() - 1)) {
            self.whole = self.held.len();
        }
        self.next = next.iter().map(|at| at + 1).collect();
        self.next.retain(|at| *at < self.seen.len());
        match self.next.is_empty() {
            true => self.finish(),
            false => HandedOver::default(),
        }
    }

    /// No line came for a while. An overlap that is whole is not waited for any longer; one that has not
    /// begun, or not ended, may still come: a gateway can be slow.
    pub(crate) fn idle(&mut self) -> HandedOver {
        match self.whole > 0 && self.whole == self.held.len() {
            true => self.finish(),
            false => HandedOver::default(),
        }
    }

    /// No line will come any more.
    pub(crate) fn end(&mut self) -> HandedOver {
        self.finish()
    }

    fn finish(&mut self) -> HandedOver {
        self.over = true;
        let mut repeats = mem::take(&mut self.held);
        let new = repeats.split_off(mem::take(&mut self.whole));
        let first = repeats.first().map(|arrived| arrived.line.time);
        HandedOver {
            is_ambiguous: repeats
                .iter()
                .all(|arrived| Some(arrived.line.time) == first),
            repeats,
            new,
        }
    }

    /// A line that cannot be of the overlap that is held.
    fn behind_held(&mut self, arrived: Arrived) -> HandedOver {
        if self.whole > 0 {
            let mut over = self.finish();
            over.new.push(arrived);
            return over;
        }
        // What is held was published again; this line may begin the overlap.
        let mut new = mem::take(&mut self.held);
        self.seen.extend(new.iter().map(|held| held.fingerprint));
        if new.is_empty() {
            self.seen.push(arrived.fingerprint);
            self.over = self.seen.len() >= LINES_MAX;
            return HandedOver::new(vec![arrived]);
        }
        let more = self.feed(arrived);
        new.extend(more.new);
        HandedOver { new, ..more }
    }
}

impl HandedOver {
    fn new(new: Vec<Arrived>) -> HandedOver {
        HandedOver {
            new,
            ..HandedOver::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use boundlane_record::Micros;

    use super::*;
    use crate::watch::WatchedLine;

    fn line(name: u8, time: i64) -> Arrived {
        Arrived {
            fingerprint: Fingerprint([name; 16]),
            line: WatchedLine {
                time: Some(Micros(time)),
                ..WatchedLine::default()
            },
        }
    }

    fn run(names: &[u8], time: impl Fn(u8) -> i64) -> (Vec<u8>, Vec<u8>, bool) {
        let mut handoff = Handoff::default();
        let (mut new, mut repeats, mut ambiguous) = (Vec::new(), Vec::new(), false);
        let mut note = |over: HandedOver| {
            new.extend(over.new.iter().map(|one| one.fingerprint.0[0]));
            repeats.extend(over.repeats.iter().map(|one| one.fingerprint.0[0]));
            ambiguous |= over.is_ambiguous && !over.repeats.is_empty();
        };
        for name in names {
            note(handoff.feed(line(*name, time(*name))));
        }
        note(handoff.end());
        (new, repeats, ambiguous)
    }

    #[test]
    fn an_overlap_that_comes_late_is_a_repeat() {
        let mut handoff = Handoff::default();
        let mut feed = |name: u8| {
            let over = handoff.feed(line(name, i64::from(name)));
            let quiet = handoff.idle();
            (
                over.new.len() + quiet.new.len(),
                over.repeats.len() + quiet.repeats.len(),
            )
        };
        assert_eq!([1, 2, 3].map(&mut feed), [(1, 0); 3]);
        assert_eq!([2, 3, 4].map(&mut feed), [(0, 0), (0, 2), (1, 0)]);
    }

    #[test]
    fn the_end_of_the_tail_that_comes_again_is_a_repeat() {
        let own = i64::from;
        assert_eq!(
            run(&[1, 2, 3, 2, 3, 4], own),
            (vec![1, 2, 3, 4], vec![2, 3], false)
        );
        assert_eq!(run(&[1, 2, 3], own), (vec![1, 2, 3], vec![], false));
        assert_eq!(run(&[1, 1, 2], own), (vec![1, 2], vec![1], true));
        assert_eq!(run(&[1, 2, 2, 3], own), (vec![1, 2, 3], vec![2], true));
        assert_eq!(
            run(&[1, 2, 1, 2, 3], |_| 5),
            (vec![1, 2, 3], vec![1, 2], true)
        );
    }

    #[test]
    fn lines_that_only_begin_like_the_overlap_are_new() {
        let own = i64::from;
        assert_eq!(
            run(&[1, 2, 3, 2, 4], own),
            (vec![1, 2, 3, 2, 4], vec![], false)
        );
        assert_eq!(run(&[1, 2, 1], own), (vec![1, 2, 1], vec![], false));
    }
}
