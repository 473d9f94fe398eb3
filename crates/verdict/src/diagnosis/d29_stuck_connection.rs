//! D29: responses that stopped in the middle and never went on.

use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_model::record::{Stopped, StoppedResponse};

use super::d02_no_response::without_end;
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D29;
use crate::finding::{Finding, Severity};
use crate::live::figures::monitor;
use crate::printed::{Abort, Command, Reason};
use crate::rules::aborted::evidence;
use crate::words::{counted, grouped, time};

/// A response that has been silent for this multiple of the 99 % time has stopped.
const TIMES_P99: u64 = 10;
/// And for so many times as long as any response took that came whole, unless it timed out.
const TIMES_OTHERS: u64 = 2;
/// Linux gives a socket's send buffer so much at least before it lets a writer wait.
const SEND_BUFFER_BYTES: u64 = 16 * 1024;
/// From this share of the load on the rate is that of the others.
const MOST: f64 = 0.5;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D29,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), abort: Some(on_abort), ..Forms::NONE },
};

/// Whether responses stopped in the middle, so that they are no other diagnosis'.
pub(super) fn is_found(run: &Run) -> bool {
    on_run(run).is_some()
}

fn on_run(run: &Run) -> Option<Finding> {
    let stopped = run.record.stopped;
    let longest = stopped.longest?;
    let p99_ns = run.record.answered.latency().quantile_ns(0.99).unwrap_or(0);
    let queues = queues(run);
    // Others came whole behind such a pause: these may have been about to.
    let longest_ns = run.record.answered.latency().max_ns().unwrap_or(0);
    let may_go_on =
        timed_out(&stopped) == 0 && longest.silent_ns < longest_ns.saturating_mul(TIMES_OTHERS);
    if longest.silent_ns < p99_ns.saturating_mul(TIMES_P99)
        || may_go_on
        || run.record.is_event_stream()
        || queues.is_some_and(|queues| queues.full >= stopped.total())
    {
        return None;
    }
    let timed_out = timed_out(&stopped);
    let (cause, fix) = why(run, &stopped, &longest);
    let severity =
        if share(run, timed_out) >= MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(
        D29,
        severity,
        format!(
            "{} stopped partway for a second or longer: {} had timed out, {} still waiting at the end. {}{}",
            counted(timed_out + stopped.unfinished, "response"),
            grouped(timed_out),
            match stopped.unfinished {
                1 => "1 was".to_owned(),
                more => format!("{} were", grouped(more)),
            },
            of_longest(&longest),
            of_queues(run, queues)
        ),
        cause,
        fix,
    ))
}

/// What share of the load they were. In a closed loop of its places: those that timed out held one for as long as a timeout
/// is, those that waited at the end from then on. In an open loop of its requests.
fn share(run: &Run, timed_out: u64) -> f64 {
    let unfinished = run.record.stopped.unfinished as f64;
    match run.plan.load {
        Load::Closed { connections, pipeline } => {
            let timeouts_ns = timed_out as f64 * run.plan.limits.timeout_ns as f64;
            let places = f64::from(connections) * f64::from(pipeline);
            timeouts_ns / (run.record.in_flight_ns as f64).max(1.0) + unfinished / places.max(1.0)
        }
        Load::Open { .. } => {
            let all = run.record.finished() as f64 + unfinished;
            (timed_out as f64 + unfinished) / all.max(1.0)
        }
    }
}

/// Responses that timed out after a part of them: all, however long each had been silent by then, where most had been for a
/// second or do not end; else those that had been. The others were under way when their time was over.
pub(super) fn timed_out(stopped: &Stopped) -> u64 {
    let most = stopped.timed_out * 2 >= stopped.partway || stopped.endless * 2 > stopped.partway;
    if most { stopped.timed_out.max(stopped.partway) } else { stopped.timed_out }
}

/// Why a response does not end of which only the end of the connection is the end.
const ENDLESS: (&str, &str) = (
    "The head of these responses has neither `Content-Length` nor `Transfer-Encoding: chunked`, so \
     the body ends with the connection, and the server does not close it: a stream that does not \
     end, or a length that is missing. No timeout is long enough for it.",
    "Have the server send a Content-Length, or close the connection behind the body; a stream \
     without an end has no response time to measure.",
);

/// The same of responses that waited when the run ended: of these it is not counted which are chunked. The first head of the
/// run has neither, and may be another's.
const LIKE_THE_FIRST: (&str, &str) = (
    "None of these responses has a `Content-Length`, and the head of the run's first one has neither that nor \
     `Transfer-Encoding: chunked`: the body of such a response ends with the connection, and the server does not close it: \
     a stream that does not end, or a length that is missing.",
    ENDLESS.1,
);

/// And where nothing tells them apart.
const NO_LENGTH: (&str, &str) = (
    "None of these responses has a `Content-Length`: either they are chunked, and the last chunk did not come, or their bodies \
     end with the connection, and the server does not close it.",
    "Look at the head of one (`curl -v` shows it): with `Transfer-Encoding: chunked`, see in the server what follows the bytes that \
     came; without, have it send a Content-Length, or close the connection behind the body.",
);

/// Cause and fix: a server that writes less than its socket takes has no event to wait for.
fn why(run: &Run, stopped: &Stopped, longest: &StoppedResponse) -> (&'static str, &'static str) {
    let no_length = timed_out(stopped) == 0 && stopped.begun_without_length >= stopped.begun.max(1);
    if stopped.endless * 2 > stopped.partway {
        ENDLESS
    } else if no_length && run.plan.streams().is_none() {
        if without_end(run) { LIKE_THE_FIRST } else { NO_LENGTH }
    } else if run.plan.streams().is_some() && longest.missing_bytes == Some(0) {
        (
            "The body of that response came whole, and the server did not end its stream (END_STREAM in HTTP/2, FIN \
             in HTTP/3): until then more may follow.",
            "Have the server end the stream with the last bytes of the body, or behind them.",
        )
    } else if run.plan.http3.is_some() {
        (
            "The server started these responses and did not send the rest: a last write or flush is missing, a \
             Content-Length is too large, its handler is blocked or takes longer, or it lost an event, such as the one that says a \
             stream takes more again.",
            "See in the server what follows the bytes that came (`curl -v --http3-only` shows them), and what it does \
             after a write that a window did not take whole.",
        )
    } else if queues(run).is_none_or(|queues| queues.empty == 0) {
        (
            "Nothing more came: the server stopped writing, or the network between held it up. The server's send queues, \
             which tell one from the other, were not seen.",
            "Look at the connections on the server while they are silent (`ss -tn`): with bytes in Send-Q the network or \
             the client holds them up, without any the server has not written more.",
        )
    } else if longest.body_bytes < SEND_BUFFER_BYTES {
        (
            match longest.missing_bytes {
                Some(_) => {
                    "The server started these responses and did not write the rest, although a socket takes more than what came: \
                     a flush is missing, the Content-Length is too large, or its handler is blocked or takes longer."
                }
                None => {
                    "The server started these responses and did not write the rest, although a socket takes more than what came: \
                     the end of the body (the last chunk; over HTTP/2 END_STREAM) or a flush is missing, or its handler is blocked or \
                     takes longer."
                }
            },
            "See in the server what follows the bytes that came (`curl -v` shows them).",
        )
    } else {
        (
            "The server started these responses and did not write the rest: a last chunk or flush is missing, a \
             Content-Length is too large, its handler is blocked or takes longer, or it lost an event, such as the one that says a \
             socket is writable again.",
            "See in the server what follows the bytes that came (`curl -v` shows them), and what it does after a partial write: \
             with edge-triggered epoll it must continue until EAGAIN, and with EPOLLONESHOT it must arm the event again.",
        )
    }
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    if record.responses + record.stopped.total() == 0 {
        return None;
    }
    Some(match record.stopped.longest {
        None => "No response stopped partway for a second or longer.".to_owned(),
        Some(longest) => format!(
            "{} stopped partway for a second or longer. {}{}",
            counted(record.stopped.total(), "response"),
            of_longest(&longest),
            of_queues(run, queues(run))
        ),
    })
}

fn of_longest(longest: &StoppedResponse) -> String {
    let of = longest
        .missing_bytes
        .map_or(String::new(), |missing| format!(" of {}", grouped(longest.body_bytes + missing)));
    format!(
        "The longest silence was {}, after {}{of} B of the body.",
        time(longest.silent_ns as f64 / 1e6),
        grouped(longest.body_bytes)
    )
}

/// The server's ends of the connections at the last look, of those that had been silent for a second.
#[derive(Clone, Copy)]
struct Queues {
    /// With nothing in the send queue.
    empty: u64,
    /// With something in it: the server has written it, and the client or the network holds it up.
    full: u64,
}

fn queues(run: &Run) -> Option<Queues> {
    let last = monitor(run)?.server_connections.as_ref()?.last;
    let full = last.silent_with_send_queue?;
    Some(Queues { empty: last.silent?.saturating_sub(full), full })
}

/// With a space before it. QUIC's queues are in the server's memory, where nobody sees them.
fn of_queues(run: &Run, queues: Option<Queues>) -> String {
    match queues {
        _ if run.plan.http3.is_some() => String::new(),
        None => " The server's send queues could not be observed.".to_owned(),
        Some(Queues { empty: 0, full: 0 }) => {
            " The last look at the server's connections found none that had been silent for a second: it may have been before \
             these had, and their send queues were not seen."
                .to_owned()
        }
        Some(queues) => format!(
            " When last sampled, the server had sent nothing for a second or longer on {}, {} of \
             them with bytes left in the send queue.",
            counted(queues.empty + queues.full, "connection"),
            grouped(queues.full)
        ),
    }
}

/// A run of ab that ended with this, and without a report. It does not tell on which step: connections that
/// could not be opened are silent, too.
fn on_abort(abort: &Abort) -> Option<Finding> {
    let command = abort.command.as_ref();
    let mut why = "The report does not tell which step took so long: the server did not respond, \
                   or stopped in the middle of a response; or connections could not be opened, as \
                   when the accept queue is full (a backlog below the concurrency) and Linux tries \
                   again after 1, 3 and 7 s (since 6.5 also after 2, 4 and 5 s)."
        .to_owned();
    let keep_alive = command.map(|command| command.keep_alive == Some(true));
    let with_k = match keep_alive {
        Some(true) => " Or ab -k",
        Some(false) => "",
        None => " Or, with -k, ab",
    };
    if !with_k.is_empty() {
        why.push_str(with_k);
        why.push_str(
            " waits for the end of a response that it cannot see, one that is chunked or has no \
             Content-Length.",
        );
    }
    if keep_alive != Some(true) {
        why.push_str(
            " Or the responses were whole, and the server left the connections open: ab waits for the end of one \
             that it is not to keep.",
        );
    }
    let tolerant = command.is_some_and(|command| tolerates(&command.text));
    if tolerant {
        why.push_str(
            " Or, with -r, ab itself: of connections that break it loses some requests, and waits \
             for them at the end.",
        );
    }
    let without = if keep_alive == Some(true) {
        " Run it without -k as well: if that works, `ablaze ab -k` reads such responses."
    } else {
        ""
    };
    let fix = format!(
        "Try the target with `curl -v`, and compare `nstat -a TcpExtListenOverflows` on the server \
         before and after. `ablaze ab` with the same options prints its report all the same, with \
         failures by kind.{without} Raise -s if the server is only slow."
    );
    (abort.reason == Reason::Silence).then(|| {
        Finding::new(
            D29,
            Severity::Invalid,
            evidence(abort),
            format!("Nothing happened on any connection for {}. {why}", silence(command)),
            fix,
        )
    })
}

/// `-r`, also among other letters, before the URL.
pub(super) fn tolerates(command: &str) -> bool {
    let clusters = command.split_whitespace().filter_map(|word| word.strip_prefix('-'));
    clusters.into_iter().any(|letters| {
        letters.contains('r') && letters.bytes().all(|letter| b"wikdlrSqVhI".contains(&letter))
    })
}

/// How long ab waited, by its command where that is known.
fn silence(command: Option<&Command>) -> String {
    let words = || command.into_iter().flat_map(|command| command.text.split_whitespace());
    let beside = words().skip_while(|word| *word != "-s").nth(1);
    let joined = words().find_map(|word| word.strip_prefix("-s").filter(|s| !s.is_empty()));
    let seconds = beside.or(joined).and_then(|seconds| seconds.parse::<u64>().ok());
    match (seconds, command) {
        (Some(seconds), _) => format!("{seconds} s, as -s says"),
        (None, Some(_)) => "30 s, which is what ab waits without -s".to_owned(),
        (None, None) => "as long as -s says (30 s without it)".to_owned(),
    }
}

#[cfg(test)]
mod tests_on_aborts {
    use crate::printed::read;
    use crate::rules::judge;

    #[test]
    fn the_command_tells_how_long_ab_waited_and_whether_it_kept_connections() {
        let said = |command: &str| {
            let text = format!(
                "$ {command}\napr_pollset_poll: The timeout specified has expired (70007)\n"
            );
            let finding = judge(&read(&text)).aborts[0].findings[0].clone();
            format!("{} {}", finding.cause, finding.fix)
        };
        let without = said("ab -s 1 -n 20 -c 2 http://h/");
        assert!(without.contains("for 1 s, as -s says") && !without.contains("-k"), "{without}");
        // It may as well be the accept queue, and nobody says that the server is stuck.
        assert!(without.contains("accept queue is full"), "{without}");
        assert!(
            without.contains("does not tell which step") && !without.contains("-r"),
            "{without}"
        );
        let with = said("ab -k -n 20 -c 2 http://h/");
        assert!(with.contains("for 30 s, which is") && with.contains("without -k"), "{with}");
        assert!(said("ab -qr -n 20 http://h/").contains("with -r, ab itself"));
    }
}

#[cfg(test)]
mod tests;
