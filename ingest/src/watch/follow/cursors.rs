//! Lines with cursors: greater ones are new, others are known, and a new numbering proves nothing.

use boundlane_record::{Extent, Gap, GapCause, Micros};

use super::losses::{Found, in_order};
use super::{Arrived, Follow, Step, cursor};

/// How far behind its hole a late warning can come, in messages: what the gateway buffers on the way.
const LATE_MESSAGES_MAX: u64 = 2048;
/// Holes that are remembered.
const HOLES_MAX: usize = 1024;

impl Follow {
    /// The cursor to resume after in one of the kept numberings: in front of the first hole, if any.
    pub(super) fn resume_cursor(&self, index: usize) -> Option<String> {
        let at = self.place.cursors.len().checked_sub(index + 1)?;
        let greatest = self.place.cursors.get(at)?;
        match self.place.holes.first() {
            // The very cursor that came: its space and its number in the form that both were read from.
            Some((before, _)) if index == 0 => {
                Some(format!("{}:{before:020}", cursor::space(greatest)))
            }
            _ => Some(greatest.clone()),
        }
    }

    pub(super) fn with_cursor(&mut self, arrived: Arrived) {
        match self.place.space_index(&arrived.line.cursor) {
            Some(index) if index + 1 == self.place.cursors.len() => self.compare(arrived),
            Some(index) => {
                let greatest = self.place.cursors[index].clone();
                self.new_space(&arrived);
                self.place.enter(&greatest);
                self.compare(arrived);
            }
            None => {
                self.new_space(&arrived);
                self.place.enter(&arrived.line.cursor);
                self.take(arrived);
            }
        }
    }

    /// A numbering other than the last one: one gap, unless lines without cursors already led here.
    fn new_space(&mut self, arrived: &Arrived) {
        let led_here = self.attachment.as_ref().is_some_and(|now| now.blind > 0);
        let is_fresh = self.place.cursors.is_empty() && self.place.lines == 0;
        if !led_here && !is_fresh {
            let is_open = self.attachment.as_ref().is_some_and(|now| now.opened);
            self.open_gap(GapCause::SpaceChanged, Some(arrived));
            // A gap that was opened while nothing came ends before this line did.
            if is_open && cursor::number(&arrived.line.cursor) > Some(1) {
                self.gap(GapCause::SpaceChanged, Extent::Unknown, Some(arrived), None);
            }
        }
        self.place.holes.clear();
        self.holes_through = None;
        self.place.blind_lines = 0;
        if let Some(attachment) = &mut self.attachment
            && std::mem::take(&mut attachment.blind) > 0
        {
            self.begin_behind_blind(&arrived.line.cursor);
        }
        self.suspicion = None;
        self.settle();
    }

    /// A line of the numbering that was read last.
    fn compare(&mut self, arrived: Arrived) {
        self.settle_tail(&arrived);
        if let Some(attachment) = &mut self.attachment {
            attachment
                .replays_through
                .take_if(|through| *through <= arrived.line.cursor);
        }
        let greatest = self.place.greatest().unwrap_or_default();
        if arrived.line.cursor.as_str() > greatest {
            self.beyond(arrived);
        } else if self.fills_hole(&arrived.line.cursor) {
            self.take(arrived);
        } else {
            self.repeat(arrived);
        }
    }

    fn beyond(&mut self, arrived: Arrived) {
        self.dropped = 0;
        let is_known = self.is_known_blind(&arrived);
        if !is_known {
            self.note_hole(&arrived.line.cursor);
        }
        self.place.enter(&arrived.line.cursor);
        match is_known {
            true => self.repeat(arrived),
            false => self.take(arrived),
        }
    }

    /// Whether it was taken before, when it came without its cursor. Both times lines come in order; those
    /// that are passed over lie before the cursor that was resumed after.
    fn is_known_blind(&mut self, arrived: &Arrived) -> bool {
        let blind = usize::try_from(self.place.blind_lines).unwrap_or(usize::MAX);
        let came_now = self.attachment.as_ref().is_some_and(|now| now.blind > 0);
        if blind == 0 || came_now {
            return false;
        }
        let from = self.kept.len().saturating_sub(blind);
        let mut left = self.kept.range(from..);
        let is_known = left.any(|kept| *kept == arrived.fingerprint);
        self.place.blind_lines = match is_known {
            true => left.len() as u64,
            false => 0,
        };
        is_known
    }

    /// A jump in the numbers: something that is no line, or a hole whose warning is still on its way.
    fn note_hole(&mut self, to: &str) {
        let Some(attachment) = &mut self.attachment else {
            return;
        };
        let is_settled = attachment.received == 1 && attachment.from_tail;
        if std::mem::take(&mut attachment.blind) > 0 {
            self.place.blind_lines = 0;
            return self.begin_behind_blind(to);
        }
        let from = self.place.greatest().and_then(cursor::number);
        let (Some(from), Some(to)) = (from, cursor::number(to)) else {
            return;
        };
        let holes = &mut self.place.holes;
        holes.retain(|(_, after)| after + LATE_MESSAGES_MAX > to);
        if to > from + 1 && !is_settled && holes.len() < HOLES_MAX {
            holes.push((from, to));
        }
    }

    fn begin_behind_blind(&mut self, first: &str) {
        self.place.behind_blind = Some(first.to_owned());
        self.is_blind_proven = false;
    }

    /// A warning that came, or that an end kept from coming, may be of what was left out behind lines without
    /// a cursor, where nothing can be resumed.
    pub(super) fn lose_behind_blind(&mut self, extent: Extent, now: Micros) {
        let first = self.place.behind_blind.take();
        let first = first.as_deref().and_then(cursor::number);
        let greatest = self.place.greatest().and_then(cursor::number);
        let (Some(first), Some(greatest)) = (first, greatest) else {
            return;
        };
        if first + LATE_MESSAGES_MAX > greatest {
            let gap = self.between(Found {
                why: Some("left out behind lines without a cursor"),
                ..Found::new(GapCause::Lagged, extent)
            });
            let gap = in_order(Gap {
                to: Some(now),
                ..gap
            });
            self.steps.push_back(match extent {
                Extent::Unknown => Step::OpenGap(gap),
                _ => Step::Gap(gap),
            });
        }
    }

    /// Whether the cursor lies in a hole, which it then fills up to there. What is replayed comes in
    /// order, so holes that lie before it are empty.
    fn fills_hole(&mut self, known: &str) -> bool {
        let Some(number) = cursor::number(known) else {
            return false;
        };
        let holes = &mut self.place.holes;
        holes.retain(|(_, after)| *after > number);
        let Some(first) = holes.first_mut().filter(|(before, _)| *before < number) else {
            return false;
        };
        first.0 = number;
        if first.0 + 1 >= first.1 {
            holes.remove(0);
        }
        true
    }

    /// The first line of an attachment says what lies in front of it and is gone: after a cursor
    /// nothing, at the tail what is missing between.
    fn settle_tail(&mut self, first: &Arrived) {
        let is_settled = self
            .attachment
            .as_ref()
            .is_none_or(|now| now.settled || now.opened);
        let suspicion = self.suspicion.take();
        self.settle();
        if is_settled {
            return;
        }
        let extent = self.missing_before(&first.line.cursor);
        let cause = match suspicion.as_ref().map(|suspicion| suspicion.cause) {
            // The same numbering after all: it went on without us.
            None | Some(GapCause::SpaceChanged) => GapCause::Evicted,
            Some(cause) => cause,
        };
        let extent = match extent {
            Extent::AtMost(0) => return,
            // The message itself, and nothing else.
            Extent::AtMost(1) if cause == GapCause::Oversize => Extent::Exact(1),
            extent => extent,
        };
        let why = suspicion.map(|suspicion| suspicion.why);
        self.gap(cause, extent, Some(first), why);
    }

    /// At most how many lines lie in holes and behind the greatest cursor, and before `first`. These
    /// holes are no longer waited for.
    fn missing_before(&mut self, first: &str) -> Extent {
        let greatest = self.place.greatest().and_then(cursor::number);
        let (Some(greatest), Some(first)) = (greatest, cursor::number(first)) else {
            return Extent::Unknown;
        };
        let between = |from: u64, to: u64| to.saturating_sub(from + 1);
        let holes = &mut self.place.holes;
        let lost = holes
            .iter()
            .map(|(before, after)| between(*before, (*after).min(first)));
        let in_holes: u64 = lost.sum();
        for (before, after) in holes.iter_mut() {
            *before = (*before).max(first.saturating_sub(1).min(*after));
        }
        holes.retain(|(before, after)| before + 1 < *after);
        Extent::AtMost(in_holes + between(greatest, first))
    }

    pub(super) fn settle(&mut self) {
        if let Some(attachment) = &mut self.attachment {
            attachment.settled = true;
        }
    }
}
