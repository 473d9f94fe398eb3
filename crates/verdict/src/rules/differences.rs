//! In what two measurements were not the same work.

mod pace;

use super::comparison::Member;
use super::work::{Circumstances, Pace, Responses, Work};
use crate::finding::Severity::{self, Invalid, Note, Suspect};
use crate::printed::Connections;
use crate::words::{amount, counted, decimal, grouped, listed, percent, time};

/// Bytes, shares and asked rates that lie no further apart are equal.
const APART: f64 = 0.01;
/// So many times as many requests, or as long a run, are another length of run.
const LENGTHS_APART: f64 = 2.0;
/// This many times as many in flight are another load.
const IN_FLIGHT_APART: f64 = 2.0;
/// Responses for which a connection had to be opened, as a share: one in twenty is work.
const OPENED_APART: f64 = 0.05;
/// From this share of responses on that needed a connection of their own, connections were one per request.
const MOSTLY_OPENED: f64 = 0.95;
/// So much more of the requests without a response is another experiment.
const MOSTLY_FAILED: f64 = 0.5;
/// And by so much a rate along a curve is off, which the shape of a curve is not told from.
const OFF_THE_CURVE: f64 = 0.1;
/// Shares and means that differ by no more than so many standard errors may differ by chance.
const BY_CHANCE: f64 = 3.0;
/// What requests without a response are called.
pub(crate) const UNANSWERED: &str = "of the requests without a response";
/// What siege counts so may be either.
const FAILED_OF_SIEGE: &str = "of the requests failed (no response, or 5xx)";
/// A share of all from which on it is all, and below whose rest it is none.
const ALL: f64 = 0.99;

/// One way in which two measurements were not the same work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it takes away from a comparison of the two.
    pub severity: Severity,
    /// Both figures in words: `status 200 against 404`.
    pub text: String,
}

/// All of them, in the order of what a request meets.
pub fn between(one: &Member, other: &Member) -> Vec<Difference> {
    let (Some(a), Some(b)) = (&one.work, &other.work) else { return Vec::new() };
    let mut found = of_work(one, other, a, b);
    if let (Some(a), Some(b)) = (&a.circumstances, &b.circumstances) {
        found.extend(server_threads(a, b));
        circumstances(a, b, &mut adding(&mut found));
    }
    // Another path alone may serve the same: it is told only beside another difference.
    if let (Some(p1), Some(p2), false) = (&a.path, &b.path, found.is_empty())
        && p1 != p2
    {
        found.push(Difference { severity: Note, text: format!("{p1} against {p2}") });
    }
    found
}

/// Whether two runs of one target may be repeats of each other: of the same load, and without a difference in the work. How
/// many threads of the server were busy is a result.
pub(crate) fn are_repeats(one: &Member, other: &Member) -> bool {
    if one.concurrency.zip(other.concurrency).is_some_and(|(c1, c2)| c1 != c2) {
        return false;
    }
    let (Some(a), Some(b)) = (&one.work, &other.work) else { return true };
    let mut found = of_work(one, other, a, b);
    if let (Some(a), Some(b)) = (&a.circumstances, &b.circumstances) {
        circumstances(a, b, &mut adding(&mut found));
    }
    // Nor is it other work that some requests of a run got no response.
    let unanswered = failures(a, b).filter(|_| are_runs(a, b)).map(|(_, text)| text);
    let is_result = |difference: &Difference| Some(&difference.text) == unanswered.as_ref();
    found.iter().all(|difference| difference.severity == Note || is_result(difference))
}

fn are_runs(a: &Work, b: &Work) -> bool {
    a.circumstances.is_some() && b.circumstances.is_some()
}

/// In what two rates are of other responses, of none, or of other connections: a difference that no load explains away.
pub(crate) fn in_responses(one: &Member, other: &Member) -> Option<String> {
    let (a, b) = (one.work.as_ref()?, other.work.as_ref()?);
    let found = of_responses(a, b);
    let gravest = found.into_iter().find(|difference| difference.severity == Invalid);
    gravest.map(|difference| difference.text).or_else(|| off_the_curve(a, b))
}

/// In what requests without a response differ, where they take the rate off a curve.
fn off_the_curve(a: &Work, b: &Work) -> Option<String> {
    failures(a, b).filter(|(apart, _)| *apart >= OFF_THE_CURVE).map(|(_, text)| text)
}

/// Whether a ratio of the two rates says nothing at all (D05).
pub(crate) fn are_incomparable(one: &Member, other: &Member) -> bool {
    between(one, other).iter().any(|difference| difference.severity == Invalid)
}

fn adding(found: &mut Vec<Difference>) -> impl FnMut(Severity, Option<String>) {
    move |severity, text| found.extend(text.map(|text| Difference { severity, text }))
}

/// Those in what came back, and over what connections.
fn of_responses(a: &Work, b: &Work) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = adding(&mut found);
    add(Invalid, responses(a, b));
    if let Some((apart, text)) = failures(a, b) {
        add(if apart >= MOSTLY_FAILED { Invalid } else { Suspect }, Some(text));
    }
    add_bytes(a, b, &mut add);
    // Without a response there is no connection that could be kept.
    let is_nothing = |work: &Work| work.responses == Responses::Nothing;
    if is_nothing(a) == is_nothing(b) {
        connections(a, b, &mut add);
    }
    drop(add);
    found
}

/// Those in what was asked for, and in what came back.
fn of_work(one: &Member, other: &Member, a: &Work, b: &Work) -> Vec<Difference> {
    let mut found = of_responses(a, b);
    let mut add = adding(&mut found);
    load(one, other, a, b, &mut add);
    add(Invalid, unequal(&a.method, &b.method, "method"));
    if let (Some(x), Some(y)) = (&a.request_options, &b.request_options) {
        let text =
            || "another method, field or body in the one command than in the other".to_owned();
        add(Suspect, (x != y && a.tool == b.tool).then(text));
    }
    if let (Some(x), Some(y)) = (a.sent_bodies, b.sent_bodies) {
        let said = |sent: bool| if sent { "requests with a body" } else { "requests without" };
        add(Suspect, (x != y).then(|| format!("{} against {}", said(x), said(y))));
    }
    add(Invalid, (a.tls != b.tls).then(|| "TLS against plain TCP".to_owned()));
    if let (Some(x), Some(y)) = (&a.http_version, &b.http_version) {
        add(Suspect, (x != y).then(|| format!("HTTP/{x} against HTTP/{y}")));
    }
    add(Suspect, length(one, other, a, b));
    if a.tool != b.tool {
        let text = format!("measured by {} against {}", a.tool.name(), b.tool.name());
        add(Note, Some(text));
    } else {
        add(Note, unequal(&a.tool_version, &b.tool_version, "measured by ablaze"));
        if let (Some(x), Some(y)) = (a.threads, b.threads) {
            add(Suspect, (x != y).then(|| client_threads(x, y)));
        }
    }
    drop(add);
    found
}

fn unequal(a: &Option<String>, b: &Option<String>, what: &str) -> Option<String> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    (a != b).then(|| format!("{what} {a} against {b}"))
}

fn responses(a: &Work, b: &Work) -> Option<String> {
    let shares = |work: &Work, status: u16| {
        let all: u64 = work.statuses.values().sum();
        work.statuses.get(&status).copied().unwrap_or(0) as f64 / all.max(1) as f64
    };
    if !a.statuses.is_empty() && !b.statuses.is_empty() {
        let of = |work: &Work, status: u16| (shares(work, status), work.statuses.values().sum());
        let mut all = a.statuses.keys().chain(b.statuses.keys());
        let differ = all.any(|status| shares_differ(of(a, *status), of(b, *status), APART));
        let words = |work: &Work| {
            let of = |status: &u16| match shares(work, *status) {
                share if share >= ALL => status.to_string(),
                share => format!("{status} ({})", percent(share)),
            };
            let seen = work.statuses.keys().filter(|status| shares(work, **status) >= 1.0 - ALL);
            listed(seen.map(of))
        };
        return differ.then(|| format!("status {} against {}", words(a), words(b)));
    }
    let differ = match (a.responses, b.responses) {
        (Responses::Unknown, _) | (_, Responses::Unknown) => false,
        (Responses::Good(x), Responses::Good(y)) => {
            shares_differ((x, a.answered), (y, b.answered), APART)
        }
        (a, b) => a != b,
    };
    let words = |work: &Work| match work.responses {
        Responses::Nothing => "no response at all".to_owned(),
        Responses::Good(share) if share >= ALL => "status 2xx".to_owned(),
        Responses::Good(share) if share <= 1.0 - ALL => "no status of 2xx".to_owned(),
        Responses::Good(share) => format!("status 2xx in {} of the responses", percent(share)),
        Responses::Unknown => "statuses not printed".to_owned(),
    };
    differ.then(|| format!("{} against {}", words(a), words(b)))
}

/// Requests without a response: a rate that counts them, or that had their connections for the others, is of other work.
/// By how much the shares differ, and in words.
fn failures(a: &Work, b: &Work) -> Option<(f64, String)> {
    let differ = |of: fn(&Work) -> Option<(u64, u64)>, what: &str| {
        let share = |work: &Work| {
            let (failed, all) = of(work).filter(|(_, all)| *all > 0)?;
            Some((failed as f64 / all as f64, all))
        };
        let (one, other) = (share(a)?, share(b)?);
        shares_differ(one, other, APART).then(|| {
            let text = format!("{} {what} against {}", percent(one.0), percent(other.0));
            ((one.0 - other.0).abs(), text)
        })
    };
    differ(|work| work.without_response, UNANSWERED)
        .or_else(|| differ(|work| work.failed_transactions, FAILED_OF_SIEGE))
}

/// Whether two shares, each of so many responses, lie further apart than this, and than chance moves them: of few
/// responses one that was refused is a share of all.
fn shares_differ((x, of_x): (f64, u64), (y, of_y): (f64, u64), apart: f64) -> bool {
    let all = (of_x + of_y).max(1) as f64;
    let share = (x * of_x as f64 + y * of_y as f64) / all;
    let each = 1.0 / of_x.max(1) as f64 + 1.0 / of_y.max(1) as f64;
    let error = (share * (1.0 - share) * each).max(0.0).sqrt();
    let distance = (x - y).abs();
    // All against none is no chance, however few there are.
    // 1 - 0.99 is a little more than 0.01.
    distance > apart + f64::EPSILON && (distance > BY_CHANCE * error || distance >= ALL)
}

/// Bodies, or else heads, of different lengths.
fn add_bytes(a: &Work, b: &Work, add: &mut impl FnMut(Severity, Option<String>)) {
    let apart = |x: f64, y: f64| (x - y).abs() > APART * x.max(y);
    // Of few responses of many lengths the mean is one of many.
    let error = a.body_bytes_error.hypot(b.body_bytes_error);
    let by_chance = |x: f64, y: f64| (x - y).abs() <= BY_CHANCE * error;
    let (Some(b1), Some(b2)) = (a.bytes, b.bytes) else { return };
    let totals = format!("{} B per response against {} B", bytes(b1), bytes(b2));
    match (a.body_bytes, b.body_bytes) {
        (Some(body1), Some(body2)) if apart(body1, body2) && !by_chance(body1, body2) => {
            let bodies = format!("bodies of {} B against {} B", bytes(body1), bytes(body2));
            add(Invalid, Some(format!("{bodies} ({totals})")));
        }
        (Some(body1), Some(body2)) if !apart(b1 - body1, b2 - body2) => {}
        // Keeping a connection changes the head by some letters, and is told by itself.
        _ if !apart(b1, b2) || keeps(a) != keeps(b) => {}
        // The same page behind another head is nearly the same work.
        (Some(body1), Some(body2)) if b1 > 0.0 && b2 > 0.0 => {
            let (head1, head2) = (bytes(b1 - body1), bytes(b2 - body2));
            add(Note, Some(format!("heads of {head1} B against {head2} B")));
        }
        _ => add(Invalid, Some(totals)),
    }
}

/// A mean of bytes, which mostly is a whole number.
pub fn bytes(mean: f64) -> String {
    if mean.fract() == 0.0 { decimal(mean, 0) } else { amount(mean) }
}

fn keeps(work: &Work) -> Option<bool> {
    match work.connections {
        Connections::PerRequest => Some(false),
        Connections::Kept(_) => Some(true),
        Connections::Unknown => None,
    }
}

fn connections(a: &Work, b: &Work, add: &mut impl FnMut(Severity, Option<String>)) {
    let words = |work: &Work| match work.connections {
        Connections::PerRequest if work.tool.is_ab_like() => "one per request (no -k)".to_owned(),
        Connections::PerRequest => "one per request".to_owned(),
        Connections::Kept(_) => "kept".to_owned(),
        Connections::Unknown => {
            format!("unknown ({} does not print whether connections were kept)", work.tool.name())
        }
    };
    let text = || Some(format!("connections {} against {}", words(a), words(b)));
    match (keeps(a), keeps(b)) {
        (Some(one), Some(other)) if one != other => add(Invalid, text()),
        (None, Some(_)) | (Some(_), None) => add(Suspect, text()),
        _ => {}
    }
    if let (Some(x), Some(y)) = (a.opened_per_response(), b.opened_per_response()) {
        let differ = shares_differ((x, a.answered), (y, b.answered), OPENED_APART);
        let differ = keeps(a) == keeps(b) && differ;
        // Asked for on both sides, and observed on one alone.
        let one_each = |opened: f64| opened >= MOSTLY_OPENED;
        let severity = if one_each(x) == one_each(y) { Suspect } else { Invalid };
        let text = || {
            let (x, y) = (percent(x), percent(y));
            format!("a new connection for {x} of the responses against {y}")
        };
        add(severity, differ.then(text));
    }
}

/// In flight as it was, or else as it was asked for; the rate of an open loop.
fn load(
    one: &Member,
    other: &Member,
    a: &Work,
    b: &Work,
    add: &mut impl FnMut(Severity, Option<String>),
) {
    if a.open_loop != b.open_loop {
        let loops = |work: &Work| if work.open_loop { "an open loop" } else { "a closed loop" };
        add(Invalid, Some(format!("{} against {}", loops(a), loops(b))));
        return;
    }
    if a.open_loop {
        // How many are in flight is what an open loop measures, and not what it asks for.
        if let (Some(x), Some(y)) = (a.asked_per_s, b.asked_per_s) {
            let differ = (x - y).abs() > APART * x.max(y);
            let text = || format!("{}/s requested against {}/s", amount(x), amount(y));
            add(Suspect, differ.then(text));
        }
        return;
    }
    // Users that pause are not in flight: how many are is what the target makes of it.
    let pauses = |work: &Work| work.pace == Some(Pace::Pauses);
    // Nor are requests that fail: of the same connections, how many do is told.
    let asked_alike = one.concurrency.is_some() && one.concurrency == other.concurrency;
    let fail = || asked_alike && are_runs(a, b) && failures(a, b).is_some();
    let in_flight = in_flight(one, other, a, b).filter(|_| !(fail() || pauses(a) && pauses(b)));
    if let Some(text) = in_flight {
        add(Invalid, Some(text));
    } else if let (Some(c1), Some(c2)) = (one.concurrency, other.concurrency)
        && c1 != c2
    {
        let (c1, c2) = (grouped(c1), grouped(c2));
        add(Suspect, Some(format!("a concurrency of {c1} against {c2}")));
    }
    add(Suspect, pace::differs(a, b));
}

fn in_flight(one: &Member, other: &Member, a: &Work, b: &Work) -> Option<String> {
    let ((low1, _), (low2, _)) = (a.in_flight?, b.in_flight?);
    let (high1, high2) = (a.in_flight_at_most?, b.in_flight_at_most?);
    (high1 * IN_FLIGHT_APART < low2 || high2 * IN_FLIGHT_APART < low1).then_some(())?;
    let text = |work: &Work, asked| work.in_flight_text(asked);
    Some(format!("{} in flight against {}", text(a, one.concurrency)?, text(b, other.concurrency)?))
}

/// A run that is bound by its requests takes longer on a slower target, and one that is bound by
/// its time has fewer: only where both differ is it another length.
fn length(one: &Member, other: &Member, a: &Work, b: &Work) -> Option<String> {
    let far = |x: f64, y: f64| x.max(y) > LENGTHS_APART * x.min(y);
    let (n1, n2) = (one.requests?, other.requests?);
    let times = a.taken_s.zip(b.taken_s);
    let differ = far(n1 as f64, n2 as f64) && times.is_none_or(|(t1, t2)| far(t1, t2));
    let times = times.map_or(String::new(), |(t1, t2)| {
        format!(" in {} against {}", time(t1 * 1e3), time(t2 * 1e3))
    });
    differ.then(|| format!("{} requests against {}{times}", grouped(n1), grouped(n2)))
}

fn server_threads(a: &Circumstances, b: &Circumstances) -> Option<Difference> {
    let threads = |of: &Circumstances| of.server.as_ref().and_then(|server| server.threads);
    let (x, y) = (threads(a)?, threads(b)?);
    let text = || format!("{} busy against {y}", counted(x as u64, "server thread"));
    (x != y).then(|| Difference { severity: Suspect, text: text() })
}

fn client_threads(one: u64, other: u64) -> String {
    format!("{} of the client against {}", counted(one, "thread"), grouped(other))
}

fn circumstances(
    a: &Circumstances,
    b: &Circumstances,
    add: &mut impl FnMut(Severity, Option<String>),
) {
    let (x, y) = (a.client_threads.into(), b.client_threads.into());
    add(Suspect, (x != y).then(|| client_threads(x, y)));
    if a.backend != b.backend {
        let (x, y) = (a.backend, b.backend);
        add(Note, Some(format!("the client's system calls through {x} against {y}")));
    }
    if a.machine != b.machine {
        let (x, y) = (machine(a, b), machine(b, a));
        add(Suspect, Some(format!("the client's machine: {x} against {y}")));
    }
}

/// What of one machine is not so on the other.
fn machine(of: &Circumstances, other: &Circumstances) -> String {
    let (of, other) = (&of.machine, &other.machine);
    let mut parts = Vec::new();
    let mut add = |differs: bool, text: Option<String>| {
        if differs {
            parts.push(text.unwrap_or_else(|| "unknown".to_owned()));
        }
    };
    add(of.kernel != other.kernel, of.kernel.as_ref().map(|release| format!("Linux {release}")));
    add(of.cpu_model != other.cpu_model, of.cpu_model.clone());
    let processors = of.cpus_allowed.map(|number| counted(number.into(), "CPU"));
    add(of.cpus_allowed != other.cpus_allowed, processors);
    let mebibytes = of.memory_bytes.map(|bytes| format!("{} MiB", grouped(bytes >> 20)));
    add(of.memory_bytes != other.memory_bytes, mebibytes);
    parts.join(", ")
}

#[cfg(test)]
mod tests;
