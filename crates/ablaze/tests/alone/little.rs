//! Little's law as a check on the clocks: in a closed loop of c connections, the times of all
//! exchanges add up to c times the length of the run. A "sent" read after the call that sends, or
//! an arrival read too early, shows as a smaller sum, whatever the machine's speed or noise.

use std::process::Command;

use ablaze_target::{Options, Server};
use ablaze_testing::Bounded;

#[test]
fn exchanges_fill_the_time_of_their_connections() {
    let _alone = crate::alone();
    let options = Options { address: "127.0.0.1:0".parse().unwrap(), ..Options::default() };
    let server = Server::start(options).unwrap();
    let url = format!("http://{}/", server.address());
    for backend in ["epoll", "uring"] {
        for connections in ["1", "8"] {
            let output = Command::new(env!("CARGO_BIN_EXE_ablaze"))
                .args(["load", "-c", connections, "-n", "20000", "-t", "1", "--json"])
                .args(["--io", backend, &url])
                .bounded_output()
                .unwrap();
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let in_flight = report["in_flight"]["mean"].as_f64().unwrap();
            let share = in_flight / connections.parse::<f64>().unwrap();
            // What is missing is the client's own time between an arrival and the next sending,
            // a few percent even at c=1.
            assert!((0.85..1.001).contains(&share), "{backend} c={connections}: {share:.3}");
        }
    }
    server.stop().unwrap();
}
