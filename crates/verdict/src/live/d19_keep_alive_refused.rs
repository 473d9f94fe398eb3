//! D19: connections were to be kept, and not one was.

use ablaze_engine::Run;

use super::Rule;
use crate::DiagnosisId::D19;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped};

pub const RULE: Rule = Rule { id: D19, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let record = &run.record;
    // With one request per connection nobody knows.
    let one_each = record.answers <= u64::from(run.plan.load.connections());
    if !run.plan.connections.keep_alive
        || run.plan.connections.requests_per_connection.is_some()
        || record.kept_alive > 0
        || record.answers == 0
        || one_each
    {
        return None;
    }
    let (cause, remedy) = if run.plan.requests.minor_version == 0 {
        (
            "The server closes after each answer, or its answers lack what HTTP/1.0 needs to keep a \
             connection: `Connection: keep-alive` in the head, and a `Content-Length`.",
            "Measure over HTTP/1.1 (--http 1.1), where connections are kept unless the server closes \
             them.",
        )
    } else {
        (
            "The server closes after each answer: with `Connection: close`, or because nothing else \
             tells where its answers end.",
            "Look at the head with `curl -i` and the URL; if the server is to close, say \
             --no-keepalive.",
        )
    };
    Some(Finding::new(
        D19,
        Severity::Suspect,
        format!(
            "Not one of {} left its connection open: {} connections were opened.",
            counted(record.answers, "answer"),
            grouped(record.connections_opened)
        ),
        cause,
        remedy,
    ))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    (run.plan.connections.keep_alive && record.answers > 0).then(|| {
        format!(
            "{} of {} left their connection open.",
            grouped(record.kept_alive),
            counted(record.answers, "answer")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn none_kept_is_not_the_same_as_not_asked() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        run.record.kept_alive = 0;
        assert!(check(&run).unwrap().cause.contains("Connection: close"));
        run.plan.requests.minor_version = 0;
        assert!(check(&run).unwrap().cause.contains("HTTP/1.0"));
        run.plan.connections.keep_alive = false;
        assert_eq!(check(&run), None);
    }
}
