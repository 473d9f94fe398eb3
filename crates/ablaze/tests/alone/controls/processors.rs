//! Who had the processors.

use std::process::Command;
use std::time::Duration;

use ablaze_testing::Bounded;
use ablaze_testing::skip::{installed, skip};

use crate::alone;
use crate::controls::noise::if_quiet;
use crate::controls::support::{Loading, Running, Server, load};
use crate::controls::verdict::Report;

/// From the middle of the run on the client runs only when nobody else wants its processor, and two
/// others always do.
#[test]
fn a_starved_client_is_told_that_others_had_the_processors() {
    let _alone = alone();
    if installed("chrt").is_none() || installed("taskset").is_none() {
        return;
    }
    let server = Server::start(&[]);
    let pinned = ["taskset", "-c", "0"];
    let loading = Loading::start_by(&pinned, &[&server.url("/"), "-c20", "-d3s"]);
    server.wait_for_requests(100);
    let id = loading.process.id().to_string();
    let idle =
        Command::new("chrt").args(["--all-tasks", "--idle", "--pid", "0", &id]).bounded_status();
    assert!(idle.unwrap().success());
    let spinners = [(); 2].map(|()| {
        let words = ["-c", "0", "sh", "-c", "while :; do :; done"];
        Running::start(Command::new("taskset").args(words))
    });
    std::thread::sleep(Duration::from_secs(2));
    // Without them it comes to an end.
    drop(spinners);
    loading.report().assert_root("D13", "suspect");
}

/// Filling 4,000 places of each request costs the client several times what the plainest server
/// takes to read it. With others on the processors neither is at its limit.
#[test]
fn a_client_at_its_limit_is_told_on_a_faster_server() {
    let _alone = alone();
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return skip("client and server need a processor each");
    }
    let server = Server::start(&["--model", "raw", "--cpus", "1"]);
    let digits = format!("X-Digits: {}", "{rand:1}".repeat(4000));
    let words =
        [&server.url("/"), "-c50", "--pipeline", "8", "-t1", "--cpus", "0", "-d2s", "-H", &digits];
    let objection = |report: &Report| {
        let found = report.found("D11").is_some_and(|finding| finding["severity"] == "suspect");
        let right = found && report.grave().next() == Some("D11");
        (!right).then(|| format!("D11 is not the root: {}", report.in_short()))
    };
    if_quiet(|| load(&words), objection);
}
