//! A Run, reduced to what can be compared of it.

use ablaze_model::monitor::{Connections as Sockets, Process};
use ablaze_model::plan::Load;
use ablaze_model::printable::printable;
use ablaze_model::run::WorkerEffort;
use ablaze_model::{Record, Run};

use crate::diagnosis::d25_path_not_exercised::outgrows_its_buffer;
use crate::finding::{Finding, Severity};
use crate::live::figures;
use crate::printed::{Connections, Tool};
use crate::rules::{Circumstances, CpuPerResponse, Member, Pace, Responses, Server, Work};
use crate::words::listed;

/// Of a server whose busiest thread used less of a core, chance decides which threads work.
const AT_ITS_LIMIT: f64 = 0.85;
/// So many steps of a journey are named.
const STEPS_NAMED: usize = 5;
/// A thread that does less than this share of the busiest one's work is no worker.
const A_WORKER: f64 = 0.2;

/// A Run among several, with what was found in it by itself. `name` is what sentences call it, `target` what it measured: equal for
/// repeats, and the name of its curve. `None` for a Run without a length: it has no rate.
pub fn member(
    run: &Run,
    findings: &[Finding],
    name: &str,
    target: &str,
    tool_version: Option<&str>,
) -> Option<Member> {
    let elapsed_s = figures::elapsed_s(run);
    (elapsed_s > 0.0).then(|| Member {
        name: name.to_owned(),
        line: None,
        remark: String::new(),
        rate_per_s: run.record.responses as f64 / elapsed_s,
        requests: Some(run.record.finished()),
        concurrency: figures::asked_in_flight(run),
        work: Some(work(run, findings, tool_version)),
        identity: target.to_owned(),
        told: Some(String::new()),
        curve: target.to_owned(),
        of_several: false,
        is_contradicted: false,
    })
}

fn work(run: &Run, findings: &[Finding], tool_version: Option<&str>) -> Work {
    let (record, plan) = (&run.record, &run.plan);
    let body_bytes = body_bytes(record);
    let asked_per_s = match plan.load {
        // Journeys, of which each is several requests.
        Load::Open { .. } if plan.journey.is_some() => None,
        Load::Open { .. } => run.requested_per_s(),
        Load::Closed { .. } => None,
    };
    Work {
        tool: Tool::Ablaze,
        tool_version: tool_version.map(str::to_owned),
        answered: record.responses,
        responses: responses(record),
        failed_transactions: None,
        without_response: Some((record.failures_total(), record.finished())),
        request_options: None,
        sent_bodies: None,
        statuses: record.statuses.clone(),
        body_bytes,
        body_bytes_error: body_bytes_error(record),
        bytes: body_bytes
            .filter(|_| !record.first_head.is_empty())
            .map(|body_bytes| body_bytes + head_bytes(run)),
        connections: connections(record),
        in_flight: figures::in_flight(run).map(|mean| (mean, mean)),
        in_flight_at_most: figures::in_flight_at_most(run),
        method: Some(steps(run).unwrap_or_else(|| plan.requests.method.clone())),
        // Of several requests no path is that of all, and the steps of a journey have their own.
        path: (plan.journey.is_none() && record.groups.len() < 2).then(|| plan.target.path.clone()),
        http_version: Some(plan.http_version()),
        tls: plan.target.url.starts_with("https:"),
        open_loop: plan.load.is_open(),
        asked_per_s,
        sent_per_s: asked_per_s,
        // Users may think between their requests: that is the plan's.
        pace: (!plan.load.is_open() && plan.journey.is_none()).then_some(Pace::Full),
        threads: None,
        taken_s: Some(figures::elapsed_s(run)),
        circumstances: Some(Circumstances {
            started_unix_ns: run.started_unix_ns,
            client_threads: plan.workers.count,
            backend: run.backend.name,
            machine: run.machine.clone(),
            server: server(run),
            found: found(findings),
            cpu: cpu(run),
            datagrams_per_call: record.http3.as_ref().and_then(|facts| {
                Some((facts.quic.sent.per_call()?, facts.quic.received.per_call()?))
            }),
        }),
    }
}

/// What stands for the method of a journey of several steps: the plan's is that of the first.
fn steps(run: &Run) -> Option<String> {
    let steps = &run.plan.journey.as_ref()?.steps;
    let named = steps.iter().take(STEPS_NAMED).map(|step| printable(step).into_owned());
    let more = steps.len().saturating_sub(STEPS_NAMED);
    let more = (more > 0).then(|| format!("{more} more"));
    (steps.len() > 1)
        .then(|| format!("those of {} steps: {}", steps.len(), listed(named.chain(more))))
}

/// Of one status a head changes by a date at most, and the first is as long as the others; what else was received may belong to no
/// response. Of several statuses it is the mean, where nothing else was received.
fn head_bytes(run: &Run) -> f64 {
    let record = &run.record;
    let first = record.first_head.len() as f64;
    let is_all = record.failures_total() == 0 && record.surplus == 0 && record.repeated == 0;
    let heads = record.received_bytes.saturating_sub(record.body_bytes);
    let mean = heads as f64 / record.responses.max(1) as f64;
    // Chunks, and the frames of HTTP/2, are no heads: then it is longer.
    let is_plain = run.plan.streams().is_none() && mean < 2.0 * first;
    match record.statuses.len() > 1 && is_all && is_plain && heads > 0 {
        true => mean,
        false => first,
    }
}

fn cpu(run: &Run) -> Option<CpuPerResponse> {
    let responses = run.record.responses as f64;
    let processes = &figures::monitor(run)?.target.processes;
    if processes.is_empty() || !processes.iter().all(Process::is_believed) || responses < 1.0 {
        return None;
    }
    // A process was watched for most of the run, not for all of it.
    let of_server = |ns: fn(&Process) -> u64| {
        let shares = processes.iter().map(|one| ns(one) as f64 / one.watched_ns.max(1) as f64);
        shares.sum::<f64>() * run.elapsed_ns as f64 / responses
    };
    let of_client = |ns: fn(&WorkerEffort) -> u64| {
        run.workers.iter().map(|worker| ns(worker) as f64).sum::<f64>() / responses
    };
    Some(CpuPerResponse {
        client_user_ns: of_client(|worker| worker.user_ns),
        client_system_ns: of_client(|worker| worker.system_ns),
        client_polled_ns: of_client(|worker| worker.spun_ns),
        server_user_ns: of_server(|process| process.user_ns),
        server_system_ns: of_server(|process| process.system_ns),
    })
}

fn responses(record: &Record) -> Responses {
    let all: u64 = record.statuses.values().sum();
    let good: u64 = record.statuses.range(200..300).map(|(_, responses)| responses).sum();
    match record.responses {
        0 if record.received_bytes == 0 => Responses::Nothing,
        _ if all == 0 => Responses::Unknown,
        _ => Responses::Good(good as f64 / all as f64),
    }
}

/// The mean of the responses' bodies: by their lengths, or, of more lengths than are told apart, by
/// all bytes of bodies, those of unfinished responses included.
fn body_bytes(record: &Record) -> Option<f64> {
    let told: u64 = record.body_lengths.values().sum();
    if told > 0 && record.body_lengths_other == 0 {
        let bytes: f64 = record.body_lengths.iter().map(|(b, n)| *b as f64 * *n as f64).sum();
        return Some(bytes / told as f64);
    }
    (record.responses > 0).then(|| record.body_bytes as f64 / record.responses as f64)
}

/// By how much that mean misses the mean of all responses that the server has, as a standard error: 0 where all are
/// equally long. Of lengths that are not told apart the mean is known; they are taken to differ by as much as that.
fn body_bytes_error(record: &Record) -> f64 {
    let Some(mean) = body_bytes(record) else { return 0.0 };
    let of = |(bytes, responses): (&u64, &u64)| (*bytes as f64 - mean).powi(2) * *responses as f64;
    let told: f64 = record.body_lengths.iter().map(of).sum();
    let (bytes, responses) = record
        .body_lengths
        .iter()
        .fold((0.0, 0), |(bytes, all), (length, n)| (bytes + *length as f64 * *n as f64, all + n));
    let others = record.body_lengths_other as f64;
    let of_others = (record.body_bytes as f64 - bytes).max(0.0) / others.max(1.0);
    let squares = told + others * ((of_others - mean).powi(2) + of_others.powi(2));
    squares.sqrt() / (responses as f64 + others).max(1.0)
}

/// As they were used, whatever was asked for.
fn connections(record: &Record) -> Connections {
    match record.responses {
        0 => Connections::Unknown,
        all if record.reused * 2 > all => Connections::Kept(Some(record.reused)),
        _ => Connections::PerRequest,
    }
}

fn server(run: &Run) -> Option<Server> {
    let busy = figures::server(run)?;
    let monitor = figures::monitor(run)?;
    let processes = &monitor.target.processes;
    let threads = || processes.iter().flat_map(|process| &process.threads);
    let most_ns = threads().map(|thread| thread.cpu_ns).max().unwrap_or(0) as f64;
    let workers = threads().filter(|thread| thread.cpu_ns as f64 >= A_WORKER * most_ns).count();
    let port = run.plan.target.port.to_string();
    // The first process with words: nginx's workers have a title in their place.
    let words = processes.iter().map(|process| &process.command_line).find(|line| !line.is_empty());
    Some(Server {
        command_line: words
            .map(|words| words.iter().map(|word| without_port(word, &port)).collect())
            .unwrap_or_default(),
        threads: (busy.busiest >= AT_ITS_LIMIT).then_some(workers),
        busiest: busy.busiest,
        // TCP's account stays 0 while writes wait, where it is not the window that holds them up.
        write_waited_ns: monitor
            .server_connections
            .as_ref()
            .and_then(waited_ns)
            .filter(|waited_ns| *waited_ns > 0 || !outgrows_its_buffer(run)),
    })
}

/// Two servers on one machine cannot listen at the same port: that is no difference of theirs.
fn without_port(word: &str, port: &str) -> String {
    match word.strip_suffix(port) {
        Some(rest) if rest.is_empty() || rest.ends_with([':', '=']) => format!("{rest}PORT"),
        _ => word.to_owned(),
    }
}

/// How long TCP held back what the server had written.
fn waited_ns(sockets: &Sockets) -> Option<u64> {
    let at = [&sockets.first, &sockets.last];
    at.map(|at| Some(at.window_limited_ns? + at.send_buffer_limited_ns?)).into_iter().max()?
}

/// Root findings of the Run by itself, graver than notes.
fn found(findings: &[Finding]) -> Vec<crate::DiagnosisId> {
    let roots = findings.iter().filter(|finding| finding.explained_by.is_none());
    roots.filter(|finding| finding.severity > Severity::Note).map(|finding| finding.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_no_difference() {
        let of = |word: &str| without_port(word, "8080");
        assert_eq!(
            [of("8080"), of("127.0.0.1:8080"), of("--port=8080")],
            ["PORT", "127.0.0.1:PORT", "--port=PORT"]
        );
        assert_eq!([of("18080"), of("--model"), of("")], ["18080", "--model", ""]);
    }
}
