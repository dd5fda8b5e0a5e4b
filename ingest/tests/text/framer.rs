//! The framer against all bytes and all ways to cut them into chunks.

use boundlane_ingest::{FramedLine, Framer, LINE_BYTES_MAX, LineEnd};
use proptest::prelude::*;

use super::support::key;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    bytes: Vec<u8>,
    nuls: u64,
    offset: u64,
    whole_bytes: u64,
    cut: Option<[u8; 32]>,
    end: LineEnd,
}

impl From<FramedLine<'_>> for Owned {
    fn from(line: FramedLine<'_>) -> Owned {
        let FramedLine {
            bytes,
            nuls,
            offset,
            whole_bytes,
            cut,
            end,
        } = line;
        Owned {
            bytes: bytes.to_vec(),
            nuls,
            offset,
            whole_bytes,
            cut,
            end,
        }
    }
}

fn frame<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
    let mut framer = Framer::new(key(), 0);
    let mut lines = Vec::new();
    for mut chunk in chunks {
        while let Some(line) = framer.next(&mut chunk) {
            lines.push(line.into());
        }
    }
    lines.extend(framer.finish().map(Owned::from));
    lines
}

/// The input again, from lines that were not cut.
fn rebuilt(lines: &[Owned]) -> Vec<u8> {
    let mut input = Vec::new();
    for line in lines {
        assert_eq!(line.offset, input.len() as u64);
        assert_ne!(line.bytes.first(), Some(&0));
        input.extend(vec![0; usize::try_from(line.nuls).unwrap()]);
        input.extend_from_slice(&line.bytes);
        input.extend_from_slice(match line.end {
            LineEnd::Lf => b"\n",
            LineEnd::CrLf => b"\r\n",
            LineEnd::None => b"",
        });
    }
    input
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), Just(0u8), any::<u8>()];
    prop::collection::vec(byte, 0..200)
}

/// Lengths around every edge of the limit.
fn long_line() -> impl Strategy<Value = Vec<u8>> {
    let around = LINE_BYTES_MAX - 3..LINE_BYTES_MAX + 4;
    let fill = prop_oneof![Just(b'x'), Just(b' '), Just(b'\r'), Just(0xc3u8)];
    (around, fill).prop_map(|(len, fill)| vec![fill; len])
}

proptest! {
    /// For all bytes and chunkings: the lines rebuild the input, and chunking changes nothing.
    #[test]
    fn lines_rebuild_the_input_however_it_is_chunked(input in bytes(), size in 1usize..64) {
        let whole = frame([input.as_slice()]);
        prop_assert_eq!(rebuilt(&whole), input.clone());
        prop_assert_eq!(frame(input.chunks(size)), whole);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For all lines around the limit, in all chunkings: a line over the limit is cut, states its
    /// length and digest, begins as it did, and the next line is seen.
    #[test]
    fn line_over_the_limit_is_cut_and_the_next_one_is_seen(
        line in long_line(),
        end in prop_oneof![Just("\n"), Just("\r\n")],
        size in prop_oneof![Just(4096usize), Just(65_536), Just(1 << 20), Just(LINE_BYTES_MAX + 1)],
    ) {
        let input = [line.as_slice(), end.as_bytes(), b"next\n"].concat();
        let lines = frame(input.chunks(size));
        prop_assert_eq!(lines.len(), 2);
        // A CR in front of LF belongs to the end of the line.
        let text = input[..line.len() + end.len() - 1].strip_suffix(b"\r");
        let text = text.unwrap_or(&line);
        let first = &lines[0];
        prop_assert_eq!(first.whole_bytes, text.len() as u64);
        prop_assert!(text.starts_with(&first.bytes));
        prop_assert_eq!(first.cut.is_some(), text.len() > LINE_BYTES_MAX);
        if let Some(digest) = first.cut {
            prop_assert_eq!(digest, key().digest(text));
            prop_assert!(first.bytes.len() >= LINE_BYTES_MAX - 4096 - 3);
        } else {
            prop_assert_eq!(&first.bytes, text);
        }
        prop_assert_eq!(&lines[1].bytes, b"next");
        prop_assert_eq!(lines[1].offset, input.len() as u64 - 5);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For all runs of NULs in front of a line, of any length, in all chunkings: length and digest are those
    /// of the line as it came, and text and limit those of the line behind the NULs.
    #[test]
    fn nuls_in_front_count_as_bytes_and_not_as_text(
        nuls in 1usize..400_000,
        line in prop_oneof![long_line(), Just(b"x\0y".to_vec())],
        size in prop_oneof![Just(4096usize), Just(65_536), Just(1 << 20)],
    ) {
        let whole = [vec![0; nuls], line.clone()].concat();
        let input = [whole.as_slice(), b"\nnext\n"].concat();
        let lines = frame(input.chunks(size));
        let text = line.strip_suffix(b"\r").unwrap_or(&line);
        let whole = &whole[..nuls + text.len()];
        prop_assert_eq!(lines[0].nuls, nuls as u64);
        prop_assert_eq!(lines[0].whole_bytes, whole.len() as u64);
        prop_assert_eq!(lines[0].cut.is_some(), text.len() > LINE_BYTES_MAX);
        prop_assert!(text.starts_with(&lines[0].bytes));
        let framed = FramedLine {
            bytes: &lines[0].bytes,
            nuls: lines[0].nuls,
            offset: 0,
            whole_bytes: lines[0].whole_bytes,
            cut: lines[0].cut,
            end: lines[0].end,
        };
        prop_assert_eq!(framed.digest(&key()), key().digest(whole));
        prop_assert_eq!((&lines[1].bytes[..], lines[1].nuls), (&b"next"[..], 0));
    }
}

/// A sparse file's hole of 64 MiB takes no memory, and the line behind it is whole.
#[test]
fn run_of_nuls_hides_the_line_behind_it() {
    let hole = vec![0u8; 1 << 20];
    let mut framer = Framer::new(key(), 0);
    for _ in 0..64 {
        assert_eq!(framer.next(&mut hole.as_slice()), None);
    }
    let mut chunk: &[u8] = b"\0NET:OPEN [INFO]\n\0\r\n";
    let line = framer.next(&mut chunk).unwrap();
    assert_eq!((line.bytes, line.cut), (&b"NET:OPEN [INFO]"[..], None));
    assert_eq!((line.nuls, line.offset), ((64 << 20) + 1, 0));
    assert_eq!(line.whole_bytes, (64 << 20) + 16);
    let line = framer.next(&mut chunk).unwrap();
    assert_eq!(
        (line.bytes, line.nuls, line.end),
        (&b""[..], 1, LineEnd::CrLf)
    );
    assert_eq!(framer.next(&mut &b"\0\0"[..]), None);
    let last = framer.finish().unwrap();
    assert_eq!(
        (last.bytes, last.nuls, last.end),
        (&b""[..], 2, LineEnd::None)
    );
}

#[test]
fn empty_input_has_no_line_and_an_empty_line_is_one() {
    assert_eq!(frame([&b""[..]]), []);
    let lines = frame([&b"\n\r\n\r"[..]]);
    let ends: Vec<_> = lines
        .iter()
        .map(|line| (line.bytes.as_slice(), line.end))
        .collect();
    assert_eq!(
        ends,
        [
            (&b""[..], LineEnd::Lf),
            (b"", LineEnd::CrLf),
            (b"\r", LineEnd::None)
        ]
    );
}
