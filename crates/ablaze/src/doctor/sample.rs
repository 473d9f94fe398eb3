//! Made-up facts for the tests of the checks: a machine with nothing in the way, to spoil.

use ablaze_load::planning::descriptors;
use ablaze_profile::recording::Permitted;
use std::time::Duration;

use ablaze_model::monitor::{Listener, Processors};
use ablaze_monitor::Reading;
use ablaze_monitor::preflight::{
    Container, Frequency, Holder, IdleState, IdleStates, Lateness, Loopback, Preflight, Server,
};

use super::facts::{Facts, Load, PROGRAMS, Target};

const SETTINGS: [(&str, &str); 14] = [
    ("kernel.io_uring_disabled", "0"),
    ("kernel.perf_event_paranoid", "1"),
    ("net.core.netdev_max_backlog", "1000"),
    ("net.core.rmem_max", "212992"),
    ("net.core.somaxconn", "4096"),
    ("net.core.wmem_max", "212992"),
    ("net.ipv4.ip_local_port_range", "32768 60999"),
    ("net.ipv4.tcp_max_syn_backlog", "4096"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_syncookies", "1"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_tw_reuse", "2"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
    ("net.ipv4.tcp_fin_timeout", "60"),
];

/// Eight idle CPUs, a kernel of today, room for everything, and no load in mind. What no check
/// reads is that of the machine the test runs on.
pub fn quiet() -> Facts {
    let mut preflight = Preflight::take(Duration::ZERO, &[]);
    let environment = &mut preflight.environment;
    environment.kernel = Some("6.12.0".to_owned());
    environment.cpus_online = Some(8);
    environment.cpus_allowed = Some((0..8).collect());
    environment.cpu_quota = None;
    environment.virtualisation = None;
    environment.memory_bytes = Some(16 << 30);
    environment.memory_available_bytes = Some(12 << 30);
    environment.load_average = Some(0.1);
    environment.clock_source = Some("tsc".to_owned());
    environment.descriptors.soft = Some(65_536);
    environment.descriptors.hard = Some(524_288);
    environment.settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    preflight.settings.clear();
    preflight.frequency = Frequency {
        governors: ["performance".to_owned()].into(),
        driver: Some("acpi-cpufreq".to_owned()),
        slowest_khz: Some(3_000_000),
        fastest_khz: Some(3_000_000),
        turbo: Some(false),
    };
    let shallow = IdleState { name: "C1".to_owned(), exit_us: 2 };
    preflight.idle_states = Some(IdleStates { states: vec![shallow] });
    preflight.throttled = None;
    (preflight.swap_bytes, preflight.swap_used_bytes) = (Some(0), Some(0));
    preflight.time_wait = Some(3);
    preflight.loopback = Some(Loopback { up: true, mtu_bytes: Some(65_536) });
    preflight.container = Container { kind: None, overlay_root: Some(false) };
    preflight.timer_slack_ns = Some(50_000);
    preflight.clock_read_ns = 25.0;
    preflight.programs =
        PROGRAMS.map(|name| (name.to_owned(), Some(format!("/usr/bin/{name}")))).into();
    let sample = &mut preflight.sample;
    sample.length_ns = 200_000_000;
    let now = Reading::now();
    sample.kernel = ablaze_monitor::between(&now, &now);
    (sample.kernel.softnet, sample.kernel.throttled) = (None, None);
    sample.kernel.processors = Some(Processors {
        user_ns: 0,
        system_ns: 10_000_000,
        interrupts_ns: 0,
        idle_ns: 1_590_000_000,
        steal_ns: 0,
        threads_include_interrupts: None,
    });
    if let Some(pressure) = &mut sample.kernel.pressure {
        pressure.cpu_some_ns = Some(0);
    }
    sample.neighbours = Some(Vec::new());
    let lateness = Lateness { sleeps: 190, p50_ns: 55_000, p99_ns: 80_000, max_ns: 90_000 };
    sample.lateness = Some(lateness);
    let load = Load {
        connections: None,
        rate_per_s: None,
        keep_alive: true,
        workers: 4,
        descriptors: None,
    };
    let samples = Ok(Permitted { event: "cycles", kernel: true });
    Facts { preflight, ring: Ok(()), samples, load, target: None }
}

/// The same, with a load in mind.
pub fn with_load(connections: u32, rate_per_s: Option<f64>) -> Facts {
    let mut facts = quiet();
    facts.load.connections = Some(connections);
    facts.load.descriptors = Some(descriptors::needed(connections, facts.load.workers));
    facts.load.rate_per_s = rate_per_s;
    facts
}

/// The same, towards an address where nobody was found: a loopback address is this host's.
pub fn with_target(address: &str) -> Facts {
    let mut facts = quiet();
    let address: std::net::SocketAddr = address.parse().unwrap();
    let here = address.ip().is_loopback();
    facts.target = Some(Target {
        url: format!("http://{address}/"),
        address,
        server: Server {
            on_this_host: here,
            listeners_are_told: here,
            listener: None,
            holders: Vec::new(),
            proxy: None,
        },
    });
    facts
}

/// A server on this host with such a backlog and so many descriptors, some of them open.
pub fn listening(backlog: u64, descriptors_soft: u64, descriptors_open: u64) -> Facts {
    let mut facts = with_target("127.0.0.1:80");
    let server = &mut facts.target.as_mut().unwrap().server;
    server.listener = Some(Listener {
        address: "127.0.0.1:80".to_owned(),
        sockets: 1,
        backlog: Some(backlog),
        longest_queue: Some(0),
        waiting: None,
    });
    server.holders = vec![Holder {
        pid: 4711,
        name: "server".to_owned(),
        descriptors_soft: Some(descriptors_soft),
        descriptors_open: Some(descriptors_open),
    }];
    facts
}

/// Gives a setting this value.
pub fn set(facts: &mut Facts, name: &str, value: &str) {
    facts.preflight.environment.settings.insert(name.to_owned(), value.to_owned());
}

/// Makes a setting one that cannot be read.
pub fn unset(facts: &mut Facts, name: &str) {
    facts.preflight.environment.settings.remove(name);
    facts.preflight.settings.remove(name);
}
