//! Results: one way to standard output, and one sink for each form of rows.

pub(crate) mod cell;
pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod out;
pub(crate) mod rows;
