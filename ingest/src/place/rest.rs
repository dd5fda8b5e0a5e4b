//! The thin reader: feeds an input to [`Identify`] and gives back what is to be read from there.

use super::{Identified, Identify};
use crate::held::Held;
use crate::input::{Input, InputError};

/// What follows the identified part of an input: the held bytes, then the input itself.
#[derive(Debug)]
pub struct Rest {
    input: Input,
    held: Held,
    fault: Option<InputError>,
}

/// Reads as much of `input` as the decision needs. A fault of the input is no fault of the decision: it
/// is met again by [`Rest::read`], after the bytes before it. `buffer` is where bytes are read into.
pub fn identify_input(
    mut input: Input,
    mut identify: Identify,
    buffer: &mut [u8],
) -> (Identified, Rest) {
    let mut ended = false;
    let mut fault = None;
    while !identify.is_decided() && !ended {
        match input.read(buffer) {
            Ok(0) => ended = true,
            Ok(length) => identify.feed(&buffer[..length]),
            Err(error) => {
                fault = Some(error);
                break;
            }
        }
    }
    let mut identified = identify.finish(ended);
    let held = std::mem::take(&mut identified.held);
    (identified, Rest { input, held, fault })
}

impl Rest {
    /// Fills `buffer` from its start; 0 at the end, and after an error, which comes once.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, InputError> {
        let held = self.held.read(buffer);
        if held > 0 {
            return Ok(held);
        }
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => self.input.read(buffer),
        }
    }

    /// The input behind it.
    pub fn input(&self) -> &Input {
        &self.input
    }
}
