//! What the monitor saw of the runs made by hand: an nginx of one thread that was full. Everything
//! that can be known is, so that every field of the file is seen by the tests.

use std::collections::BTreeMap;

use ablaze_model::monitor::*;

const SECOND_NS: u64 = 1_000_000_000;

pub fn monitor() -> Monitored {
    Monitored {
        interval_ns: 10 * SECOND_NS + 60_000_000,
        cost_ns: Some(31_000_000),
        environment: environment(),
        kernel: kernel(),
        target: Target {
            on_this_host: true,
            listener: Some(Listener {
                address: "0.0.0.0:8080".into(),
                sockets: 1,
                backlog: Some(511),
                longest_queue: Some(12),
                waiting: Some(0),
            }),
            woken_per_connection: Some(1),
            throttled: Some(Throttled { periods: 0, of_periods: Some(100), time_ns: 0 }),
            children_ended: 0,
            processes: vec![Process {
                serving: Some(serving()),
                ..process(4711, "nginx", "nginx", 9_600_000_000)
            }],
        },
        client: Some(process(4800, "ablaze", "worker-0", 72_000_000)),
        connections: Some(Connections {
            first: connections(200_000_000, 0),
            last: connections(9 * SECOND_NS, 3),
        }),
        server_connections: Some(Connections {
            first: connections(200_000_000, 0),
            last: connections(9 * SECOND_NS, 1),
        }),
        server_datagrams: None,
        heartbeat: Some(Heartbeat {
            beats: 9_000,
            gaps: 0,
            gaps_ns: 0,
            gaps_waited_ns: Some(0),
            longest: Vec::new(),
        }),
    }
}

/// A gap, for runs in which there was one.
pub fn gap() -> Gap {
    Gap { at_clock_ns: 5 * SECOND_NS, length_ns: 30_000_000, waited_ns: Some(29_000_000) }
}

fn environment() -> Environment {
    Environment {
        kernel: Some("6.8.0".into()),
        architecture: "x86_64".into(),
        cpu_model: Some("A model".into()),
        cpus_online: Some(2),
        cpus_allowed: Some(vec![0, 1]),
        cpu_quota: Some(1.5),
        memory_limit_bytes: Some(4_000_000_000),
        timer_slack_ns: Some(50_000),
        client_build: Some("release".into()),
        governor: Some("performance".into()),
        virtualisation: Some("QEMU".into()),
        memory_bytes: Some(8_000_000_000),
        memory_available_bytes: Some(5_000_000_000),
        load_average: Some(0.25),
        clock_source: Some("tsc".into()),
        descriptors: DescriptorLimits { soft: Some(1024), hard: Some(524_288) },
        settings: BTreeMap::from([("net.core.somaxconn".into(), "4096".into())]),
    }
}

fn kernel() -> Kernel {
    Kernel {
        network: Some(BTreeMap::from([("TcpRetransSegs".into(), 3)])),
        softnet: Some(Softnet { processed: 80_000, dropped: 0, squeezed: 1 }),
        time_wait: Some(TimeWait { before: 2, after: 7 }),
        pressure: Some(Pressure {
            cpu_some_ns: Some(40_000_000),
            memory_some_ns: Some(0),
            memory_full_ns: Some(0),
            io_some_ns: Some(1_000_000),
            io_full_ns: Some(0),
        }),
        processors: Some(Processors {
            user_ns: 3 * SECOND_NS,
            system_ns: 7 * SECOND_NS,
            interrupts_ns: 100_000_000,
            idle_ns: 10 * SECOND_NS,
            steal_ns: 0,
            threads_include_interrupts: None,
        }),
        throttled: Some(Throttled { periods: 0, of_periods: Some(100), time_ns: 0 }),
        suspended_ns: Some(0),
        connection_tracking: Some(ConnectionTracking {
            before: 4,
            after: 104,
            most: 262_144,
            insert_failed: Some(0),
            dropped: Some(0),
            dropped_early: Some(0),
        }),
    }
}

fn process(pid: u32, name: &str, thread: &str, cpu_ns: u64) -> Process {
    let range = |value| Some(Range { min: value, max: value, last: value });
    Process {
        pid,
        name: name.into(),
        executable: Some(format!("/usr/sbin/{name}")),
        command_line: vec![name.into()],
        watched_ns: 10 * SECOND_NS,
        readings: 140,
        user_ns: cpu_ns / 4,
        system_ns: cpu_ns - cpu_ns / 4,
        memory_bytes: range(9_000_000),
        descriptors: range(110),
        thread_count: range(1),
        switches: Some(Switches { voluntary: 12_000, involuntary: 40 }),
        cpus_allowed: vec![0, 1],
        ended: false,
        stopped_readings: 0,
        traced_by: None,
        serving: None,
        at_rest: Some(AtRest {
            settled_ns: 15_000_000,
            watched_ns: 35_000_000,
            busiest_share: 0.0,
            cores: 0.0,
            busy_threads: 0,
        }),
        threads: vec![Thread {
            tid: pid,
            name: thread.into(),
            cpu_ns,
            waited_ns: 20_000_000,
            share: Shares { min: 0.0, max: 1.0, last: 0.5 },
        }],
    }
}

fn serving() -> Serving {
    Serving {
        build: Some(Build {
            compiler: Some("GNU C17 12.2.0".into()),
            options: Some("-g -O2".into()),
            optimisation: Some("-O2".into()),
            units: 32,
            unoptimised_units: 0,
            sanitizers: Vec::new(),
        }),
        descriptor_limit: Some(1024),
        at_rest: None,
        output: Some(Output {
            write_calls: Some(40_000),
            written_bytes: Some(6_000_000),
            standard: Some(Standard {
                name: "/dev/pts/3".into(),
                terminal: true,
                written_to: Some(false),
            }),
            files: vec![GrownFile {
                path: "/var/log/access.log".into(),
                bytes: 1_900,
                watched_ns: None,
                bytes_around: None,
                line_bytes: Some(95.0),
            }],
        }),
    }
}

fn connections(at_clock_ns: u64, retransmissions: u64) -> ConnectionsAt {
    let times = Spread { min_ns: 20_000, median_ns: 31_000, max_ns: 88_000 };
    ConnectionsAt {
        at_clock_ns,
        connections: 100,
        retransmissions,
        with_retransmissions: retransmissions.min(1),
        round_trip: Some(times),
        shortest_round_trip: Some(times),
        busy_ns: Some(SECOND_NS),
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
    }
}
