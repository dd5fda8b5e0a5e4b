//! The order in which journals follow each other.

use boundlane_record::Micros;

/// What is known of a journal's first entry.
#[derive(Debug, Clone, Default)]
pub(super) struct Beginning {
    pub(super) journal: String,
    /// When the first entry that is there was observed.
    pub(super) first_moment: Option<Micros>,
    /// The evidence of `journal_start`; it names the predecessor by its id.
    pub(super) says: String,
}

/// Places in `journals`: each after the one it names as predecessor, else by first moment, then id.
///
/// A clock that was set back puts no journal before its predecessor; a circle, which no program writes,
/// is cut where it is met.
pub(super) fn predecessors_first(journals: &[Beginning]) -> Vec<usize> {
    let mut by_moment: Vec<usize> = (0..journals.len()).collect();
    by_moment.sort_by_key(|&at| {
        let journal = &journals[at];
        let moment = journal.first_moment.unwrap_or(Micros(i64::MAX));
        (moment, journal.journal.as_str())
    });
    let mut order = Vec::with_capacity(journals.len());
    let mut is_placed = vec![false; journals.len()];
    for at in by_moment {
        let mut line = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next.filter(|&at| !is_placed[at]) {
            is_placed[at] = true;
            line.push(at);
            next = predecessor(journals, at);
        }
        order.extend(line.into_iter().rev());
    }
    order
}

fn predecessor(journals: &[Beginning], of: usize) -> Option<usize> {
    let says = &journals[of].says;
    let is_named = |(at, other): &(usize, &Beginning)| *at != of && says.contains(&other.journal);
    journals.iter().enumerate().find(is_named).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(journals: &[(&str, i64, &str)]) -> Vec<String> {
        let all: Vec<_> = journals
            .iter()
            .map(|&(journal, moment, says)| Beginning {
                journal: journal.into(),
                first_moment: Some(Micros(moment)),
                says: says.into(),
            })
            .collect();
        predecessors_first(&all)
            .into_iter()
            .map(|at| all[at].journal.clone())
            .collect()
    }

    #[test]
    fn a_clock_set_back_does_not_turn_successors_around() {
        let journals = [
            ("cc", 5, r#"{"predecessor":{"journal":"bb"}}"#),
            ("bb", 50, r#"{"predecessor":{"journal":"aa"}}"#),
            ("aa", 40, "{}"),
            ("dd", 1, "{}"),
        ];
        assert_eq!(order(&journals), ["dd", "aa", "bb", "cc"]);
    }

    #[test]
    fn a_circle_ends() {
        let all = [("aa", 1, "bb"), ("bb", 2, "aa")];
        assert_eq!(order(&all).len(), 2);
    }
}
