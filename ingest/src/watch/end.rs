//! How a followed stream ended, told by the status and its text.

/// Why the gateway will not let us read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// It does not know who we are: no token, an expired one, no client certificate.
    Unauthenticated,
    /// It knows, and we may not.
    PermissionDenied,
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEnd {
    /// The gateway ended it because the sandbox's buffers are gone: it is whole.
    Closed,
    /// The gateway ended it without an error.
    Finished,
    /// The cursor is of a numbering that no longer exists there.
    SpaceGone,
    /// The cursor is beyond everything that was issued there.
    CursorAhead,
    /// What follows the cursor is no longer held; numbers as the gateway states them.
    Trimmed {
        /// The number asked for.
        after: Option<u64>,
        /// The first that can be resumed after.
        earliest: Option<u64>,
    },
    /// The gateway does not read this cursor.
    BadCursor,
    /// Gateways up to 0.0.116: it left out so many messages and ended the stream.
    Lagged {
        /// Lines and other messages.
        dropped: u64,
    },
    /// Unknown, or not ours to see: deliberately the same.
    NotFound,
    /// We may not read.
    Refused(Refusal, String),
    /// Too many calls.
    RateLimited,
    /// A message is larger than we read.
    TooLarge,
    /// The transport broke, or the gateway failed: anything else.
    Broke(String),
}

/// gRPC status codes, by number.
mod code {
    pub(super) const OK: i32 = 0;
    pub(super) const CANCELLED: i32 = 1;
    pub(super) const INVALID_ARGUMENT: i32 = 3;
    pub(super) const NOT_FOUND: i32 = 5;
    pub(super) const PERMISSION_DENIED: i32 = 7;
    pub(super) const RESOURCE_EXHAUSTED: i32 = 8;
    pub(super) const OUT_OF_RANGE: i32 = 11;
    pub(super) const UNAUTHENTICATED: i32 = 16;
}

const LAGGED: &str = "watch stream lagged; dropped ";

/// What tonic 0.14 makes of an HTTP status without a gRPC one: something before the gateway answered.
const MAPPED: &str = "grpc-status header missing";

impl StreamEnd {
    /// Reads a gRPC status. A code alone is not the gateway's word: client libraries and proxies use the
    /// same ones, so the text decides.
    pub fn of_status(code: i32, text: &str) -> StreamEnd {
        match code {
            code::OK => StreamEnd::Finished,
            code::CANCELLED if text.starts_with("stream closed") => StreamEnd::Closed,
            code::NOT_FOUND if text.starts_with("sandbox not found") => StreamEnd::NotFound,
            code::INVALID_ARGUMENT if text.starts_with("resume_after_cursor is not a valid") => {
                StreamEnd::BadCursor
            }
            code::OUT_OF_RANGE => out_of_range(text),
            code::RESOURCE_EXHAUSTED => exhausted(text),
            _ if text.starts_with(MAPPED) => StreamEnd::Broke(text.to_owned()),
            code::UNAUTHENTICATED => StreamEnd::Refused(Refusal::Unauthenticated, text.to_owned()),
            code::PERMISSION_DENIED => {
                StreamEnd::Refused(Refusal::PermissionDenied, text.to_owned())
            }
            _ => StreamEnd::Broke(text.to_owned()),
        }
    }
}

fn out_of_range(text: &str) -> StreamEnd {
    if text.starts_with("resume_after_cursor belongs to a cursor space") {
        return StreamEnd::SpaceGone;
    }
    if text.starts_with("resume_after_cursor is ahead of every cursor") {
        return StreamEnd::CursorAhead;
    }
    match text.strip_prefix("resume cursor ") {
        Some(rest) => StreamEnd::Trimmed {
            after: number(rest),
            earliest: rest
                .split_once("earliest resumable cursor is ")
                .and_then(|(_, rest)| number(rest)),
        },
        None if is_too_large(text) => StreamEnd::TooLarge,
        None => StreamEnd::Broke(text.to_owned()),
    }
}

fn exhausted(text: &str) -> StreamEnd {
    match lagged(text) {
        Some(dropped) => StreamEnd::Lagged { dropped },
        None if is_too_large(text) => StreamEnd::TooLarge,
        None => StreamEnd::RateLimited,
    }
}

/// What client libraries say of a message beyond their limit: tonic 0.14 with `OUT_OF_RANGE`, others with
/// `RESOURCE_EXHAUSTED`.
fn is_too_large(text: &str) -> bool {
    ["message length too large", "larger than max"]
        .iter()
        .any(|said| text.contains(said))
}

/// The number of messages in the text of a lag warning.
pub(crate) fn lagged(text: &str) -> Option<u64> {
    number(text.strip_prefix(LAGGED)?)
}

/// The decimal number that `text` begins with.
fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPED_403: &str = "grpc-status header missing, mapped from HTTP status code 403";

    fn broke(text: &str) -> StreamEnd {
        StreamEnd::Broke(text.to_owned())
    }

    fn refused(refusal: Refusal, text: &str) -> StreamEnd {
        StreamEnd::Refused(refusal, text.to_owned())
    }

    /// The gateway's own statuses are told by their text; the same codes from elsewhere are a break.
    #[test]
    fn a_status_is_the_gateways_by_its_text() {
        let reset = "h2 protocol error: error reading a body from connection";
        for (code, text, expected) in [
            (0, "", StreamEnd::Finished),
            (1, "stream closed", StreamEnd::Closed),
            (1, "Timeout expired", broke("Timeout expired")),
            (1, reset, broke(reset)),
            (2, reset, broke(reset)),
            (
                3,
                "resume_after_cursor is not a valid watch cursor",
                StreamEnd::BadCursor,
            ),
            (3, "id is required", broke("id is required")),
            (5, "sandbox not found", StreamEnd::NotFound),
            (5, "no such method", broke("no such method")),
            (
                13,
                "fetch sandbox failed: x",
                broke("fetch sandbox failed: x"),
            ),
            (14, "gateway is stopping", broke("gateway is stopping")),
            (7, "role", refused(Refusal::PermissionDenied, "role")),
            (7, MAPPED_403, broke(MAPPED_403)),
            (
                16,
                "missing authorization header",
                refused(Refusal::Unauthenticated, "missing authorization header"),
            ),
            (16, MAPPED_403, broke(MAPPED_403)),
            (99, "", broke("")),
        ] {
            assert_eq!(StreamEnd::of_status(code, text), expected, "{code} {text}");
        }
    }

    /// Three things end a stream with two codes: a cursor, a lag, and a message that we do not read.
    #[test]
    fn out_of_range_and_resource_exhausted_by_text() {
        let tonic = "Error, decoded message length too large: found 16777217 bytes, the limit is: \
                     16777216 bytes";
        let grpc = "Received message larger than max (5 vs. 4)";
        let trimmed = StreamEnd::Trimmed {
            after: Some(7),
            earliest: Some(12),
        };
        let unnumbered = StreamEnd::Trimmed {
            after: None,
            earliest: None,
        };
        for (code, text, expected) in [
            (11, tonic, StreamEnd::TooLarge),
            (8, grpc, StreamEnd::TooLarge),
            (
                11,
                "resume_after_cursor belongs to a cursor space that is gone",
                StreamEnd::SpaceGone,
            ),
            (
                11,
                "resume_after_cursor is ahead of every cursor issued",
                StreamEnd::CursorAhead,
            ),
            (
                11,
                "resume cursor 7 is no longer available; earliest resumable cursor is 12",
                trimmed,
            ),
            (11, "resume cursor x", unnumbered),
            (
                11,
                "unexpected end of file",
                broke("unexpected end of file"),
            ),
            (
                8,
                "watch stream lagged; dropped 41 messages",
                StreamEnd::Lagged { dropped: 41 },
            ),
            (8, "rate limit exceeded", StreamEnd::RateLimited),
        ] {
            assert_eq!(StreamEnd::of_status(code, text), expected, "{code} {text}");
        }
    }
}
