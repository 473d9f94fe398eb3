//! A table of rates over concurrency: one row of ascending concurrencies, and under it a row of
//! rates per target, or the same turned round. Read from Markdown tables, from columns set apart
//! by blanks or tabs, and from comma-separated lines.

mod caption;
mod down;

use super::line::{cleaned, number};
use down::down;

/// A table of rates over concurrency.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// Its first line in the text, from 1.
    pub line: usize,
    /// One for each target.
    pub curves: Vec<Curve>,
}

/// The rates of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// As the table names it.
    pub name: String,
    /// Concurrency and requests per second, concurrency ascending.
    pub points: Vec<(u64, f64)>,
}

/// Fewer points show no shape.
const POINTS: usize = 3;

/// And no table for people has more rows, or columns, than this.
const MOST: usize = 500;

/// What the row or column of concurrencies may be called.
const CONCURRENCY: [&str; 12] = [
    "",
    "c",
    "-c",
    "concurrency",
    "concurrency level",
    "connections",
    "clients",
    "concurrent",
    "并发",
    "并发数",
    "ab -c",
    "qps",
];

/// Words in the name of a row that holds something else than rates.
const NO_RATE: [&str; 12] = [
    "length",
    "latency",
    "seconds",
    "time",
    "per connection",
    "cpu",
    "memory",
    "errors",
    "failed",
    "ms",
    "bytes",
    "requests per conn",
];

/// Names of what each point was measured with, alone.
const SETTINGS: [&str; 20] = [
    "threads",
    "thread",
    "t",
    "n",
    "requests",
    "number of requests",
    "total requests",
    "complete requests",
    "requests total",
    "workers",
    "processes",
    "cores",
    "cpus",
    "runs",
    "repeats",
    "streams",
    "pipeline",
    "size",
    "duration",
    "线程数",
];

/// Every such table of a text.
pub fn find(text: &str) -> Vec<Sweep> {
    let raw: Vec<&str> = text.lines().collect();
    let lines: Vec<Option<Row>> = raw.iter().map(|line| row(line)).collect();
    let mut sweeps = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        let found = across(&lines[index..]).or_else(|| down(&raw[index..]));
        let found = found.filter(|_| !caption::names_no_rates(&raw[..index]));
        match found {
            Some((curves, used)) => {
                sweeps.push(Sweep { line: index + 1, curves });
                index += used;
            }
            None => index += 1,
        }
    }
    sweeps
}

/// A line of a table: its cells.
type Row = Vec<String>;

fn row(raw: &str) -> Option<Row> {
    let line = cleaned(raw);
    if line.is_empty() {
        return None;
    }
    let cells: Vec<String> = if raw.matches('|').count() >= POINTS {
        raw.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    } else if line.matches(',').count() >= POINTS && !line.contains("  ") {
        line.split(',').map(|cell| cell.trim().to_owned()).collect()
    } else {
        blank_separated(&line)
    };
    (cells.len() > POINTS).then_some(cells)
}

/// A name of any number of words, then numbers.
fn blank_separated(line: &str) -> Row {
    let words: Vec<&str> = line.split_whitespace().collect();
    let from = words.iter().rposition(|word| rate(word).is_none()).map_or(0, |at| at + 1);
    let mut cells = vec![words[..from].join(" ")];
    cells.extend(words[from..].iter().map(|word| (*word).to_owned()));
    cells
}

/// A rule between head and body: `|---|---:|`.
fn is_rule(row: &[String]) -> bool {
    row.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' ' | '=')))
}

/// A whole cell that is a number, `12.5k` being 12,500.
fn rate(cell: &str) -> Option<f64> {
    let (printed, rest) = number(cell)?;
    let factor = match rest.trim() {
        "" => 1.0,
        "k" | "K" => 1e3,
        // The slowest and the fastest run behind a median, or how far runs lie apart.
        extent if ["[", "\\[", "±", "+/-"].iter().any(|sign| extent.starts_with(sign)) => 1.0,
        _ => return None,
    };
    (printed.value >= 0.0).then_some(printed.value * factor)
}

/// A cell of letters.
fn is_word(cell: &str) -> bool {
    let mut signs = cell.chars();
    signs.next().is_some_and(char::is_alphabetic) && !signs.any(|sign| sign.is_ascii_digit())
}

/// Whole numbers from 1 on, each larger than the one before.
fn concurrencies(cells: &[String]) -> Option<Vec<u64>> {
    let numbers: Vec<u64> = cells
        .iter()
        .map(|cell| rate(cell).filter(|n| n.fract() == 0.0 && *n >= 1.0).map(|n| n as u64))
        .collect::<Option<_>>()?;
    let many = (POINTS..=MOST).contains(&numbers.len());
    (many && numbers.is_sorted_by(|a, b| a < b)).then_some(numbers)
}

/// `10` of `c=10`, where each cell names what it is.
fn without_name(cells: &[String]) -> Option<Vec<String>> {
    let number = |cell: &String| {
        let (name, number) = cell.split_once('=')?;
        (!name.is_empty() && names_concurrency(name)).then(|| number.trim().to_owned())
    };
    cells.iter().map(number).collect()
}

fn names_concurrency(cell: &str) -> bool {
    let name = cell.to_lowercase();
    let name = name.trim_matches(|c: char| c == ':' || c == '*' || c.is_whitespace());
    CONCURRENCY.contains(&name)
}

fn holds_rates(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_percentile = |word: &str| {
        let number = word.strip_prefix('p').unwrap_or_default();
        number.starts_with(|first: char| first.is_ascii_digit())
    };
    !name.is_empty()
        && !SETTINGS.contains(&name.trim_matches(|c: char| !c.is_alphanumeric()))
        && !name.contains('%')
        && !name.split_whitespace().any(is_percentile)
        && !NO_RATE.iter().any(|word| name.contains(word))
}

/// Concurrencies in the head, a row for each target. With how many lines it took.
fn across(lines: &[Option<Row>]) -> Option<(Vec<Curve>, usize)> {
    let head = lines.first()?.as_ref()?;
    let in_each = || concurrencies(&without_name(&head[1..])?);
    let columns =
        concurrencies(&head[1..]).filter(|_| names_concurrency(&head[0])).or_else(in_each)?;
    let mut curves = Vec::new();
    let mut used = 1;
    for line in lines[1..].iter().take(MOST) {
        let Some(row) = line else { break };
        used += 1;
        // A table of something else, such as of what clients bought.
        if row.len() > POINTS && !is_rule(row) && row[1..].iter().all(|cell| is_word(cell)) {
            return None;
        }
        if !holds_rates(&row[0]) || is_rule(row) {
            continue;
        }
        let rates: Vec<f64> = row[1..].iter().map_while(|cell| rate(cell)).collect();
        let complete = rates.len() >= POINTS
            && rates.len() <= columns.len()
            && row[1 + rates.len()..].iter().all(String::is_empty);
        if complete {
            let points = columns.iter().copied().zip(rates).collect();
            curves.push(Curve { name: row[0].clone(), points });
        }
    }
    (!curves.is_empty()).then_some((curves, used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_may_name_its_concurrency() {
        let table = "Throughput:\n\n| server | c=1 | c=10 | c=100 |\n|---|---|---|---|\n| nginx | 8012 | 39012 | 28012 |\n\
                     | caddy | 7000 | 31000 | 30100 |\n";
        let points = |rates: [f64; 3]| [1, 10, 100].into_iter().zip(rates).collect::<Vec<_>>();
        let expected = [
            ("nginx".to_owned(), points([8012.0, 39012.0, 28012.0])),
            ("caddy".to_owned(), points([7000.0, 31000.0, 30100.0])),
        ];
        assert_eq!(curves(table), expected);
        for other in ["n=1", "server 1", "p=1"] {
            assert!(find(&table.replace("c=1 ", &format!("{other} "))).is_empty(), "{other}");
        }
    }

    fn curves(text: &str) -> Vec<(String, Vec<(u64, f64)>)> {
        let sweeps = find(text);
        assert_eq!(sweeps.len(), 1, "{text}");
        sweeps[0].curves.iter().map(|curve| (curve.name.clone(), curve.points.clone())).collect()
    }

    #[test]
    fn the_same_table_is_read_in_every_form() {
        let expected = vec![
            ("one".to_owned(), vec![(1, 100.0), (2, 190.0), (5, 400.0)]),
            ("the other".to_owned(), vec![(1, 110.0), (2, 200.0), (5, 12_500.0)]),
        ];
        for text in [
            "| c | 1 | 2 | 5 |\n|---|---|---|---|\n| one | 100 | 190 | 400 |\n\
             | the other | 110 | 200 | 12.5k |",
            "c 1 2 5\none 100 190 400\nthe other 110 200 12500\n",
            "words before\n\n  concurrency\t1\t2\t5\n  one\t100\t190\t400\n  the other\t110\t200\t12500",
            "c,1,2,5\none,100,190,400\nthe other,110,200,12500",
        ] {
            assert_eq!(curves(text), expected, "{text}");
        }
        let turned = "| c | one | the other | CPU |\n|--:|--:|--:|--:|\n| 1 | 100 | 110 | 4 |\n\
                      | 2 | 190 | 200 | 5 |\n| 5 | 400 | 12500 | 6 |\n";
        assert_eq!(curves(turned), expected);
        for turned in [
            "c      one   the other\n1      100   110\n2      190   200\n5      400   12500\n",
            "c\tone\tthe other\n1\t100\t110\n2\t190\t200\n5\t400\t12,500\n",
            "concurrency,one,the other\n1,100,110\n2,190,200\n5,400,12500\n",
            "| Clients | one | the other |\n|---|---|---|\n| 1 | 100 | 110 |\n| 2 | 190 | 200 |\n| 5 | 400 | 12,500 |\n",
        ] {
            assert_eq!(curves(turned), expected, "{turned}");
        }
        let two = vec![("req/s".to_owned(), vec![(1, 100.0), (2, 190.0), (5, 400.0)])];
        for text in [
            "clients  req/s\n1   100\n2   190\n5   400\n",
            "clients req/s p99\n1 100 4\n2 190 5\n5 400 6\n",
            "clients,req/s\n1,100\n2,190\n5,400\n",
            "| -c | req/s |\n|--:|--:|\n| 1 | 100 |\n| 2 | 190 |\n| 5 | 400 |\n",
        ] {
            assert_eq!(curves(text), two, "{text}");
        }
    }

    #[test]
    fn what_stands_behind_a_median_in_brackets_is_no_figure_of_its_own() {
        let text = "| connections | 1 | 2 | 5 |\n|:--|--:|--:|--:|\n\
                    | x | 9 \\[8–10\\] | 1,018 [1,000–1,020] | 7 |\n";
        assert_eq!(curves(text), [("x".to_owned(), vec![(1, 9.0), (2, 1018.0), (5, 7.0)])]);
        let text = "| c | x |\n|--|--|\n| 1 | 9 ± 2 |\n| 2 | 1018 +/- 20 |\n| 5 | 7 |\n";
        assert_eq!(curves(text), [("x".to_owned(), vec![(1, 9.0), (2, 1018.0), (5, 7.0)])]);
    }

    #[test]
    fn rows_of_other_things_and_of_fewer_points_are_told_apart() {
        let text = "| c | 1 | 2 | 5 | 10 |\n|---|---|---|---|---|\n| x | 9 | 8 | 7 | |\n\
                    | run length s | 1 | 2 | 3 | 4 |\n";
        assert_eq!(curves(text), [("x".to_owned(), vec![(1, 9.0), (2, 8.0), (5, 7.0)])]);
    }

    /// Each of these once took a minute and more.
    #[test]
    fn texts_of_numbers_are_read_in_a_moment() {
        let levels: Vec<String> = (1..200_000).map(|level| level.to_string()).collect();
        let wide = format!("c {}\nx {}\n", levels.join(" "), "1 ".repeat(199_999));
        let begun = std::time::Instant::now();
        for text in ["1 2 3 4 5 6\n".repeat(50_000), wide, "<t".repeat(1_000_000)] {
            assert_eq!(find(&text), []);
        }
        assert!(begun.elapsed().as_secs() < 60);
    }

    #[test]
    fn the_tables_of_a_report_are_none() {
        for text in [
            "Connect:        0    1   3.9      0      41\nProcessing:    14   62   8.1     62      88",
            "  50%     62\n  66%     64\n  75%     65\n",
            "1 2 3 4\n5 6 7\n",
            "connections, that is, clients\n1, 2, 3\n",
            "c one two\n1 2\n2 3\n3 4\n",
            "clients  time\n1  100\n2  190\n5  400\n",
            "| c | threads | n |\n|--|--|--|\n| 1 | 8 | 100000 |\n| 2 | 8 | 100000 |\n| 5 | 4 | 50000 |\n",
            "| c | 1 | 2 | 5 |\n|--|--|--|--|\n| threads | 8 | 8 | 4 |\n",
        ] {
            assert_eq!(find(text), [], "{text}");
        }
    }
}
