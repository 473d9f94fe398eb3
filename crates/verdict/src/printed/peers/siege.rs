//! siege, in its lines and in the JSON that later versions print instead.

use super::{behind, scaled, time_ms};
use crate::printed::line::{count, number};
use crate::printed::{Connections, Errors, Printed, Report, Tool};

pub fn begins(line: &str) -> Option<Tool> {
    let line = line.trim_start_matches('{').trim_start();
    let text = line.starts_with("Transactions:") && line.ends_with("hits");
    (text || line.starts_with("\"transactions\":")).then_some(Tool::Siege)
}

/// What stands above a report of siege's that is not an error.
#[derive(Debug, Default)]
pub struct Above {
    /// The users that it said to prepare.
    users: Option<u64>,
    /// With -v: transactions with a status of 4xx that it does not call successful, and redirects.
    pages: u64,
    redirects: u64,
}

/// Of the lines that -v prints.
pub const PAGES: &str = "the number of 4xx above it";

impl Above {
    pub fn line(&mut self, line: &str) {
        self.users = users(line).or(self.users);
        match transaction(line).and_then(|(_, status)| status.get(..3)?.parse::<u16>().ok()) {
            // These it counts as successful.
            Some(401 | 407) | None => {}
            Some(status) => {
                self.pages += u64::from((400..500).contains(&status));
                self.redirects += u64::from((300..400).contains(&status));
            }
        }
    }

    /// To the report that comes below. A redirect makes more successful transactions than there are, so that nothing follows.
    pub fn give(self, report: &mut Report, errors: Errors) {
        (report.errors, report.clients) = (errors, self.users);
        if self.pages > 0 && self.redirects == 0 {
            report.own.push((PAGES, Printed { value: self.pages as f64, step: 0.0 }));
        }
    }
}

/// `** Preparing 50 concurrent users for battle.`, or `The number of users is capped at 255.`, which is printed on stderr above
/// the report.
fn users(line: &str) -> Option<u64> {
    if let Some((_, most)) = line.split_once("number of users is capped at ") {
        return count(most.trim_end_matches('.').split(". ").next()?);
    }
    let (before, _) = line.split_once(" concurrent users for battle")?;
    before.rsplit(' ').next().and_then(count)
}

/// The labels and the names of the JSON.
const LABELS: [(&str, &str); 12] = [
    ("Transactions:", "\"transactions\":"),
    ("Availability:", "\"availability\":"),
    ("Elapsed time:", "\"elapsed_time\":"),
    ("Data transferred:", "\"data_transferred\":"),
    ("Response time:", "\"response_time\":"),
    ("Transaction rate:", "\"transaction_rate\":"),
    ("Throughput:", "\"throughput\":"),
    ("Concurrency:", "\"concurrency\":"),
    ("Successful transactions:", "\"successful_transactions\":"),
    ("Failed transactions:", "\"failed_transactions\":"),
    ("Longest transaction:", "\"longest_transaction\":"),
    ("Shortest transaction:", "\"shortest_transaction\":"),
];

pub fn take(report: &mut Report, line: &str) -> bool {
    // All of its JSON on one line, as `jq -c` prints it; its values are numbers.
    let is_object = line.starts_with(['{', '"']) && line.matches("\":").count() > 1;
    if !is_object {
        return take_one(report, line);
    }
    let mut taken = false;
    for item in line.split(',') {
        taken |= take_one(report, item.trim());
    }
    taken
}

fn take_one(report: &mut Report, line: &str) -> bool {
    let line = line.trim_start_matches('{').trim_start();
    let found = LABELS.iter().find_map(|(label, name)| {
        let value = behind(line, label).or_else(|| behind(line, name))?;
        Some((*label, value))
    });
    let Some((label, value)) = found else {
        return matches!(line, "" | "}") || line.starts_with("HTTP OK received:");
    };
    let figure = || number(value).map(|(figure, _)| figure);
    let mut own = |name, figure: Option<Printed>| {
        report.own.extend(figure.map(|figure| (name, figure)));
    };
    match label {
        "Transactions:" => {
            report.complete = count(value);
            report.connections = Connections::Unknown;
        }
        "Availability:" => own("the availability", figure()),
        "Elapsed time:" => report.taken_s = figure(),
        "Data transferred:" => own("the data transferred", figure()),
        "Throughput:" => own("the throughput", figure()),
        "Concurrency:" => own("the concurrency", figure()),
        "Successful transactions:" => {
            own("the successful transactions", figure());
            // Those with a status below 400, and with 401 and 407. Redirects whose next request failed are among them and
            // not among the transactions, so that there may be more of the others than this, never fewer.
            let others =
                report.complete.zip(count(value)).map(|(all, good)| all.saturating_sub(good));
            report.non_2xx = others.filter(|others| *others > 0);
        }
        "Transaction rate:" => report.rate_per_s = figure(),
        "Failed transactions:" => report.failed = count(value),
        "Response time:" => report.total.get_or_insert_default().mean_ms = time(value),
        "Longest transaction:" => report.total.get_or_insert_default().max_ms = time(value),
        _ => report.total.get_or_insert_default().min_ms = time(value),
    }
    true
}

/// What siege writes on stderr when a request fails: `[error] socket: read error … sock.c:635: Connection reset by peer`, in
/// the end the system's words. Its threads write at once, so that one may begin in the middle of another's line. Whether a
/// line has any.
pub fn error(errors: &mut Errors, line: &str) -> bool {
    if let Some(status) = failed_transaction(line) {
        super::error(errors, status, Some(1));
        return true;
    }
    let mut begins: Vec<usize> =
        LEVELS.iter().flat_map(|level| line.match_indices(level)).map(|(at, _)| at).collect();
    begins.sort_unstable();
    let mut found = false;
    for (nth, at) in begins.iter().enumerate() {
        let piece = &line[*at..begins.get(nth + 1).copied().unwrap_or(line.len())];
        let Some((level, words)) = piece.split_once("] ") else { continue };
        // The transaction of another thread.
        let words = words.split("HTTP/1.").next().unwrap_or_default().trim_end();
        let is_its =
            if *at == 0 && level == "[error" { !is_of_nginx(words) } else { is_of_socket(words) };
        if is_its {
            super::error(errors, words, Some(1));
        }
        found |= is_its;
    }
    found
}

/// `HTTP/1.1 503     0.00 secs:     19 bytes ==> GET  /`, which -v prints of each: the line, and what follows its version.
fn transaction(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let rest =
        line.strip_prefix("HTTP/").filter(|_| line.contains(" secs:") && line.contains("==>"))?;
    let (_, status) = rest.split_once(' ')?;
    (status.get(3..4) == Some(" ")).then_some((line, status))
}

/// `HTTP/1.1 503` of such a line: siege counts 5xx as failed.
fn failed_transaction(line: &str) -> Option<&str> {
    let (line, status) = transaction(line)?;
    let is_failure = status.starts_with('5');
    is_failure.then(|| &line[..line.len() - status.len() + 3])
}

const LEVELS: [&str; 2] = ["[error] ", "[alert] "];

/// Words that siege alone has, with the place in its source.
fn is_of_socket(words: &str) -> bool {
    words.starts_with("socket: ") || words.contains("sock.c:") || words.contains("ssl.c:")
}

/// `31#31: *7 connect() failed`, behind the time in the log of a server.
fn is_of_nginx(words: &str) -> bool {
    let rest = words.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < words.len() && rest.starts_with('#')
}

/// In seconds where no unit is printed.
fn time(value: &str) -> Option<Printed> {
    time_ms(value).or_else(|| number(value).map(|(s, _)| scaled(s, 1e3)))
}
