//! One source per sandbox: two sources of one sandbox are two testimonies about the same decisions, and
//! adding them up would count each decision twice.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use boundlane_record::Source;
use boundlane_record::filter::quoted_text;
use datafusion::common::Result;
use datafusion::dataframe::DataFrame;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::prelude::{coalesce, col, lit};

use crate::outcome::Uncounted;

/// Sources as witnesses, the best first: the gateway's own words, then JSON, then text, then what was
/// given by hand.
const BEST_FIRST: [Source; 6] = [
    Source::Gateway,
    Source::FileOcsf,
    Source::FileShorthand,
    Source::CliText,
    Source::Openbox,
    Source::Import,
];

/// Which testimonies are counted.
#[derive(Debug, Default)]
pub(crate) struct Testimonies {
    /// True for the rows of the testimony that is counted.
    pub(crate) condition: String,
    /// What it leaves out.
    pub(crate) uncounted: Vec<Uncounted>,
}

/// Looks which sources speak about each sandbox in `decisions`, which are those of the scope.
///
/// # Errors
/// As the engine.
pub(crate) async fn choose(decisions: DataFrame) -> Result<Testimonies> {
    let sandbox = coalesce(vec![col("sandbox"), col("sandbox_id")]).alias("who");
    let counted =
        decisions.aggregate(vec![sandbox, col("source")], vec![count(lit(1)).alias("n")])?;
    let mut by_sandbox: BTreeMap<Option<String>, Vec<(String, u64)>> = BTreeMap::new();
    for batch in counted.collect().await? {
        let (who, source) = (
            batch.column(0).as_string_view(),
            batch.column(1).as_string_view(),
        );
        let n = batch.column(2).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let sandbox = who.is_valid(row).then(|| who.value(row).to_owned());
            let source = if source.is_valid(row) {
                source.value(row)
            } else {
                ""
            };
            let decisions = u64::try_from(n.value(row)).unwrap_or(0);
            by_sandbox
                .entry(sandbox)
                .or_default()
                .push((source.to_owned(), decisions));
        }
    }
    Ok(best_of(by_sandbox))
}

fn best_of(by_sandbox: BTreeMap<Option<String>, Vec<(String, u64)>>) -> Testimonies {
    let mut conditions = Vec::new();
    let mut uncounted = Vec::new();
    for (sandbox, mut sources) in by_sandbox {
        sources.sort_by_key(|(source, decisions)| (rank(source), Reverse(*decisions)));
        let mut sources = sources.into_iter();
        let Some((best, _)) = sources.next() else {
            continue;
        };
        if sources.len() == 0 {
            continue;
        }
        let name = sandbox
            .as_deref()
            .map_or_else(|| "NULL".to_owned(), quoted_text);
        conditions.push(format!(
            "((coalesce(sandbox, sandbox_id) IS DISTINCT FROM {name}) OR (source IS NOT DISTINCT FROM {}))",
            quoted_text(&best)
        ));
        uncounted.extend(sources.map(|(source, decisions)| Uncounted {
            sandbox: sandbox.clone(),
            counted: best.clone(),
            source,
            decisions,
        }));
    }
    let condition = match conditions.is_empty() {
        true => "TRUE".to_owned(),
        false => conditions.join(" AND "),
    };
    Testimonies {
        condition,
        uncounted,
    }
}

/// Lower is better; a source of a newer writer comes last.
fn rank(source: &str) -> usize {
    let place = BEST_FIRST.iter().position(|known| known.word() == source);
    place.unwrap_or(BEST_FIRST.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_speaks_before_json_and_json_before_text() {
        let sources = |words: &[&str]| words.iter().map(|word| ((*word).to_owned(), 7)).collect();
        let found = best_of(BTreeMap::from([
            (
                Some("a".to_owned()),
                sources(&["cli_text", "gateway", "file_ocsf"]),
            ),
            (Some("b'".to_owned()), sources(&["cli_text", "file_ocsf"])),
            (Some("c".to_owned()), sources(&["import"])),
        ]));
        assert_eq!(
            found.condition,
            "((coalesce(sandbox, sandbox_id) IS DISTINCT FROM 'a') OR (source IS NOT DISTINCT FROM 'gateway')) \
             AND ((coalesce(sandbox, sandbox_id) IS DISTINCT FROM 'b''') OR (source IS NOT DISTINCT FROM 'file_ocsf'))"
        );
        let left_out: Vec<_> = found
            .uncounted
            .iter()
            .map(|left| left.source.as_str())
            .collect();
        assert_eq!(left_out, ["file_ocsf", "cli_text", "cli_text"]);
    }
}
