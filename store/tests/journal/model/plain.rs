//! The plain journal: the rules, one record after another, with nothing remembered but lists.

use std::collections::BTreeMap;

use boundlane_record::Books;
use boundlane_store::WhenFull;

use super::BOUND;

/// What waits, of one sandbox or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Waits {
    pub(super) general: u64,
    pub(super) tenth: u64,
}

/// An entry as the model keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    /// What a reader sees: the raw text of a record, or `drops N`.
    pub(super) text: String,
    /// Whose share it is of; `None` for the journal's own.
    pub(super) sandbox: Option<u64>,
    pub(super) in_tenth: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenDrops {
    pub(super) lines: u64,
    pub(super) denied: u64,
    pub(super) opened: i64,
    pub(super) grown: i64,
}

/// The rules, one record after another, with nothing remembered but lists.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) entries: Vec<Kept>,
    /// Numbers through this one are taken.
    pub(super) taken: usize,
    pub(super) pruned: usize,
    pub(super) versions: BTreeMap<u64, u64>,
    /// In the order in which they began.
    pub(super) streams: Vec<u64>,
    /// By sandbox and cause.
    pub(super) open: BTreeMap<(u64, &'static str), OpenDrops>,
    pub(super) books: Books,
}

impl Model {
    pub(super) fn waits(&self, of: impl Fn(&Kept) -> bool) -> Waits {
        let waiting = self.entries[self.taken..].iter().filter(|kept| of(kept));
        waiting.fold(Waits::default(), |sum, kept| Waits {
            general: sum.general + u64::from(!kept.in_tenth),
            tenth: sum.tenth + u64::from(kept.in_tenth),
        })
    }

    fn admit(all: &mut Waits, mine: &mut Waits, matters: bool) -> Result<bool, &'static str> {
        let room = |bound: u64, all: u64, mine: u64| match bound.checked_sub(all + 1) {
            None => Err("queue_full"),
            Some(free) if mine < free => Ok(()),
            Some(_) => Err("fair_share"),
        };
        match room(BOUND - BOUND / 10, all.general, mine.general) {
            Ok(()) => {
                (all.general, mine.general) = (all.general + 1, mine.general + 1);
                Ok(false)
            }
            Err(cause) if !matters => Err(cause),
            Err(_) => {
                room(BOUND / 10, all.tenth, mine.tenth)?;
                (all.tenth, mine.tenth) = (all.tenth + 1, mine.tenth + 1);
                Ok(true)
            }
        }
    }

    /// What an item does; `false` when its source has to wait.
    pub(super) fn item(
        &mut self,
        sandbox: u64,
        lines: &[Line],
        when_full: WhenFull,
        at: i64,
    ) -> bool {
        let mut all = self.waits(|_| true);
        let mut mine = self.waits(|kept| kept.sandbox == Some(sandbox));
        let mut let_in = Vec::new();
        let mut refused = BTreeMap::<&'static str, (u64, u64)>::new();
        if when_full == WhenFull::Wait {
            if !lines.is_empty() && Model::admit(&mut all, &mut mine, false).is_err() {
                return false;
            }
            let_in = lines.iter().map(|line| (line, false)).collect();
        } else {
            for line in lines {
                match Model::admit(&mut all, &mut mine, line.is_denied) {
                    Ok(in_tenth) => let_in.push((line, in_tenth)),
                    Err(cause) => {
                        let (lines, denied) = refused.entry(cause).or_default();
                        *lines += 1;
                        *denied += u64::from(line.is_denied);
                    }
                }
            }
        }
        if refused.is_empty() {
            self.number(|(whose, _), open| {
                whose == sandbox && (at - open.grown >= 1_000_000 || at - open.opened >= 60_000_000)
            });
        }
        self.books.lines_read += lines.len() as u64;
        self.books.records += let_in.len() as u64;
        for (line, in_tenth) in let_in {
            self.entries.push(Kept {
                text: line.text.clone(),
                sandbox: Some(sandbox),
                in_tenth,
            });
        }
        for (cause, (lines, denied)) in refused {
            self.books.refused += lines;
            let open = self.open.entry((sandbox, cause)).or_insert(OpenDrops {
                lines: 0,
                denied: 0,
                opened: at,
                grown: at,
            });
            open.lines += lines;
            open.denied += denied;
            open.grown = at;
        }
        *self.versions.entry(sandbox).or_default() += 1;
        if !self.streams.contains(&sandbox) {
            self.streams.push(sandbox);
        }
        true
    }

    pub(super) fn number(&mut self, due: impl Fn((u64, &'static str), &OpenDrops) -> bool) {
        let mut numbered: Vec<_> = self
            .open
            .extract_if(.., |key, open| due(*key, open))
            .collect();
        numbered.sort_by_key(|((sandbox, cause), open)| {
            let stream = self.streams.iter().position(|known| known == sandbox);
            (open.opened, stream, *cause)
        });
        for ((sandbox, _), open) in numbered {
            self.entries.push(Kept {
                text: format!("drops {} {}", open.lines, open.denied),
                sandbox: Some(sandbox),
                in_tenth: false,
            });
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) is_denied: bool,
}
