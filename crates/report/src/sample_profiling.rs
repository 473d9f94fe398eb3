//! What profiling came to, made by hand: a profile of the server, and a client that could not be
//! sampled.

use ablaze_model::profiling::*;

pub fn profiling() -> Profiling {
    let why = Refused::new(
        "the kernel lets nobody but root take samples (kernel.perf_event_paranoid is 4)",
        "`sudo sysctl kernel.perf_event_paranoid=1`",
    );
    Profiling {
        run: Some(ProfiledRun {
            elapsed_ns: 10_000_000_000,
            requests: 19_000,
            rate_per_s: 1_900.0,
            server_cpu_ns: Some(500_000.0),
            client_cpu_ns: Some(3_700.0),
        }),
        profiles: vec![profile()],
        refused: vec![NotProfiled { of: Whom::Client, why }],
    }
}

/// 500 µs per request: four fifths in the kernel's send.
fn profile() -> Profile {
    let stack = |frames: &str, samples: u64| Stack {
        frames: frames.into(),
        samples,
        weight: samples * 1_000_000,
    };
    Profile {
        of: Whom::Target,
        name: "nginx".into(),
        pids: vec![4711],
        event: "cpu-clock".into(),
        frequency_hz: 999,
        kernel: true,
        samples: 9_500,
        lost: 3,
        broken: 1_900,
        broken_ends: Some(BrokenEnds {
            without_table: 1_900,
            files: vec!["nginx".into()],
            without_file: 0,
        }),
        requests: 19_000,
        cpu_ns: 9_500_000_000,
        cpu_per_request_ns: 500_000.0,
        stacks: vec![
            stack("_start;main;ngx_worker_process_cycle;send;tcp_sendmsg_[k]", 7_600),
            stack("_start;main;ngx_worker_process_cycle;ngx_http_parse_request_line", 1_900),
        ],
    }
}
