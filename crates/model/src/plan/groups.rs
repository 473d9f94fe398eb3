//! Groups: requests of a run whose results are kept apart as well, each group under its name. The lines of a list of
//! URLs are groups. [`GroupRecord`](crate::record::GroupRecord) is what is kept of each.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::PlanError;

/// The groups that the requests of a run belong to. A run has none, or two and more: a single one would be the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groups {
    /// The name of each group, all different, without passwords. Reports show them, so they are not to be trusted
    /// to be printable.
    pub names: Vec<String>,
    /// The group of each of the Plan's templates, as an index into `names`; empty where there are no groups.
    pub of_templates: Vec<u32>,
    /// How many groups were named where that is more than [`Groups::MAX`], so that there are none; else 0.
    pub too_many: u64,
}

impl Groups {
    /// More groups than this are not kept apart: each has its own distributions in every worker.
    pub const MAX: usize = 256;

    /// The groups of templates, which have these names in their order. Templates of the same name share a group.
    pub fn of(names_of_templates: &[String]) -> Self {
        let mut indices: HashMap<&str, u32> = HashMap::new();
        let mut names = Vec::new();
        let mut of_templates = Vec::with_capacity(names_of_templates.len());
        for name in names_of_templates {
            let index = *indices.entry(name).or_insert_with(|| {
                names.push(name.clone());
                (names.len() - 1) as u32
            });
            of_templates.push(index);
        }
        match names.len() {
            0 | 1 => Self::default(),
            2..=Self::MAX => Self { names, of_templates, too_many: 0 },
            more => Self { too_many: more as u64, ..Self::default() },
        }
    }

    /// Whether they fit this number of templates.
    ///
    /// # Errors
    /// [`PlanError::Invalid`] when a template has no group, or one that does not exist, or there are too many.
    pub(super) fn check(&self, templates: usize) -> Result<(), PlanError> {
        let groups = self.names.len();
        let exist = self.of_templates.iter().all(|&group| (group as usize) < groups);
        let each = if groups == 0 { 0 } else { templates };
        if exist && self.of_templates.len() == each && groups <= Self::MAX {
            return Ok(());
        }
        let text = "every request must belong to one of the groups, of which there are at most 256";
        Err(PlanError::Invalid(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Groups {
        Groups::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn templates_of_one_name_share_a_group() {
        let groups = of(&["/a", "/b", "/a"]);
        assert_eq!(groups.names, ["/a", "/b"]);
        assert_eq!(groups.of_templates, [0, 1, 0]);
        assert_eq!(groups.check(3), Ok(()));
    }

    #[test]
    fn one_name_is_the_run_as_a_whole() {
        for names in [&[][..], &["/a"], &["/a", "/a"]] {
            let groups = of(names);
            assert_eq!(groups, Groups::default(), "{names:?}");
            assert_eq!(groups.check(names.len()), Ok(()));
        }
    }

    #[test]
    fn too_many_are_none_and_their_number_is_known() {
        let numbered = |count: u64| (0..count).map(|n| format!("/{n}")).collect::<Vec<_>>();
        assert_eq!(Groups::of(&numbered(256)).names.len(), 256);
        let none = Groups { too_many: 257, ..Groups::default() };
        assert_eq!(Groups::of(&numbered(257)), none);
    }

    #[test]
    fn groups_made_by_hand_must_fit_the_templates() {
        let good = of(&["/a", "/b"]);
        let missing = Groups { of_templates: vec![0], ..good.clone() };
        let unknown = Groups { of_templates: vec![0, 2], ..good.clone() };
        let nameless = Groups { names: Vec::new(), ..good.clone() };
        assert_eq!(good.check(2), Ok(()));
        for wrong in [missing, unknown, nameless] {
            assert!(wrong.check(2).is_err(), "{wrong:?}");
        }
    }
}
