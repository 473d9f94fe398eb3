//! D56: HTTP/3 was slower than the same over TCP, and most of the CPU time that it needed more of was the kernel's.

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D56;
use crate::finding::{Finding, Severity};
use crate::rules::{Circumstances, Comparison, CpuPerResponse, Member};
use crate::words::{amount, grouped, percent, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D56,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { comparison: Some(comparison), ..Forms::NONE },
};

/// HTTP/3 that reaches this share of the other rate is not slower by anything that has to be explained.
const SLOWER: f64 = 0.9;

/// The kernel's share of the CPU time that HTTP/3 needs more, from which on it is the larger part.
const MOST: f64 = 0.5;

/// Bodies whose lengths differ by more are other work.
const EQUAL_BODIES: f64 = 0.01;

fn comparison(comparison: &Comparison, _best_of_line: Option<usize>) -> Option<Finding> {
    let over = |quic: bool| {
        comparison.members.iter().filter(move |member| (version(member) == Some("3")) == quic)
    };
    let pairs = over(true).flat_map(|udp| over(false).map(move |tcp| (udp, tcp)));
    pairs.into_iter().find_map(|(udp, tcp)| of_pair(udp, tcp))
}

fn of_pair(udp: &Member, tcp: &Member) -> Option<Finding> {
    let (over_udp, over_tcp) = (udp.circumstances()?, tcp.circumstances()?);
    if !is_the_same_work(udp, tcp) || udp.rate_per_s >= SLOWER * tcp.rate_per_s {
        return None;
    }
    let (ours, theirs) = (over_udp.cpu?, over_tcp.cpu?);
    let more_ns = ours.all_ns() - theirs.all_ns();
    // As little as it can have been, wherever the client's busy polling was.
    let more_in_kernel_ns = ours.system_ns_at_least() - theirs.system_ns_at_most();
    let share = more_in_kernel_ns / more_ns;
    if more_ns <= 0.0 || share.is_nan() || share < MOST {
        return None;
    }
    let polled = ours.client_polled_ns + theirs.client_polled_ns > 0.0;
    Some(Finding::new(
        D56,
        Severity::Note,
        format!(
            "HTTP/3 ({}) reached {} requests/s, HTTP/{} ({}) {} on the same server. A response took {} of CPU time on client \
             and server over UDP, {} over TCP; of what it took more, {}{} was spent in the kernel ({}; over TCP {}).{}",
            udp.name,
            grouped(udp.rate_per_s.round() as u64),
            version(tcp).unwrap_or("?"),
            tcp.name,
            grouped(tcp.rate_per_s.round() as u64),
            time(ours.all_ns() / 1e6),
            time(theirs.all_ns() / 1e6),
            if polled { "at least " } else { "" },
            percent(share.min(1.0)),
            in_kernel(ours.client_system_ns_at_least(), &ours),
            in_kernel(theirs.client_system_ns, &theirs),
            datagrams(over_udp)
        ),
        "Most of the CPU time that a response takes more is spent in the kernels of both sides, not in the code of the server or of \
         this client: on datagrams, if the server makes no other system calls that it does not need over TCP. Whether CPU time \
         bounded the rates is said by what limited each run.",
        "Read it as a difference of transports on this machine. More datagrams per system call make it smaller: where the \
         server can send several at a time, turn that on (nginx: quic_gso on).",
    ))
}

/// The same server, request, TLS and shape of load, and bodies of one length.
fn is_the_same_work(udp: &Member, tcp: &Member) -> bool {
    let served = |member: &Member| {
        let server = member.circumstances()?.server.as_ref()?;
        (!server.command_line.is_empty()).then(|| server.command_line.clone())
    };
    let (Some(a), Some(b)) = (&udp.work, &tcp.work) else { return false };
    let bodies = match (a.body_bytes, b.body_bytes) {
        (Some(a), Some(b)) => (a - b).abs() <= EQUAL_BODIES * a.max(b),
        _ => false,
    };
    let same_server = served(udp).is_some_and(|words| served(tcp) == Some(words));
    let same_load = udp.concurrency == tcp.concurrency && !a.open_loop && !b.open_loop;
    same_server && same_load && bodies && a.tls && b.tls && a.method == b.method && a.path == b.path
}

fn version(member: &Member) -> Option<&str> {
    member.work.as_ref()?.http_version.as_deref()
}

/// `client 4.1 µs, server 6.2 µs`.
fn in_kernel(client_ns: f64, cpu: &CpuPerResponse) -> String {
    format!("client {}, server {}", time(client_ns / 1e6), time(cpu.server_system_ns / 1e6))
}

fn datagrams(of: &Circumstances) -> String {
    of.datagrams_per_call.map_or_else(String::new, |(sent, received)| {
        format!(
            " The client sent {} datagrams with a call and received {}.",
            amount(sent),
            amount(received)
        )
    })
}

#[cfg(test)]
mod tests;
