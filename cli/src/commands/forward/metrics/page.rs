//! Prometheus' text format 0.0.4: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write as _;

/// What a family's numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    /// Only grows, and begins anew with a new journal.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// One name, with what is said of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) of: Type,
    pub(super) labels: &'static [&'static str],
    /// Without backslash and newline, which would have to be escaped.
    pub(super) help: &'static str,
}

/// A sample's number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Whole(u64),
    /// Of seconds, or of one.
    Millionths(u64),
}

impl From<u64> for Number {
    fn from(whole: u64) -> Number {
        Number::Whole(whole)
    }
}

impl From<bool> for Number {
    fn from(is_so: bool) -> Number {
        Number::Whole(u64::from(is_so))
    }
}

/// The text of one answer.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// A family without labels.
    pub(super) fn one(&mut self, family: &Family, number: impl Into<Number>) {
        self.many(family, [([], number.into())]);
    }

    /// A family and its samples, each with the values of the family's labels.
    pub(super) fn many<const N: usize>(
        &mut self,
        family: &Family,
        samples: impl IntoIterator<Item = ([&'static str; N], Number)>,
    ) {
        debug_assert_eq!(family.labels.len(), N, "{}", family.name);
        let of = match family.of {
            Type::Counter => "counter",
            Type::Gauge => "gauge",
        };
        let name = family.name;
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {}", family.help);
        let _ = writeln!(self.text, "# TYPE {name} {of}");
        for (values, number) in samples {
            self.text.push_str(name);
            self.labels(family.labels, &values);
            let _ = match number {
                Number::Whole(whole) => writeln!(self.text, " {whole}"),
                Number::Millionths(millionths) => writeln!(
                    self.text,
                    " {}.{:06}",
                    millionths / 1_000_000,
                    millionths % 1_000_000
                ),
            };
        }
    }

    /// Values are words of this program's own vocabularies: nothing in them has to be escaped.
    fn labels(&mut self, names: &[&str], values: &[&'static str]) {
        let mut open = '{';
        for (name, value) in names.iter().zip(values) {
            let _ = write!(self.text, "{open}{name}=\"{value}\"");
            open = ',';
        }
        if open == ',' {
            self.text.push('}');
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spelled_otherwise() {
        let family = |labels| Family {
            name: "a_total",
            of: Type::Counter,
            labels,
            help: "Why.",
        };
        let mut page = Page::default();
        page.one(&family(&[]), 7);
        let labelled = [(["x", "y"], Number::Millionths(1_000_005))];
        page.many(&family(&["b", "c"]), labelled);
        page.many::<1>(&family(&["d"]), []);
        let head = "# HELP a_total Why.\n# TYPE a_total counter\n";
        assert_eq!(
            page.into_text(),
            format!("{head}a_total 7\n{head}a_total{{b=\"x\",c=\"y\"}} 1.000005\n{head}")
        );
    }
}
