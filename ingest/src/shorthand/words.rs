//! The shorthand's upper-case words and the OCSF 1.8 captions that they stand for.

use boundlane_record::{Action, ClassTag, Disposition, Severity};

/// The action that the shorthand prints as `word`.
pub(crate) fn action_of_word(word: &str) -> Option<Action> {
    Some(match word {
        "UNKNOWN" => Action::Unknown,
        "ALLOWED" => Action::Allowed,
        "DENIED" => Action::Denied,
        "OBSERVED" => Action::Observed,
        "MODIFIED" => Action::Modified,
        "OTHER" => Action::Other,
        _ => return None,
    })
}

/// The severity that the first shorthand printed as one letter.
pub(crate) fn severity_of_letter(letter: &str) -> Option<Severity> {
    Some(match letter {
        "I" => Severity::Informational,
        "L" => Severity::Low,
        "M" => Severity::Medium,
        "H" => Severity::High,
        "C" => Severity::Critical,
        "F" => Severity::Fatal,
        "U" => Severity::Unknown,
        _ => return None,
    })
}

/// The disposition that a finding prints as `word`.
pub(super) fn disposition(word: &str) -> Option<Disposition> {
    Disposition::ALL
        .iter()
        .copied()
        .find(|known| known.word().eq_ignore_ascii_case(word))
}

/// Activity captions of OCSF 1.8, all classes but the base event together with `Unknown` and `Other`.
const fn captions(tag: ClassTag) -> &'static [&'static str] {
    match tag {
        ClassTag::Net | ClassTag::Ssh => &[
            "Open", "Close", "Reset", "Fail", "Refuse", "Traffic", "Listen",
        ],
        ClassTag::Http => &[
            "Get", "Post", "Connect", "Delete", "Head", "Options", "Put", "Trace", "Patch",
        ],
        ClassTag::Api => &["Create", "Read", "Update", "Delete"],
        ClassTag::Proc => &[
            "Launch",
            "Terminate",
            "Open",
            "Inject",
            "Set User ID",
            "Invoke",
        ],
        ClassTag::Finding => &["Create", "Update", "Close"],
        ClassTag::Lifecycle => &[
            "Install", "Remove", "Start", "Stop", "Restart", "Enable", "Disable", "Update",
        ],
        ClassTag::Config => &["Disabled", "Enabled"],
        ClassTag::Event => &[],
    }
}

/// The caption of the activity that `tag` prints as the upper-case `word`; the word where there is none.
pub(super) fn activity(tag: ClassTag, word: &str) -> &str {
    let common = ["Unknown", "Other"];
    let is_upper = !word.bytes().any(|byte| byte.is_ascii_lowercase());
    let known = captions(tag)
        .iter()
        .chain(&common)
        .find(|caption| caption.eq_ignore_ascii_case(word));
    match known {
        Some(caption) if is_upper => caption,
        _ => word,
    }
}

/// The class that the shorthand calls `word`.
pub(super) fn class(word: &str) -> Option<ClassTag> {
    ClassTag::from_word(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_captions_where_ocsf_has_one() {
        assert_eq!(activity(ClassTag::Net, "REFUSE"), "Refuse");
        assert_eq!(activity(ClassTag::Net, "TRACE"), "TRACE");
        assert_eq!(activity(ClassTag::Proc, "SET USER ID"), "Set User ID");
        assert_eq!(activity(ClassTag::Http, "get"), "get");
        assert_eq!(activity(ClassTag::Config, "FAIL_CLOSED"), "FAIL_CLOSED");
        assert_eq!(disposition("NO ACTION"), Some(Disposition::NoAction));
        assert_eq!(disposition("CREATE"), None);
    }
}
