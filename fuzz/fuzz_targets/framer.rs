//! For all bytes and chunkings: lines that were not cut rebuild the input, a cut one states its length,
//! and the chunks change nothing.
#![no_main]

use boundlane_ingest::{DigestKey, Framer, LINE_BYTES_MAX, LineEnd};
use libfuzzer_sys::fuzz_target;

/// (offset, length, end, digest) of each line, chunked as given; panics where a line is not the input's.
fn lines(input: &[u8], size: usize) -> Vec<(u64, u64, LineEnd, Option<[u8; 32]>)> {
    let mut framer = Framer::new(DigestKey::new(&[3; 32]), 0);
    let mut lines = Vec::new();
    let mut check = |line: boundlane_ingest::FramedLine<'_>| {
        let start = usize::try_from(line.offset).expect("an offset in memory");
        let text = start + usize::try_from(line.nuls).expect("a length in memory");
        assert!(input[start..text].iter().all(|byte| *byte == 0));
        assert!(input[text..].starts_with(line.bytes));
        assert!(line.bytes.len() <= LINE_BYTES_MAX);
        assert_eq!(
            line.cut.is_none(),
            line.bytes.len() as u64 + line.nuls == line.whole_bytes
        );
        lines.push((line.offset, line.whole_bytes, line.end, line.cut));
    };
    for mut chunk in input.chunks(size) {
        while let Some(line) = framer.next(&mut chunk) {
            check(line);
        }
    }
    if let Some(line) = framer.finish() {
        check(line);
    }
    assert_eq!(framer.offset(), input.len() as u64);
    lines
}

fuzz_target!(|data: &[u8]| {
    let Some((stretch, rest)) = data.split_first() else {
        return;
    };
    // A few bytes stand for many, so that the limit of a line is reached.
    let input = match stretch % 4 {
        0 => rest
            .iter()
            .flat_map(|byte| std::iter::repeat_n(*byte, 9001))
            .collect(),
        _ => rest.to_vec(),
    };
    let whole = lines(&input, input.len().max(1));
    assert_eq!(lines(&input, usize::from(*stretch) + 1), whole);
    assert_eq!(lines(&input, LINE_BYTES_MAX - 1), whole);
});
