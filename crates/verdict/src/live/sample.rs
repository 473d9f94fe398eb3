//! Runs made by hand, for the tests of the rules.

mod recorded;

use std::collections::BTreeMap;

use ablaze_model::Run;
use ablaze_model::fleet::{Fleet, FleetWorker, WorkerMachine};
use ablaze_model::monitor::*;
use ablaze_model::plan::proxy::{Proxy, Way};
use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_model::record::{
    DatagramTraffic, Http2Facts, Http3Facts, QuicFacts, ServerSettings, Slice,
};
use ablaze_model::run::WorkerEffort;
use ablaze_model::spec::{FrontEnd, Head, Line, LoadSpec, Shape, UrlSpec};

/// Everybody whose options a finding can advise.
pub const FRONT_ENDS: [FrontEnd; 9] = [
    FrontEnd::Load,
    FrontEnd::Ab,
    FrontEnd::Gurl,
    FrontEnd::Wrk,
    FrontEnd::Hey,
    FrontEnd::H2load,
    FrontEnd::Oha,
    FrontEnd::Vegeta,
    FrontEnd::Library,
];

/// Ten seconds of 100 connections to an nginx of one thread on this host of two processors: 20,000
/// responses, the server full, the client not.
pub fn run() -> Run {
    with_shares(0.96, 0.75)
}

/// The same with other shares of a core for the server's one thread and the client's one thread.
pub fn with_shares(server: f64, client: f64) -> Run {
    let mut run = recorded::run();
    let record = &mut run.record;
    // Little's law: 20,000 responses of 500 µs.
    record.in_flight_ns = 20_000 * 500_000;
    record.answered.total.clear();
    record.answered.total.record_many(500_000, 20_000);
    let slice =
        Slice { responses: 200, failures: 0, p50_ns: 500_000, p99_ns: 500_000, max_ns: 500_000 };
    record.slices.slices = vec![slice; 100];
    let busy_ns = (client * 1e10) as u64;
    run.workers = vec![WorkerEffort {
        user_ns: busy_ns,
        busy_ns,
        window_ns: 10_000_000_000,
        ..WorkerEffort::default()
    }];
    run.monitor = Some(monitored((server * 1e10) as u64, busy_ns));
    run
}

/// So many machines that are alike, and did the same each.
pub fn fleet(workers: u32) -> Fleet {
    let machine = WorkerMachine {
        kernel: Some("6.1.0".to_owned()),
        cpus_allowed: Some(8),
        connections: 10,
        backend: "io_uring".to_owned(),
        ..WorkerMachine::default()
    };
    let worker = |number: u32| FleetWorker {
        name: format!("host-{number}"),
        machine: Some(machine.clone()),
        counted: true,
        responses: 10_000,
        elapsed_ns: 10_000_000_000,
        ..FleetWorker::default()
    };
    Fleet { workers: (0..workers).map(worker).collect(), ..Fleet::default() }
}

/// Ten connections over HTTP/2 with so many streams each; the server permits 128.
pub fn over_http2(streams: u32) -> Run {
    let mut run = run();
    run.plan.load = Load::Closed { connections: 10, pipeline: streams };
    run.plan.http2 = Some(ablaze_model::plan::Http2 { streams });
    run.record.connections_opened = 10;
    let settings = ServerSettings {
        streams_max: Some(128),
        stream_window_bytes: 65_535,
        payload_bytes_max: 16_384,
        header_list_bytes: None,
    };
    let facts = Http2Facts { settings: Some(settings), ..Http2Facts::default() };
    run.record.http2 = Some(Box::new(facts));
    run
}

/// Ten connections over HTTP/3 on a path that loses nothing, 5 datagrams with each call.
pub fn over_http3() -> Run {
    let mut run = run();
    run.plan.load = Load::Closed { connections: 10, pipeline: 10 };
    run.plan.http3 = Some(ablaze_model::plan::Http3::with_streams(10));
    run.record.connections_opened = 10;
    let traffic = DatagramTraffic { calls: 10_000, datagrams: 50_000, bytes: 60_000_000 };
    let quic = QuicFacts {
        handshakes: 10,
        sent: traffic,
        received: traffic,
        packets_sent: 50_000,
        ..QuicFacts::default()
    };
    run.record.http3 = Some(Box::new(Http3Facts { quic, ..Http3Facts::default() }));
    run
}

/// As if the run of [`run`] had been asked for with these header lines.
pub fn asked(run: &mut Run, lines: &[&str]) {
    let mut spec = LoadSpec::default();
    let target = &run.plan.target;
    spec.destination.url = Some(UrlSpec {
        shown: target.url.clone(),
        https: run.plan.tls.is_some(),
        host: target.host.clone(),
        port: target.port,
        path: target.path.clone(),
    });
    spec.requests.head = Head::Composed {
        lines: lines.iter().map(|line| Line::Text((*line).into())).collect(),
        content_type: None,
        user: None,
        user_agent: None,
    };
    spec.shape = Shape::Closed { connections: Some(run.plan.load.connections()) };
    run.asked = Some(Box::new(spec));
}

/// One on this host that passes requests on.
pub fn proxy() -> Proxy {
    Proxy { host: "127.0.0.1".to_owned(), port: 3128, way: Way::Forward, credentials: None }
}

/// Makes server and client rest for most of the time.
pub fn idle(run: &mut Run) {
    let idle = with_shares(0.2, 0.1);
    run.workers = idle.workers;
    run.monitor = idle.monitor;
}

/// Nothing came back, and 100 requests wait.
pub fn nobody_answers(run: &mut Run) {
    run.record.responses = 0;
    run.record.reused = 0;
    run.record.statuses.clear();
    run.record.answered.total.clear();
    run.record.unfinished = 100;
    for slice in &mut run.record.slices.slices {
        *slice = Slice::default();
    }
}

/// Makes it an open loop.
pub fn open_loop(run: &mut Run, per_s: f64) {
    let rate = RateProfile::constant(per_s);
    let arrivals = Arrivals::Constant;
    run.plan.load = Load::Open { rate, arrivals, connections: 100, bounded: true };
}

pub fn monitor(run: &mut Run) -> &mut Monitored {
    run.monitor.as_mut().unwrap()
}

/// The threads of the server.
pub fn threads(run: &mut Run) -> &mut Vec<Thread> {
    &mut monitor(run).target.processes[0].threads
}

/// What is known of the server because it serves.
pub fn serving(run: &mut Run) -> &mut Serving {
    monitor(run).target.processes[0].serving.as_mut().unwrap()
}

/// The times of the machine's processors.
pub fn processors(run: &mut Run) -> &mut Processors {
    monitor(run).kernel.processors.as_mut().unwrap()
}

/// Sets what a counter of the network rose by.
pub fn counter(run: &mut Run, name: &str, value: u64) {
    let counters = monitor(run).kernel.network.as_mut().unwrap();
    counters.insert(name.to_owned(), value);
}

/// TCP's figures on 100 connections without a fault.
pub fn connections() -> Connections {
    let times = Spread { min_ns: 10_000, median_ns: 20_000, max_ns: 30_000 };
    let at = ConnectionsAt {
        at_clock_ns: 1,
        connections: 100,
        retransmissions: 0,
        with_retransmissions: 0,
        round_trip: Some(times),
        shortest_round_trip: Some(times),
        busy_ns: Some(0),
        window_limited_ns: Some(0),
        send_buffer_limited_ns: Some(0),
        sent_segments: Some(20_000),
        received_segments: Some(20_000),
        acknowledged_bytes: Some(1_600_000),
        received_bytes: Some(3_400_000),
        unsent_bytes: Some(0),
        send_queue_bytes: Some(0),
        with_send_queue: Some(0),
        silent: Some(0),
        silent_with_send_queue: Some(0),
    };
    Connections { first: at, last: at }
}

fn monitored(server_ns: u64, client_ns: u64) -> Monitored {
    let share = Shares { min: 0.0, max: 1.0, last: 0.5 };
    let thread = |name: &str, cpu_ns| Thread {
        tid: 4711,
        name: name.to_owned(),
        cpu_ns,
        waited_ns: 0,
        share,
    };
    let process = |name: &str, cpu_ns, threads| Process {
        pid: 4711,
        name: name.to_owned(),
        executable: None,
        command_line: Vec::new(),
        watched_ns: 10_000_000_000,
        readings: 100,
        user_ns: cpu_ns / 4,
        system_ns: cpu_ns - cpu_ns / 4,
        memory_bytes: None,
        descriptors: None,
        thread_count: None,
        switches: None,
        cpus_allowed: Vec::new(),
        ended: false,
        stopped_readings: 0,
        traced_by: None,
        serving: None,
        at_rest: None,
        threads,
    };
    Monitored {
        interval_ns: 10_000_000_000,
        cost_ns: Some(20_000_000),
        environment: Environment {
            kernel: None,
            architecture: "x86_64".to_owned(),
            cpu_model: None,
            cpus_online: Some(2),
            cpus_allowed: Some(vec![0, 1]),
            cpu_quota: None,
            memory_limit_bytes: None,
            timer_slack_ns: None,
            client_build: None,
            governor: None,
            virtualisation: None,
            memory_bytes: None,
            memory_available_bytes: None,
            load_average: None,
            clock_source: None,
            descriptors: DescriptorLimits { soft: Some(1024), hard: Some(1024) },
            settings: BTreeMap::from([(
                "net.ipv4.ip_local_port_range".to_owned(),
                "32768 60999".to_owned(),
            )]),
        },
        kernel: Kernel {
            network: Some(BTreeMap::from([
                ("TcpInSegs".to_owned(), 40_000),
                ("TcpExtTCPBacklogDrop".to_owned(), 0),
                ("TcpExtListenOverflows".to_owned(), 0),
            ])),
            softnet: None,
            time_wait: None,
            pressure: None,
            processors: Some(Processors {
                user_ns: server_ns + client_ns,
                system_ns: 0,
                interrupts_ns: 0,
                idle_ns: 20_000_000_000u64.saturating_sub(server_ns + client_ns),
                steal_ns: 0,
                threads_include_interrupts: None,
            }),
            throttled: None,
            suspended_ns: Some(0),
            connection_tracking: None,
        },
        target: Target {
            on_this_host: true,
            listener: Some(Listener {
                address: "127.0.0.1:8080".to_owned(),
                sockets: 1,
                backlog: Some(511),
                longest_queue: Some(3),
                waiting: Some(0),
            }),
            woken_per_connection: None,
            throttled: None,
            children_ended: 0,
            processes: vec![Process {
                serving: Some(Serving { descriptor_limit: Some(1024), ..Serving::default() }),
                ..process("nginx", server_ns, vec![thread("nginx", server_ns)])
            }],
        },
        client: Some(process("ablaze", client_ns, vec![thread("worker-0", client_ns)])),
        connections: Some(connections()),
        server_connections: Some(connections()),
        server_datagrams: None,
        heartbeat: Some(Heartbeat { beats: 9000, ..Heartbeat::default() }),
    }
}
