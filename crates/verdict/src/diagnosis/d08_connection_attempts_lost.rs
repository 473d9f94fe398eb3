//! D08: connection attempts that the kernel dropped, mostly because the accept queue was full. The
//! kernel's counters say so, and so do connects that take as long as the timers of SYNs.
//!
//! Of a printed report the longest connect tells, if it stands at one of these timers.

mod into_the_void;
mod not_accepted;
mod printed;

use ablaze_model::{FailureKind, Run};
use ablaze_stats::Latency;

use self::into_the_void::Void;
pub use self::printed::timer_ms;
use super::d22_kernel_queue_overflow::is_of_openings;
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D07, D08, D21, D22};
use crate::finding::{Finding, Severity};
use crate::live::figures::{client_counter, counter, is_over_tcp, monitor, target};
use crate::live::options::{Opt, spelled};
use crate::printed::{Abort, Reason};
use crate::rules::aborted::evidence;
use crate::words::{counted, grouped, listed, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D08,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect],
    explained_by: &[D07, D21, D22],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(printed::on_report),
        abort: Some(on_abort),
        ..Forms::NONE
    },
};

/// Linux sends the first packet of a connection again after a second; here with room for the
/// resolution of the timers.
const RESENT_NS: u64 = 990_000_000;

const NOT_THE_BACKLOG: &str =
    "See in the server what keeps it from accepting; a longer backlog does not help.";

pub(super) fn on_run(run: &Run) -> Option<Finding> {
    let found = found(run)?;
    Some(if is_of_openings(run) { found.not_explained_by(D22) } else { found })
}

fn found(run: &Run) -> Option<Finding> {
    // Neither QUIC nor a Unix socket has SYN packets.
    if !is_over_tcp(run) {
        return None;
    }
    let late = Late::of(run);
    let void = Void::of(run);
    // The counter is that of the whole namespace; these are signs that it counted ours: the second only of a queue that this load
    // can fill.
    let ours = was_full(run) && may_have_suffered(run)
        || can_fill(run) && (late.connections > 0 || void.is_certain());
    let overflows = overflows(run).filter(|count| *count > 0 && ours);
    if overflows.is_none() && late.connections == 0 {
        return None;
    }
    let mut evidence = Vec::new();
    if let Some(overflows) = overflows {
        // Which of the namespace's it was, only a reading of the target's own tells.
        let which = if was_full(run) { "The" } else { "An" };
        evidence.push(format!(
            "{which} accept queue was full {} (ListenOverflows, of this network namespace).",
            counted(overflows, "time")
        ));
    }
    let listener = target(run).and_then(|target| target.listener.as_ref());
    let queue = listener.and_then(|listener| listener.backlog.zip(listener.longest_queue));
    if let Some((backlog, longest)) = queue.filter(|_| overflows.is_some()) {
        // Readings a while apart miss a queue that is full for a moment.
        let seen = match longest >= backlog {
            true => format!("; at most {} were seen waiting", grouped(longest)),
            false => String::new(),
        };
        // sk_acceptq_is_full() compares with `>`.
        evidence.push(format!(
            "It was given a backlog of {}, and Linux lets one more wait{seen}.",
            grouped(backlog)
        ));
    }
    evidence.extend(void.in_words().filter(|_| overflows.is_some()));
    evidence.extend(late.evidence(run));
    evidence.extend(got_nothing(run));
    let given_up = queue.filter(|_| overflows.is_some()).and_then(|(backlog, _)| {
        let timeouts = run.record.failures_of(FailureKind::Timeout);
        let open = u64::from(run.plan.load.connections());
        (timeouts > 0 && open <= backlog).then_some(timeouts)
    });
    if let Some(timeouts) = given_up {
        evidence.push(format!("{} timed out.", counted(timeouts, "request")));
        return Some(Finding::new(
            D08,
            Severity::Suspect,
            evidence.join(" "),
            format!(
                "The load has {} at most, fewer than the accept queue holds: the server accepts so slowly that \
                 those that timed out stayed in the queue.",
                counted(run.plan.load.connections().into(), "connection")
            ),
            NOT_THE_BACKLOG,
        ));
    }
    if overflows.is_some()
        && let Some((waiting, cause)) = not_accepted::found(run)
    {
        evidence.push(format!(
            "{} still waited in it when it was last looked at, all that it holds.",
            counted(waiting, "connection")
        ));
        let evidence = evidence.join(" ");
        return Some(Finding::new(D08, Severity::Suspect, evidence, cause, NOT_THE_BACKLOG));
    }
    let holds_all = queue.filter(|(backlog, _)| {
        !run.plan.load.is_open() && u64::from(run.plan.load.connections()) <= *backlog
    });
    if holds_all.is_some() && overflows.is_some() {
        let connections = counted(run.plan.load.connections().into(), "connection");
        let cause = format!(
            "The load has {connections} at most, fewer than the accept queue holds: others filled it, such as those of a load \
             before this one that the server had not accepted yet."
        );
        let fix = "Wait until the server has worked off what came before (`ss -lnt` shows its queue), and see who else connects to \
                   it; then measure again.";
        return Some(Finding::new(D08, Severity::Suspect, evidence.join(" "), cause, fix));
    }
    let (cause, fix) = match overflows {
        Some(_) => of_a_full_queue(run),
        None => late.in_words(self::overflows(run) == Some(0)),
    };
    let somaxconn = monitor(run).and_then(|monitor| {
        monitor.environment.settings.get("net.core.somaxconn")?.trim().parse::<u64>().ok()
    });
    let fix = match (queue.filter(|_| overflows.is_some()), somaxconn) {
        (Some((backlog, _)), Some(most)) if backlog < most && !run.plan.load.is_open() => format!(
            "Give listen() a longer backlog: net.core.somaxconn permits {}{}.",
            grouped(most),
            spread(run)
        ),
        _ => fix,
    };
    Some(Finding::new(D08, Severity::Suspect, evidence.join(" "), cause, fix))
}

/// Cause and fix where the accept queue was seen to be full.
fn of_a_full_queue(run: &Run) -> (String, String) {
    if run.plan.load.is_open() {
        return (
            "More connections arrived than the server accepted, until its accept queue was full: the rest were dropped, and \
             retried by timers of a second or more."
                .to_owned(),
            format!(
                "Lower the rate ({}) if the server cannot carry it. If it can, give listen() a longer backlog and raise \
                 net.core.somaxconn to match{}.",
                spelled(run, Opt::Rate),
                spread(run)
            ),
        );
    }
    (
        "More connections arrived at once than the accept queue holds: the rest were dropped, \
         and retried by timers of a second or more."
            .to_owned(),
        format!(
            "Give listen() a longer backlog and raise net.core.somaxconn to match{}.",
            spread(run)
        ),
    )
}

/// The other way, of connections that are opened at the start, all at once.
fn spread(run: &Run) -> String {
    let connections = &run.plan.connections;
    match connections.keep_alive && connections.ramp_ns == 0 {
        true => format!(
            ", or spread the opening of connections over time with {}",
            spelled(run, Opt::Ramp)
        ),
        false => String::new(),
    }
}

/// Connections that took a second or more to open, as they do where a SYN packet was lost.
struct Late {
    connections: u64,
    /// How many SYN packets were sent again, by whomever in the client's network namespace.
    resent: Option<u64>,
}

impl Late {
    fn of(run: &Run) -> Self {
        let record = &run.record;
        let resent = client_counter(run, "TcpExtTCPSynRetrans");
        // Where nothing was sent again, connects are late because the client was. With a tunnel their time has the proxy's
        // answer in it.
        let tells = resent != Some(0) && record.proxy.is_none();
        let connections = match tells {
            true => late(&record.setup_connect) + late(&record.answered.connect),
            false => 0,
        };
        Self { connections, resent }
    }

    fn evidence(&self, run: &Run) -> Option<String> {
        let connects = [&run.record.setup_connect, &run.record.answered.connect];
        let longest = connects.into_iter().filter_map(Latency::max_ns).max()?;
        let resent = self.resent.map_or(String::new(), |count| {
            let were = if count == 1 { "was" } else { "were" };
            format!(
                "; {} {were} sent again (TCPSynRetrans, of this network namespace)",
                counted(count, "SYN packet")
            )
        });
        (self.connections > 0).then(|| {
            format!(
                "{} took a second or more to open, the longest {}{resent}.",
                counted(self.connections, "connection"),
                time(longest as f64 / 1e6)
            )
        })
    }

    /// Cause and fix; `none_full`: no accept queue of the server's network namespace was.
    fn in_words(&self, none_full: bool) -> (String, String) {
        let Some(resent) = self.resent else {
            return (
                "Linux sends a SYN packet again after 1, 3 and 7 s, where it was lost on the network or the server's \
                 accept queue was full. Whether it did so here was not counted: a client that was late looks the same."
                    .to_owned(),
                "Run `nstat -az TcpExtTCPSynRetrans` on the client's machine and `nstat -az TcpExtListenOverflows` on \
                 the server before and after: if both rise, give listen() a longer backlog and raise \
                 net.core.somaxconn to match; if only the first does, look for packet loss on the network \
                 (`ip -s link`)."
                    .to_owned(),
            );
        };
        let (whose, others) = match resent < self.connections {
            true => (
                format!("The SYN packets of at most {} of these connections", grouped(resent)),
                "; the others were late for another reason",
            ),
            false => ("The SYN packets of these connections".to_owned(), ""),
        };
        if none_full {
            return (
                format!(
                    "{whose} were lost on the way, and sent again by timers of a second or more{others}. No accept queue of this \
                     network namespace was full."
                ),
                "Look for packet loss (`ip -s link`, `nstat -az`), and for a firewall that drops connections above a rate or \
                 a number."
                    .to_owned(),
            );
        }
        (
            format!(
                "{whose} were lost, on the network or because the server's accept queue was full, and sent again by \
                 timers of a second or more{others}."
            ),
            "Run `nstat -az TcpExtListenOverflows` on the server before and after: if it rises, \
             give listen() a longer backlog and raise net.core.somaxconn to match; otherwise look \
             for packet loss on the network (`ip -s link`)."
                .to_owned(),
        )
    }
}

fn seen(run: &Run) -> Option<String> {
    let connects = [&run.record.setup_connect, &run.record.answered.connect];
    let count: u64 = connects.iter().map(|connects| connects.count()).sum();
    let longest_ns = connects.into_iter().filter_map(Latency::max_ns).max()?;
    let overflows = overflows(run);
    let overflows = overflows.map_or(String::new(), |count| {
        format!("The accept queue was full {}. ", counted(count, "time"))
    });
    Some(format!(
        "{overflows}The longest of {} took {} to open.",
        counted(count, "connection"),
        time(longest_ns as f64 / 1e6)
    ))
}

/// Times that an accept queue of the network namespace was full: it can be the target's only where
/// that is in it.
fn overflows(run: &Run) -> Option<u64> {
    let of_tcp = target(run).is_some() && is_over_tcp(run);
    counter(run, "TcpExtListenOverflows").filter(|_| of_tcp)
}

/// Whether the target's own accept queue can have been the full one: of one that was not seen nothing says so.
fn was_full(run: &Run) -> bool {
    let listener = target(run).and_then(|target| target.listener.as_ref());
    listener.is_some_and(|listener| {
        let queue = listener.backlog.zip(listener.longest_queue);
        queue.is_none_or(|(backlog, longest)| longest >= backlog)
    })
}

/// Whether this load alone has as many connections as make the target's accept queue full, if that is known.
fn can_fill(run: &Run) -> bool {
    let listener = target(run).and_then(|target| target.listener.as_ref());
    let backlog = listener.and_then(|listener| listener.backlog);
    run.plan.load.is_open()
        || backlog.is_none_or(|backlog| u64::from(run.plan.load.connections()) > backlog)
}

/// Connections that took a second or more to open, of SYN packets that may have been sent again.
pub(super) fn late_connections(run: &Run) -> u64 {
    if is_over_tcp(run) { Late::of(run).connections } else { 0 }
}

/// What had not come when the run ended, as a sentence: it is in no figure.
fn got_nothing(run: &Run) -> Option<String> {
    let silent = &run.record.silent;
    let parts = [(silent.count, "request"), (silent.connecting, "connection attempt")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "When the run ended {} still waited, the longest for {} since it was sent or began to connect: their times are in no \
             figure.",
            listed(parts),
            time(silent.longest_ns as f64 / 1e6)
        )
    })
}

/// Whether anything can have happened to connections of this run: else it was those of a load before it that the queue was full of.
fn may_have_suffered(run: &Run) -> bool {
    let (record, silent) = (&run.record, &run.record.silent);
    let opened = record.connections_opened >= u64::from(run.plan.load.connections());
    let waits = silent.count > 0 || silent.connecting > 0 || record.failures_total() > 0;
    waits || !opened || run.plan.load.is_open() && record.unfinished > 0
}

/// Connects that took a second or more.
fn late(connects: &Latency) -> u64 {
    connects.count() - connects.count_at_most(RESENT_NS)
}

/// A run that ended with this, and without a report.
fn on_abort(abort: &Abort) -> Option<Finding> {
    (abort.reason == Reason::TimedOut).then(|| {
        Finding::new(
            D08,
            Severity::Suspect,
            evidence(abort),
            "Linux gave up on a connection after sending SYN packets for about two minutes: a \
             firewall drops them, or the server's accept queue was full the whole time.",
            "Try `curl -v` from the same machine, and watch `ss -lnt` on the server during a run.",
        )
    })
}

#[cfg(test)]
mod tests_on_reports;
#[cfg(test)]
mod tests_on_runs;
