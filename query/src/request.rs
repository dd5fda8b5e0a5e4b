//! What is asked, of which archives, within which limits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use boundlane_archive::Root;
use boundlane_record::Column;
use boundlane_record::filter::Filter;

use crate::canned::Canned;
use crate::live::LiveJournal;

/// The question itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Rows as `log` lists them: in number order, predecessor journals first, losses in place.
    Rows {
        /// The columns, `seq` and `journal` before them; empty is all.
        columns: Vec<Column>,
    },
    /// A question that is asked so often that it has a name.
    Canned(Canned),
    /// One statement that reads. Column names that are also words of SQL are quoted: `"from"`, `"to"`.
    Sql(String),
}

/// How much of the machine a question may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Memory of sorts, groups and joins.
    pub memory_bytes_max: usize,
    /// Wall clock for the whole answer; `None` is unlimited.
    pub time_max: Option<Duration>,
    /// Threads that decode and compute.
    pub threads_max: usize,
}

impl Default for Limits {
    /// 512 MiB, no time limit, two threads.
    fn default() -> Limits {
        Limits {
            memory_bytes_max: 512 << 20,
            time_max: None,
            threads_max: 2,
        }
    }
}

/// A question with everything that it is asked of.
#[derive(Clone)]
pub struct Request {
    /// The archives, in the order of trust: where two hold the same numbers the first file that begins
    /// earliest gives them.
    pub archives: Vec<Root>,
    /// This machine's own journal, where it has one.
    pub live: Option<Arc<dyn LiveJournal>>,
    /// What narrows every view.
    pub filter: Filter,
    /// What is asked.
    pub question: Question,
    /// How much it may take.
    pub limits: Limits,
    /// Set from elsewhere to stop: the answer ends within 200 ms.
    pub interrupted: Arc<AtomicBool>,
}

impl Request {
    /// `question` to `archives`, unfiltered, with default limits.
    pub fn new(archives: Vec<Root>, question: Question) -> Request {
        Request {
            archives,
            live: None,
            filter: Filter::default(),
            question,
            limits: Limits::default(),
            interrupted: Arc::default(),
        }
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("archives", &self.archives)
            .field("filter", &self.filter)
            .field("question", &self.question)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
