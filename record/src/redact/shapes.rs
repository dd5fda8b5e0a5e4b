//! Secrets that are recognisable by their own form: tokens with a prefix, JWTs, PEM blocks.

use std::ops::Range;

use super::text::{Class, Text};

/// A token that begins with a known prefix.
pub(super) struct Form {
    /// In lower case.
    pub(super) prefix: &'static str,
    /// The prefix as it is written, where its case tells it from a word.
    exact: Option<&'static str>,
    body: Class,
    body_bytes_min: usize,
    /// The body must hold a digit or a capital, or ordinary names would be cut.
    is_mixed: bool,
}

const fn form(prefix: &'static str, body: Class, body_bytes_min: usize) -> Form {
    Form {
        prefix,
        exact: None,
        body,
        body_bytes_min,
        is_mixed: false,
    }
}

const fn exact(prefix: &'static str, exact: &'static str, body: Class, min: usize) -> Form {
    Form {
        exact: Some(exact),
        ..form(prefix, body, min)
    }
}

const fn mixed(prefix: &'static str, body: Class, body_bytes_min: usize) -> Form {
    Form {
        is_mixed: true,
        ..form(prefix, body, body_bytes_min)
    }
}

/// Prefixes and bodies as their makers document them; the lengths are lower, so that a token that was
/// cut short is still found.
pub(super) static FORMS: [Form; 48] = [
    // GitHub
    form("ghp_", Class::Alnum, 16),
    form("gho_", Class::Alnum, 16),
    form("ghu_", Class::Alnum, 16),
    form("ghs_", Class::Alnum, 16),
    form("ghr_", Class::Alnum, 16),
    form("github_pat_", Class::Word, 16),
    // GitLab
    form("glpat-", Class::Dotted, 12),
    mixed("gldt-", Class::Dotted, 12),
    mixed("glrt-", Class::Dotted, 12),
    mixed("glrtr-", Class::Dotted, 12),
    mixed("glcbt-", Class::Dotted, 12),
    mixed("glptt-", Class::Dotted, 12),
    mixed("glft-", Class::Dotted, 12),
    mixed("glimt-", Class::Dotted, 12),
    mixed("glagent-", Class::Dotted, 12),
    mixed("gloas-", Class::Dotted, 12),
    mixed("glsoat-", Class::Dotted, 12),
    mixed("glffct-", Class::Dotted, 12),
    // Slack
    form("xoxa-", Class::Token, 8),
    form("xoxb-", Class::Token, 8),
    form("xoxe-", Class::Token, 8),
    form("xoxe.", Class::Dotted, 8),
    form("xoxo-", Class::Token, 8),
    form("xoxp-", Class::Token, 8),
    form("xoxr-", Class::Token, 8),
    form("xoxs-", Class::Token, 8),
    form("xapp-", Class::Token, 8),
    // Model providers
    form("sk-ant-", Class::Token, 8),
    form("sk-proj-", Class::Token, 8),
    mixed("sk-", Class::Token, 16),
    mixed("hf_", Class::Alnum, 16),
    mixed("nvapi-", Class::Token, 16),
    mixed("gsk_", Class::Alnum, 16),
    // Clouds
    exact("akia", "AKIA", Class::Upper, 16),
    exact("asia", "ASIA", Class::Upper, 16),
    exact("aiza", "AIza", Class::Token, 30),
    form("ya29.", Class::Dotted, 10),
    exact("gocspx-", "GOCSPX-", Class::Token, 10),
    form("dop_v1_", Class::Alnum, 16),
    form("hvs.", Class::Token, 16),
    // Package registries
    mixed("npm_", Class::Alnum, 16),
    mixed("pypi-", Class::Token, 16),
    // Payments and mail
    form("sk_live_", Class::Alnum, 8),
    form("sk_test_", Class::Alnum, 8),
    form("rk_live_", Class::Alnum, 8),
    form("rk_test_", Class::Alnum, 8),
    mixed("whsec_", Class::Alnum, 8),
    exact("sg.", "SG.", Class::Dotted, 30),
];

/// The runs last looked at, one for each class of bytes, so that many prefixes in one run cost no more than one.
#[derive(Debug, Default)]
pub(super) struct Runs {
    last: [Run; 5],
    /// No PEM block begins before this: it is inside another.
    pem_until: usize,
    /// No JWT begins in the run that ends here.
    no_jwt: usize,
}

#[derive(Debug, Default, Clone)]
struct Run {
    range: Range<usize>,
    /// After the last digit or capital.
    telling_until: usize,
}

impl Runs {
    pub(super) fn form(
        &mut self,
        text: &Text<'_>,
        form: &Form,
        prefix: Range<usize>,
        found: &mut Vec<Range<usize>>,
    ) {
        let is_exact = form
            .exact
            .is_none_or(|exact| text.slice(prefix.clone()) == exact.as_bytes());
        if !is_exact || is_inside(text, prefix.start) {
            return;
        }
        let body = prefix.end;
        let run = self.run(text, form.body, body);
        let is_long = run.range.end - body >= form.body_bytes_min;
        if is_long && (!form.is_mixed || run.telling_until > body) {
            found.push(prefix.start..run.range.end);
        }
    }

    /// Three or more parts from the `eyJ` at `at`; the last may be empty or cut off.
    pub(super) fn jwt(&mut self, text: &Text<'_>, at: usize, found: &mut Vec<Range<usize>>) {
        if text.slice(at..at + 3) != b"eyJ" || is_inside(text, at) || at < self.no_jwt {
            return;
        }
        let header = self.run(text, Class::Token, at).range.end;
        let payload = self.run(text, Class::Token, header + 1).range.end;
        let is_jwt = header - at >= 8
            && text.at(header) == Some(b'.')
            && payload >= header + 5
            && text.at(payload) == Some(b'.');
        if !is_jwt {
            self.no_jwt = header;
            return;
        }
        let is_part = |byte| Class::Token.has(byte) || byte == b'.';
        let end = text.while_at(payload + 1, is_part);
        self.no_jwt = end;
        found.push(at..end);
    }

    /// `123456789:` and 35 characters, with the colon in the trigger at `trigger`.
    pub(super) fn telegram(
        &mut self,
        text: &Text<'_>,
        trigger: usize,
        found: &mut Vec<Range<usize>>,
    ) {
        let colon = trigger + 1;
        let digits = text.slice(colon.saturating_sub(16)..colon);
        let length = digits
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let start = colon - length;
        let end = self.run(text, Class::Token, colon + 1).range.end;
        let has_form = (6..=12).contains(&length) && (34..=40).contains(&(end - colon - 1));
        if has_form && !is_inside(text, start) {
            found.push(start..end);
        }
    }

    /// From `-----BEGIN … PRIVATE KEY-----` at `at` to its end, or to the text's.
    pub(super) fn pem(&mut self, text: &Text<'_>, at: usize, found: &mut Vec<Range<usize>>) {
        let label = text
            .slice(at..(at + 64).min(text.len()))
            .to_ascii_uppercase();
        let is_private = memchr::memmem::find(&label, b"PRIVATE KEY").is_some();
        if !is_private || at < self.pem_until {
            return;
        }
        let rest = text.from(at);
        let end = memchr::memmem::find(rest, b"-----END").map_or(rest.len(), |end| {
            let tail = rest
                .get(end + 8..(end + 72).min(rest.len()))
                .unwrap_or_default();
            let dashes = memchr::memmem::find(tail, b"-----");
            dashes.map_or(end + 8 + tail.len(), |dashes| end + 8 + dashes + 5)
        });
        text.looked_at(end);
        self.pem_until = at + end;
        found.push(at..at + end);
    }

    fn run(&mut self, text: &Text<'_>, class: Class, at: usize) -> &Run {
        let run = &mut self.last[class as usize];
        if !run.range.contains(&at) {
            let end = text.while_at(at.min(text.len()), |byte| class.has(byte));
            let is_telling = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
            let body = text.slice(at..end);
            *run = Run {
                range: at..end,
                telling_until: body
                    .iter()
                    .rposition(is_telling)
                    .map_or(at, |last| at + last + 1),
            };
        }
        run
    }
}

/// Whether a letter or digit comes right before `at`: the end of a longer word.
fn is_inside(text: &Text<'_>, at: usize) -> bool {
    text.before(at)
        .is_some_and(|byte| byte.is_ascii_alphanumeric())
}
