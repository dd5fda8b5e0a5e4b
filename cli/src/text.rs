//! Text for people: untrusted bytes made visible, widths as a terminal counts them, colour, tables.

pub(crate) mod clock;
pub(crate) mod colour;
pub(crate) mod escape;
pub(crate) mod table;
pub(crate) mod width;
