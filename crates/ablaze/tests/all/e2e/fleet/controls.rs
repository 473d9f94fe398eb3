//! Findings about a fleet, each with its fault forced upon one worker of two: the finding is there, and it is not where the
//! same thing happens to a degree that does no harm.

use std::process::Command;
use std::time::Duration;

use ablaze_target::conditions::{Delay, Route};
use ablaze_target::{Options, Running as Served, Server};
use ablaze_testing::Bounded;
use ablaze_testing::skip::skip;
use serde_json::Value;

use super::{Numbers, coordinator, finding};
use crate::e2e::support::{number, run, serve, url};

/// Others are at work on the machine that tests run on: a fault that takes processor time is forced so often.
const ATTEMPTS: usize = 5;

/// `exec:` of a, and of b behind a script that is given the command that starts the worker as its words.
fn b_behind(numbers: &Numbers, script: &str) -> String {
    let relay = numbers.file("relay");
    let text = format!("[ \"$1\" = b ] || {{ shift; exec \"$@\"; }}\nshift\n{script}");
    std::fs::write(&relay, text).unwrap();
    format!("exec:a,b=sh {relay} {{host}} {{cmd}}")
}

/// What a run of this fleet says.
fn said(fleet: &str, words: &[&str], target: &str) -> Value {
    let words =
        [&["load", "--quiet", "--json", "--fleet", fleet, "-t", "1"], words, &[target]].concat();
    run(&mut coordinator(&words)).json()
}

/// Seconds for which b is not told when to start, which is two seconds ahead.
fn told_late(numbers: &Numbers, seconds: &str) -> String {
    let script = format!(
        "while IFS= read -r line; do\n\
           case $line in *'\"say\":\"start\"'*) sleep {seconds};; esac\n\
           printf '%s\\n' \"$line\"\n\
         done | \"$@\"\n"
    );
    b_behind(numbers, &script)
}

#[test]
fn a_worker_that_is_told_too_late_starts_late_and_the_run_is_invalid() {
    let (server, numbers) = (serve(), Numbers::new("fleet-late"));
    let target = url(&server, "/");
    let json = said(&told_late(&numbers, "3"), &["-c4", "-d2"], &target);
    let found = finding(&json, "D45").unwrap_or_else(|| panic!("{json}"));
    assert_eq!(
        (&found["severity"], &json["verdict"]["verdict"]),
        (&"invalid".into(), &"INVALID".into())
    );
    let evidence = found["evidence"].as_str().unwrap();
    assert!(evidence.starts_with("The first worker started 1.0"), "{evidence}");
    assert!(evidence.contains("an interval of the report is 100 ms"), "{evidence}");
    // The figures of both, and those of the time in which both ran.
    let together = &json["fleet"]["together"];
    let ends_ms = ["from_ns", "to_ns"].map(|end| number(together, &format!("/{end}")) / 1_000_000);
    assert!((1000..=1500).contains(&ends_ms[0]) && ends_ms[1] == 2000, "{together}");
    assert!(number(together, "/responses") < number(&json, "/responses"), "{json}");
    // In time all the same.
    let json = said(&told_late(&numbers, "1"), &["-c4", "-d1"], &target);
    assert_eq!(finding(&json, "D45"), None, "{json}");
}

#[test]
fn a_clock_that_goes_away_during_the_run_is_told_of_and_one_that_is_only_another_is_not() {
    let (server, numbers) = (serve(), Numbers::new("fleet-drift"));
    let target = url(&server, "/");
    // Behind its run, b's clock shows so much more.
    let drifts = |apart_ns: &str| {
        let script = format!(
            "\"$@\" | while IFS= read -r line; do\n\
               case $line in\n\
                 *'\"tell\":\"run\"'*) over=1;;\n\
                 *'\"tell\":\"pong\"'*) [ -z \"$over\" ] || {{\n\
                   at=${{line#*'\"at_ns\":'}}; at=${{at%%[!0-9]*}}\n\
                   line=\"${{line%%$at*}}$((at + {apart_ns}))${{line#*$at}}\"; }};;\n\
               esac\n\
               printf '%s\\n' \"$line\"\n\
             done\n"
        );
        said(&b_behind(&numbers, &script), &["-c4", "-d1"], &target)
    };
    let json = drifts("700000000");
    let found = finding(&json, "D45").unwrap_or_else(|| panic!("{json}"));
    assert_eq!(found["severity"], "suspect", "{found}");
    let evidence = found["evidence"].as_str().unwrap();
    assert!(evidence.starts_with("The clock of b drifted 7"), "{evidence}");
    assert_eq!(finding(&drifts("20000000"), "D45"), None, "less than an interval");
    // A monotonic clock of its own, which counts from six days before.
    let own = ["--time", "--monotonic", "500000"];
    if Command::new("unshare").args([&own[..], &["true"]].concat()).ran().status != 0 {
        return skip("a worker with a clock of its own: a time namespace is not permitted here");
    }
    let script = format!("exec unshare {} \"$@\"\n", own.join(" "));
    let json = said(&b_behind(&numbers, &script), &["-c4", "-d1"], &target);
    assert_eq!(finding(&json, "D45"), None, "{json}");
}

/// A server at this address, whose responses take so long: where that is long, the processor's time does not matter.
fn slow_server(address: &str, delay_ms: u64) -> Served {
    try_slow_server(address, delay_ms).unwrap()
}

fn try_slow_server(address: &str, delay_ms: u64) -> Result<Served, ablaze_target::StartError> {
    // What a check looks through for a while.
    let rows: Vec<String> = (0..1500).map(|n| format!("{{\"n\":{n},\"name\":\"x{n}\"}}")).collect();
    let body = format!("[{}]", rows.join(",")).into_bytes();
    let large = Route { path: "/large".to_owned(), status: 200, body };
    let delay = Delay::Constant(Duration::from_millis(delay_ms));
    let (address, routes) = (address.parse().unwrap(), vec![large]);
    Server::start(Options { address, threads: 1, delay, routes, ..Options::default() })
}

/// A slow server, and one that is not at the same port of another address, and that port.
fn two_at_one_port() -> (Served, Served, u16) {
    for _ in 0..20 {
        let slow = slow_server("127.0.0.2:0", 200);
        let port = slow.address().port();
        // Somebody else's, on the other address, may have it.
        if let Ok(fast) = try_slow_server(&format!("127.0.0.1:{port}"), 0) {
            return (slow, fast, port);
        }
    }
    panic!("no port was free on both addresses");
}

#[test]
fn a_worker_that_is_stopped_again_and_again_is_slower_than_the_other() {
    let (server, numbers) = (slow_server("127.0.0.1:0", 20), Numbers::new("fleet-slower"));
    let target = url(&server, "/");
    // Of each tenth of a second so much.
    let stopped = |runs_s: &str, rests_s: &str| {
        let script = format!(
            "exec 3<&0; \"$@\" <&3 3<&- & worker=$!; exec 3<&-\n\
             while kill -0 $worker 2>/dev/null; do\n\
               sleep {runs_s}; kill -STOP $worker; sleep {rests_s}; kill -CONT $worker\n\
             done 2>/dev/null\n\
             wait $worker\n"
        );
        said(&b_behind(&numbers, &script), &["-c8", "-d3"], &target)
    };
    let json = stopped("0.05", "0.2");
    let found = finding(&json, "D46").unwrap_or_else(|| panic!("{json}"));
    let evidence = found["evidence"].as_str().unwrap();
    // Its own run may see that it waited, where others use this machine's CPUs.
    let doubtful = evidence.starts_with("The own runs of ");
    assert_eq!(found["severity"], if doubtful { "suspect" } else { "note" }, "{found}");
    assert!(evidence.contains("Per connection, 1 of 2 workers did less than 75 %"), "{evidence}");
    assert!(evidence.contains(": b ("), "{evidence}");
    let mut found = Vec::new();
    let is_quiet = (0..ATTEMPTS).any(|_| {
        let one = finding(&stopped("0.5", "0.02"), "D46").cloned();
        let is_none = one.is_none();
        found.extend(one);
        is_none
    });
    assert!(is_quiet, "a worker that rests 4 % of its time: {found:?}");
}

#[test]
#[ignore = "long: a worker goes before all others that want its processor"]
fn a_worker_without_time_left_is_the_limit_of_the_fleet() {
    let numbers = Numbers::new("fleet-full-worker");
    let mut try_it = Command::new("unshare");
    let words = ["-m", "sh", "-c", "mount --bind /etc/hosts /etc/hosts && chrt -f 1 true"];
    if try_it.args(words).ran().status != 0 {
        return skip("a worker without time left: mounts and priorities are not permitted here");
    }
    // The workers find different servers behind one name: a's takes its time, b's does not. b goes before whoever else
    // wants its processor.
    let (_slow, _fast, port) = two_at_one_port();
    std::fs::write(numbers.file("hosts-a"), "127.0.0.2 target.test\n").unwrap();
    let full = |address_of_b: &str| {
        std::fs::write(numbers.file("hosts-b"), format!("{address_of_b} target.test\n")).unwrap();
        let folder = numbers.0.path().display();
        let own = "if [ {host} = b ]; then exec chrt -f 1 {cmd}; else exec {cmd}; fi";
        let fleet = format!(
            "exec:a,b=unshare -m sh -c 'mount --bind {folder}/hosts-{{host}} /etc/hosts; {own}'"
        );
        // What makes it work: each check reads the body again.
        let checks: Vec<String> = (0..24).map(|n| format!("json $[{n}].n == {n}")).collect();
        let checks = checks.iter().flat_map(|check| ["--assert", check.as_str()]);
        let words: Vec<&str> = ["-c8", "-d2"].into_iter().chain(checks).collect();
        said(&fleet, &words, &format!("http://target.test:{port}/large"))
    };
    let at_its_limit = |json: &Value| {
        let found = finding(json, "D46").filter(|found| found["severity"] == "suspect")?;
        Some(found["evidence"].as_str().unwrap().to_owned())
    };
    let evidence = (0..ATTEMPTS).find_map(|_| at_its_limit(&full("127.0.0.1")));
    let evidence = evidence.expect("b has no time left");
    assert!(
        evidence
            .starts_with("1 of 2 workers had a thread that worked 85 % of the time or more: b ("),
        "{evidence}"
    );
    // As much work for each response, and time in between.
    assert_eq!(at_its_limit(&full("127.0.0.2")), None);
}

#[test]
fn what_a_worker_finds_and_how_busy_it_is_is_told_while_its_run_lasts() {
    let (server, numbers) = (serve(), Numbers::new("fleet-found"));
    let told = numbers.file("told");
    let fleet = b_behind(&numbers, &format!("\"$@\" | tee {told}\n"));
    let words = ["-c4", "-d4", "--rate", "200"];
    let json = said(&fleet, &words, &url(&server, "/status/404"));
    let lines = std::fs::read_to_string(&told).unwrap();
    let at = |part: &str| lines.lines().position(|line| line.contains(part));
    let found = at(r#""tell":"found","id":"D04""#).unwrap_or_else(|| panic!("{lines}"));
    assert!(found < at(r#""tell":"run""#).unwrap(), "before its end");
    assert!(lines.lines().filter(|line| line.contains(r#""tell":"found""#)).count() == 1, "once");
    let now = lines.lines().filter(|line| line.contains(r#""tell":"now","busy":"#));
    assert!(now.count() >= 2, "{lines}");
    assert!(lines.contains(r#""limit":"asked-rate""#), "{lines}");
    let busy = &json["fleet"]["workers"][1]["busy_over_time"];
    assert!(busy["busy"].as_array().unwrap().len() >= 2, "{busy}");
    // The whole has it, too, at its end.
    assert!(finding(&json, "D04").is_some(), "{json}");
}
