//! gzip as `gzip -dc` reads it: all members one after another, zeros at the end ignored, anything else
//! there reported after the good data.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use super::error::Fault;

/// The first byte of every member.
const MEMBER_FIRST: u8 = 0x1f;

enum State<R> {
    /// Before a member or at the end.
    Between(R),
    Inside(Box<GzDecoder<R>>),
    Done,
}

/// All members of a gzip stream as one.
pub(super) struct Gzip<R> {
    state: State<R>,
    members: u64,
    bytes: u64,
    /// Bytes of the members that ended, whose checksums were compared.
    confirmed_bytes: u64,
}

enum Next {
    End,
    Member,
    Other,
}

impl<R: BufRead> Gzip<R> {
    pub(super) fn new(source: R) -> Gzip<R> {
        Gzip {
            state: State::Between(source),
            members: 0,
            bytes: 0,
            confirmed_bytes: 0,
        }
    }

    /// Decompressed bytes into `buffer`; 0 at the end. `buffer` is not empty.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        loop {
            match &mut self.state {
                State::Done => return Ok(0),
                State::Between(source) => match next(source).map_err(Fault::Source)? {
                    Next::End => self.state = State::Done,
                    Next::Other => return Err(Fault::Trailing),
                    Next::Member => self.enter(),
                },
                State::Inside(member) => match member.read(buffer) {
                    Ok(0) => self.leave(),
                    Ok(length) => {
                        self.bytes += length as u64;
                        return Ok(length);
                    }
                    Err(cause) => return Err(self.fault(cause)),
                },
            }
        }
    }

    /// Decompressed bytes of members that ended as their checksums say.
    pub(super) fn confirmed_bytes(&self) -> u64 {
        self.confirmed_bytes
    }

    fn enter(&mut self) {
        if let State::Between(source) = std::mem::replace(&mut self.state, State::Done) {
            self.state = State::Inside(Box::new(GzDecoder::new(source)));
        }
    }

    fn leave(&mut self) {
        if let State::Inside(member) = std::mem::replace(&mut self.state, State::Done) {
            self.members += 1;
            self.confirmed_bytes = self.bytes;
            self.state = State::Between(member.into_inner());
        }
    }

    /// Bytes that only begin like a member, after a whole one, are other bytes.
    fn fault(&self, cause: io::Error) -> Fault {
        let no_header = matches!(&self.state, State::Inside(member) if member.header().is_none());
        match Fault::of_member(cause) {
            Fault::Corrupt(_) if no_header && self.members > 0 => Fault::Trailing,
            fault => fault,
        }
    }
}

/// Skips zeros and tells what follows.
fn next(source: &mut impl BufRead) -> io::Result<Next> {
    loop {
        let ahead = source.fill_buf()?;
        let zeros = ahead.iter().take_while(|byte| **byte == 0).count();
        let next = match (ahead.is_empty(), ahead.get(zeros)) {
            (true, _) => Some(Next::End),
            (_, Some(&MEMBER_FIRST)) => Some(Next::Member),
            (_, Some(_)) => Some(Next::Other),
            (_, None) => None,
        };
        source.consume(zeros);
        if let Some(next) = next {
            return Ok(next);
        }
    }
}
