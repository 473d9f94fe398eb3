//! Who had the processors.

use crate::support::{Loading, Running, Server, alone, installed};

/// A tester that runs only when nobody else wants its processor, and two who always do.
#[test]
fn a_starved_tester_is_told_that_others_had_the_processors() {
    let _alone = alone();
    if !installed("chrt") || !installed("taskset") {
        return;
    }
    let server = Server::start(&[]);
    let spinners = [(); 2].map(|()| {
        Running::start(std::process::Command::new("taskset").args([
            "-c",
            "0",
            "sh",
            "-c",
            "while :; do :; done",
        ]))
    });
    let starter = ["chrt", "-i", "0", "taskset", "-c", "0"];
    let report = Loading::start_by(&starter, &[&server.url("/"), "-c20", "-d3s"]).report();
    drop(spinners);
    report.assert_root("D13", "suspect");
}
