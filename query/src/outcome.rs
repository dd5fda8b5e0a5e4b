//! What became of a question.

use boundlane_record::coverage::Coverage;

use crate::cells::{OutputColumn, Rows};

/// Takes in an answer, a piece at a time.
pub trait Sink {
    /// The columns, once and before any row, for an answer without rows too.
    ///
    /// # Errors
    /// Whatever keeps the sink from taking more; it ends the answer.
    fn columns(&mut self, columns: &[OutputColumn]) -> std::io::Result<()>;

    /// Rows, in the order of the answer.
    ///
    /// # Errors
    /// Whatever keeps the sink from taking more; it ends the answer.
    fn rows(&mut self, rows: &Rows) -> std::io::Result<()>;
}

/// Why an answer is shorter than it should be. What was given until then is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It needed more memory than this.
    Memory {
        /// The limit.
        bytes_max: usize,
    },
    /// It took longer than this.
    Time {
        /// The limit.
        seconds_max: u64,
    },
    /// Somebody stopped it.
    Interrupted,
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cut::Memory { bytes_max } => {
                let mebibytes = bytes_max >> 20;
                write!(
                    f,
                    "cut: it needs more than {mebibytes} MiB of memory; narrow it or raise `--memory-limit`"
                )
            }
            Cut::Time { seconds_max } => {
                write!(
                    f,
                    "cut: it takes longer than {seconds_max} s; narrow it or raise `--timeout`"
                )
            }
            Cut::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Rows of a sandbox's testimony that were left out, because a better one about it was counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncounted {
    /// The sandbox's name, or else its id.
    pub sandbox: Option<String>,
    /// The source that was counted.
    pub counted: String,
    /// The source that was not.
    pub source: String,
    /// Its decisions in the scope.
    pub decisions: u64,
}

/// A question that was answered, wholly or in part.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How many rows the sink was given.
    pub rows: u64,
    /// Whether anything is missing; not known any more when the answer was cut.
    pub coverage: Option<Coverage>,
    /// Why the answer ends early.
    pub cut: Option<Cut>,
    /// The SQL that was run; a listing has none.
    pub sql: Option<String>,
    /// Sources that a canned count left out; ask with one source to count it.
    pub uncounted: Vec<Uncounted>,
}

impl Outcome {
    /// Whether `--require-complete` is content.
    pub fn is_complete(&self) -> bool {
        self.cut.is_none() && self.coverage.as_ref().is_some_and(Coverage::is_complete)
    }
}

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The question is at fault.
    #[error("the question cannot be understood: {0}")]
    Question(String),
    /// The question could be read and not be computed: a division by zero, a text that is no number.
    #[error("the question failed while it was computed: {0}")]
    Failed(String),
    /// Entries moved between archive and journal, every time that they were read.
    #[error("{0}")]
    Moving(String),
    /// The sink took no more.
    #[error("cannot write the answer: {0}")]
    Sink(#[from] std::io::Error),
    /// The engine or the machine is at fault.
    #[error("cannot answer: {0}")]
    Engine(String),
}
