//! What makes which word.

use super::*;
use crate::forwarder::{GatewayFacts, Listed, Trouble};

fn sound() -> Facts {
    Facts {
        balanced: true,
        recent_records: 10_000,
        ..Facts::default()
    }
}

fn queue(entries: u64) -> Queue {
    Queue {
        entries,
        entries_max: 10,
        ..Queue::default()
    }
}

fn word(facts: &Facts) -> (&'static str, usize) {
    let health = decide(facts);
    (health.word.word(), health.reasons.len())
}

fn followed(forwarder: Forwarder) -> Facts {
    Facts {
        forwarder: Some(forwarder),
        is_followed: true,
        ..sound()
    }
}

#[test]
fn a_worse_fact_is_hidden_by_a_better_word() {
    assert_eq!(word(&sound()), ("healthy", 1));
    let unbalanced = Facts {
        balanced: false,
        ..sound()
    };
    assert_eq!(word(&unbalanced), ("degraded", 1));
    let unparsed = |recent_unparsed| Facts {
        recent_unparsed,
        ..sound()
    };
    assert_eq!(word(&unparsed(101)), ("degraded", 1));
    assert_eq!(word(&unparsed(100)), ("healthy", 1));
    let loss = |kind: &str| LossTotal {
        kind: kind.into(),
        losses: 1,
        ..LossTotal::default()
    };
    for kind in ["gap", "drops", "rejected"] {
        let losing = Facts {
            fresh_losses: vec![loss(kind)],
            balanced: false,
            ..unparsed(101)
        };
        assert_eq!(word(&losing), ("losing", 3));
    }
}

/// What waits is late after 5 minutes when nobody archives; while somebody follows, once it is due.
#[test]
fn an_archive_that_is_not_due_is_late() {
    let behind = |is_followed, entries, waiting_micros| Facts {
        queue: queue(entries),
        waiting_micros,
        is_followed,
        ..sound()
    };
    assert_eq!(word(&behind(false, 1, BEHIND_MICROS + 1)).0, "degraded");
    assert_eq!(word(&behind(false, 1, BEHIND_MICROS)).0, "healthy");
    assert_eq!(word(&behind(false, 0, BEHIND_MICROS + 1)).0, "healthy");
    let hour = 3_600_000_000;
    assert_eq!(word(&behind(true, 1, hour)).0, "healthy");
    assert_eq!(word(&behind(true, ARCHIVED_ENTRIES, hour)).0, "degraded");
    let yesterday = Facts {
        is_past_its_day: true,
        ..behind(true, 1, hour)
    };
    assert_eq!(word(&yesterday).0, "degraded");
}

#[test]
fn a_forwarder_in_trouble_is_well() {
    assert_eq!(word(&followed(Forwarder::default())).0, "healthy");
    let listed = |all, selected| Forwarder {
        sandboxes: Some(Listed { all, selected }),
        ..Forwarder::default()
    };
    assert_eq!(word(&followed(listed(0, 0))).0, "healthy");
    assert_eq!(word(&followed(listed(3, 1))).0, "healthy");
    assert_eq!(word(&followed(listed(3, 0))).0, "degraded");
    let trouble = |is_refusal| Forwarder {
        gateway: GatewayFacts {
            trouble: Some(Trouble {
                why: "no_token".into(),
                is_refusal,
                since: 0,
            }),
            ..GatewayFacts::default()
        },
        ..Forwarder::default()
    };
    let facts = Facts {
        trouble_micros: 120_000_000,
        ..followed(trouble(true))
    };
    assert_eq!(
        decide(&facts).reasons,
        ["the gateway does not let us in (no_token, for 2 minutes); `boundlane doctor` says more"]
    );
    assert_eq!(word(&followed(trouble(false))).0, "degraded");
    for forwarder in [
        Forwarder {
            refused: 1,
            ..Forwarder::default()
        },
        Forwarder {
            archiving_failed: true,
            ..Forwarder::default()
        },
    ] {
        assert_eq!(word(&followed(forwarder)), ("degraded", 1));
    }
}
