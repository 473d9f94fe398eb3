//! The groups of a run as a table, for every report that has tables, and their names as reports may show them.

use ablaze_model::Run;
use ablaze_model::plan::groups::Groups;
use ablaze_model::printable::printable;
use ablaze_model::record::{GroupRecord, GroupTimes};

use crate::number::{grouped, percent, time};

/// The percentiles of the table.
const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];
/// Those that narrow terminals do without, as in the table of phases.
const IN_BETWEEN: &str = "p95";

/// A table: its head, and a row per group, the first cell of each the name.
pub(crate) struct GroupTable {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Which columns a table has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    All,
    /// Without the share and p95.
    Few,
}

impl Columns {
    fn percentiles(self) -> impl Iterator<Item = (&'static str, f64)> {
        PERCENTILES.into_iter().filter(move |(name, _)| self == Self::All || *name != IN_BETWEEN)
    }

    fn share(self, part: u64, whole: u64) -> Option<String> {
        (self == Self::All).then(|| percent(part as f64, whole as f64))
    }
}

/// The groups of a run as a table, in the order of the run, with names of at most `name_chars` characters. `None` with
/// fewer than two groups: then the figures of the whole say it all.
pub(crate) fn table(run: &Run, columns: Columns, name_chars: usize) -> Option<GroupTable> {
    let record = &run.record;
    if record.groups.len() < 2 {
        return None;
    }
    let unexpected = record.groups.iter().any(|group| group.unexpected > 0);
    let finished = record.finished();
    let mut head = vec!["group", "requests"];
    head.extend((columns == Columns::All).then_some("share"));
    head.push("errors");
    head.extend(unexpected.then_some("unexpected"));
    head.extend(columns.percentiles().map(|(name, _)| name));
    head.push("max");
    let row = |group: &GroupRecord| {
        let own = group.finished();
        let mut cells = vec![short(&printable(&group.name), name_chars), grouped(own)];
        cells.extend(columns.share(own, finished));
        cells.push(grouped(group.failures_total()));
        cells.extend(unexpected.then(|| grouped(group.unexpected)));
        cells.extend(times(&group.answered, columns));
        cells
    };
    let mut rows: Vec<Vec<String>> = record.groups.iter().map(row).collect();
    let others = record.ungrouped();
    if others > 0 {
        let mut cells = vec![short("(in no group)", name_chars), grouped(others)];
        cells.extend(columns.share(others, finished));
        cells.resize(head.len(), "-".to_owned());
        rows.push(cells);
    }
    Some(GroupTable { head: head.into_iter().map(str::to_owned).collect(), rows })
}

/// Why there is no table although groups were named.
pub(crate) fn too_many(run: &Run) -> Option<String> {
    let named = run.plan.requests.groups.too_many;
    let most = Groups::MAX as u64;
    (named > 0).then(|| {
        let (named, most) = (grouped(named), grouped(most));
        format!("{named} were named: for more than {most} only the figures of the whole are kept")
    })
}

/// Percentiles that the number of responses supports, and the maximum.
fn times(answered: &GroupTimes, columns: Columns) -> Vec<String> {
    let latency = answered.latency();
    let cell = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| time(ns as f64));
    let percentiles = columns.percentiles().map(|(_, q)| cell(latency.supported_quantile_ns(q)));
    percentiles.chain([cell(latency.max_ns())]).collect()
}

/// A text in at most so many characters: of a longer one the beginning and the end, which tell URLs apart best.
fn short(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let begin = kept / 3;
    let head: String = text.chars().take(begin).collect();
    let tail: String = text.chars().skip(length - (kept - begin)).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(short("/abc", 4), "/abc");
        assert_eq!(short("http://127.0.0.1:8080/catalogue/17", 20), "http:/…/catalogue/17");
        assert_eq!(short("äöüäöüäöü", 4), "ä…öü");
    }

    #[test]
    fn a_row_has_the_figures_of_its_group() {
        let run = sample::grouped();
        let table = table(&run, Columns::All, 40).unwrap();
        let head =
            ["group", "requests", "share", "errors", "unexpected", "p50", "p95", "p99", "max"];
        assert_eq!(table.head, head);
        let fast = ["/item", "15,000", "75 %", "0", "0"];
        assert_eq!(table.rows[0][..5], fast);
        let slow = ["/search?q=a,b", "5,000", "25 %", "15", "90"];
        assert_eq!(table.rows[1][..5], slow);
        let number = |row: usize| table.rows[row][5].split(' ').next().unwrap().parse::<f64>();
        assert!(number(0).unwrap() < number(1).unwrap(), "{:?}", table.rows);
    }

    #[test]
    fn what_is_in_no_group_has_a_row() {
        let mut run = sample::grouped();
        run.record.responses += 20_000;
        let table = table(&run, Columns::All, 40).unwrap();
        let last = table.rows.last().unwrap();
        assert_eq!(last[..4], ["(in no group)", "20,000", "50 %", "-"]);
        assert_eq!(last.len(), table.head.len());
    }

    #[test]
    fn one_group_or_none_is_no_table() {
        let mut run = sample::grouped();
        run.record.groups.truncate(1);
        assert!(table(&run, Columns::All, 40).is_none());
        assert!(table(&sample::ordinary(), Columns::All, 40).is_none());
    }
}
