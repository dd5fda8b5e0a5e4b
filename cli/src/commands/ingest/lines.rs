//! One line beside those that are stored.

use boundlane_ingest::place::PendingLine;
use boundlane_ingest::{DigestKey, FramedLine, LineEnd};
use boundlane_record::Fingerprint;

/// The fingerprint of a line as it came; of a line that was cut, of all of it.
pub(super) fn fingerprint(key: &DigestKey, line: &FramedLine<'_>) -> Fingerprint {
    let mut short = [0; 16];
    short.copy_from_slice(&line.digest(key)[..16]);
    Fingerprint(short)
}

/// Whether the line at the place is the one that was stored from there without its newline.
pub(super) fn repeats(key: &DigestKey, pending: &PendingLine, line: &FramedLine<'_>) -> bool {
    if let Some(digest) = line.cut {
        return digest == pending.digest && line.whole_bytes == pending.bytes;
    }
    let mut judging = pending.judging(key);
    judging.feed_nuls(line.nuls);
    judging.feed(line.bytes);
    if line.end == LineEnd::CrLf {
        judging.feed(b"\r");
    }
    !judging.end(line.end != LineEnd::None).stores()
}
