//! Times in tables: local, with the zone in the header and the date where it is needed.

use boundlane_record::Micros;

use crate::time::{Civil, LocalTime, Zone, civil};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// How the times of one table are shown. Decided by its first rows.
pub(crate) struct Clock<'z> {
    zone: &'z dyn Zone,
    today: i64,
    offset: i32,
    dated: bool,
}

impl<'z> Clock<'z> {
    /// Times for a person in `zone` at `now`.
    pub(crate) fn new(zone: &'z dyn Zone, now: Micros) -> Clock<'z> {
        let offset = zone.offset_seconds(now);
        let mut clock = Clock {
            zone,
            today: 0,
            offset,
            dated: true,
        };
        clock.today = clock.local(now).div_euclid(DAY);
        clock
    }

    /// Decides by these times: their offset goes into the header, and the date is left out when all
    /// are of today.
    pub(crate) fn settle(&mut self, mut times: impl Iterator<Item = Micros>) {
        let Some(first) = times.next() else { return };
        self.offset = self.zone.offset_seconds(first);
        self.dated = !self.is_today(first) || !times.all(|at| self.is_today(at));
    }

    /// What the header says after the column's name: ` (+02:00)`.
    pub(crate) fn header(&self) -> String {
        if self.offset == 0 {
            " (UTC)".to_owned()
        } else {
            format!(" ({})", offset(self.offset))
        }
    }

    /// The time in the header's zone. Where the clock had another offset, or showed this twice, the
    /// offset follows: what is printed can always be read back.
    pub(crate) fn shown(&self, at: Micros) -> String {
        let Civil {
            year,
            month,
            day,
            hour,
            minute,
            second,
            micros,
        } = civil(Micros(self.local(at)));
        let mut text = String::with_capacity(30);
        if self.dated || !self.is_today(at) {
            text.push_str(&format!("{year:04}-{month:02}-{day:02} "));
        }
        text.push_str(&format!("{hour:02}:{minute:02}:{second:02}"));
        if micros % 1000 == 0 {
            text.push_str(&format!(".{:03}", micros / 1000));
        } else {
            text.push_str(&format!(".{micros:06}"));
        }
        let own = self.zone.offset_seconds(at);
        let is_clear = matches!(self.zone.resolve(self.local(at)), LocalTime::Once(_));
        if own != self.offset || !is_clear {
            if !text.contains('-') {
                text.insert_str(0, &format!("{year:04}-{month:02}-{day:02} "));
            }
            text.push_str(&offset(own));
        }
        text
    }

    fn local(&self, at: Micros) -> i64 {
        at.0.saturating_add(i64::from(self.zone.offset_seconds(at)) * SECOND)
    }

    fn is_today(&self, at: Micros) -> bool {
        self.local(at).div_euclid(DAY) == self.today
    }
}

/// `+02:00`.
fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::fake::Berlin;
    use crate::time::instant;

    /// 2026-08-21T19:50:00Z, 21:50 in Berlin.
    const NOW: Micros = Micros(1_787_341_800_000_000);

    fn ago(seconds: i64) -> Micros {
        Micros(NOW.0 - seconds * SECOND)
    }

    #[test]
    fn the_date_is_missing_or_superfluous() {
        let mut clock = Clock::new(&Berlin, NOW);
        clock.settle([ago(60), ago(3600)].into_iter());
        assert_eq!(clock.header(), " (+02:00)");
        assert_eq!(clock.shown(ago(60)), "21:49:00.000");
        // A later row of another day brings its date.
        assert_eq!(clock.shown(ago(86_400)), "2026-08-20 21:50:00.000");
        clock.settle([ago(60), ago(86_400)].into_iter());
        assert_eq!(clock.shown(ago(60)), "2026-08-21 21:49:00.000");
        assert_eq!(clock.shown(Micros(NOW.0 + 1)), "2026-08-21 21:50:00.000001");
    }

    /// In the repeated hour the two instants print differently, and so do summer and winter.
    #[test]
    fn two_instants_look_alike() {
        let change = 1_792_890_000_000_000;
        let mut clock = Clock::new(&Berlin, NOW);
        clock.settle([NOW].into_iter());
        let half = 1800 * SECOND;
        assert_eq!(
            clock.shown(Micros(change - half)),
            "2026-10-25 02:30:00.000+02:00"
        );
        assert_eq!(
            clock.shown(Micros(change + half)),
            "2026-10-25 02:30:00.000+01:00"
        );
        assert_eq!(
            clock.shown(Micros(change + 4 * half)),
            "2026-10-25 04:00:00.000+01:00"
        );
    }

    proptest! {
        /// For all instants around both changes of the clock: what a table prints is read back as the
        /// same instant, whichever row decided its header.
        #[test]
        fn for_all_instants_what_a_table_prints_is_read(
            at in 1_774_000_000_000_000i64..1_794_000_000_000_000,
            first in 1_774_000_000_000_000i64..1_794_000_000_000_000,
        ) {
            let mut clock = Clock::new(&Berlin, NOW);
            clock.settle([Micros(first)].into_iter());
            let text = clock.shown(Micros(at));
            let zone_of_header = Berlin.offset_seconds(Micros(first));
            // Zone-less times are of the header's zone, which is the reader's while the offset is its own.
            let read = instant(&text, NOW, &Berlin);
            prop_assert_eq!(read, Ok(Micros(at)), "{} under offset {}", text, zone_of_header);
        }
    }
}
