//! For all bytes: each physical line has one outcome, and its entry is canonical and within its limit.
#![no_main]

use boundlane_fuzz::check_lines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    check_lines(data);
    // And as the text behind each prefix, so that the parsers are reached at once.
    for prefix in [
        "[1791068681.547] [sandbox] [OCSF ] [ocsf] ",
        "NET:OPEN [MED] DENIED ",
        "HTTP:GET [INFO] ",
    ] {
        check_lines(&[prefix.as_bytes(), data].concat());
    }
});
