//! What a printed report says of its statuses: each, or only how many began with which digit (h2load, bombardier). A
//! class is no status: 4xx need not be 404, and 3xx may be 304.

use crate::printed::{BEYOND, Report, Tool};
use crate::words::{grouped, listed};

/// The statuses that are no success, with their numbers, as far as they are printed.
pub fn which(report: &Report) -> String {
    let others = report.statuses.iter().filter(|(status, _)| !(200..300).contains(*status));
    let statuses: Vec<String> =
        others.map(|(status, number)| format!("{status} ({}×)", grouped(*number))).collect();
    if !statuses.is_empty() {
        return format!(": {}", listed(statuses));
    }
    let classes: Vec<String> = classes(report)
        .map(|(class, number)| format!("{class}xx ({}×)", grouped(number)))
        .chain(beyond(report).map(|number| format!("none of 2xx to 5xx ({}×)", grouped(number))))
        .collect();
    let tool = report.tool.name();
    match classes.is_empty() {
        true if report.tool == Tool::Siege => {
            "; siege's report does not print the statuses".to_owned()
        }
        true => format!("; {tool} does not print the statuses"),
        false => format!(": {}; {tool} prints only the first digit", listed(classes)),
    }
}

/// Why they are no success, where nothing but the classes is printed.
pub fn cause(report: &Report, most: bool) -> Option<String> {
    let has = |these: &[u16]| classes(report).any(|(class, _)| these.contains(&class));
    let has_others = has(&[1]) || beyond(report).is_some();
    if classes(report).next().is_none() && !has_others {
        return None;
    }
    // h2load has what is below 200 among them (src/h2load.cc, `on_status_field`).
    let redirects = match report.tool {
        Tool::H2load => {
            "redirects that were not followed, or 304 (not modified), or have a status below 200"
        }
        _ => "redirects that were not followed, or 304 (not modified)",
    };
    let what = match (has(&[4, 5]), has(&[3]), has_others) {
        (true, false, false) => "error pages".to_owned(),
        (false, true, false) => redirects.to_owned(),
        (true, true, false) => format!("error pages, and those with 3xx {redirects}"),
        _ => "none of the intended page".to_owned(),
    };
    let of = if most { "The rate is mostly that of" } else { "The rate has in it" };
    let mut cause = format!(
        "{of} responses that are {what}: they cost a server different work than the intended page."
    );
    if report.tool == Tool::H2load && has(&[4, 5]) {
        cause.push_str(
            " h2load counts 4xx and 5xx under `failed`, and has them in its rate and in its times.",
        );
    }
    Some(cause)
}

/// h2load's, in none of its classes.
fn beyond(report: &Report) -> Option<u64> {
    report.own(BEYOND).map(|number| number.value as u64)
}

fn classes(report: &Report) -> impl Iterator<Item = (u16, u64)> {
    let classes = report.classes.iter().map(|(class, number)| (*class, *number));
    classes.filter(|(class, number)| *class != 2 && *number > 0)
}

/// Whether ab counted requests that got no whole response.
pub(super) fn has_broken(report: &Report) -> bool {
    report.failed_parts.is_some_and(|parts| parts.receive + parts.exceptions > 0)
}

#[cfg(test)]
mod tests {
    use super::super::on_report;
    use crate::printed::read;

    fn found(text: &str) -> (String, String) {
        let report = read(text).reports.remove(0);
        let finding = on_report(&report).unwrap();
        (finding.evidence, finding.cause)
    }

    fn h2load(classes: &str) -> (String, String) {
        found(&format!(
            "$ h2load -c 10 -n 1000 --h1 http://127.0.0.1:21001/\nstarting benchmark...\n\
             spawning thread #0: 10 total client(s). 1000 total requests\nApplication protocol: http/1.1\n\n\
             finished in 48.01ms, 20828.99 req/s, 4.87MB/s\n\
             requests: 1000 total, 1000 started, 1000 done, 900 succeeded, 100 failed, 0 errored, 0 timeout\n\
             status codes: {classes}\n\
             traffic: 239.26KB (245000) total, 96.68KB (99000) headers (space savings 0.00%), 101.56KB (104000) data\n"
        ))
    }

    #[test]
    fn a_class_is_named_and_no_status_is_guessed() {
        let (evidence, cause) = h2load("900 2xx, 0 3xx, 0 4xx, 100 5xx");
        let said = "100 of 1,000 responses (10 %) had a status other than 2xx: 5xx (100×); h2load prints only the \
                    first digit.";
        assert_eq!(evidence, said);
        assert!(cause.contains("error pages") && !cause.contains("redirect"), "{cause}");
        assert!(cause.contains("under `failed`"), "{cause}");
        let (evidence, cause) = h2load("900 2xx, 100 3xx, 0 4xx, 0 5xx");
        assert!(evidence.contains(": 3xx (100×); h2load"), "{evidence}");
        assert!(cause.contains("or 304") && !cause.contains("error page"), "{cause}");
        let (evidence, cause) = h2load("100 2xx, 500 3xx, 400 4xx, 0 5xx");
        assert!(evidence.contains(": 3xx (500×) and 4xx (400×); h2load"), "{evidence}");
        assert!(cause.starts_with("The rate is mostly that of"), "{cause}");
        assert!(!cause.contains("not as failed"), "{cause}");
    }

    #[test]
    fn bombardier_s_classes_are_those_that_it_prints() {
        let (evidence, cause) = found(
            "Bombarding http://127.0.0.1:23001/ for 2s using 20 connection(s)\nDone!\n\
             Statistics        Avg      Stdev        Max\n  Reqs/sec     12048.68    5378.32   27687.15\n  \
             Latency        1.68ms     2.77ms    69.14ms\n  HTTP codes:\n    \
             1xx - 0, 2xx - 20000, 3xx - 0, 4xx - 4000, 5xx - 0\n    others - 0\n  Throughput:     5.55MB/s\n",
        );
        assert!(evidence.ends_with("4xx (4,000×); bombardier prints only the first digit."));
        assert!(cause.contains("error pages") && !cause.contains("redirect"), "{cause}");
    }
}
