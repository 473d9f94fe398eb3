//! D19: connections were to be kept, and not one was.

use crate::DiagnosisId::D19;
use crate::finding::{Finding, Severity};
use crate::printed::{Connections, Report};
use crate::words::grouped;

pub fn check(report: &Report) -> Option<Finding> {
    let complete = report.complete.filter(|complete| *complete > 0)?;
    if report.connections != Connections::Kept(Some(0)) {
        return None;
    }
    Some(Finding::new(
        D19,
        Severity::Suspect,
        format!(
            "0 of {} answers left their connection open, so that each request paid for a new one.",
            grouped(complete)
        ),
        "The server closes after each answer, or its answers lack what ab needs to keep a connection \
         to HTTP/1.0: the word `Keep-Alive` in the head, and a `Content-Length`.",
        "Look at the head with `curl -i --http1.0 -H 'Connection: Keep-Alive'` and the URL, or measure \
         over HTTP/1.1, where connections are kept unless the server closes them (ablaze does).",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn none_kept_is_not_the_same_as_not_asked() {
        let mut report = sample::ab();
        assert_eq!(check(&report), None);
        report.connections = Connections::Kept(Some(1));
        assert_eq!(check(&report), None);
        report.connections = Connections::Kept(Some(0));
        assert!(check(&report).is_some());
    }
}
