//! Inputs as they are found: packed, cut short, damaged, piped, missing.

use std::io::Write;
use std::path::Path;

use boundlane_ingest::input::{Compression, Input, InputError, spelled};
use boundlane_ingest::place::{Chain, ContentId, Decision, Hints, Identify, identify_input};

use crate::book::{Book, WHOLE, log};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

/// Everything that comes before the end or the error.
fn read_all(input: &mut Input) -> (Vec<u8>, Option<InputError>) {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 5000]);
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return (all, None),
            Ok(length) => all.extend(&buffer[..length]),
            Err(error) => {
                assert_eq!(input.read(&mut buffer).unwrap(), 0, "the error comes once");
                return (all, Some(error));
            }
        }
    }
}

fn piped(bytes: Vec<u8>) -> Input {
    Input::from_reader("standard input", std::io::Cursor::new(bytes)).unwrap()
}

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// B095: all members and all frames are read, zeros at the end of gzip ignored.
#[test]
fn members_and_frames_are_all_read() {
    let [one, two] = [log(0, 100), log(100, 100)];
    let whole = log(0, 200);
    let members = [gzip(&one), gzip(b""), gzip(&two)].concat();
    let padded = [members.clone(), vec![0; 300_000]].concat();
    let frames = [zstd(&one), zstd(&two)].concat();
    let skippable = [b"\x50\x2a\x4d\x18\x02\0\0\0xx".to_vec(), zstd(&whole)].concat();
    for (packed, compression) in [
        (whole.clone(), Compression::None),
        (members, Compression::Gzip),
        (padded, Compression::Gzip),
        (frames, Compression::Zstd),
        (skippable, Compression::Zstd),
    ] {
        let mut input = piped(packed);
        assert_eq!(input.compression(), compression);
        let (read, error) = read_all(&mut input);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(read, whole);
        assert_eq!(input.delivered_bytes(), whole.len() as u64);
    }
}

#[test]
fn other_bytes_after_the_members_are_reported_after_the_good_data() {
    let good = log(0, 100);
    for (packed, rest) in [
        (gzip(&good), "garbage"),
        (gzip(&good), "\x1fgarbage, long enough for a header"),
        (zstd(&good), "garbage"),
    ] {
        let (read, error) = read_all(&mut piped([packed, rest.into()].concat()));
        assert_eq!(read, good);
        let at = good.len() as u64;
        assert!(
            matches!(error, Some(InputError::Trailing { at_bytes, .. }) if at_bytes == at),
            "{rest:?}: {error:?}"
        );
    }
}

/// Proves that a stream cut at any byte delivers a prefix of the good data and says where it broke.
#[test]
fn cut_streams_deliver_their_good_prefix() {
    let good = log(0, 60);
    for packed in [gzip(&good), zstd(&good)] {
        for cut in 4..packed.len() {
            let (read, error) = read_all(&mut piped(packed[..cut].to_vec()));
            assert!(good.starts_with(&read));
            match error {
                Some(InputError::CutShort { at_bytes, .. }) => {
                    assert_eq!(at_bytes, read.len() as u64);
                }
                other => panic!("cut at {cut}: {other:?}"),
            }
        }
    }
    let long = log(0, 20_000);
    let packed = gzip(&long);
    let (read, error) = read_all(&mut piped(packed[..packed.len() / 2].to_vec()));
    assert!(
        read.len() > long.len() / 3,
        "only {} bytes came",
        read.len()
    );
    let message = error.unwrap().to_string();
    assert!(
        message.starts_with("`standard input` is cut short: its gzip data break off after "),
        "{message}"
    );
}

#[test]
fn damage_is_reported_with_where_it_is() {
    let good = log(0, 5000);
    let mut packed = gzip(&good);
    let sum = packed.len() - 6;
    packed[sum] ^= 1;
    let (read, error) = read_all(&mut piped(packed));
    assert_eq!(read, good);
    assert!(
        matches!(error, Some(InputError::Corrupt { .. })),
        "{error:?}"
    );
    let mut packed = zstd(&good);
    let middle = packed.len() / 2;
    packed[middle..middle + 64].fill(0xff);
    let (read, error) = read_all(&mut piped(packed));
    assert!(good.starts_with(&read));
    assert!(
        matches!(error, Some(InputError::Corrupt { .. })),
        "{error:?}"
    );
}

/// B098: what expands a thousandfold is streamed: each read fills no more than the buffer.
#[test]
fn bomb_is_streamed() {
    let zeros = vec![0; 64 << 20];
    for packed in [gzip(&zeros), zstd(&zeros)] {
        assert!(packed.len() < zeros.len() / 100);
        let mut input = piped(packed);
        let mut buffer = vec![1; 64 << 10];
        let mut total = 0;
        loop {
            match input.read(&mut buffer).unwrap() {
                0 => break,
                length => total += length,
            }
        }
        assert_eq!(total, zeros.len());
    }
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path| Input::open(path).unwrap_err().to_string();
    let name = folder.path().display();
    assert_eq!(
        refused(folder.path()),
        format!("`{name}` is a directory; name the log files in it")
    );
    assert_eq!(
        refused(&folder.path().join("none.log")),
        format!("`{name}/none.log` does not exist; check the path, or use `-` for standard input")
    );
    assert_eq!(
        spelled(Path::new("a\x1b[2J\u{202e}b")),
        "a\\u{1b}[2J\\u{202e}b"
    );
}

/// Proves that a named pipe comes once, like standard input, and has no hints to be known by.
#[test]
fn named_pipe_is_read_like_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    let writer = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, b"one\ntwo\n").unwrap()
    });
    let mut input = Input::open(&path).unwrap();
    assert_eq!(input.chain(), Chain::Stdin);
    assert_eq!(input.hints(), &Hints::default());
    assert_eq!(read_all(&mut input).0, b"one\ntwo\n");
    writer.join().unwrap();
}

/// B007: a compressed copy under another name is the same content, and adds only what is new.
#[test]
fn compressed_copy_is_known() {
    let mut book = Book::new(1 << 20);
    book.ingest(&log(0, 200), &Hints::default(), &[], WHOLE);
    for (packed, grown) in [(gzip(&log(0, 200)), false), (zstd(&log(0, 230)), true)] {
        let copy = file(&packed);
        let input = Input::open(copy.path()).unwrap();
        assert_eq!(input.chain(), Chain::File);
        assert!(input.hints().path.is_some() && input.hints().inode.is_some());
        let identify = Identify::new(&book.key, book.known());
        let (identified, mut rest) = identify_input(input, identify, &mut [0; 700]);
        assert_eq!(
            matches!(identified.decision, Decision::Known { .. }),
            !grown
        );
        assert_eq!(
            matches!(identified.decision, Decision::Continue { .. }),
            grown
        );
        let mut left: Vec<u8> = Vec::new();
        let mut buffer = [0; 999];
        while let length @ 1.. = rest.read(&mut buffer).unwrap() {
            left.extend(&buffer[..length]);
        }
        assert_eq!(left, if grown { log(200, 30) } else { Vec::new() });
    }
}

/// Proves that an input which breaks while it is compared still delivers what was held, then its error.
#[test]
fn broken_while_compared_delivers_what_was_held() {
    let mut book = Book::new(1 << 20);
    book.ingest(&log(0, 3000), &Hints::default(), &[], WHOLE);
    let packed = gzip(&log(0, 2000));
    let input = piped(packed[..packed.len() - 9].to_vec());
    let identify = Identify::new(&book.key, book.known());
    let (identified, mut rest) = identify_input(input, identify, &mut [0; 700]);
    assert!(matches!(
        identified.decision,
        Decision::NewGeneration { .. }
    ));
    let from = usize::try_from(identified.point.offset).unwrap();
    let (mut left, mut buffer): (Vec<u8>, _) = (Vec::new(), [0; 999]);
    let error = loop {
        match rest.read(&mut buffer) {
            Ok(0) => panic!("the error is lost"),
            Ok(length) => left.extend(&buffer[..length]),
            Err(error) => break error,
        }
    };
    assert!(log(0, 2000)[from..].starts_with(&left) && !left.is_empty());
    assert_eq!(identified.may_repeat, Some(ContentId(0)));
    let read = (from + left.len()) as u64;
    assert!(
        matches!(error, InputError::CutShort { at_bytes, confirmed_bytes: 0, .. } if at_bytes == read)
    );
}

/// Proves that a download which broke off, and is whole the next day, adds only what it lacked: the
/// line that was cut is stored once more, whole.
#[test]
fn cut_download_is_finished_by_the_whole_one() {
    let (good, mut book) = (log(0, 20_000), Book::new(1 << 20));
    let packed = gzip(&good);
    let (read, error) = read_all(&mut piped(packed[..packed.len() / 2].to_vec()));
    assert!(error.is_some() && !read.ends_with(b"\n"));
    let first = book.ingest(&read, &Hints::default(), &[], WHOLE).stored;
    let (whole, _) = read_all(&mut piped(packed));
    let second = book.ingest(&whole, &Hints::default(), &[], WHOLE);
    assert!(matches!(second.decision, Decision::Continue { .. }));
    assert_eq!(first - 1 + second.stored, 20_000);
    assert_eq!(book.contents.len(), 1);
}
