//! Lines without cursors: a tail is laid over the last lines that are stored, as a sequence.

use std::collections::HashMap;

use boundlane_record::{Extent, Fingerprint, GapCause, Micros};

use super::super::handoff::{HandedOver, Handoff};
use super::losses::Found;
use super::{Arrived, Follow, Snapshot, TAIL_LINES, alike};
use crate::place::{Align, AlignLine, Alignment, Fit};

impl Follow {
    pub(super) fn without_cursor(&mut self, arrived: Arrived, now: Micros) {
        let Some(attachment) = &mut self.attachment else {
            return;
        };
        let is_tail = attachment.tail.len() < attachment.tail_lines();
        if is_tail {
            attachment.tail.push(arrived.fingerprint);
        }
        if attachment.is_window_open {
            attachment.window.push(arrived);
            if attachment.window.len() >= attachment.window_lines {
                self.close_window();
            }
        } else if is_tail {
            self.take_blind(arrived);
        } else {
            let over = attachment.handoff.feed(arrived);
            self.hand_over(over, now);
        }
        self.begin_handoff(is_tail);
    }

    /// Once the lines of the snapshot have come, what follows may repeat the end of the tail.
    fn begin_handoff(&mut self, was_tail: bool) {
        let Some(attachment) = &mut self.attachment else {
            return;
        };
        if let Some(Snapshot(lines)) = &attachment.snapshot
            && was_tail
            && attachment.tail.len() == lines.len()
        {
            attachment.handoff = Handoff::behind(lines, &attachment.tail);
        }
    }

    pub(super) fn hand_over(&mut self, over: HandedOver, now: Micros) {
        if over.is_ambiguous && !over.repeats.is_empty() {
            let lines = over.repeats.len() as u64;
            self.gap_found(Found {
                why: Some("lines at the hand-off from tail to live may be one or two"),
                to: Some(now),
                ..Found::new(GapCause::Ambiguous, Extent::AtMost(lines))
            });
        }
        for arrived in over.repeats {
            self.repeat(arrived);
        }
        for arrived in over.new {
            self.take_blind(arrived);
        }
    }

    fn take_blind(&mut self, arrived: Arrived) {
        if let Some(cause) = self.suspicion.as_ref().map(|suspicion| suspicion.cause) {
            // Nothing was there to compare it with.
            self.open_gap(cause, Some(&arrived));
            self.suspicion = None;
        }
        if let Some(attachment) = &mut self.attachment {
            attachment.blind += 1;
            attachment.settled = true;
        }
        if !self.place.cursors.is_empty() {
            self.place.blind_lines += 1;
        }
        self.take(arrived);
    }

    /// Compares what the window holds with what is stored, once.
    pub(super) fn close_window(&mut self) {
        let Some(attachment) = &mut self.attachment else {
            return;
        };
        if !std::mem::take(&mut attachment.is_window_open) {
            return;
        }
        let held = std::mem::take(&mut attachment.window);
        if held.is_empty() {
            // With cursors the next line settles it. Without, an empty buffer has lost our last line.
            if self.place.cursors.is_empty() {
                self.suspect(GapCause::SpaceChanged, "the gateway holds no line any more");
            }
            return;
        }
        attachment.settled = true;
        if self.is_behind_oversize() {
            return self.behind_oversize(held);
        }
        let alignment = self.lay(&held);
        self.sort_out(held, &alignment);
    }

    /// Part of a tail fits nowhere: it is read again.
    pub(super) fn discard_window(&mut self) {
        if let Some(attachment) = &mut self.attachment {
            attachment.is_window_open = false;
            attachment.window.clear();
        }
    }

    fn is_behind_oversize(&self) -> bool {
        let suspected = self.suspicion.as_ref().map(|suspicion| suspicion.cause);
        suspected == Some(GapCause::Oversize)
    }

    /// A tail of one line, attached behind a message that cannot be read.
    fn behind_oversize(&mut self, held: Vec<Arrived>) {
        for arrived in held {
            if self.kept.back() == Some(&arrived.fingerprint) {
                self.repeat(arrived);
                continue;
            }
            if let Some(suspicion) = self.suspicion.take() {
                let extent = Extent::AtLeast(1);
                self.gap(suspicion.cause, extent, Some(&arrived), Some(suspicion.why));
            }
            self.take_blind(arrived);
        }
    }

    /// Lays a tail over the last lines that are stored.
    fn lay(&self, held: &[Arrived]) -> Alignment {
        let mut align = Align::new(self.kept.iter().copied().collect(), self.place.lines);
        for arrived in held {
            align.feed(AlignLine {
                fingerprint: arrived.fingerprint,
                bytes: 0,
                timed: arrived.line.time.is_some(),
                terminated: true,
            });
        }
        let exact = align.finish(true);
        if exact.fit != Fit::None || !self.place.cursors.is_empty() {
            return exact;
        }
        alike::lay(&self.kept, self.place.lines, held).unwrap_or(exact)
    }

    /// Stores what the alignment calls new.
    fn sort_out(&mut self, held: Vec<Arrived>, alignment: &Alignment) {
        self.gap_of(alignment, &held);
        self.dropped = 0;
        let stored = alignment.older..alignment.older + alignment.repeats;
        // With cursors, lines that were left out came later than their followers: no sequence to lie over.
        // The tail has what holes had, or the gap in front of it stands for them.
        let is_shuffled =
            matches!(alignment.fit, Fit::None | Fit::Weak) && !self.place.cursors.is_empty();
        if is_shuffled {
            self.place.holes.clear();
        }
        let mut kept: HashMap<Fingerprint, usize> = HashMap::new();
        if is_shuffled {
            let count = |print: &Fingerprint| *kept.entry(*print).or_default() += 1;
            self.kept.iter().for_each(count);
        }
        for (index, arrived) in held.into_iter().enumerate() {
            // Once for each time that it is stored: lines that are alike are as many as they are.
            let is_kept = kept.get_mut(&arrived.fingerprint).is_some_and(|left| {
                let is_left = *left > 0;
                *left -= usize::from(is_left);
                is_left
            });
            match stored.contains(&index) || is_kept {
                true => self.repeat(arrived),
                false => self.take_blind(arrived),
            }
        }
    }

    fn gap_of(&mut self, alignment: &Alignment, held: &[Arrived]) {
        let suspicion = self.suspicion.take();
        let Some((cause, extent)) = alignment.gap else {
            return;
        };
        let cause = match (alignment.fit, suspicion.as_ref()) {
            (Fit::None, Some(suspicion)) => suspicion.cause,
            (Fit::None, None) if held.len() >= TAIL_LINES as usize => GapCause::Evicted,
            // A buffer that is not full has lost nothing: it is another one.
            (Fit::None, None) => GapCause::SpaceChanged,
            _ => cause,
        };
        self.gap_found(Found {
            next: held.get(alignment.older + alignment.repeats),
            why: suspicion.map(|suspicion| suspicion.why),
            alignment: Some(&alignment.evidence),
            ..Found::new(cause, extent)
        });
    }
}
