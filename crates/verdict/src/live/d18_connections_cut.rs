//! D18: the server closed kept connections after some requests.

use ablaze_engine::Run;

use super::Rule;
use crate::DiagnosisId::D18;
use crate::finding::{Finding, Severity};
use crate::words::{amount, counted, grouped};

pub const RULE: Rule = Rule { id: D18, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let (record, connections) = (&run.record, &run.plan.connections);
    if !connections.keep_alive || connections.requests_per_connection.is_some() {
        return None;
    }
    let cut = record.answers.saturating_sub(record.kept_alive);
    // One cut per connection may be the end of the run.
    if record.kept_alive == 0
        || cut == 0
        || record.connections_opened <= u64::from(run.plan.load.connections())
    {
        return None;
    }
    let each = record.answers as f64 / cut as f64;
    let nginx = match each {
        99.0..=102.0 => " After 100 requests is nginx's keepalive_requests until 1.19.9.",
        990.0..=1020.0 => " After 1,000 requests is nginx's keepalive_requests since 1.19.10.",
        _ => "",
    };
    Some(Finding::new(
        D18,
        Severity::Note,
        format!(
            "{} of {} closed their connection: one in {}. {} connections were opened.",
            grouped(cut),
            counted(record.answers, "answer"),
            amount(each),
            grouped(record.connections_opened)
        ),
        format!(
            "The server limits the requests of a connection, and pays for opening new ones.{nginx}"
        ),
        "Raise the limit on the server, or compare only with servers that cut as often.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    (run.plan.connections.keep_alive && record.answers > 0).then(|| {
        format!(
            "{} of {} left their connection open; {} were opened.",
            grouped(record.kept_alive),
            counted(record.answers, "answer"),
            counted(record.connections_opened, "connection")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn cuts_are_noted_with_how_often() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        run.record.kept_alive = 19_800;
        run.record.connections_opened = 300;
        let finding = check(&run).unwrap();
        assert!(finding.evidence.starts_with("200 of 20,000 answers closed"), "{finding:?}");
        assert!(finding.cause.contains("keepalive_requests until"), "{finding:?}");
        // As asked.
        run.plan.connections.requests_per_connection = Some(100);
        assert_eq!(check(&run), None);
    }
}
