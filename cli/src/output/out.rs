//! Standard output, the one way to it.
//!
//! Buffered, told apart as terminal or not, and closed pipes end in [`Failure::ClosedPipe`] rather
//! than in a panic.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;

use crate::exit::{Failure, Outcome};

/// Bytes held before they are written when nobody asks for them sooner.
const BUFFER_BYTES: usize = 64 * 1024;

/// Where results go.
pub(crate) struct Out {
    sink: BufWriter<Box<dyn Write>>,
    is_terminal: bool,
}

impl Out {
    /// The process's standard output.
    ///
    /// # Errors
    /// When the descriptor cannot be duplicated: the process has too many open files.
    pub(crate) fn stdout() -> Outcome<Out> {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let owned = stdout
            .as_fd()
            .try_clone_to_owned()
            .map_err(Failure::output)?;
        Ok(Out::new(Box::new(File::from(owned)), is_terminal))
    }

    /// Any other sink, for tests and for files.
    pub(crate) fn new(sink: Box<dyn Write>, is_terminal: bool) -> Out {
        Out {
            sink: BufWriter::with_capacity(BUFFER_BYTES, sink),
            is_terminal,
        }
    }

    /// Whether a person reads this.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes `text` as it is. Text of a sandbox has to be escaped before.
    pub(crate) fn text(&mut self, text: &str) -> Outcome<()> {
        self.sink
            .write_all(text.as_bytes())
            .map_err(Failure::output)
    }

    /// Writes `text` and a newline.
    pub(crate) fn line(&mut self, text: &str) -> Outcome<()> {
        self.text(text)?;
        self.text("\n")
    }

    /// Hands everything on now: after each row while following, and at the end.
    pub(crate) fn flush_now(&mut self) -> Outcome<()> {
        self.sink.flush().map_err(Failure::output)
    }
}

/// For writers that want an [`io::Write`]; map their errors with [`Failure::output`].
impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// A sink whose bytes a test can look at.
#[cfg(test)]
pub(crate) mod captured {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::{Out, Write, io};

    /// What was written so far.
    #[derive(Clone, Default)]
    pub(crate) struct Captured(Rc<RefCell<Vec<u8>>>);

    impl Captured {
        /// An [`Out`] that writes here.
        pub(crate) fn out(&self, is_terminal: bool) -> Out {
            Out::new(Box::new(self.clone()), is_terminal)
        }

        /// The text so far.
        pub(crate) fn text(&self) -> String {
            String::from_utf8_lossy(&self.0.borrow()).into_owned()
        }
    }

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A reader that went away ends the command at the next write that reaches it, quietly.
    #[test]
    fn a_reader_that_went_away_is_not_noticed() {
        let mut out = Out::new(Box::new(Gone), false);
        assert!(out.line("buffered").is_ok());
        assert!(matches!(out.flush_now(), Err(Failure::ClosedPipe)));
    }
}
