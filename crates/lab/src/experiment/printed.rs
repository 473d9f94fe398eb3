//! A run of another client: what is known of it is what that client printed. It is kept whole, as
//! text, and its figures are read out of the text each time, by the reader that `explain` uses.

use ablaze_model::experiment::Figures;
use ablaze_model::printable::printable;
use ablaze_report::page::shell_text;
use ablaze_verdict::printed::{self, Report};
use ablaze_verdict::rules::{self, Member};
use ablaze_verdict::{DiagnosisId, Limit, Verdict};
use serde::{Deserialize, Serialize};

/// A client that used this share of a core had no time left: ab has one thread.
const CLIENT_FULL: f64 = 0.85;

/// So many characters of what it printed last are told.
const LAST_WORDS: usize = 120;

/// One run of another client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintedRun {
    /// Its command line.
    pub command_line: Vec<String>,
    /// All that it printed.
    pub printed: String,
    /// Percentiles in ms that it wrote with more digits than it printed; empty if it did not.
    pub percentiles_ms: Vec<(f64, f64)>,
    /// When it began, ns since 1970.
    pub started_unix_ns: u64,
    /// How long its process lived, ns.
    pub lived_ns: u64,
    /// CPU time of its process, ns.
    #[serde(rename = "client_cpu_ns", alias = "tester_cpu_ns")]
    pub client_cpu_ns: Option<u64>,
    /// CPU time that the server's process used meanwhile, ns.
    pub server_cpu_ns: Option<u64>,
}

impl PrintedRun {
    /// Its command, as it would be typed, and what it printed.
    pub fn text(&self) -> String {
        format!("$ {}\n\n{}", shell_text(&self.command_line), self.printed)
    }

    /// The last line that it printed, behind a colon, for an error; empty where it printed nothing.
    pub fn last_words(&self) -> String {
        let last = self.printed.lines().map(str::trim).rfind(|line| !line.is_empty());
        last.map_or_else(String::new, |line| {
            format!(": `{}`", printable(&line.chars().take(LAST_WORDS).collect::<String>()))
        })
    }

    /// The report in what it printed; `None` when there is none.
    pub fn report(&self) -> Option<Report> {
        printed::read(&self.text()).reports.into_iter().next()
    }

    /// The figures that experiments compare; `None` when it printed no report.
    pub fn figures(&self) -> Option<Figures> {
        let report = self.report()?;
        let mut findings = rules::report(&report);
        if !self.percentiles_ms.is_empty() {
            // The figures here do not come from the whole milliseconds of the table.
            findings.retain(|finding| finding.id != DiagnosisId::D06);
        }
        let complete = report.complete.unwrap_or(0);
        let parts = report.failed_parts.unwrap_or_default();
        let errors = parts.connect + parts.receive + parts.exceptions;
        let responses = complete.saturating_sub(errors);
        let percentile = |percent: f64| {
            let written = self.percentiles_ms.iter().find(|(of, _)| *of == percent);
            let printed = || report.percentile(percent).map(|ms| ms.value);
            written.map(|(_, ms)| *ms).or_else(printed).map(|ms| (ms * 1e6).round() as u64)
        };
        let each = |ns: Option<u64>| Some(ns? as f64 / complete.max(1) as f64);
        let full = self
            .client_cpu_ns
            .is_some_and(|cpu_ns| cpu_ns as f64 >= CLIENT_FULL * self.lived_ns as f64);
        Some(Figures {
            responses,
            errors,
            unexpected: report.non_2xx.unwrap_or(0),
            rate_per_s: report.rate().unwrap_or(0.0),
            mean_ns: None,
            p50_ns: percentile(50.0),
            p99_ns: percentile(99.0),
            server_cpu_ns: each(self.server_cpu_ns),
            client_cpu_ns: each(self.client_cpu_ns),
            verdict: Verdict::of(&findings),
            limit: if full { Limit::Client } else { Limit::Unknown },
            counted: None,
            findings,
            started_unix_ns: self.started_unix_ns,
            elapsed_ns: report
                .taken_s
                .map_or(self.lived_ns, |taken| (taken.value * 1e9).round() as u64),
            rate_as_requested: false,
            groups: Vec::new(),
            checks: None,
            held: Vec::new(),
        })
    }

    /// The same, to be judged beside others under the name of its target.
    pub fn member(&self, name: &str) -> Option<Member> {
        let member = rules::members(&printed::read(&self.text()), 1).into_iter().next()?;
        let name = name.to_owned();
        Some(Member { identity: name.clone(), curve: name.clone(), name, line: None, ..member })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ab prints of a run whose one thread was busy all the time.
    fn run() -> PrintedRun {
        let printed =
            &ablaze_testing::repository::file("crates/verdict/tests/printed/000-gurl-and-ab.txt");
        let at = printed.find("This is ApacheBench").unwrap();
        PrintedRun {
            command_line: ["ab", "-n", "1000000", "-c", "21", "http://127.0.01:12345/"]
                .map(String::from)
                .to_vec(),
            printed: printed[at..].to_owned(),
            percentiles_ms: Vec::new(),
            started_unix_ns: 5,
            lived_ns: 33_310_000_000,
            client_cpu_ns: Some(33_000_000_000),
            server_cpu_ns: Some(20_000_000_000),
        }
    }

    #[test]
    fn the_figures_are_those_that_were_printed() {
        let figures = run().figures().unwrap();
        assert_eq!((figures.responses, figures.errors, figures.unexpected), (1_000_000, 0, 0));
        assert_eq!(figures.rate_per_s, 30_029.76);
        assert_eq!((figures.p50_ns, figures.elapsed_ns), (Some(1_000_000), 33_300_000_000));
        assert_eq!((figures.server_cpu_ns, figures.limit), (Some(20_000.0), Limit::Client));
        assert!(figures.findings.iter().any(|finding| finding.id == DiagnosisId::D06));
        let member = run().member("ab").unwrap();
        assert_eq!((member.name.as_str(), member.concurrency), ("ab", Some(21)));
    }

    #[test]
    fn percentiles_with_more_digits_take_the_place_of_whole_milliseconds() {
        let mut run = run();
        run.percentiles_ms = vec![(50.0, 0.674), (99.0, 1.25)];
        let figures = run.figures().unwrap();
        assert_eq!((figures.p50_ns, figures.p99_ns), (Some(674_000), Some(1_250_000)));
        assert!(figures.findings.iter().all(|finding| finding.id != DiagnosisId::D06));
        run.printed = "apr_socket_recv: Connection reset by peer (104)".to_owned();
        assert_eq!(run.figures(), None);
    }

    #[test]
    fn an_argument_with_a_space_in_it_stays_one() {
        let mut run = run();
        let field = ["-H", "Accept: text/html"].map(String::from);
        run.command_line.splice(1..1, field);
        assert!(
            run.text().starts_with("$ ab -H 'Accept: text/html' -n 1000000 "),
            "{}",
            run.text()
        );
        let figures = run.figures().unwrap();
        assert!(figures.findings.iter().all(|finding| finding.id != DiagnosisId::D36));
    }
}
