//! Histories of files against a model that keeps whole prefixes where the program keeps digests.

use std::collections::BTreeMap;

use boundlane_ingest::place::{Decision, Hints};
use proptest::prelude::*;

use crate::book::{Before, Book, Run, Stored, WHOLE, lines};

#[derive(Debug, Default, Clone)]
struct NaiveContent {
    /// All bytes before the place.
    place: Vec<u8>,
    /// How long the prefixes are that have a mark.
    marks: Vec<usize>,
    pending: Option<Vec<u8>>,
    stored: Vec<Stored>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naive {
    Empty,
    Known(usize, usize),
    Continue(usize, usize),
    New(usize, Option<usize>),
}

#[derive(Debug)]
struct Model {
    contents: Vec<NaiveContent>,
    every: usize,
}

impl Model {
    fn decide(&self, input: &[u8]) -> Naive {
        let proof = |(id, content): (usize, &NaiveContent)| {
            let agrees = |length: usize| length > 0 && input.starts_with(&content.place[..length]);
            let marks = content.marks.iter().map(|mark| (*mark, false));
            let all = marks.chain([(content.place.len(), true)]);
            all.filter(|(length, _)| agrees(*length))
                .map(|(length, place)| (length, place, id))
                .max()
        };
        let only_line = |(id, content): (usize, &NaiveContent)| {
            let line = content
                .pending
                .as_ref()
                .filter(|_| content.place.is_empty())?;
            input.starts_with(line).then_some((line.len(), id))
        };
        match self.contents.iter().enumerate().filter_map(proof).max() {
            Some((length, _, id)) if length == input.len() => Naive::Known(id, length),
            Some((length, true, id)) => Naive::Continue(id, length),
            Some((length, false, id)) => Naive::New(length, Some(id)),
            None if input.is_empty() => Naive::Empty,
            None => match self.contents.iter().enumerate().filter_map(only_line).max() {
                Some((_, id)) => Naive::Continue(id, 0),
                None => Naive::New(0, None),
            },
        }
    }

    fn ingest(&mut self, input: &[u8], run: Run) -> Naive {
        let decision = self.decide(input);
        let (start, mut content, at) = match decision {
            Naive::Empty | Naive::Known(..) => return decision,
            Naive::Continue(id, from) => (from, self.contents[id].clone(), id),
            Naive::New(after, from) => {
                let marks = from.map_or(Vec::new(), |id| self.shared_marks(id, after));
                let content = NaiveContent {
                    marks,
                    ..NaiveContent::default()
                };
                (after, content, self.contents.len())
            }
        };
        if matches!(decision, Naive::Continue(..))
            && start > content.marks.last().copied().unwrap_or(0)
        {
            content.marks.push(start);
        }
        let whole = lines(&input[start..]).take(run.killed_after.saturating_mul(run.commit_lines));
        let read: Vec<_> = whole.collect();
        if read.is_empty() {
            return decision;
        }
        let mut pending = content.pending.take();
        let mut before = start;
        for (line, terminated) in read {
            if !is_repeat(pending.take(), line, terminated) {
                let before = Before::of(&input[..before]).key();
                content.stored.push(Stored {
                    before,
                    line: line.to_vec(),
                    terminated,
                });
            }
            if !terminated {
                content.pending = Some(line.to_vec());
                break;
            }
            before += line.len() + 1;
            let last = content.marks.last().copied().unwrap_or(0);
            let due = match last < self.every {
                true => (last * 2).clamp(1, self.every),
                false => last + self.every,
            };
            if before >= due {
                content.marks.push(before);
            }
        }
        content.place = input[..before].to_vec();
        match self.contents.get_mut(at) {
            Some(known) => *known = content,
            None => self.contents.push(content),
        }
        decision
    }

    fn shared_marks(&self, id: usize, after: usize) -> Vec<usize> {
        let content = &self.contents[id];
        let all = content
            .marks
            .iter()
            .copied()
            .filter(|mark| *mark < content.place.len());
        all.chain([content.place.len()])
            .filter(|mark| *mark <= after && *mark > 0)
            .collect()
    }
}

fn is_repeat(pending: Option<Vec<u8>>, line: &[u8], terminated: bool) -> bool {
    pending.is_some_and(|stored| {
        line == stored || terminated && line == [stored.as_slice(), b"\r"].concat()
    })
}

fn as_naive(decision: Decision) -> Naive {
    let number = |n: u64| usize::try_from(n).unwrap();
    match decision {
        Decision::Empty => Naive::Empty,
        Decision::Known { content, at } => Naive::Known(number(content.0), number(at.offset)),
        Decision::Continue { content, from } => {
            Naive::Continue(number(content.0), number(from.offset))
        }
        Decision::Rejoin { .. } => panic!("files are not superseded"),
        Decision::NewGeneration {
            after,
            diverged_from,
        } => Naive::New(
            number(after.offset),
            diverged_from.map(|content| number(content.0)),
        ),
    }
}

#[derive(Debug, Clone)]
enum Op {
    Append(usize, Vec<u8>),
    Truncate(usize, usize),
    Copy(usize, usize),
    Rotate(usize, usize),
    Ingest(usize, Run),
}

fn a_run() -> impl Strategy<Value = Run> {
    let killed_after = prop_oneof![Just(usize::MAX), 0..4usize];
    (1..9usize, 1..4usize, killed_after).prop_map(|(read_bytes, commit_lines, killed_after)| Run {
        read_bytes,
        commit_lines,
        killed_after,
    })
}

fn some_text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(b"ab\r\n\n".to_vec()), 0..14)
}

fn an_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..3usize, some_text()).prop_map(|(file, text)| Op::Append(file, text)),
        1 => (0..3usize, 0..30usize).prop_map(|(file, keep)| Op::Truncate(file, keep)),
        1 => (0..3usize, 0..3usize).prop_map(|(from, to)| Op::Copy(from, to)),
        1 => (0..3usize, 0..3usize).prop_map(|(from, to)| Op::Rotate(from, to)),
        5 => (0..3usize, a_run()).prop_map(|(file, run)| Op::Ingest(file, run)),
    ]
}

fn change(files: &mut [Vec<u8>], op: &Op) {
    match op {
        Op::Append(file, text) => files[*file].extend(text),
        Op::Truncate(file, keep) => files[*file].truncate(*keep),
        Op::Copy(from, to) => files[*to] = files[*from].clone(),
        Op::Rotate(from, to) => files[*to] = std::mem::take(&mut files[*from]),
        Op::Ingest(..) => {}
    }
}

fn check(book: &Book, model: &Model) {
    assert_eq!(book.contents.len(), model.contents.len());
    for (content, naive) in book.contents.iter().zip(&model.contents) {
        let marks: Vec<_> = content
            .marks
            .iter()
            .map(|mark| usize::try_from(mark.offset).unwrap())
            .collect();
        assert_eq!(marks, naive.marks);
        assert_eq!(content.place.mark.offset, naive.place.len() as u64);
        let pending = content.place.pending.map(|line| line.bytes);
        assert_eq!(
            pending,
            naive.pending.as_ref().map(|line| line.len() as u64)
        );
        assert_eq!(content.stored, naive.stored);
    }
}

/// Proves for one run that every line of the input is stored, and none that a mark proved before.
fn check_run(before: &Model, book: &Book, input: &[u8], stored_before: &[Stored], whole: bool) {
    let proven = match before.decide(input) {
        Naive::Empty => 0,
        Naive::Known(_, at) | Naive::Continue(_, at) | Naive::New(at, _) => at,
    };
    let stored = book.stored();
    let mut start = 0;
    for (line, terminated) in lines(input) {
        let here = Before::of(&input[..start]).key();
        let this = |known: &&Stored| known.before == here && known.line == line;
        let had = stored_before.iter().filter(this).count();
        let has = stored.iter().filter(this).count();
        let end = start + line.len() + usize::from(terminated);
        if end <= proven {
            assert_eq!(had, has, "a mark proves the line at {start}");
        }
        let with_return = line.strip_suffix(b"\r").is_some_and(|line| {
            stored
                .iter()
                .any(|known| known.before == here && known.line == line)
        });
        assert!(
            !whole || has > 0 || with_return,
            "the line at {start} is not stored"
        );
        start = end;
    }
}

/// A file of the second property: a first line of its own, so that no two begin alike.
#[derive(Debug, Clone)]
enum Growth {
    Append(usize, Vec<u8>),
    Ingest(usize, Run),
    Again(usize, Run),
}

fn a_growth() -> impl Strategy<Value = Growth> {
    prop_oneof![
        3 => (0..3usize, some_text()).prop_map(|(file, text)| Growth::Append(file, text)),
        3 => (0..3usize, a_run()).prop_map(|(file, run)| Growth::Ingest(file, run)),
        1 => (0..9usize, a_run()).prop_map(|(earlier, run)| Growth::Again(earlier, run)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    /// For all histories of appends, truncations, copies, rotations and runs that are killed at any
    /// commit: the decision, the marks, the place and the stored lines are those of the model that
    /// compares whole prefixes; each line of an input that was read to its end is stored; and none is
    /// stored again that a mark proves.
    #[test]
    fn decisions_are_those_of_whole_prefixes(
        every in 1..12u64,
        ops in prop::collection::vec(an_op(), 1..24),
    ) {
        let mut files = vec![Vec::new(); 3];
        let mut book = Book::new(every);
        let mut model = Model { contents: Vec::new(), every: usize::try_from(every).unwrap() };
        for op in &ops {
            change(&mut files, op);
            let Op::Ingest(file, run) = op else { continue };
            let input = &files[*file];
            let stored_before = book.stored();
            let earlier = Model { contents: model.contents.clone(), every: model.every };
            let ran = book.ingest(input, &Hints::default(), &[], *run);
            prop_assert_eq!(as_naive(ran.decision), model.ingest(input, *run));
            check(&book, &model);
            check_run(&earlier, &book, input, &stored_before, run.killed_after == usize::MAX);
        }
    }

    /// For all files that only grow, read by runs that are killed at any commit, under any name, and
    /// read again as they were when an earlier run had read them whole: every line is stored once.
    #[test]
    fn growing_files_are_stored_once(
        every in 1..40u64,
        ops in prop::collection::vec(a_growth(), 1..24),
    ) {
        let mut files: Vec<Vec<u8>> = (0..3).map(|n| format!("file {n}\n").into_bytes()).collect();
        let mut seen: Vec<Vec<u8>> = Vec::new();
        let mut book = Book::new(every);
        for op in ops {
            match op {
                Growth::Append(file, text) => files[file].extend(text),
                Growth::Again(earlier, run) => {
                    if let Some(bytes) = seen.get(earlier % seen.len().max(1)) {
                        let again = book.ingest(bytes, &Hints::default(), &[], run);
                        prop_assert!(matches!(again.decision, Decision::Known { .. }), "{:?}", again.decision);
                    }
                }
                Growth::Ingest(file, run) => {
                    book.ingest(&files[file], &Hints::default(), &[], run);
                    if run.killed_after == usize::MAX && files[file].ends_with(b"\n") {
                        seen.push(files[file].clone());
                    }
                }
            }
        }
        for file in &mut files {
            file.extend(b"\n");
            book.ingest(file, &Hints::default(), &[], WHOLE);
        }
        let mut counts: BTreeMap<((usize, u64), Vec<u8>), usize> = BTreeMap::new();
        for stored in book.stored() {
            *counts.entry((stored.before, stored.line)).or_default() += 1;
        }
        prop_assert!(counts.values().all(|count| *count == 1), "{counts:?}");
        for file in &files {
            let mut start = 0;
            for (line, _) in lines(file) {
                let without = line.strip_suffix(b"\r").unwrap_or(line);
                let either = [line, without].map(|line| counts.contains_key(&(Before::of(&file[..start]).key(), line.to_vec())));
                prop_assert!(either.contains(&true), "line at {start} is missing");
                start += line.len() + 1;
            }
        }
    }
}
