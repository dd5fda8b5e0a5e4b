//! What the gateway says it holds, and what that proves of what came.

use std::collections::HashSet;

use boundlane_record::{Fingerprint, GapCause, Micros};

use super::{Flow, Follow, Snapshot, TAIL_LINES};

impl Follow {
    /// The newest line that the gateway holds. A tail without cursors that has come so far is whole, and is
    /// compared with what is stored; part of one would fit nowhere.
    pub fn newest_is(&mut self, newest: &Fingerprint) {
        let is_whole = self.attachment.as_ref().is_some_and(|now| {
            let last = now.window.last().map(|arrived| arrived.fingerprint);
            now.tail_lines() == 0 && last.as_ref() == Some(newest)
        });
        if is_whole {
            self.close_window();
        }
    }

    /// The gateway holds no line, asked since it was attached. Without cursors it has lost our last line then;
    /// with them it has said so. Should another replica have answered, the tail that comes is still compared.
    pub fn holds_nothing(&mut self) {
        if self.place.lines > 0 && self.place.cursors.is_empty() {
            self.suspect(GapCause::SpaceChanged, "the gateway holds no line any more");
        }
        self.open_what_is_suspected();
    }

    /// Whether lines are waited for that the gateway held before it accepted the attachment.
    pub fn awaits_tail(&self) -> bool {
        self.attachment
            .as_ref()
            .is_some_and(|now| now.tail.len() < now.tail_lines())
    }

    /// The gateway holds these `lines` now. With none among them that are waited for, its process is
    /// another than the one that held those: they will not come. A full buffer may have pushed them out as well;
    /// then as many others come.
    pub fn holds(&mut self, lines: &[Fingerprint]) -> Flow {
        let snapshot = self
            .attachment
            .as_ref()
            .and_then(|now| now.snapshot.as_ref());
        let is_kept = snapshot.is_none_or(|Snapshot(awaited)| {
            let held: HashSet<&Fingerprint> = lines.iter().collect();
            awaited.iter().any(|line| held.contains(line))
        });
        let is_full = lines.len() >= TAIL_LINES as usize;
        if is_kept || is_full || !self.awaits_tail() {
            return Flow::On;
        }
        self.replan();
        Flow::Reattach
    }

    /// Everything published before `moment` was received: asked of the gateway, and compared. While a
    /// late warning may be on its way, it takes two of these.
    pub fn whole_before(&mut self, moment: Micros) {
        let is_settled = self
            .attachment
            .as_ref()
            .is_some_and(|now| (now.settled || now.opened) && !now.is_window_open)
            && !self.replays();
        if !is_settled {
            return;
        }
        let proven = std::mem::replace(
            &mut self.holes_through,
            self.place.holes.last().map(|hole| hole.1),
        );
        if let Some(proven) = proven {
            self.place.holes.retain(|(_, after)| *after > proven);
        }
        if std::mem::replace(&mut self.is_blind_proven, true) {
            self.place.behind_blind = None;
        }
        if self.place.holes.is_empty() && self.place.behind_blind.is_none() {
            // The last word, not the latest moment: the clock may have been set back since.
            self.place.whole = Some(moment);
        }
    }

    /// Whether lines are read again from in front of a hole, and the last of them has not come.
    fn replays(&self) -> bool {
        let now = self.attachment.as_ref();
        now.is_some_and(|now| now.replays_through.is_some())
    }

    /// Whether the line that was the newest at the gateway has come: it is the last of the first `lines`
    /// lines, which were all when the gateway was asked, or a later one. An older one is the word of a
    /// replica that other lines go to.
    pub fn has_newest(&self, newest: &Fingerprint, lines: u64) -> bool {
        if self.replays() {
            return false;
        }
        let later = self.place.lines.saturating_sub(lines).saturating_add(1);
        let later = usize::try_from(later).unwrap_or(usize::MAX);
        self.kept
            .iter()
            .rev()
            .take(later)
            .any(|kept| kept == newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{WatchPlace, Watched};

    #[test]
    fn a_tail_that_died_with_its_process_is_not_waited_for() {
        let print = |name: u8| Fingerprint([name; 16]);
        let kept = vec![print(1), print(2)];
        let mut follow = Follow::new(Watched::default(), WatchPlace::default(), kept);
        follow.attached(Micros(7), Some(Snapshot(vec![print(1), print(2)])));
        assert!(follow.awaits_tail());
        assert_eq!(follow.holds(&[print(2), print(3)]), Flow::On);
        assert_eq!(follow.holds(&[print(4)]), Flow::Reattach);
        assert_eq!(follow.holds(&[]), Flow::Reattach);
        let full = vec![print(4); TAIL_LINES as usize];
        assert_eq!(follow.holds(&full), Flow::On, "pushed out: others come");
        follow.attached(Micros(8), Some(Snapshot::default()));
        assert_eq!(follow.holds(&[]), Flow::On);
    }
}
