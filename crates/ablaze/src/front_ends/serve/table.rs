//! The counters in a table, when the server has stopped: a column per worker, their sum, and the
//! sum per request.

use ablaze_report::number::{grouped, length, significant, time};
use ablaze_target::Counts;

/// Workers that get a column each; of more, the least and the most are shown.
const COLUMNS_MAX: usize = 6;

/// The table, without a line end behind it; empty when nothing was counted. Rows that are zero in
/// every column are left out.
pub fn table(workers: &[(String, Counts)]) -> String {
    let total = workers.iter().fold(Counts::default(), |sum, (_, counts)| sum + *counts);
    let mut rows = vec![heading(workers)];
    for (at, (name, sum)) in total.named().into_iter().enumerate().filter(|(_, (_, sum))| *sum > 0)
    {
        let values: Vec<u64> = workers.iter().map(|(_, counts)| counts.named()[at].1).collect();
        let mut row = vec![name.trim_end_matches("_ns").replace('_', " ")];
        row.extend(spread(&values).into_iter().map(|value| cell(name, value)));
        row.push(cell(name, sum));
        row.push(per_request(name, sum, total.requests));
        rows.push(row);
    }
    if rows.len() == 1 { String::new() } else { aligned(&rows) }
}

fn heading(workers: &[(String, Counts)]) -> Vec<String> {
    let mut heading = vec![String::new()];
    if workers.len() > COLUMNS_MAX {
        heading.push(format!("least of {}", workers.len()));
        heading.push("most".into());
    } else if workers.len() > 1 {
        heading.extend(workers.iter().map(|(name, _)| name.clone()));
    }
    heading.extend(["total".into(), "per request".into()]);
    heading
}

/// The columns left of the sum. A single worker is the sum.
fn spread(values: &[u64]) -> Vec<u64> {
    match values {
        [_] => Vec::new(),
        many if many.len() > COLUMNS_MAX => {
            many.iter().min().into_iter().chain(many.iter().max()).copied().collect()
        }
        few => few.to_vec(),
    }
}

fn cell(name: &str, value: u64) -> String {
    if name.ends_with("_ns") { length(value as f64) } else { grouped(value) }
}

fn per_request(name: &str, sum: u64, requests: u64) -> String {
    let each = sum as f64 / requests as f64;
    match name {
        _ if requests == 0 => "-".into(),
        "requests" => String::new(),
        _ if name.ends_with("_ns") => time(each),
        // What happens a few times in a run: how seldom is all there is to say.
        _ if each < 0.0005 => "< 0.001".into(),
        _ if each < 10.0 => format!("{each:.3}"),
        _ => significant(each, 4),
    }
}

fn aligned(rows: &[Vec<String>]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut line = format!("{:<width$}", row[0], width = widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line.push_str(&format!("  {cell:>width$}"));
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(requests: u64, writes: u64) -> Counts {
        Counts { requests, writes, cpu_ns: requests * 5_000, ..Counts::default() }
    }

    #[test]
    fn a_column_per_worker_their_sum_and_the_sum_per_request() {
        let workers =
            [("serve-0".into(), counts(1000, 1000)), ("serve-1".into(), counts(3000, 5000))];
        let expected = [
            "           serve-0   serve-1     total  per request",
            "requests     1,000     3,000     4,000",
            "writes       1,000     5,000     6,000        1.500",
            "cpu       5.000 ms  15.00 ms  20.00 ms      5.00 µs",
        ];
        assert_eq!(table(&workers).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_single_worker_is_the_sum_and_of_many_the_extremes_are_shown() {
        let one = table(&[("serve-0".into(), counts(2, 4))]);
        assert!(one.starts_with("             total  per request\nrequests"), "{one}");
        let many: Vec<_> = (0..40).map(|at| (format!("serve-{at}"), counts(at, at))).collect();
        let many = table(&many);
        let heading: Vec<_> = many.lines().next().unwrap().split("  ").map(str::trim).collect();
        assert_eq!(
            heading.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>(),
            ["least of 40", "most", "total", "per request"]
        );
        let requests: Vec<_> = many.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(requests, ["requests", "0", "39", "780"]);
    }

    #[test]
    fn a_server_that_did_nothing_has_no_table_and_one_without_requests_no_quotients() {
        assert_eq!(table(&[("serve-0".into(), Counts::default())]), "");
        let idle = Counts { waits: 3, ..Counts::default() };
        assert_eq!(
            table(&[("serve-0".into(), idle)]),
            "       total  per request\nwaits      3            -"
        );
    }
}
