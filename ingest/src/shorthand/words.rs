//! The shorthand's upper-case words and the OCSF 1.8 captions that they stand for.

use boundlane_record::{Action, ClassTag, Disposition, Severity};

/// The action that the shorthand prints as `word`.
pub(super) fn action(word: &str) -> Option<Action> {
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
pub(super) fn severity_of_letter(letter: &str) -> Option<Severity> {
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

/// The caption of the activity that `tag` prints as the upper-case `word`; the word where OCSF 1.8 has
/// none for that class.
pub(super) fn activity(tag: ClassTag, word: &str) -> &str {
    let caption = match tag {
        ClassTag::Net | ClassTag::Ssh => network_activity(word),
        ClassTag::Http => http_activity(word),
        ClassTag::Proc => process_activity(word),
        ClassTag::Finding | ClassTag::Api => record_activity(tag, word),
        ClassTag::Lifecycle => lifecycle_activity(word),
        ClassTag::Config => config_state(word),
        ClassTag::Event => None,
    };
    caption.unwrap_or(match word {
        "UNKNOWN" => "Unknown",
        "OTHER" => "Other",
        _ => word,
    })
}

fn network_activity(word: &str) -> Option<&'static str> {
    Some(match word {
        "OPEN" => "Open",
        "CLOSE" => "Close",
        "RESET" => "Reset",
        "FAIL" => "Fail",
        "REFUSE" => "Refuse",
        "TRAFFIC" => "Traffic",
        "LISTEN" => "Listen",
        _ => return None,
    })
}

fn http_activity(word: &str) -> Option<&'static str> {
    Some(match word {
        "GET" => "Get",
        "POST" => "Post",
        "CONNECT" => "Connect",
        "DELETE" => "Delete",
        "HEAD" => "Head",
        "OPTIONS" => "Options",
        "PUT" => "Put",
        "TRACE" => "Trace",
        "PATCH" => "Patch",
        _ => return None,
    })
}

fn process_activity(word: &str) -> Option<&'static str> {
    Some(match word {
        "LAUNCH" => "Launch",
        "TERMINATE" => "Terminate",
        "OPEN" => "Open",
        "INJECT" => "Inject",
        "SET USER ID" => "Set User ID",
        "INVOKE" => "Invoke",
        _ => return None,
    })
}

/// API calls and findings.
fn record_activity(tag: ClassTag, word: &str) -> Option<&'static str> {
    Some(match (tag, word) {
        (_, "CREATE") => "Create",
        (_, "UPDATE") => "Update",
        (ClassTag::Api, "READ") => "Read",
        (ClassTag::Api, "DELETE") => "Delete",
        (ClassTag::Finding, "CLOSE") => "Close",
        _ => return None,
    })
}

fn lifecycle_activity(word: &str) -> Option<&'static str> {
    Some(match word {
        "INSTALL" => "Install",
        "REMOVE" => "Remove",
        "START" => "Start",
        "STOP" => "Stop",
        "RESTART" => "Restart",
        "ENABLE" => "Enable",
        "DISABLE" => "Disable",
        "UPDATE" => "Update",
        _ => return None,
    })
}

fn config_state(word: &str) -> Option<&'static str> {
    Some(match word {
        "DISABLED" => "Disabled",
        "ENABLED" => "Enabled",
        _ => return None,
    })
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
