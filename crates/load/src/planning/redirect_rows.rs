//! The rows of redirects: each of the first few that a step follows has a row of its own in reports, and a template of the
//! Plan for each method that it may have.

use ablaze_journey::Step;
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::journey::RedirectRow;

/// Redirects of a step that have rows of their own; the last has those behind it, too.
const ROWS_EACH: u64 = 3;

/// The names and methods of templates, and which of them are those of redirects.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Those of the steps first.
    pub names: Vec<String>,
    pub methods: Vec<String>,
    /// The step that each is of.
    pub steps: Vec<usize>,
    pub of_redirects: Vec<Vec<RedirectRow>>,
}

/// Of these steps. Where that would be too many groups, fewer redirects have a row, or none.
pub(super) fn rows(steps: &[Step]) -> Rows {
    let follow = |most| {
        let each =
            |step: &Step| step.redirects_max().map_or(0, |max| max.unwrap_or(most).min(most));
        steps.iter().map(each).sum::<u64>()
    };
    let fits = |most: &u64| steps.len() as u64 + follow(*most) <= Groups::MAX as u64;
    let most = (0..=ROWS_EACH).rev().find(fits).unwrap_or(0);
    let mut rows = Rows::default();
    for (index, step) in steps.iter().enumerate() {
        rows.add(step.name.clone(), &step.method, index);
    }
    for (index, step) in steps.iter().enumerate() {
        let max = step.redirects_max().map(|max| max.unwrap_or(u64::MAX));
        let count = max.unwrap_or(0).min(most);
        let row = |number: u64| {
            let is_last = number == count && max.is_some_and(|max| max > count);
            let behind = if is_last { "+" } else { "" };
            let name = format!("{} redirect {number}{behind}", step.name);
            let get = rows.add(name.clone(), "GET", index);
            let same = match step.method.as_str() {
                "GET" => get,
                method => rows.add(name, method, index),
            };
            RedirectRow { get, same }
        };
        let of_step = (1..=count).map(row).collect();
        rows.of_redirects.push(of_step);
    }
    rows
}

impl Rows {
    /// The groups of the templates. Nothing is kept of a setup, whose steps follow the `main` others: it has none of its own.
    pub fn groups(&self, main: usize) -> Groups {
        let kept = |(name, step): (&String, &usize)| match *step < main {
            true => name.clone(),
            false => self.names[0].clone(),
        };
        let names: Vec<String> = self.names.iter().zip(&self.steps).map(kept).collect();
        Groups::of(&names)
    }

    fn add(&mut self, name: String, method: &str, step: usize) -> u32 {
        self.names.push(name);
        self.methods.push(method.to_owned());
        self.steps.push(step);
        (self.names.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Rows {
        let file = ablaze_journey::parse(text, "t").unwrap();
        rows(&ablaze_journey::compile(&file, "t").unwrap().steps)
    }

    #[test]
    fn each_redirect_has_a_row_and_a_template_for_each_method() {
        let none = of("GET http://h/a\n");
        assert_eq!((none.names, none.of_redirects), (vec!["GET /a".to_owned()], vec![vec![]]));
        let rows = of(
            "# name: one\nPOST http://h/a\n[Options]\nlocation: true\nmax-redirs: 1\n\n# name: two\nGET http://h/\n\
             [Options]\nlocation: true\n",
        );
        let names = [
            "one",
            "two",
            "one redirect 1",
            "one redirect 1",
            "two redirect 1",
            "two redirect 2",
            "two redirect 3+",
        ];
        assert_eq!(rows.names, names);
        assert_eq!(rows.methods, ["POST", "GET", "GET", "POST", "GET", "GET", "GET"]);
        let groups = rows.groups(1);
        assert_eq!(groups.names, ["one", "one redirect 1"]);
        assert_eq!(groups.of_templates, [0, 0, 1, 1, 0, 0, 0]);
        let row = |get, same| RedirectRow { get, same };
        assert_eq!(rows.of_redirects, [vec![row(2, 3)], vec![row(4, 4), row(5, 5), row(6, 6)]]);
    }

    #[test]
    fn many_steps_have_fewer_rows_of_redirects() {
        let step = "GET http://h/\n[Options]\nlocation: true\n\n";
        for (steps, rows_each) in [(64, 3), (65, 2), (86, 1), (128, 1), (129, 0), (300, 0)] {
            let rows = of(&step.repeat(steps));
            assert_eq!(rows.names.len(), steps * (1 + rows_each), "{steps}");
        }
    }
}
