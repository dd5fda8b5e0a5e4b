//! Whether `TZ` names a time zone. The library falls back in silence when it does not.

use std::path::Path;

/// Where the machine keeps its zones.
const DIRECTORIES: [&str; 4] = [
    "/usr/share/zoneinfo",
    "/usr/lib/zoneinfo",
    "/share/zoneinfo",
    "/etc/zoneinfo",
];

/// Whether `tz` is the name of a zone that this machine has, or a rule as POSIX spells it.
pub(crate) fn is_zone(tz: &str) -> bool {
    let name = tz.strip_prefix(':').unwrap_or(tz);
    if matches!(name, "" | "localtime") || is_rule(tz) {
        return true;
    }
    match Path::new(name).is_absolute() {
        true => Path::new(name).is_file(),
        false => DIRECTORIES
            .iter()
            .any(|directory| Path::new(directory).join(name).is_file()),
    }
}

/// `CET-1CEST,M3.5.0,M10.5.0/3`, `UTC0`, `<+03>-3`: a name, then an offset. The rest is left to the library.
fn is_rule(text: &str) -> bool {
    let offset = match text.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>').map(|(_, offset)| offset),
        None => {
            let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
            (letters >= 3).then(|| &text[letters..])
        }
    };
    offset.is_some_and(|offset| {
        let digits = offset.strip_prefix(['+', '-']).unwrap_or(offset);
        digits.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_no_zone_is_one() {
        for zone in [
            "",
            ":",
            "UTC0",
            "CET-1CEST,M3.5.0,M10.5.0/3",
            "<+03>-3",
            "localtime",
        ] {
            assert!(is_zone(zone), "{zone}");
        }
        for other in [
            "Bogus",
            "Europe/Nowhere",
            "/no/such/file",
            "AB1",
            "<+03",
            "../../etc",
        ] {
            assert!(!is_zone(other), "{other}");
        }
    }
}
