//! One round of a live watch of 0.1.x: what was drained from the buses, put into the order of the one
//! sequence, with what came after the watermark held back for a round.

use super::buffers::Held;
use super::settings::WarningPlace;

/// What a watch says next.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Message(Held),
    Lagged(u64),
}

/// What one drain found, each with the place it is sorted by.
#[derive(Debug, Default)]
pub(super) struct Round {
    messages: Vec<Held>,
    /// How many were lost, and the number of the first message behind the hole.
    holes: Vec<(u64, u64)>,
}

impl Round {
    /// A round that starts with what the last one held back.
    pub(super) fn with(held_back: Vec<Held>) -> Round {
        Round {
            messages: held_back,
            holes: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.holes.is_empty()
    }

    pub(super) fn message(&mut self, held: Held) {
        self.messages.push(held);
    }

    /// A hole before the next message of the same bus, which has the number `before`.
    pub(super) fn hole(&mut self, lost: u64, before: u64) {
        self.holes.push((lost, before));
    }

    /// What is said now, in order, and what is held back: everything above `watermark`.
    pub(super) fn split(mut self, watermark: u64, place: WarningPlace) -> (Vec<Piece>, Vec<Held>) {
        self.messages.sort_by_key(|held| held.seq);
        let cut = self.messages.partition_point(|held| held.seq <= watermark);
        let held_back = self.messages.split_off(cut);
        let mut pieces = Vec::with_capacity(self.messages.len() + self.holes.len());
        if place == WarningPlace::BeforeFollowing {
            self.holes.sort_by_key(|hole| hole.1);
            let mut holes = self.holes.drain(..).peekable();
            for held in self.messages {
                while let Some((lost, _)) = holes.next_if(|hole| hole.1 <= held.seq) {
                    pieces.push(Piece::Lagged(lost));
                }
                pieces.push(Piece::Message(held));
            }
            pieces.extend(holes.map(|hole| Piece::Lagged(hole.0)));
        } else {
            pieces.extend(self.messages.into_iter().map(Piece::Message));
            pieces.extend(self.holes.into_iter().map(|hole| Piece::Lagged(hole.0)));
        }
        (pieces, held_back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::buffers::Item;
    use crate::gateway::model::Line;

    fn held(seq: u64) -> Held {
        Held {
            seq,
            cursor: "".into(),
            item: Item::Line(Line::ocsf("").into()),
        }
    }

    fn said(round: Round, watermark: u64, place: WarningPlace) -> (Vec<String>, usize) {
        let (pieces, held_back) = round.split(watermark, place);
        let said = pieces.iter().map(|piece| match piece {
            Piece::Message(held) => held.seq.to_string(),
            Piece::Lagged(lost) => format!("lost {lost}"),
        });
        (said.collect(), held_back.len())
    }

    fn round() -> Round {
        let mut round = Round::with(vec![held(4)]);
        round.message(held(3));
        round.hole(7, 11);
        round.message(held(11));
        round.message(held(12));
        round
    }

    #[test]
    fn a_warning_stands_before_what_follows_the_hole() {
        assert_eq!(
            said(round(), 20, WarningPlace::BeforeFollowing),
            (["3", "4", "lost 7", "11", "12"].map(String::from).into(), 0)
        );
    }

    #[test]
    fn or_after_everything_that_the_drain_found() {
        assert_eq!(
            said(round(), 20, WarningPlace::AfterDrain),
            (["3", "4", "11", "12", "lost 7"].map(String::from).into(), 0)
        );
    }

    #[test]
    fn what_is_above_the_watermark_is_held_back() {
        assert_eq!(
            said(round(), 4, WarningPlace::BeforeFollowing),
            (["3", "4", "lost 7"].map(String::from).into(), 2)
        );
    }
}
