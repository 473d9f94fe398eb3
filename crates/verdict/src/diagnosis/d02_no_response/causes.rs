//! Why requests got no valid response: one sentence for each kind of failure that took a share of
//! them, and nothing that the kind does not show.

use ablaze_model::plan::Load;
use ablaze_model::spec::FrontEnd;
use ablaze_model::{FailureKind, Run};

use super::opening::{self, Hung};
use super::{begun, hosts, malformed, over_quic, through, told};
use crate::limit::{self, Limit};
use crate::live::figures;
use crate::words::{counted, grouped, listed};

/// Kinds with a smaller share of the failures are named, not explained.
const SHARE: f64 = 0.1;

/// What became of requests behind others on connections that the server closed.
pub const LOST: &str = "The server closed some connections while requests were pipelined on them: all of them are lost with the \
                        connection, read or not.";

/// Whether each connection has several requests of HTTP/1 under way all the time.
fn is_pipelined(run: &Run) -> bool {
    let several = matches!(run.plan.load, Load::Closed { pipeline, .. } if pipeline > 1);
    several && run.plan.streams().is_none()
}

/// `600 reset, 400 with a short body and 2 malformed`.
pub fn by_kind(failed: &[(FailureKind, u64)]) -> String {
    listed(failed.iter().map(|(kind, count)| format!("{} {}", grouped(*count), kind.of_a_count())))
}

/// The causes, the most frequent first, as sentences.
pub fn of(run: &Run, failed: &[(FailureKind, u64)]) -> String {
    let all: u64 = failed.iter().map(|(_, count)| count).sum();
    let of_proxy = failed.iter().filter(|(kind, _)| kind.is_of_proxy());
    if of_proxy.map(|(_, count)| count).sum::<u64>() > all / 2 {
        return told::no_tunnels(run);
    }
    let mut failed = failed.to_vec();
    failed.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let many = failed.iter().filter(|(_, count)| *count as f64 >= SHARE * all as f64);
    let told = |(kind, count): &(FailureKind, u64)| {
        let cause = through::tunnels(run, *kind, cause(run, *kind, *count));
        hosts::which(run, *kind, cause)
    };
    let mut causes: Vec<String> = many.map(told).collect();
    causes.dedup();
    if run.record.responses > 0 {
        causes.push(match run.front_end() {
            FrontEnd::Ab => {
                "The times of these requests are among the percentiles of ab's report, and in no others."
                    .to_owned()
            }
            _ => "The times of these requests are in no percentile.".to_owned(),
        });
    }
    causes.join(" ")
}

/// Whether requests waited here for connections that others held, to which the server did not respond.
pub fn held_by_the_server(run: &Run) -> bool {
    run.record.responses == 0 || limit::of(run).by == Limit::Unanswered
}

/// Whether bytes of a response had come each time that a request failed, all of them for this reason.
fn all_in_a_response(run: &Run, kind: FailureKind) -> bool {
    let failures = run.record.failures_total();
    run.record.failures_of(kind) == failures && run.record.failed.wait.count() == failures
}

/// Whether the requests of an open loop that timed out had waited here for most of that time: what the server would have
/// done with them is not known.
pub fn timed_out_here(run: &Run) -> bool {
    let timeouts = run.record.failures_of(FailureKind::Timeout);
    let Some(intended) = &run.record.failed.intended else { return false };
    let lag_ns = intended.lag.quantile_ns(0.5).unwrap_or(0);
    let most = timeouts * 2 > run.record.failures_total();
    most && lag_ns > 0 && lag_ns >= run.plan.limits.timeout_ns / 2
}

/// Whether all that failed were event streams that had begun.
pub fn is_stream_that_timed_out(run: &Run) -> bool {
    run.record.failures_total() > 0
        && all_in_a_response(run, FailureKind::Timeout)
        && run.record.is_event_stream()
}

/// Whether the head of the run's first response leaves the end of its body to the close of the connection (RFC 9112,
/// 6.3). Streams have an end of their own; 204, 304 and what responds to HEAD have no body.
pub fn without_end(run: &Run) -> bool {
    if run.plan.streams().is_some() || run.plan.requests.method == "HEAD" {
        return false;
    }
    let head = String::from_utf8_lossy(&run.record.first_head).to_ascii_lowercase();
    let has = |name: &str| head.lines().any(|line| line.starts_with(name));
    let has_body = !matches!(head.split(' ').nth(1), Some("204" | "304"));
    !head.is_empty() && has_body && !has("content-length:") && !has("transfer-encoding:")
}

/// Whether of all that failed nothing came but interim responses.
pub fn only_interim(run: &Run) -> bool {
    let only = run.record.circumstances.interim_only;
    only > 0 && only == run.record.failures_total()
}

/// Whether the first that failed TLS met a frame of HTTP/2.
fn began_with_plain_http2(run: &Run) -> bool {
    let first = run.record.tls.as_ref().and_then(|facts| facts.first_failure.as_ref());
    first.is_some_and(|(_, said)| said.contains("SETTINGS of HTTP/2"))
}

/// Requests that timed out before all of them had been sent.
fn unsent(run: &Run, count: u64) -> String {
    let unsent = run.record.circumstances.unsent_timed_out;
    let templates = run.plan.requests.templates.iter().map(|template| template.bytes.len() as u64);
    let of_bytes = match templates.clone().min().zip(templates.max()) {
        Some((least, most)) if least == most && least > 0 => {
            format!(" of {} each", counted(least, "byte"))
        }
        _ => String::new(),
    };
    let which = match unsent >= count {
        true => "These requests".to_owned(),
        false => format!("{} of the requests that timed out", grouped(unsent)),
    };
    format!(
        "{which}{of_bytes} could not be sent whole in time: the server accepted the connections and did not take all \
         bytes of the body, and no response came."
    )
}

/// Requests on connections that the client closed, beside others.
fn closed_here(run: &Run, count: u64) -> String {
    let known = &run.record.circumstances;
    let surplus = known.closed_for_surplus;
    let announced = known.closed_here.saturating_sub(surplus);
    let by_server = count.saturating_sub(known.closed_here);
    let mut ways = Vec::new();
    if surplus > 0 {
        ways.push(format!(
            "{} by the client, because bytes that belong to none came behind the response before",
            grouped(surplus)
        ));
    }
    if announced > 0 {
        ways.push(format!(
            "{} by the client, behind a response after which the connection was not to be used",
            grouped(announced)
        ));
    }
    if by_server > 0 {
        ways.push(format!("{} by the server", grouped(by_server)));
    }
    format!(
        "The connections of the requests closed without a response were closed: {}.",
        ways.join("; ")
    )
}

/// What so many failures of a kind show.
fn cause(run: &Run, kind: FailureKind, count: u64) -> String {
    use FailureKind::*;
    let record = &run.record;
    let some = record.responses > 0;
    let partway = record.stopped.partway;
    if let Some(text) = over_quic::cause(run, kind) {
        return text.to_owned();
    }
    if let Some(text) = told::cause(run, kind) {
        return text;
    }
    let text = match kind {
        Refused if run.plan.target.unix_socket.is_some() => {
            "The Unix socket refuses connections: no process listens on it, or the file is no socket."
        }
        Unreachable if run.plan.target.unix_socket.is_some() => {
            "There is no Unix socket of that path, or it cannot be opened."
        }
        Refused if some && figures::server_ended(run) => {
            "The process that served ended, and connections were refused while no other one listened there."
        }
        Refused if some => {
            "Connections were refused for a part of the run: nothing listened there then, or \
             something in front of the server rejected them."
        }
        Refused => "Nothing listens at that address and port, or a firewall rejects connections.",
        Timeout if record.connections_opened == 0 && opening::hung(run, 0) == Some(Hung::Tls) => {
            "Connections opened, and the TLS handshake was not completed in time."
        }
        Timeout if record.connections_opened == 0 && opening::hung(run, 0) == Some(Hung::Proxy) => {
            "Connections to the proxy opened, and it did not respond to CONNECT in time."
        }
        Timeout if record.connections_opened == 0 => {
            "No connection could be established in time: nobody has that address, packets are dropped on the way, or the \
             server's accept queue is full."
        }
        Timeout if timed_out_here(run) && held_by_the_server(run) => {
            "The server did not respond to the requests that were sent, which held all connections \
             until their time was over: most of these requests waited here for one of those."
        }
        Timeout if timed_out_here(run) => {
            "Most of the time that a request may take was over before these requests could be sent: \
             they waited here, for a free connection or for the client. What the server would \
             have done with them is not known."
        }
        Timeout if opening::unopened(run) > 0 => {
            return opening::of_unopened(run, opening::unopened(run));
        }
        Timeout if record.circumstances.unsent_timed_out > 0 => return unsent(run, count),
        // Of HTTP/1 the first whole head of a final response is kept.
        Timeout
            if all_in_a_response(run, kind)
                && run.plan.streams().is_none()
                && record.first_head.is_empty() =>
        {
            "The server sent something for these requests, and no whole head of a final response in time: an interim \
             response (1xx), or the beginning of a head."
        }
        Timeout if is_stream_that_timed_out(run) => begun::STREAM,
        Timeout if all_in_a_response(run, kind) && record.stopped.endless >= count => {
            "Responses began and did not end in time. Their heads have neither `Content-Length` nor \
             `Transfer-Encoding: chunked`: only closing the connection would show where the body ends, and the server left it \
             open."
        }
        Timeout if all_in_a_response(run, kind) => {
            "The server began these responses, and did not end them in time."
        }
        Timeout if partway > 0 && partway < count => {
            return format!(
                "The server did not respond to some requests in time, and began {} responses that \
                 it did not complete in time.",
                grouped(partway)
            );
        }
        Timeout if some => "The server did not respond to some requests in time.",
        Timeout
            if !run.plan.load.is_open()
                && record.connections_opened < u64::from(run.plan.load.connections()) =>
        {
            return format!(
                "Of the {} connections {} opened, and the server does not respond in time on these.",
                grouped(run.plan.load.connections().into()),
                grouped(record.connections_opened)
            );
        }
        Timeout => "Connections open, and the server does not respond in time.",
        Reset | ShortHead | TlsTruncated if only_interim(run) => {
            "Only an interim response (1xx) came to these requests, and then the server, or something in front of it, ended \
             the connection without a final one."
        }
        Reset if all_in_a_response(run, kind) && without_end(run) => {
            "The server, or something in front of it, resets connections after a response has begun that ends with its \
             connection: it has no length, so whether it was whole does not show."
        }
        Reset if all_in_a_response(run, kind) => {
            "The server, or something in front of it, resets connections in the middle of a response."
        }
        Reset if some => "The server, or something in front of it, reset some connections.",
        Reset => "The server, or something in front of it, resets connections.",
        ClosedWithoutResponse if record.circumstances.closed_here > 0 => {
            return closed_here(run, count);
        }
        // Each connection may have carried a response: these requests were on it behind that one.
        ClosedWithoutResponse if some && is_pipelined(run) => LOST,
        ClosedWithoutResponse if some => "The server closed some connections without a response.",
        ClosedWithoutResponse => "The server closes connections without a response.",
        ShortBody if some => "The server closed some connections in the middle of a response.",
        ShortBody => "The server closes connections in the middle of a response.",
        ShortHead => {
            "The server closes connections before the head of a response is complete, as one that \
             crashes or is cut off does."
        }
        Malformed => return malformed::cause(run, count),
        TooLarge => "The heads of the responses are longer than allowed.",
        AnsweredInPlain if began_with_plain_http2(run) => {
            "The TLS handshake failed: the server speaks HTTP/2 without TLS; what it sends begins with SETTINGS."
        }
        AnsweredInPlain if record.tls.as_ref().is_some_and(|facts| facts.handshakes() > 0) => {
            "On some of the connections the server responded to the TLS handshake in plain HTTP."
        }
        AnsweredInPlain => "The TLS handshake failed: the server speaks plain HTTP.",
        AnsweredInTls => "The server speaks TLS, and the request was plain HTTP.",
        TlsTruncated => {
            "The server ends TLS connections without `close_notify` behind responses without a length: whether these were whole \
             does not show."
        }
        ClientCertificate if opening::completed(run) => {
            "The TLS handshakes were completed; then the server rejected the client: it requires a \
             certificate that it accepts."
        }
        kind if kind.is_of_tls() && opening::completed(run) => {
            "The TLS handshakes were completed; what followed failed."
        }
        ClientCertificate => "The server requires a client certificate that it accepts.",
        kind if kind.is_of_tls() && !some => return opening::of_handshakes(run, count),
        kind if kind.is_of_tls() => "TLS failed on some of the connections.",
        NoHttp2 => "The server does not speak HTTP/2.",
        StreamReset => "The server resets streams (RST_STREAM).",
        GoAway => "The server ends connections (GOAWAY) before it has responded to all streams.",
        Http2Violated => "What the server sends breaks the rules of HTTP/2.",
        NoHttp3 => "The server does not speak HTTP/3.",
        QuicClosed => "The server closes QUIC connections with an error (CONNECTION_CLOSE).",
        Http3Violated => "What the server sends breaks the rules of HTTP/3, or of QUIC.",
        _ => "The server, or something in front of it, did not respond.",
    };
    text.to_owned()
}
