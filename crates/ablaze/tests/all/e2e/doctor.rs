//! `ablaze doctor` on machines with something in the way: few descriptors, one CPU, a network
//! namespace of its own, io_uring forbidden, a listener too small.

use std::process::Command;

use serde_json::Value;
use socket2::{Domain, Socket, Type};

use ablaze_testing::skip::{find, skip};

use ablaze_testing::Bounded;

use crate::e2e::forbidden_ring::forbidden;
use crate::e2e::support::{Ran, ablaze, run, serve, url};

/// What `--json` says on the check of this name.
fn check(ran: &Ran, name: &str) -> Value {
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    let checks = json["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {json:#}")).clone()
}

/// Runs `ablaze doctor --json` with these words behind a line of shell.
fn doctor_behind(shell: &str, words: &str) -> Ran {
    let line = format!("{shell} \"$0\" doctor --json {words}");
    run(Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_ablaze")]))
}

#[test]
fn this_machine_gets_a_response_in_words_and_in_json() {
    let ran = ablaze(&["doctor"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let first = ran.stdout.lines().next().unwrap();
    assert!(first.contains("problem") && first.ends_with("for this machine"), "{first}");
    assert!(ran.stdout.contains("\nfine: "), "{}", ran.stdout);
    println!("{}", ran.stdout);

    let json = ablaze(&["doctor", "--json"]).json();
    let checks = json["checks"].as_array().unwrap();
    let states = ["problem", "note", "ok", "unknown"].map(|state| {
        let of_state: Vec<&Value> = checks.iter().filter(|check| check["state"] == state).collect();
        // What is in the way says what that does.
        assert!(
            of_state.iter().all(|check| check["effect"].is_string()
                == (state == "problem" || state == "note")),
            "{of_state:?}"
        );
        of_state.len()
    });
    assert_eq!(states.iter().sum::<usize>(), checks.len());
    assert_eq!((&json["problems"], &json["notes"]), (&states[0].into(), &states[1].into()));
    assert!(json["machine"]["sample"]["length_ns"].as_u64().unwrap() >= 200_000_000);
    assert!(checks.iter().all(|check| check["name"] != "target"), "no URL was given");
}

#[test]
fn few_descriptors_are_a_problem_with_the_command_that_raises_the_limit() {
    let found = check(&doctor_behind("ulimit -n 64;", ""), "descriptors");
    assert_eq!(
        (&found["state"], &found["figure"]),
        (&"problem".into(), &"soft limit 64, hard limit 64".into())
    );
    assert!(found["command"].as_str().unwrap().starts_with("sudo prlimit --pid $$ --nofile="));
    // 20 connections, 8 descriptors for each worker and 32 for the process fit into 256.
    let found = check(&doctor_behind("ulimit -n 256;", "-c 20"), "descriptors");
    assert_eq!(found["state"], "ok", "{found}");
    let found = check(&doctor_behind("ulimit -n 256;", "-c 240"), "descriptors");
    assert_eq!(found["state"], "problem", "{found}");
    // The soft limit alone is no matter to ablaze, which raises it.
    let found = check(&doctor_behind("ulimit -n 1000; ulimit -Sn 64;", "-c 100"), "descriptors");
    assert_eq!(found["state"], "note", "{found}");
    assert_eq!(found["command"], "ulimit -n 1000");
}

#[test]
fn a_shell_bound_to_one_cpu_is_told_how_to_use_all() {
    let allowed = ablaze_sys::allowed_cpus().unwrap();
    if allowed.len() < 2 || find("taskset").is_none() {
        return skip("one CPU, or no taskset");
    }
    let ran = doctor_behind(&format!("exec taskset -c {}", allowed[0]), "");
    let found = check(&ran, "cpus");
    assert_eq!(found["state"], "note");
    assert!(found["figure"].as_str().unwrap().starts_with("1 CPU allowed of "), "{found}");
    assert!(found["command"].as_str().unwrap().starts_with("taskset -cp 0-"));
    let server = serve();
    let ran = doctor_behind(&format!("exec taskset -c {}", allowed[0]), &url(&server, "/"));
    assert_eq!(check(&ran, "cpus-left")["state"], "problem");
}

#[test]
fn a_network_namespace_without_loopback_and_with_few_ports_is_seen() {
    let unshared = Command::new("unshare").args(["-Urn", "true"]).bounded_status();
    if !unshared.is_ok_and(|status| status.success()) {
        return skip("no network namespaces without root here");
    }
    let found = check(&doctor_behind("exec unshare -Urn", ""), "loopback");
    assert_eq!(
        (&found["state"], &found["command"]),
        (&"problem".into(), &"sudo ip link set lo up".into())
    );

    let range = "/proc/sys/net/ipv4/ip_local_port_range";
    let inside = |ports: &str| {
        let line = format!(
            "echo {ports} > {range} && exec \"$0\" doctor --json -c 200 -r 1000 --no-keepalive"
        );
        let program = env!("CARGO_BIN_EXE_ablaze");
        run(Command::new("unshare").args(["-Urn", "sh", "-c", &line, program]))
    };
    let ran = inside("50000 50100");
    if ran.stdout.is_empty() {
        return skip(&format!("settings of a namespace are not for us: {}", ran.stderr));
    }
    let found = check(&ran, "local-ports");
    assert_eq!(found["state"], "problem");
    assert_eq!(found["figure"], "101 local ports (50000 to 50100)");
    assert_eq!(check(&ran, "connection-rate")["state"], "problem");
    // What the command sets mends it.
    assert!(found["command"].as_str().unwrap().ends_with("=\"1024 65535\""));
    let ran = inside("1024 65535");
    assert_eq!(check(&ran, "local-ports")["state"], "ok");
    assert_eq!(check(&ran, "connection-rate")["state"], "ok", "60,000 of 64,512");
}

#[test]
fn a_forbidden_ring_is_noted_with_the_reason() {
    for (errno, name) in [(libc::EPERM, "EPERM"), (libc::ENOSYS, "ENOSYS")] {
        let found =
            check(&forbidden(libc::SYS_io_uring_setup, errno, &["doctor", "--json"]), "io_uring");
        assert_eq!(found["state"], "note", "{found}");
        assert!(found["figure"].as_str().unwrap().contains(name), "{found}");
        assert!(found["advice"].as_str().is_some() || found["command"].as_str().is_some());
    }
}

#[test]
fn the_target_is_looked_at_and_not_connected_to() {
    let server = serve();
    let ran = ablaze(&["doctor", "--json", &url(&server, "/"), "-c", "10"]);
    let found = check(&ran, "target");
    assert_eq!(found["state"], "ok", "{found}");
    let holder = format!("(pid {})", std::process::id());
    assert!(found["figure"].as_str().unwrap().contains(&holder), "{found}");
    assert_eq!(check(&ran, "listen-backlog")["state"], "ok");
    assert_eq!(check(&ran, "server-descriptors")["state"], "ok");
    let address = server.address();
    assert_eq!(server.stop().unwrap().connections, 0);
    let found = check(&ablaze(&["doctor", "--json", &format!("http://{address}/")]), "target");
    assert_eq!(found["state"], "problem");
    assert_eq!(found["command"], format!("ablaze serve {address}"));
}

#[test]
fn a_backlog_below_the_connections_is_a_problem() {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    listener.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    listener.listen(5).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let ask = |connections: &str| {
        let ran = ablaze(&["doctor", "--json", &format!("http://{address}/"), "-c", connections]);
        check(&ran, "listen-backlog")
    };
    assert_eq!(ask("6")["state"], "ok");
    let found = ask("100");
    assert_eq!(found["state"], "problem");
    assert_eq!(found["figure"], "up to 5 connections can wait to be accepted");
    assert!(found["advice"].as_str().unwrap().contains("backlog=100"));
}

#[test]
fn what_cannot_be_answered_is_refused_in_a_line() {
    ablaze(&["doctor", "--cores", "5"]).assert_one_line(2, "ablaze doctor --help");
    ablaze(&["doctor", "-c", "0"]).assert_one_line(2, "-c 1");
    ablaze(&["doctor", "-r", "fast"]).assert_one_line(2, "1000/s");
    ablaze(&["doctor", "http://no-such-host.invalid/"]).assert_one_line(1, "no-such-host.invalid");
    let ran = ablaze(&["doctor", "--help"]);
    assert!(ran.status == 0 && ran.stdout.contains("Exit status"), "{ran:?}");
}
