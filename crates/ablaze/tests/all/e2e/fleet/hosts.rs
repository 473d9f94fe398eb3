//! A fleet on three hosts with networks of their own, reached by an sshd on each; and the same behind one translator of addresses.

use std::process::Command;

use ablaze_testing::skip::skip;
use ablaze_testing::{Bounded, Running};
use serde_json::Value;

use super::networks::{CENTER, Networks, ROUTER, address};
use super::ssh::Login;
use super::{coordinator, finding, unwrapped};
use crate::e2e::support::{Ran, eventually, number};

/// A built-in server on the coordinator's machine.
struct Server {
    _running: Running,
    url: String,
}

impl Server {
    fn at_the_center(networks: &Networks) -> Self {
        let told = networks.folder.path().join("served");
        let mut serve = Command::new("sh");
        let line = format!(
            "exec {} serve {CENTER}:8000 --quiet > {}",
            env!("CARGO_BIN_EXE_ablaze"),
            told.display()
        );
        serve.args(["-c", &line]);
        let running = networks.at_the_center(&serve).start().unwrap();
        let listens = || std::fs::read_to_string(&told).is_ok_and(|said| said.contains("http://"));
        assert!(eventually(listens), "no server at {CENTER}");
        Self { _running: running, url: format!("http://{CENTER}:8000/") }
    }
}

/// What a run from all hosts says.
fn load(networks: &Networks, fleet: &str, path: &str, url: &str) -> Ran {
    let words = [
        "load", "--quiet", "--json", "--fleet", fleet, "-c", "12", "--rate", "3000", "-n", "4500",
        url,
    ];
    let mut command = coordinator(&words);
    if !path.is_empty() {
        let own = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path);
        let own = own.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        command.env("PATH", format!("{path}:{own}"));
    }
    networks.at_the_center(&command).ran()
}

/// The addresses that the target's host saw.
fn seen_from(json: &Value) -> Vec<String> {
    let seen = json["fleet"]["seen_from"].as_array().cloned().unwrap_or_default();
    seen.iter().map(|seen| seen["address"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn three_hosts_by_ssh_are_seen_by_their_own_addresses() {
    let networks = match Networks::of(3, "fleet-hosts-ssh") {
        Ok(networks) => networks,
        Err(why) => return skip(&format!("fleets over networks of their own: {why}")),
    };
    let login = match Login::new(&networks.folder) {
        Ok(login) => login,
        Err(why) => return skip(&format!("fleets over ssh and networks of their own: {why}")),
    };
    let mut hosts = Vec::new();
    for number in 1..=3 {
        let own = address(number);
        hosts.push(networks.on_host(number, &login.sshd(&own, 22)).start().unwrap());
        login.reach(&format!("host-{number}"), &own, 22);
    }
    let server = Server::at_the_center(&networks);
    let path = login.bin().display().to_string();
    let reached = |number: usize| {
        let mut ssh = Command::new(login.bin().join("ssh"));
        ssh.args(["-o", "BatchMode=yes", &format!("host-{number}"), "true"]);
        networks.at_the_center(&ssh).ran().status == 0
    };
    assert!((1..=3).all(|number| eventually(|| reached(number))), "no sshd lets anybody in");
    let ran = load(&networks, "ssh:host-1,host-2,host-3", &path, &server.url);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    // The sum of a schedule that is dealt to three.
    assert_eq!(number(&json, "/responses") + number(&json, "/unfinished/count"), 4500, "{ran:?}");
    let workers = json["fleet"]["workers"].as_array().unwrap();
    for (at, worker) in workers.iter().enumerate() {
        assert_eq!(worker["machine"]["host"], format!("host-{}", at + 1));
        assert_eq!(worker["machine"]["source"], address(at + 1));
    }
    assert_eq!(seen_from(&json), [1, 2, 3].map(address));
    assert_eq!(finding(&json, "D53"), None, "{ran:?}");
    // The server is on the coordinator's machine, which watches it.
    let target = &json["monitor"]["target"]["processes"];
    assert!(target[0]["command_line"].to_string().contains("serve"), "{target}");
}

#[test]
fn a_worker_on_the_targets_host_is_told_of_unless_all_are_there() {
    let networks = match Networks::of(2, "fleet-hosts-target") {
        Ok(networks) => networks,
        Err(why) => return skip(&format!("a worker on the target's host: {why}")),
    };
    let server = Server::at_the_center(&networks);
    let said = |names: &str| load(&networks, &networks.exec_on(names), "", &server.url).json();
    let json = said("host-1,center,host-2");
    let found = finding(&json, "D47").unwrap_or_else(|| panic!("{json}"));
    assert_eq!(found["severity"], "suspect", "{found}");
    let evidence = found["evidence"].as_str().unwrap();
    assert!(evidence.starts_with("1 of 3 workers run on the target's host"), "{evidence}");
    for names in ["host-1,host-2", "center,center"] {
        assert_eq!(finding(&said(names), "D47"), None, "{names}");
    }
}

#[test]
fn what_the_doctor_finds_on_a_host_is_told_by_its_name() {
    let networks = match Networks::of(2, "fleet-hosts-doctor") {
        Ok(networks) => networks,
        Err(why) => return skip(&format!("fleets over networks of their own: {why}")),
    };
    let mut sysctl = Command::new("sh");
    sysctl.args(["-c", "echo 60000 60100 > /proc/sys/net/ipv4/ip_local_port_range"]);
    let set = networks.on_host(1, &sysctl).ran();
    assert_eq!(set.status, 0, "{set:?}");
    let server = Server::at_the_center(&networks);
    let ran = load(&networks, &networks.exec(), "", &server.url);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    let ports = [0, 1].map(|at| {
        let checks = json["fleet"]["workers"][at]["machine"]["checks"].as_array().cloned();
        checks.unwrap_or_default().into_iter().find(|check| check["name"] == "local-ports")
    });
    let [Some(found), None] = &ports else { panic!("{ports:?}") };
    assert_eq!(found["state"], "problem");
    assert!(found["figure"].as_str().unwrap().starts_with("101 local ports"), "{found}");
    let words = ["report", &networks.folder.write("run.json", &ran.stdout)];
    let report = crate::e2e::support::run(&mut coordinator(&words));
    let told = unwrapped(&report);
    assert!(told.contains("The doctor's problem local-ports on host-1: 101 local ports"), "{told}");
}

#[test]
fn hosts_behind_one_translator_of_addresses_are_told_of() {
    let networks = match Networks::of(2, "fleet-hosts-nat") {
        Ok(networks) => networks,
        Err(why) => return skip(&format!("fleets behind NAT: {why}")),
    };
    if let Err(why) = networks.translate() {
        return skip(&format!("fleets behind NAT: {why}"));
    }
    let server = Server::at_the_center(&networks);
    let ran = load(&networks, &networks.exec(), "", &server.url);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    assert_eq!(seen_from(&json), [ROUTER]);
    let found = finding(&json, "D53").unwrap_or_else(|| panic!("{ran:?}"));
    assert_eq!(found["severity"], "suspect", "{found}");
    let evidence = found["evidence"].as_str().unwrap();
    for part in [ROUTER, "2 of 2 workers", &address(1), &address(2)] {
        assert!(evidence.contains(part), "{part}: {evidence}");
    }
}

#[test]
fn a_translator_without_ports_left_is_told_by_the_connections_that_could_be_opened() {
    let networks = match Networks::of(2, "fleet-hosts-ports") {
        Ok(networks) => networks,
        Err(why) => return skip(&format!("fleets behind NAT: {why}")),
    };
    // Five for each of them, so that each measures something.
    let first = networks.translate_to_ports(1, "30000-30004");
    if let Err(why) = first.and_then(|()| networks.translate_to_ports(2, "30005-30009")) {
        return skip(&format!("fleets behind NAT: {why}"));
    }
    let server = Server::at_the_center(&networks);
    // A thread of a worker may get no port at all, and gives up before the common start.
    let words = ["--fleet", &networks.exec(), "-c", "24", "-t", "2", "-d", "2", "--timeout", "4s"];
    let words = [&["load", "--quiet", "--json"], &words[..], &[&server.url]].concat();
    let ran = networks.at_the_center(&coordinator(&words)).ran();
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    for worker in json["fleet"]["workers"].as_array().unwrap() {
        assert_eq!(worker["lost"], Value::Null, "{ran:?}");
    }
    assert_eq!(seen_from(&json), [ROUTER]);
    let found = finding(&json, "D53").unwrap_or_else(|| panic!("{ran:?}"));
    assert_eq!(found["severity"], "suspect", "{found}");
    let evidence = found["evidence"].as_str().unwrap();
    let opened = number(&json, "/connections_opened");
    assert!(opened <= 10, "{opened}");
    let told = format!("Of the 24 connections of all workers {opened} could be opened.");
    assert!(evidence.contains(&told), "{evidence}");
}
