//! What a decision is counted by.

use boundlane_record::{Action, ClassTag, Outcome};

/// How the reason of a tunnel begins that was closed because the policy changed: nobody decided about
/// the request.
const RESET: &str = "L7 tunnel closed before inspection because policy changed";

/// What decides about the outcome, once a line states a decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub(crate) class: Option<ClassTag>,
    pub(crate) action: Action,
    /// The reason, where it is certain.
    pub(crate) reason: Option<&'a str>,
    /// The line says that the request was let through by audit mode alone.
    pub(crate) audited: bool,
}

/// The outcome.
pub(crate) fn of(evidence: Evidence<'_>) -> Outcome {
    let is_reset = evidence.class == Some(ClassTag::Net)
        && evidence
            .reason
            .is_some_and(|reason| reason.starts_with(RESET));
    match evidence.action {
        Action::Denied if is_reset => Outcome::Reset,
        Action::Denied => Outcome::Denied,
        Action::Allowed if evidence.audited => Outcome::WouldDeny,
        Action::Allowed => Outcome::Allowed,
        _ => Outcome::Other,
    }
}

/// Whether a message is the one of audit mode: `L7_REQUEST audit …`, `JSONRPC_L7_REQUEST decision=audit …`.
pub(crate) fn is_audited(message: &str) -> bool {
    let Some((kind, rest)) = message.split_once(' ') else {
        return false;
    };
    let word = rest.split(' ').next().unwrap_or_default();
    kind.ends_with("L7_REQUEST") && matches!(word, "audit" | "decision=audit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_net_denial_is_a_reset() {
        let reason = Some("L7 tunnel closed before inspection because policy changed: stale");
        let of = |class, action| {
            of(Evidence {
                class,
                action,
                reason,
                audited: false,
            })
        };
        assert_eq!(of(Some(ClassTag::Net), Action::Denied), Outcome::Reset);
        assert_eq!(of(Some(ClassTag::Http), Action::Denied), Outcome::Denied);
        assert_eq!(of(Some(ClassTag::Net), Action::Allowed), Outcome::Allowed);
        assert_eq!(of(Some(ClassTag::Net), Action::Other), Outcome::Other);
    }

    #[test]
    fn audit_mode_is_told_by_its_message() {
        assert!(is_audited("L7_REQUEST audit GET h:1/x reason=no"));
        assert!(is_audited("JSONRPC_L7_REQUEST decision=audit tools=x"));
        assert!(!is_audited("L7_REQUEST deny GET h:1/audit"));
        assert!(!is_audited("L7_REQUEST auditor"));
    }
}
