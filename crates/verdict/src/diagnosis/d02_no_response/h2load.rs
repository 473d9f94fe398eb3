//! What h2load's counts say of requests that failed.

use crate::printed::{COULD_NOT_CONNECT, Report, Tool, UNCONNECTED};
use crate::words::{counted, grouped};

/// Responses whose status came.
pub fn with_status(report: &Report) -> u64 {
    report.own("the number with a status").map_or(0, |count| count.value as u64)
}

/// With a connection that ends it gives up what was left for it, and counts it as errored.
pub fn unsent(report: &Report) -> String {
    match (never_sent(report), unconnected(report)) {
        (0, _) => String::new(),
        (left, clients) if clients > 0 => format!(
            ", {} of which h2load never sent: it says of {} `{COULD_NOT_CONNECT}`, and with a connection that is not opened or \
             ends it gives up what was left for it",
            grouped(left),
            counted(clients, "client")
        ),
        (left, _) => format!(
            ", {} of which h2load never sent: with a connection that ends it gives up what was left for it",
            grouped(left)
        ),
    }
}

fn never_sent(report: &Report) -> u64 {
    let own = |name| report.own(name).map(|count| count.value as u64);
    let all = own("the number of requests in total").zip(own("the number started"));
    all.map_or(0, |(total, started)| total.saturating_sub(started))
}

/// Clients of which it says that they could not connect.
fn unconnected(report: &Report) -> u64 {
    report.own(UNCONNECTED).map_or(0, |count| count.value as u64)
}

/// Cause and fix, where what failed was never sent, and the clients that could not connect had as much for them: each client
/// has as many requests as the others, or one more.
pub fn without_connection(report: &Report) -> Option<(&'static str, &'static str)> {
    let clients = unconnected(report);
    let own = |name| report.own(name).map(|count| count.value as u64);
    let (all, of) = (own("the number of requests in total")?, report.clients?);
    let each = all / of.max(1);
    let left = never_sent(report);
    let has_all = left <= clients.saturating_mul(each + 1) && report.failed == Some(left);
    (clients > 0 && left > 0 && has_all).then_some(UNOPENED)
}

const UNOPENED: (&str, &str) = (
    "The system refused these connections as they were made: h2load had no descriptor, no local port or no route for them, or \
     nothing listens there. It does not print which.",
    "Compare `ulimit -n` with the connections asked for (each takes one descriptor), and try the target with `curl -v`; measure \
     again once all clients connect.",
);

/// Whether all requests that were started timed out. One is started once its connection stands.
pub fn timed_out(report: &Report) -> bool {
    let own = |name| report.own(name).map_or(0, |count| count.value as u64);
    let started = own("the number started");
    report.tool == Tool::H2load && started > 0 && own("the number timed out") == started
}

#[cfg(test)]
mod tests {
    use super::super::printed::on_report;
    use crate::printed::read;

    /// As h2load 1.52 prints it below `ulimit -n 20`; two threads write on one line.
    fn limited(clients: usize, sent: u64, done: u64) -> String {
        let said = "client could not connect to host\n".repeat(clients - 2);
        let bad = 200 - done;
        format!(
            "$ h2load -n 200 -c 50 http://127.0.0.1:8312/\nstarting benchmark...\n\
             spawning thread #0: 50 total client(s). 200 total requests\n{said}\
             client could not connect to hostclient could not connect to host\nApplication protocol: h2c\n\
             progress: 10% done\n\nfinished in 4.75ms, 12636.90 req/s, 765.12KB/s\n\
             requests: 200 total, {sent} started, {done} done, {done} succeeded, {bad} failed, {bad} errored, 0 timeout\n\
             status codes: {done} 2xx, 0 3xx, 0 4xx, 0 5xx\n\
             traffic: 3.63KB (3720) total, 1.04KB (1065) headers (space savings 83.56%), 840B (840) data\n"
        )
    }

    /// Its words on stderr are of its report, however many there are.
    #[test]
    fn clients_that_could_not_connect_are_told() {
        let text = read(&limited(35, 60, 60));
        assert_eq!((text.reports.len(), text.begun.len()), (1, 0), "{text:?}");
        let report = &text.reports[0];
        assert!(report.command.is_some() && report.clients == Some(50), "{report:?}");
        let finding = on_report(report).unwrap();
        let says = "140 of which h2load never sent: it says of 35 clients `client could not connect to host`";
        assert!(finding.evidence.contains(says), "{finding:?}");
        assert!(finding.cause.starts_with("The system refused these connections"), "{finding:?}");
        assert!(finding.fix.contains("ulimit -n"), "{finding:?}");
        // Others failed as well.
        let others = on_report(&read(&limited(35, 60, 50)).reports[0]).unwrap();
        assert!(others.cause.starts_with("h2load counts as errored"), "{others:?}");
        // They had not so many.
        let few = on_report(&read(&limited(5, 60, 60)).reports[0]).unwrap();
        assert!(few.cause.starts_with("h2load counts as errored"), "{few:?}");
    }
}
