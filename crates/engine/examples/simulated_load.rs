//! Loads a simulated server: the engine without a kernel, for counting its instructions.
//!
//! `simulated_load EXCHANGES WORKERS [patched]`: keep-alive, 100 connections, the response of a
//! small page. Run it under callgrind with two numbers of exchanges; the difference is what they
//! cost, set-up cancels out. With `patched` each request carries a `{seq}` and a `{rand:8}`.

use ablaze_engine::sink::NoSink;
use ablaze_engine::{Control, run_simulated_with_sinks};
use ablaze_model::plan::{ClockStarts, Load, Plan};
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
    let mut plan = ablaze_tamper::plans::plan(template, exchanges, 10);
    plan.load = Load::Closed { connections: 100, pipeline: 1 };
    plan.limits.timeout_ns = 30_000_000_000;
    plan.connections.clock_starts = ClockStarts::AfterConnecting;
    plan.workers.count = workers;
    Ok(plan)
}
