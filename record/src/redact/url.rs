//! Secrets in URLs and request targets: queries, fragments, userinfo, and path segments that are keys.
//!
//! Triggers come in order, so what is known of the word around them is carried along: every byte is
//! walked over once, however many `?` or `@` there are.

use std::ops::Range;

use super::mark::is_mark;
use super::text::{Class, Text, is_quote, is_space};

/// Something that has a meaning in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// `?`
    Query,
    /// `#`
    Fragment,
    /// `@`
    Userinfo,
    /// `/t/<token>/`
    Tenant,
    /// `/bot<id>:<secret>/`
    Bot,
    /// `/services/T…/B…/…`
    Services,
    /// `/webhook/<token>`, `/webhooks/<id>/<token>`
    Webhook,
    /// `/hooks/<long token>`
    Hook,
}

impl Place {
    pub(super) const TRIGGERS: [(&'static str, Place); 8] = [
        ("?", Place::Query),
        ("#", Place::Fragment),
        ("@", Place::Userinfo),
        ("/t/", Place::Tenant),
        ("/bot", Place::Bot),
        ("/services/t", Place::Services),
        ("/webhook", Place::Webhook),
        ("/hooks/", Place::Hook),
    ];
}

/// What is known up to the last trigger.
#[derive(Debug, Default)]
pub(super) struct Urls {
    /// Everything before this was walked over.
    at: usize,
    word: Word,
    query_until: usize,
    path_until: usize,
    /// The end of the last path with a webhook in it.
    webhook_until: usize,
}

/// The word that the walk is in.
#[derive(Debug, Default)]
struct Word {
    has_slash: bool,
    has_host: bool,
    /// A path begins where a name could.
    is_absolute: bool,
    /// Where the authority of the last `scheme://` begins, and how far it is known.
    authority: Option<(usize, Authority)>,
    /// Where a name without a scheme would begin, and the first colon after it.
    plain: usize,
    colon: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Authority {
    /// It still goes on.
    Open,
    /// It ended at a host.
    Ended,
    /// It seemed to end, but a host does not look like that: an `@` may still come.
    Doubtful,
}

impl Urls {
    pub(super) fn place(
        &mut self,
        text: &Text<'_>,
        place: Place,
        range: Range<usize>,
        found: &mut Vec<Range<usize>>,
    ) {
        self.walk_to(text, range.start);
        match place {
            Place::Query => self.query(text, range.start, found),
            Place::Fragment => self.fragment(text, range.start, found),
            Place::Userinfo => found.extend(self.userinfo(text, range.start)),
            Place::Webhook if range.start < self.webhook_until => {}
            _ if range.start < self.path_until => {}
            Place::Webhook => {
                self.webhook_until = path_end(text, range.end, false);
                self.path(webhook(text, &range, self.webhook_until), found);
            }
            _ => self.path(path_secret(text, place, &range), found),
        }
    }

    fn path(&mut self, secret: Option<Range<usize>>, found: &mut Vec<Range<usize>>) {
        if let Some(secret) = secret {
            self.path_until = secret.end;
            found.push(secret);
        }
    }

    fn walk_to(&mut self, text: &Text<'_>, to: usize) {
        text.looked_at(to.saturating_sub(self.at));
        while self.at < to {
            self.step(text, self.at);
            self.at += 1;
        }
    }

    fn step(&mut self, text: &Text<'_>, at: usize) {
        let next = at + 1;
        let word = &mut self.word;
        match text.bytes[at] {
            byte if is_space(byte) || is_quote(byte) || matches!(byte, b'<' | b'>') => {
                *word = Word {
                    plain: next,
                    ..Word::default()
                };
            }
            b'/' if text.bytes[..at].ends_with(b":/") => {
                word.has_slash = true;
                word.authority = Some((next, Authority::Open));
            }
            byte @ (b'/' | b'?' | b'#') => {
                word.is_absolute |= byte == b'/' && at == word.plain && !word.has_slash;
                word.has_slash |= byte == b'/';
                word.plain = next;
                word.colon = None;
                if let Some((start, known @ Authority::Open)) = &mut word.authority {
                    *known = ended(text, *start..at);
                }
            }
            b'=' | b',' | b'(' | b'[' | b'{' | b']' => {
                word.plain = next;
                word.colon = None;
            }
            b':' => {
                word.colon.get_or_insert(at);
                word.has_host |= text.at(next).is_some_and(|byte| byte.is_ascii_digit());
            }
            b'.' => {
                word.has_host |= text
                    .at(next)
                    .is_some_and(|byte| byte.is_ascii_alphanumeric());
            }
            _ => {}
        }
    }

    fn query(&mut self, text: &Text<'_>, at: usize, found: &mut Vec<Range<usize>>) {
        if at < self.query_until {
            return;
        }
        let is_url = self.word.has_slash || self.word.has_host;
        if is_url || text.is_assignment(at + 1, b"=") {
            self.rest(text, at, found);
        }
    }

    fn fragment(&mut self, text: &Text<'_>, at: usize, found: &mut Vec<Range<usize>>) {
        let word = &self.word;
        let has_path = word.has_slash && word.has_host;
        let is_url = word.is_absolute || word.authority.is_some() || has_path;
        if at >= self.query_until && is_url {
            self.rest(text, at, found);
        }
    }

    fn rest(&mut self, text: &Text<'_>, at: usize, found: &mut Vec<Range<usize>>) {
        let end = query_end(text, at + 1);
        self.query_until = end;
        if !is_clean_query(text.slice(at + 1..end)) {
            found.push(at + 1..end);
        }
    }

    /// What stands before the `@` at `at`, when it is who speaks and not part of a name.
    fn userinfo(&self, text: &Text<'_>, at: usize) -> Option<Range<usize>> {
        let word = &self.word;
        if let Some((start, Authority::Open | Authority::Doubtful)) = word.authority {
            return Some(start..at);
        }
        (word.colon.is_some() && is_place(text, at + 1)).then_some(word.plain..at)
    }
}

/// What ends with a `/`, `?` or `#`: a host with or without a port, or half a userinfo whose password
/// holds that character.
fn ended(text: &Text<'_>, authority: Range<usize>) -> Authority {
    text.looked_at(authority.len());
    let mut parts = text.slice(authority).split(|&byte| byte == b':');
    let (_, after, more) = (parts.next(), parts.next(), parts.next());
    let is_password = |part: &[u8]| part.iter().any(|byte| !byte.is_ascii_digit());
    match more.is_none() && after.is_some_and(is_password) {
        true => Authority::Doubtful,
        false => Authority::Ended,
    }
}

/// Whether a host stands at `at`, with its port or a path after it; a mail address has neither.
fn is_place(text: &Text<'_>, at: usize) -> bool {
    let head = text.slice(at..(at + 256).min(text.len()));
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let length = head.iter().take_while(is_part).count();
    text.looked_at(length);
    let (name, after) = head.split_at(length);
    length > 0 && (is_port(after) || after.first() == Some(&b'/') && is_host(name))
}

/// A domain name, four numbers, or `localhost`.
fn is_host(name: &[u8]) -> bool {
    let labels = || name.split(|&byte| byte == b'.');
    let is_number = |label: &[u8]| !label.is_empty() && label.iter().all(u8::is_ascii_digit);
    let top = labels().next_back().unwrap_or_default();
    let is_domain =
        top.len() >= 2 && top.len() < name.len() && top.iter().all(u8::is_ascii_alphabetic);
    is_domain
        || labels().count() == 4 && labels().all(is_number)
        || name.eq_ignore_ascii_case(b"localhost")
}

fn is_port(after: &[u8]) -> bool {
    let digits = after
        .iter()
        .skip(1)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    after.first() == Some(&b':')
        && (1..=5).contains(&digits)
        && !after
            .get(1 + digits)
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// Where a query or fragment ends: at white space, at a `]` that it did not open, at the quote that
/// the URL is in.
fn query_end(text: &Text<'_>, at: usize) -> usize {
    let mut depth = 0usize;
    let mut end = at;
    while let Some(byte) = text.at(end) {
        match byte {
            _ if text.is_inner(end) => {}
            _ if is_space(byte) => break,
            b'[' => depth += 1,
            b']' if depth == 0 => break,
            b']' => depth -= 1,
            _ if is_quote(byte) && is_end_after(text.at(end + 1)) => break,
            b'\\' if text.is_at_quote(end) && is_end_after(text.at(end + 2)) => break,
            _ => {}
        }
        end += 1;
    }
    text.looked_at(end - at);
    end
}

fn is_end_after(next: Option<u8>) -> bool {
    next.is_none_or(|byte| is_space(byte) || is_quote(byte) || b"\\,;:)}]>".contains(&byte))
}

/// Whether nothing is left to cut: no query, a mark, or names whose values are marks or empty.
fn is_clean_query(query: &[u8]) -> bool {
    let is_clean = |pair: &[u8]| {
        let equals = memchr::memchr(b'=', pair);
        equals.is_some_and(|at| {
            let (name, value) = (&pair[..at], &pair[at + 1..]);
            name.len() <= 64
                && name.iter().all(|&byte| Class::Dotted.has(byte))
                && (value.is_empty() || is_mark(value))
        })
    };
    is_mark(query) || query.split(|&byte| byte == b'&').all(is_clean)
}

/// The secret in the path that begins at `trigger`.
fn path_secret(text: &Text<'_>, place: Place, trigger: &Range<usize>) -> Option<Range<usize>> {
    let after = trigger.end;
    match place {
        Place::Tenant => Some(after..segment_end(text, after)),
        Place::Bot => {
            let colon = text.while_at(after, |byte| byte.is_ascii_digit());
            let end = segment_end(text, after);
            let is_bot = colon > after && text.at(colon) == Some(b':') && end > colon + 1;
            is_bot.then_some(after..end)
        }
        Place::Services => services(text, after - 1),
        Place::Hook => {
            let end = segment_end(text, after);
            let is_long = end - after >= 16 && is_token_like(text.slice(after..end));
            is_long.then_some(after..end)
        }
        Place::Query | Place::Fragment | Place::Userinfo | Place::Webhook => None,
    }
}

fn segment_end(text: &Text<'_>, at: usize) -> usize {
    path_end(text, at, true)
}

/// The end of the segment, or of the whole path.
fn path_end(text: &Text<'_>, at: usize, is_one_segment: bool) -> usize {
    let mut depth = 0usize;
    let mut end = at;
    while let Some(byte) = text.at(end) {
        match byte {
            b'/' if is_one_segment => break,
            _ if text.is_inner(end) && !matches!(byte, b'?' | b'#') => {}
            b'?' | b'#' => break,
            b'[' => depth += 1,
            b']' if depth == 0 => break,
            b']' => depth -= 1,
            _ if is_space(byte) || is_quote(byte) => break,
            _ => {}
        }
        end += 1;
    }
    text.looked_at(end - at);
    end
}

/// `T…/B…/…` from `at` on.
fn services(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let team = segment_end(text, at);
    let bot = segment_end(text, team + 1);
    let end = segment_end(text, bot + 1);
    let is_slack = text.at(at) == Some(b'T')
        && text.slice(team..team + 2) == b"/B"
        && text.at(bot) == Some(b'/')
        && end > bot + 1;
    is_slack.then_some(at..end)
}

/// From the first segment that looks like a token to the end of the path; a number before it stays.
fn webhook(text: &Text<'_>, trigger: &Range<usize>, end: usize) -> Option<Range<usize>> {
    let slash = segment_end(text, trigger.end);
    if slash > trigger.end + 3 || text.at(slash) != Some(b'/') {
        return None;
    }
    let mut at = slash + 1;
    let mut number = None;
    while at < end {
        let next = segment_end(text, at).min(end);
        let segment = text.slice(at..next);
        if !segment.is_empty() && segment.iter().all(u8::is_ascii_digit) {
            number = (segment.len() >= 6).then_some(at);
        } else if is_token_like(segment) {
            return Some(at..end);
        } else {
            number = None;
        }
        at = next + 1;
    }
    number.map(|at| at..end)
}

/// Not an ordinary word of a path.
fn is_token_like(segment: &[u8]) -> bool {
    segment.len() > 12
        || segment
            .iter()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        || is_mark(segment)
}

/// Everything secret in a field that is one URL or request target, whatever characters are in it.
pub(super) fn whole(text: &Text<'_>, found: &mut Vec<Range<usize>>) {
    let bytes = text.bytes;
    text.looked_at(bytes.len());
    let path = memchr::memchr2(b'?', b'#', bytes).unwrap_or(bytes.len());
    if path < bytes.len() && !is_clean_query(&bytes[path + 1..]) && !bytes[path + 1..].is_empty() {
        found.push(path + 1..bytes.len());
    }
    let start = match memchr::memmem::find(&bytes[..path], b"//") {
        Some(slashes) if slashes == 0 || bytes[..slashes].ends_with(b":") => slashes + 2,
        _ => 0,
    };
    let authority = &bytes[start..path];
    let length = memchr::memchr(b'/', authority).unwrap_or(authority.len());
    if let Some(at) = memchr::memrchr(b'@', &authority[..length]) {
        found.push(start..start + at);
    }
}
