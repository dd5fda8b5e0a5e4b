//! The fake keeps the tables of the interface.
