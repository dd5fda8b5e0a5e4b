//! Alignment against every shift tried in turn, and against the log that both sides are cut from.

use std::ops::Range;

use boundlane_ingest::place::{
    Ahead, Align, AlignLine, Alignment, FIT_LINES_MIN, Fit, LINES_KEPT_MAX, Part,
};
use boundlane_record::{Extent, Fingerprint, GapCause};
use proptest::prelude::*;

fn fingerprint(letter: u8) -> Fingerprint {
    Fingerprint([letter; 16])
}

fn line(letter: u8) -> AlignLine {
    // Upper case lines carry a time.
    let timed = letter.is_ascii_uppercase();
    AlignLine {
        fingerprint: fingerprint(letter),
        bytes: 2,
        timed,
        terminated: true,
    }
}

fn align(stored: &[u8], chain_lines: usize, new: &[u8], ended: bool) -> Alignment {
    let stored = stored.iter().copied().map(fingerprint).collect();
    let mut align = Align::new(stored, chain_lines as u64);
    for letter in new {
        align.feed(line(*letter));
    }
    align.finish(ended)
}

#[derive(Debug, Clone)]
struct Laid {
    overlap: usize,
    first: usize,
    stored: Range<usize>,
    beyond: Vec<u8>,
}

/// Every shift, from the one that lays only the first new line over the last stored one.
fn fits_by_trying(stored: &[u8], chain_lines: usize, new: &[u8]) -> Vec<Laid> {
    let (n, m) = (stored.len().cast_signed(), new.len().cast_signed());
    let mut fits = Vec::new();
    for shift in (1 - m..n).rev() {
        let over: Vec<(usize, usize)> = (0..m)
            .filter(|i| (0..n).contains(&(i + shift)))
            .map(|i| (i.unsigned_abs(), (i + shift).unsigned_abs()))
            .collect();
        if over.is_empty() || over.iter().any(|(i, j)| new[*i] != stored[*j]) {
            continue;
        }
        let (first, last) = (over[0], over[over.len() - 1]);
        let is_stored = |i: usize| {
            // Where new line `i` lies in the chain, counted from its first line.
            let at = i.cast_signed() + shift + (chain_lines - stored.len()).cast_signed();
            (0..chain_lines.cast_signed()).contains(&at)
        };
        let all: Vec<usize> = (0..new.len()).filter(|i| is_stored(*i)).collect();
        fits.push(Laid {
            overlap: over.len(),
            first: first.0,
            stored: all[0]..all[all.len() - 1] + 1,
            beyond: stored[last.1 + 1..].to_vec(),
        });
    }
    fits
}

fn check_against_trying(stored: &[u8], chain_lines: usize, new: &[u8], ended: bool) {
    let found = align(stored, chain_lines, new, ended);
    let fits = fits_by_trying(stored, chain_lines, new);
    let mut taken: Option<&Laid> = None;
    for laid in &fits {
        if taken.is_none_or(|taken| laid.overlap > taken.overlap) {
            taken = Some(laid);
        }
    }
    let Some(taken) = taken else {
        let nothing = stored.is_empty() || new.is_empty();
        assert_eq!(found.fit, if nothing { Fit::Nothing } else { Fit::None });
        let gap = (GapCause::HistoryUnavailable, Extent::Unknown);
        assert_eq!(found.gap, (!nothing).then_some(gap));
        assert_eq!((found.older, found.repeats), (0, 0));
        return;
    };
    assert_eq!(
        (found.older, found.repeats),
        (taken.stored.start, taken.stored.len())
    );
    let beyond = if ended && found.fit != Fit::One {
        &[]
    } else {
        &taken.beyond[..]
    };
    check_ahead(&found, taken, beyond, new);
    let in_all = |laid: &Laid| {
        let after = if ended { 0 } else { laid.beyond.len() };
        laid.stored.start..laid.stored.end + after
    };
    let lost = |laid: &Laid| in_all(taken).filter(|i| !in_all(laid).contains(i)).count();
    let lost_max = fits.iter().map(lost).max().unwrap();
    let laid_over = &new[taken.first..taken.first + taken.overlap];
    let untimed = !laid_over.iter().any(u8::is_ascii_uppercase);
    let expected = if taken.overlap < FIT_LINES_MIN.min(stored.len()) || untimed {
        (Fit::Weak, Some((GapCause::Ambiguous, Extent::Unknown)))
    } else if fits.len() == 1 {
        (Fit::One, None)
    } else {
        let gap = (GapCause::Ambiguous, Extent::AtMost(lost_max as u64));
        (Fit::Several, (lost_max > 0).then_some(gap))
    };
    assert_eq!((found.fit, found.gap), expected);
    serde_json::from_str::<serde_json::Value>(&found.evidence).unwrap();
}

/// Every line of the input, and the stored ones beyond, judged one by one.
fn check_ahead(found: &Alignment, taken: &Laid, beyond: &[u8], new: &[u8]) {
    let mut ahead = found.ahead.clone();
    for (at, letter) in new.iter().enumerate() {
        let wanted = match at {
            _ if taken.stored.contains(&at) => Part::Repeat,
            _ if at < taken.stored.start => Part::Older,
            _ => Part::New,
        };
        assert_eq!(ahead.next(fingerprint(*letter), true), wanted);
    }
    assert_eq!(ahead.lines().expected, beyond.len() as u64);
    for letter in beyond {
        assert_eq!(ahead.next(fingerprint(*letter), true), Part::Repeat);
    }
    assert_eq!(ahead.next(fingerprint(0), true), Part::New);
}

fn letters(from: &'static [u8], up_to: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(from.to_vec()), 0..up_to)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    /// For all stored lines and inputs over two or three letters: what is found is what trying every
    /// shift finds.
    #[test]
    fn alignment_is_what_trying_every_shift_finds(
        stored in letters(b"AAb", 14),
        new in letters(b"AAb", 14),
        forgotten in 0..6usize,
        ended: bool,
    ) {
        check_against_trying(&stored, stored.len() + forgotten, &new, ended);
    }

    /// For all inputs that share a stretch with the stored lines, over more letters so that few fit.
    #[test]
    fn shared_stretches_are_found_like_by_trying(
        log in letters(b"ABCDe", 40),
        cuts in [0..40usize, 0..40usize, 0..40usize, 0..40usize],
        forgotten in 0..6usize,
        ended: bool,
    ) {
        let cut = |at: usize| at.min(log.len());
        let part = |a: usize, b: usize| &log[cut(a.min(b))..cut(a.max(b))];
        let stored = part(cuts[0], cuts[1]);
        check_against_trying(stored, stored.len() + forgotten, part(cuts[2], cuts[3]), ended);
    }

    /// For all logs, when the chain holds one stretch of it and the input is another that overlaps the
    /// fingerprints within the window: no more lines are lost than the gap says, and with one fit none is lost or stored
    /// twice.
    #[test]
    fn gap_bounds_what_is_lost(
        log in letters(b"AAB", 40),
        cuts in [0..40usize, 0..40usize, 0..40usize, 0..40usize],
        kept in 1..20usize,
        window in 1..40usize,
    ) {
        let cut = |at: usize| at.min(log.len());
        let chain = cut(cuts[0].min(cuts[1]))..cut(cuts[0].max(cuts[1]));
        let input = cut(cuts[2].min(cuts[3]))..cut(cuts[2].max(cuts[3]));
        let kept = chain.end - kept.min(chain.len())..chain.end;
        if kept.start.max(input.start) >= kept.end.min(input.end).min(input.start + window) {
            return Ok(());
        }
        let seen = window.min(input.len());
        let first = &log[input.start..input.start + seen];
        let mut found = align(&log[kept], chain.len(), first, seen == input.len());
        let (mut lost, mut twice, mut refuted) = (0, 0, false);
        for at in input {
            match found.ahead.next(fingerprint(log[at]), true) {
                Part::Repeat => lost += u64::from(!chain.contains(&at)),
                part => {
                    twice += u64::from(chain.contains(&at));
                    refuted |= part == Part::Refuted;
                }
            }
        }
        match found.gap {
            _ if refuted => {}
            None => prop_assert_eq!(lost, 0),
            Some((GapCause::Ambiguous, Extent::AtMost(k))) => prop_assert!(lost <= k, "{lost} > {k}"),
            gap => prop_assert_eq!(gap, Some((GapCause::Ambiguous, Extent::Unknown))),
        }
        if found.fit == Fit::One && !refuted {
            prop_assert_eq!((lost, twice), (0, 0));
        }
    }
}

/// Proves the usual case: the tail overlaps the end, and only what follows is new.
#[test]
fn tail_that_overlaps_the_end_is_proven() {
    let found = align(b"ABCDEFGHIJ", 10, b"CDEFGHIJKL", true);
    assert_eq!(
        (found.fit, found.older, found.repeats, found.gap),
        (Fit::One, 0, 8, None)
    );
}

/// Proves that a repeated pattern takes the longest overlap and bounds what it may hide.
#[test]
fn repeated_pattern_is_ambiguous_by_the_difference_of_the_overlaps() {
    let found = align(b"XYABABABABAB", 12, b"ABABABABABZ", true);
    assert_eq!((found.fit, found.repeats), (Fit::Several, 10));
    // The shortest fit is `AB`: eight lines that it calls new are called repeats.
    assert_eq!(found.gap, Some((GapCause::Ambiguous, Extent::AtMost(8))));
}

/// Proves that fits which agree on what is stored are no gap: the input lies inside, wherever.
#[test]
fn input_inside_at_several_places_loses_nothing() {
    let found = align(b"ABCDEFGHIJABCDEFGHIJZ", 21, b"ABCDEFGHIJ", true);
    assert_eq!(
        (found.fit, found.repeats, found.gap),
        (Fit::Several, 10, None)
    );
}

/// Proves that few lines, or lines without times, are taken and never trusted.
#[test]
fn weak_fits_are_of_unknown_extent() {
    let unknown = Some((GapCause::Ambiguous, Extent::Unknown));
    let few = align(b"ABCDEFGHIJ", 10, b"IJKLM", true);
    assert_eq!((few.fit, few.repeats, few.gap), (Fit::Weak, 2, unknown));
    let untimed = align(b"abcdefghij", 10, b"abcdefghijk", true);
    assert_eq!(
        (untimed.fit, untimed.repeats, untimed.gap),
        (Fit::Weak, 10, unknown)
    );
    let all_there_is = align(b"AB", 2, b"ABC", true);
    assert_eq!((all_there_is.fit, all_there_is.gap), (Fit::One, None));
}

/// Proves that an input which begins before the fingerprints is split into older lines and repeats by
/// how many lines the chain has there.
#[test]
fn input_that_begins_before_the_chain_brings_older_lines() {
    let found = align(b"EFGHIJKL", 10, b"ABCDEFGHIJKLM", true);
    assert_eq!((found.fit, found.older, found.repeats), (Fit::One, 2, 10));
    let whole = align(b"EFGHIJKL", 8, b"ABCDEFGHIJKLM", true);
    assert_eq!((whole.older, whole.repeats), (4, 8));
}

#[test]
fn no_fit_is_an_unknown_gap() {
    let found = align(b"ABC", 3, b"XYZ", true);
    assert_eq!(
        (found.fit, found.gap),
        (
            Fit::None,
            Some((GapCause::HistoryUnavailable, Extent::Unknown))
        )
    );
    assert_eq!(align(b"", 0, b"XYZ", true).gap, None);
    assert_eq!(align(b"ABC", 3, b"", true).gap, None);
}

/// Proves that a fit stands only as far as the lines after the window bear it out, and that a cut line
/// neither bears it out nor refutes it.
#[test]
fn lines_after_the_window_must_be_those_expected() {
    let found = align(b"ABCDEFGHIJKL", 12, b"ABCDEFGHI", false);
    assert_eq!((found.repeats, found.ahead.lines().expected), (9, 3));
    let mut ahead = found.ahead;
    for _ in 0..9 {
        assert_eq!(ahead.next(fingerprint(0), true), Part::Repeat);
    }
    assert_eq!(ahead.next(fingerprint(b'J'), false), Part::Repeat);
    assert_eq!(ahead.next(fingerprint(b'x'), false), Part::New);
    assert_eq!(ahead.next(fingerprint(b'J'), true), Part::Repeat);
    let stored = b"ABCDEFGHIJKL".map(fingerprint);
    assert_eq!(Ahead::resume(ahead.lines(), &stored), ahead);
    assert_eq!(ahead.next(fingerprint(b'X'), true), Part::Refuted);
    assert_eq!(ahead.next(fingerprint(b'L'), true), Part::New);
}

/// Proves that a last line cut off inside of what is stored does not break the fit.
#[test]
fn cut_last_line_does_not_break_the_fit() {
    let mut align = Align::new(b"ABCDEFGHIJ".map(fingerprint).to_vec(), 10);
    b"ABCDEFGH"
        .iter()
        .for_each(|letter| align.feed(line(*letter)));
    align.feed(AlignLine {
        terminated: false,
        ..line(b'x')
    });
    let found = align.finish(true);
    assert_eq!((found.fit, found.repeats), (Fit::One, 8));
}

/// Proves that the worst inputs, all lines equal, take no time that grows with the square.
#[test]
fn equal_lines_up_to_the_limits_are_aligned_at_once() {
    let same = vec![b'A'; LINES_KEPT_MAX];
    let started = std::time::Instant::now();
    let mut align = Align::new(same.iter().copied().map(fingerprint).collect(), 1 << 40);
    while !align.is_full() {
        align.feed(line(b'A'));
    }
    let found = align.finish(true);
    assert_eq!(found.repeats, LINES_KEPT_MAX);
    assert_eq!(
        found.gap,
        Some((
            GapCause::Ambiguous,
            Extent::AtMost(LINES_KEPT_MAX as u64 - 1)
        ))
    );
    assert!(started.elapsed().as_secs() < 5);
}
