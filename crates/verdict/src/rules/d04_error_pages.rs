//! D04: answers that are no success. ab counts them as complete and not as failed.

use super::arithmetic::{nothing_came_back, url};
use crate::DiagnosisId::D04;
use crate::finding::{Finding, Severity};
use crate::printed::{Document, Report};
use crate::words::{counted, grouped, listed, percent};

/// Fewer than this are accidents.
const SHARE: f64 = 0.001;
/// From here on the rate is that of the other answers.
const MOST: f64 = 0.5;

pub fn check(report: &Report) -> Option<Finding> {
    let (complete, others) = (report.complete?, report.non_2xx?);
    let share = others as f64 / complete as f64;
    if complete == 0 || share <= SHARE || nothing_came_back(report) {
        return None;
    }
    let statuses: Vec<String> = report
        .statuses
        .iter()
        .filter(|(status, _)| !(200..300).contains(*status))
        .map(|(status, number)| format!("{status} ({}×)", grouped(*number)))
        .collect();
    let which = if statuses.is_empty() {
        format!("; {} does not print which they had", report.tool.name())
    } else {
        format!(": {}", listed(statuses))
    };
    let body = match report.document {
        Some(Document::Bytes(bytes)) if bytes > 0 => {
            format!(" The body of the first had {}.", counted(bytes, "byte"))
        }
        _ => String::new(),
    };
    let evidence = if others == complete {
        format!("Not one of {} had a status of 2xx{which}.{body}", counted(complete, "answer"))
    } else {
        format!(
            "{} of {} ({}) had another status than 2xx{which}.{body}",
            grouped(others),
            counted(complete, "answer"),
            percent(share)
        )
    };
    let cause = if others == complete && report.body_bytes == Some(0) {
        "What came back is no page: it has no body, and no status of success. Testers count such \
         answers as complete and not as failed."
    } else if share > MOST {
        "The rate is that of an error page or a redirect, which costs a server other work than the \
         page that was meant. Testers count such answers as complete and not as failed."
    } else {
        "Some answers are error pages or redirects, which cost a server other work than the page \
         that was meant, and they are in the rate and in the times."
    };
    let remedy = match url(report) {
        Some(url) => format!(
            "Look at one answer with `curl -i {url}`, mend the URL or the server, and measure again."
        ),
        None => "Look at one answer with `curl -i` and the URL, mend the URL or the server, and \
                 measure again."
            .to_owned(),
    };
    let severity = if share > MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(D04, severity, evidence, cause, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn a_thousandth_is_an_accident_and_half_another_experiment() {
        let with_others = |others| {
            let mut report = sample::ab();
            report.non_2xx = Some(others);
            check(&report).map(|finding| finding.severity)
        };
        assert_eq!(with_others(0), None);
        assert_eq!(with_others(1000), None);
        assert_eq!(with_others(1001), Some(Severity::Suspect));
        assert_eq!(with_others(500_001), Some(Severity::Invalid));
    }

    #[test]
    fn statuses_are_named_where_they_were_printed() {
        let mut report = sample::ab();
        report.non_2xx = Some(1_000_000);
        assert!(check(&report).unwrap().evidence.contains("Not one of 1,000,000 answers"));
        report.statuses = [(404, 999_000), (503, 1000)].into();
        let evidence = check(&report).unwrap().evidence;
        assert!(evidence.contains("404 (999,000×) and 503 (1,000×)"), "{evidence}");
    }
}
