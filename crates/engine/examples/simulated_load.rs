//! Loads a simulated server: the engine without a kernel, for counting its instructions.
//!
//! `simulated_load EXCHANGES WORKERS [patched]`: keep-alive, 100 connections, the response of a
//! small page. Run it under callgrind with two numbers of exchanges; the difference is what they
//! cost, set-up cancels out. With `patched` each request carries a `{seq}` and a `{rand:8}`.

use ablaze_engine::sink::NoSink;
use ablaze_engine::{Control, run_simulated_with_sinks};
use ablaze_model::plan::{
    ClockStarts, Close, Connections, IoChoice, Limits, Load, Plan, Requests, Spin, Target, Workers,
};
use ablaze_net::sim::FixedResponse;
use ablaze_wire::http1::builder::RequestBuilder;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nServer: simulated\r\n\
    Date: Sat, 21 Nov 2026 12:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 15\r\n\
    Connection: keep-alive\r\n\r\nHello, World!\r\n";

/// The simulated server's answering time, ns.
const DELAY_NS: u64 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (exchanges, workers) = match &words[..] {
        [exchanges, workers, ..] => (exchanges.parse()?, workers.parse()?),
        _ => return Err("usage: simulated_load EXCHANGES WORKERS [patched]".into()),
    };
    let patched = words.get(2).is_some_and(|word| word == "patched");
    let target = if patched { "/?id={seq}&key={rand:8}" } else { "/?id=0000000000&key=00000000" };
    let plan = plan(exchanges, workers, target)?;
    // Compiled for this one peer, so that none of its own instructions are a call's.
    let peers = [FixedResponse::new(ANSWER, DELAY_NS)];
    let control = Control::new();
    let (run, _) =
        run_simulated_with_sinks::<_, NoSink, false>(plan, &peers, &control, |_| NoSink)?;
    println!("{} responses, {} failures", run.record.responses, run.record.failures_total());
    if run.record.responses == exchanges {
        Ok(())
    } else {
        Err("not every request was answered".into())
    }
}

fn plan(exchanges: u64, workers: u32, target: &str) -> Result<Plan, Box<dyn std::error::Error>> {
    let template = RequestBuilder::new("GET", target).header("Host", "127.0.0.1").build()?;
    Ok(Plan {
        target: Target {
            url: "http://127.0.0.1/".to_owned(),
            host: "127.0.0.1".to_owned(),
            port: 80,
            path: "/".to_owned(),
            addresses: vec![([127, 0, 0, 1], 80).into()],
            unix_socket: None,
            proxy: None,
        },
        tls: None,
        http2: None,
        requests: Requests {
            templates: vec![template],
            order: Vec::new(),
            method: "GET".to_owned(),
            minor_version: 1,
            has_body: false,
            seed: 1,
        },
        load: Load::Closed { connections: 100, pipeline: 1 },
        limits: Limits {
            requests: Some(exchanges),
            duration_ns: None,
            warmup_ns: 0,
            timeout_ns: 30_000_000_000,
            max_head_bytes: 16 * 1024,
            unreachable_after: 10,
        },
        connections: Connections {
            keep_alive: true,
            requests_per_connection: None,
            close: Close::Await,
            repeat: true,
            clock_starts: ClockStarts::AfterConnecting,
            ramp_ns: 0,
            local_addresses: Vec::new(),
            local_ports: None,
            socket_buffer_bytes: None,
            no_delay: true,
        },
        workers: Workers {
            count: workers,
            count_reason: String::new(),
            cpus: Vec::new(),
            io: IoChoice::Auto,
            spin: Spin::Off,
            cpus_to_spare: false,
        },
        expect: vec![200..=399],
        keep_every_request: false,
    })
}
