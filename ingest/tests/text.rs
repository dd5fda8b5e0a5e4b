//! Lines of text in, entries out: the whole way of the text formats.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod text {
    mod cut;
    mod forging;
    mod formats;
    mod framer;
    mod generator;
    mod grammar;
    mod json;
    mod policy;
    mod secrets;
    mod support;
    mod table;
}
