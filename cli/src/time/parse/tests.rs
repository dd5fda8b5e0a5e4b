#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;
use crate::time::Utc;
use crate::time::fake::Berlin;

/// 2026-08-21T19:50:00Z, 21:50 in Berlin.
const NOW: Micros = Micros(1_787_341_800_000_000);

fn berlin(text: &str) -> String {
    match instant(text, NOW, &Berlin) {
        Ok(at) => rfc3339(at),
        Err(error) => error.to_string(),
    }
}

/// Every form of the table in the documentation is understood, in upper and lower case.
#[test]
fn a_documented_form_is_not_understood() {
    for (text, expected) in [
        (
            "2026-08-21T19:50:00.123456789Z",
            "2026-08-21T19:50:00.123456Z",
        ),
        ("2026-08-21t19:50:00z", "2026-08-21T19:50:00.000000Z"),
        ("2026-08-21 19:50:00.5Z", "2026-08-21T19:50:00.500000Z"),
        ("2026-08-21T21:50:00+02:00", "2026-08-21T19:50:00.000000Z"),
        ("2026-08-21 21:50:00+0200", "2026-08-21T19:50:00.000000Z"),
        ("2026-08-21 21:50+02", "2026-08-21T19:50:00.000000Z"),
        ("2026-08-21T14:20:00-05:30", "2026-08-21T19:50:00.000000Z"),
        ("2026-08-21 21:50", "2026-08-21T19:50:00.000000Z"),
        ("2026-08-21T21:50:07.25", "2026-08-21T19:50:07.250000Z"),
        ("2026-08-21", "2026-08-20T22:00:00.000000Z"),
        ("2026-01-15", "2026-01-14T23:00:00.000000Z"),
        ("21:49:07", "2026-08-21T19:49:07.000000Z"),
        ("21:49", "2026-08-21T19:49:00.000000Z"),
        ("now", "2026-08-21T19:50:00.000000Z"),
        ("Today", "2026-08-20T22:00:00.000000Z"),
        ("yesterday", "2026-08-19T22:00:00.000000Z"),
        ("10m", "2026-08-21T19:40:00.000000Z"),
        ("2h", "2026-08-21T17:50:00.000000Z"),
        ("1h30m", "2026-08-21T18:20:00.000000Z"),
        ("1.5h", "2026-08-21T18:20:00.000000Z"),
        ("300ms", "2026-08-21T19:49:59.700000Z"),
        ("7d", "2026-08-14T19:50:00.000000Z"),
        ("2w1d", "2026-08-06T19:50:00.000000Z"),
        ("@1775014132.690", "2026-04-01T03:28:52.690000Z"),
        ("@0", "1970-01-01T00:00:00.000000Z"),
        ("@-1.5", "1969-12-31T23:59:58.500000Z"),
        ("2026-06-30T23:59:60Z", "2026-07-01T00:00:00.000000Z"),
        (" 2h ", "2026-08-21T17:50:00.000000Z"),
    ] {
        assert_eq!(berlin(text), expected, "{text}");
    }
}

/// A `Z` is UTC whatever the zone is.
#[test]
fn the_z_is_overlooked() {
    assert_eq!(instant("2026-08-21T19:50:00Z", Micros(0), &Berlin), Ok(NOW));
    assert_eq!(instant("2026-08-21T19:50:00Z", Micros(0), &Utc), Ok(NOW));
}

/// The repeated hour is refused with both instants, and each of them is understood.
#[test]
fn a_local_time_that_was_shown_twice_is_guessed() {
    assert_eq!(
        berlin("2026-10-25 02:30"),
        "the clock showed this twice; write `2026-10-25T00:30:00.000000Z` or \
         `2026-10-25T01:30:00.000000Z`"
    );
    assert_eq!(
        berlin("2026-10-25 02:30+01:00"),
        "2026-10-25T01:30:00.000000Z"
    );
    assert_eq!(
        instant("2026-10-25 02:30", NOW, &Utc).map(rfc3339).unwrap(),
        "2026-10-25T02:30:00.000000Z"
    );
}

/// The skipped hour is refused and named.
#[test]
fn a_local_time_that_was_never_shown_is_guessed() {
    assert_eq!(
        berlin("2026-03-29 02:30"),
        "the clock never showed this: it went from `2026-03-29 02:00` to `2026-03-29 03:00`"
    );
    assert_eq!(berlin("2026-03-29 03:00"), "2026-03-29T01:00:00.000000Z");
}

/// A day begins even where the clock is put forward at midnight.
#[test]
fn a_day_whose_midnight_is_skipped_has_no_start() {
    struct Midnight;
    impl Zone for Midnight {
        fn offset_seconds(&self, at: Micros) -> i32 {
            if at.0 < 1_774_742_400_000_000 {
                0
            } else {
                3600
            }
        }
    }
    assert_eq!(
        instant("2026-03-29", NOW, &Midnight).map(rfc3339).unwrap(),
        "2026-03-29T00:00:00.000000Z"
    );
}

#[test]
fn what_is_no_time_is_taken_for_one() {
    for text in [
        "",
        "soon",
        "2",
        "2 h",
        "h",
        "2h ago",
        "-2h",
        "2026",
        "2026-8-21",
        "2026-08-21T",
        "2026-08-21x",
        "2026-08-21T19",
        "2026-08-21T1:50",
        "2026-08-21T19:50:0",
        "2026-08-21T19:50:00.",
        "19:50Z",
        "2026-08-21T19:50:00+",
        "2026-08-21T19:50:00+2",
        "2026-08-21T19:50:00Z0",
        "@",
        "@x",
        "@1.",
        "1.h",
        "2026-08-21T19:50:001",
        "2hh",
        "２h",
    ] {
        assert_eq!(
            instant(text, NOW, &Berlin),
            Err(TimeError::Unknown),
            "{text}"
        );
    }
    for text in [
        "2026-02-29",
        "2026-13-01",
        "2026-08-21T24:00:00Z",
        "2026-08-21T19:60:00Z",
        "2026-08-21T19:50:61Z",
        "2026-08-21T19:50:00+15:00",
        "99999999999999999w",
        "@9999999999999999999",
        "@99999999999999",
    ] {
        assert_eq!(
            instant(text, NOW, &Berlin),
            Err(TimeError::OutOfRange),
            "{text}"
        );
    }
}

#[test]
fn a_day_is_not_a_day() {
    let day = |text| date(text, NOW, &Berlin).map(|day| day.to_string());
    assert_eq!(day("2026-04-01").unwrap(), "2026-04-01");
    assert_eq!(day("today").unwrap(), "2026-08-21");
    assert_eq!(day("Yesterday").unwrap(), "2026-08-20");
    assert_eq!(day("2026-04-01 10:00"), Err(TimeError::Unknown));
    assert_eq!(day("2h"), Err(TimeError::Unknown));
}

proptest! {
    /// For all instants: what is printed is read back as the same instant.
    #[test]
    fn for_all_instants_what_is_printed_is_read(at in -62_135_596_800_000_000i64..253_402_300_800_000_000) {
        prop_assert_eq!(instant(&rfc3339(Micros(at)), NOW, &Berlin), Ok(Micros(at)));
    }

    /// For all texts: reading ends, with an instant or an error.
    #[test]
    fn for_all_texts_reading_does_not_panic(text in "[0-9a-zA-Z@:+. -]{0,30}|\\PC{0,20}") {
        let _ = instant(&text, NOW, &Berlin);
        let _ = date(&text, NOW, &Berlin);
    }
}
