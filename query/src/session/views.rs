//! The names that a question can use, all cut out of one table by the filters of the command line.

use std::sync::Arc;

use boundlane_record::filter::Filter;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::prelude::SessionContext;

/// How a view chooses its rows, and what else the filters take away from it.
enum Rows {
    /// Every entry.
    All,
    /// Records: every filter applies.
    Records(&'static str),
    /// Losses: only the scope applies, by the span that they touch.
    Losses(&'static str),
    /// Sessions: only the scope applies.
    Sessions(&'static str),
}

/// The views, their conditions over all entries, and what they hold.
const TABLE: [(&str, Rows, &str); 8] = [
    ("entries", Rows::All, "everything"),
    (
        "decisions",
        Rows::Records("kind = 'decision'"),
        "what a policy allowed or denied",
    ),
    (
        "events",
        Rows::Records("kind = 'event'"),
        "what sandboxes reported beside decisions",
    ),
    (
        "approvals",
        Rows::Records(
            "kind = 'event' AND class_tag = 'CONFIG' \
             AND upper(activity) IN ('PROPOSED', 'APPROVED', 'REJECTED')",
        ),
        "changes of policy that were proposed, approved or rejected",
    ),
    (
        "dispatches",
        Rows::Records("kind = 'dispatch'"),
        "evidence of dispatched actions",
    ),
    (
        "gaps",
        Rows::Losses("kind = 'gap'"),
        "lines that never reached this program",
    ),
    (
        "drops",
        Rows::Losses("kind = 'drops'"),
        "lines that this program shed",
    ),
    (
        "sessions",
        Rows::Sessions("kind = 'session'"),
        "when watching began, went on and ended",
    ),
];

/// Each view's name and what it holds.
pub const VIEWS: [(&str, &str); 8] = {
    let mut views = [("", ""); 8];
    let mut at = 0;
    while at < TABLE.len() {
        views[at] = (TABLE[at].0, TABLE[at].2);
        at += 1;
    }
    views
};

/// Registers every view over `entries`, narrowed by `filter`; views of an earlier start are replaced.
///
/// # Errors
/// When a condition cannot be planned, which is a fault of this program.
pub(crate) fn register(
    context: &SessionContext,
    entries: &Arc<dyn TableProvider>,
    filter: &Filter,
) -> Result<()> {
    for (name, rows, _) in &TABLE {
        let condition = match rows {
            Rows::All => filter.to_sql(),
            Rows::Records(kind) => both(kind, &filter.record_sql()),
            Rows::Losses(kind) => both(kind, &filter.scope.loss_sql()),
            Rows::Sessions(kind) => both(kind, &filter.scope.moment_sql()),
        };
        let mut view = context.read_table(Arc::clone(entries))?;
        if condition != "TRUE" {
            let condition = view.parse_sql_expr(&condition)?;
            view = view.filter(condition)?;
        }
        context.deregister_table(*name)?;
        context.register_table(*name, view.into_view())?;
    }
    Ok(())
}

fn both(kind: &str, more: &str) -> String {
    match more {
        "TRUE" => kind.to_owned(),
        more => format!("{kind} AND {more}"),
    }
}
