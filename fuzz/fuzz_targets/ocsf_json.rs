//! For all bytes: what is read as a JSON line, or as the members of an OCSF event, has one outcome.
#![no_main]

use boundlane_fuzz::check_lines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    check_lines(data);
    check_lines(
        &[
            b"{\"action_id\":2,\"class_uid\":4002,".as_slice(),
            data,
            b"}",
        ]
        .concat(),
    );
});
