//! D19: connections were to be kept, and not one was. Why is counted for each response; of runs of older versions the head of
//! the first response tells.

mod bodiless;
mod counted;
mod printed;

use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_model::spec::FrontEnd;

pub(super) use self::bodiless::bodiless;
use self::bodiless::has_no_bodies;
use self::counted::Counted;
use super::d18_connections_cut::surplus;
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D02, D03, D04, D19};
use crate::finding::{Finding, Severity};
use crate::live::headers;
use crate::live::options::{Opt, spelled};
use crate::live::whose::{is_forwarded, of_forward_proxy};
use crate::words::{counted, grouped};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D19,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect],
    explained_by: &[D02, D03, D04],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(printed::on_report),
        ..Forms::NONE
    },
};

/// Whether each connection may have had one request, whatever the server did: then nobody knows.
fn may_be_one_each(run: &Run) -> bool {
    let record = &run.record;
    if record.responses > u64::from(run.plan.load.connections()) {
        return false;
    }
    // How many an open loop may open is a bound. Requests that are spread over the run, and take much less than that, find
    // a connection that is free, if any is kept.
    let spread = record.responses > 1
        && record.answered.total.max_ns().is_some_and(|longest| longest < run.elapsed_ns / 2);
    !(matches!(run.plan.load, Load::Open { .. }) && spread)
}

fn on_run(run: &Run) -> Option<Finding> {
    found(run).map(|found| of_forward_proxy(run, found))
}

fn found(run: &Run) -> Option<Finding> {
    let record = &run.record;
    if !asked(run) || record.reused > 0 || record.responses == 0 || may_be_one_each(run) {
        return None;
    }
    // Such a connection speaks another protocol from then on (RFC 9110, 15.2.2): nobody refused to keep it.
    if record.statuses.keys().all(|status| *status == 101) {
        return None;
    }
    let (reason, lacks_length) = match counted::of(run) {
        Counted::Nearly(reason, lacks_length) => (reason, lacks_length),
        Counted::Several => (Reason::Several, false),
        Counted::Unknown => of_first(run),
    };
    let closes = match reason {
        Reason::Several => counted::closes(run),
        reason => matches!(reason, Reason::Close | Reason::NoKeepAlive),
    };
    let is_surplus = matches!(reason, Reason::Surplus | Reason::SurplusChunked);
    let without_body = bodiless(run).filter(|_| is_surplus);
    let several = counted::several(run);
    let (cause, fix) = match asks_to_close(run) {
        true if closes => (
            "The request itself asks the server to close: it has `Connection: close`, or is HTTP/1.0 \
             without `Connection: keep-alive`.",
            format!(
                "Leave out that header ({}), or say with {} that each request is to have a connection \
                 of its own.",
                spelled(run, Opt::Header),
                spelled(run, Opt::NoKeepAlive)
            ),
        ),
        _ if reason == Reason::Several => {
            (several.as_str(), counted::fix_of_several(to_close(run)))
        }
        false if closes && lacks_length => reason.without_length(run),
        false if closes && steps_may_ask_to_close(run) => (
            "The server announces the end of each connection. A step of the journey may ask it to: `Connection: close` is a header \
             field of its own.",
            "See whether a step of the journey has such a field, and leave it out; otherwise enable keep-alive in the server's \
             configuration."
                .to_owned(),
        ),
        _ => match &without_body {
            Some((cause, fix)) => (cause.as_str(), fix.clone()),
            None => reason.in_words(run),
        },
    };
    // That one ended the connection, if the requests were sent to it.
    let is_behind = !is_forwarded(run) && has_field(&record.first_head, "via");
    let by_others = closes && !asks_to_close(run) && is_behind;
    let by_proxy = match by_others {
        true => " The first came through a proxy (`Via`): the proxy may close, not the server.",
        false => "",
    };
    let of_how_many = counted::of_how_many(run);
    let cause = format!("{cause}{of_how_many}{by_proxy}");
    let finding = Finding::new(
        D19,
        Severity::Suspect,
        format!(
            "None of {} left its connection open; connections opened: {}.",
            counted(record.responses, "response"),
            grouped(record.connections_opened)
        ),
        cause,
        fix,
    );
    // What the head itself says needs no failed requests to explain it.
    let in_the_head = match reason {
        Reason::Several => counted::in_heads(run),
        Reason::Surplus
        | Reason::SurplusChunked
        | Reason::SurplusResponses
        | Reason::None
        | Reason::Unknown => false,
        _ => true,
    };
    let finding = if in_the_head { finding.not_explained_by(D02) } else { finding };
    // Servers close after error pages that keep connections open otherwise.
    let only_errors = record.statuses.keys().all(|status| *status >= 400) && !asks_to_close(run);
    Some(if only_errors { finding } else { finding.not_explained_by(D04) })
}

/// Why the connection of the first response ended, and whether that lacks a length as well.
fn of_first(run: &Run) -> (Reason, bool) {
    let record = &run.record;
    let reason = match Reason::of(&record.first_head) {
        // What can have no body needs no length (RFC 9112, 6.3).
        Reason::NoLength if has_no_bodies(run) => Reason::None,
        reason => reason,
    };
    let reason = match reason {
        Reason::None if record.surplus_responses > 0 => Reason::SurplusResponses,
        Reason::None if record.surplus > 0 && surplus::is_chunked(run) => Reason::SurplusChunked,
        Reason::None if record.surplus > 0 => Reason::Surplus,
        reason => reason,
    };
    (reason, lacks_length(&record.first_head) && !has_no_bodies(run))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    (asked(run) && record.responses > 0).then(|| {
        format!(
            "{} of {} left their connection open.",
            grouped(record.reused),
            counted(record.responses, "response")
        )
    })
}

/// Whether the requests were told to say that their connection is to be closed (RFC 9112, 9.3).
fn asks_to_close(run: &Run) -> bool {
    let is_old = run.plan.streams().is_none() && run.plan.requests.minor_version == 0;
    headers::given(run, "connection").is_some_and(|value| {
        let says = |token: &str| value.split(',').any(|said| said.trim() == token);
        says("close") || is_old && !says("keep-alive")
    })
}

fn steps_may_ask_to_close(run: &Run) -> bool {
    run.plan.journey.is_some() && headers::has_step_with(run, "connection").unwrap_or(true)
}

/// Whether nothing in a head tells where its body ends (RFC 9112, 6.3). HTTP/1.0 has no transfer codings.
fn lacks_length(head: &[u8]) -> bool {
    let is_old = head.to_ascii_lowercase().starts_with(b"http/1.0");
    !head.is_empty()
        && !has_field(head, "content-length")
        && (is_old || !has_field(head, "transfer-encoding"))
}

/// Whether a head has a field of this name, in lower case.
fn has_field(head: &[u8], name: &str) -> bool {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    head.lines().any(|line| line.split_once(':').is_some_and(|(known, _)| known == name))
}

/// How connections are not kept: ab keeps them only where it is told to.
fn to_close(run: &Run) -> String {
    match run.front_end() {
        FrontEnd::Ab => "leave out -k".to_owned(),
        _ => format!("use {}", spelled(run, Opt::NoKeepAlive)),
    }
}

/// Whether connections were to be used more than once.
fn asked(run: &Run) -> bool {
    run.plan.connections.keep_alive && run.plan.connections.requests_per_connection.is_none()
}

/// What in a response's head ends the connection (RFC 9112, 9.3 and 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// It says so.
    Close,
    /// HTTP/1.0 ends it unless the head says otherwise.
    NoKeepAlive,
    /// Nothing else tells where the body ends.
    NoLength,
    /// It is HTTP/1.0, and has a transfer coding, which HTTP/1.0 does not have.
    OldCoding,
    /// Nothing in the head, but more bytes came than it announced.
    Surplus,
    /// The same, behind the last chunk.
    SurplusChunked,
    /// Nothing in the head, but another response came behind it.
    SurplusResponses,
    /// Nothing in the head.
    None,
    /// There is no head to look at.
    Unknown,
    /// Not the same in nearly all responses.
    Several,
}

impl Reason {
    fn of(head: &[u8]) -> Self {
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        let mut lines = head.lines();
        let Some(status_line) = lines.next() else { return Self::Unknown };
        let fields: Vec<(&str, &str)> =
            lines.filter_map(|line| line.split_once(':')).map(|(n, v)| (n.trim(), v)).collect();
        let says = |name: &str, token: &str| {
            let values = fields.iter().filter(|(known, _)| *known == name);
            values.flat_map(|(_, value)| value.split(',')).any(|value| value.trim() == token)
        };
        if says("connection", "close") {
            Self::Close
        } else if status_line.starts_with("http/1.0") && !says("connection", "keep-alive") {
            Self::NoKeepAlive
        } else if status_line.starts_with("http/1.0")
            && fields.iter().any(|(name, _)| *name == "transfer-encoding")
        {
            Self::OldCoding
        } else if !fields.iter().any(|(name, _)| *name == "content-length")
            && !says("transfer-encoding", "chunked")
        {
            Self::NoLength
        } else {
            Self::None
        }
    }

    /// The same where the head has no length either: of the two, one alone would change nothing.
    fn without_length(self, run: &Run) -> (&'static str, String) {
        let closes = to_close(run);
        match self {
            Self::NoKeepAlive => (
                "The response is HTTP/1.0, and its head lacks both that HTTP/1.0 needs to keep a connection open: `Connection: \
                 keep-alive`, and a `Content-Length`, without which only closing the connection shows where the body ends.",
                format!(
                    "Have the server respond with HTTP/1.1 and a Content-Length (or chunked), or send both with HTTP/1.0; if it is \
                     meant to close, {closes}."
                ),
            ),
            _ => (
                "The server announces the end of each connection: the head of its response has `Connection: close`. It has no \
                 `Content-Length` nor `Transfer-Encoding: chunked` either: only closing the connection shows where the body ends.",
                format!(
                    "Enable keep-alive in the server's configuration, and have it send a Content-Length (or chunked over HTTP/1.1); \
                     if it is meant to close, {closes}."
                ),
            ),
        }
    }

    /// Cause and fix.
    fn in_words(self, run: &Run) -> (&'static str, String) {
        let version = run.plan.http_version();
        let http11 = spelled(run, Opt::Http11);
        let closes = to_close(run);
        match self {
            Self::Close => (
                "The server announces the end of each connection: the head of its response has \
                 `Connection: close`.",
                format!("Enable keep-alive in the server's configuration; if it is meant to close, \
                 {closes}."),
            ),
            Self::NoKeepAlive if version != "1.0" => (
                "The server responds with HTTP/1.0 to a request of HTTP/1.1, and the head of its \
                 response lacks `Connection: keep-alive`, which HTTP/1.0 needs to keep a \
                 connection open.",
                format!("Have the server respond with HTTP/1.1, or send that header; if it is meant to \
                 close, {closes}."),
            ),
            Self::NoKeepAlive => (
                "The response is HTTP/1.0, and its head lacks `Connection: keep-alive`, which \
                 HTTP/1.0 needs to keep a connection open.",
                format!("Measure over HTTP/1.1 ({http11}), where connections stay open unless the \
                 server closes them; if it responds with HTTP/1.0 there too, have it send that \
                 header."),
            ),
            Self::NoLength => (
                "The head of the response has neither `Content-Length` nor `Transfer-Encoding: \
                 chunked`: only closing the connection shows where the body ends.",
                format!("Have the server send a Content-Length; if it is meant to close, \
                 {closes}."),
            ),
            Self::OldCoding => (
                "The response is HTTP/1.0 and has `Transfer-Encoding`, which HTTP/1.0 does not define: its framing counts \
                 as faulty (RFC 9112, 6.1), so the client closes the connection behind it, although the head has \
                 `Connection: keep-alive`.",
                "Have the server respond with HTTP/1.1 where it sends `Transfer-Encoding`, or with a Content-Length."
                    .to_owned(),
            ),
            Self::SurplusChunked => (
                "The server sends more bytes behind the last chunk: a next response could not be told apart from \
                 them, so the client closes the connection.",
                surplus::FIX_OF_CHUNKED.to_owned(),
            ),
            Self::Surplus => (
                "The server sends more bytes than the response has: a next response could not be \
                 told apart from them, so the client closes the connection.",
                "Compare the body in `curl -i` and the URL with its Content-Length, and have the \
                 server announce the length that it sends.".to_owned(),
            ),
            Self::SurplusResponses => (
                "The server sends more responses than it was asked for: it responds twice, or says with one to no request that it \
                 closes the connection (a 408, or another status); which of these was not recorded. A next one could not be told apart from them, so the \
                 client closes the connection.",
                surplus::FIX_OF_UNASKED.to_owned(),
            ),
            Self::None => (
                "The head of the response permits keeping the connection open, but the server \
                 closes it anyway.",
                "Look at one response with `curl -i` and the URL, and find what closes the \
                 connection in the server.".to_owned(),
            ),
            Self::Unknown | Self::Several => (
                "The server closes after each response.",
                format!("Look at the head with `curl -i` and the URL; if the server is meant to close, \
                 {closes}."),
            ),
        }
    }
}

#[cfg(test)]
mod tests_on_runs;
