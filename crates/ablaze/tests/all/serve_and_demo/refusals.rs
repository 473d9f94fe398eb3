//! What cannot be served gets one line with a fix, and the right exit status.

use std::net::TcpListener;

use ablaze_target::Model;
use ablaze_target::accepting::AcceptMode;

use ablaze_testing::Bounded;

use crate::serve_and_demo::support::{Serving, ablaze, directory, one_line};

fn refused(words: &[&str], status: i32, needle: &str) {
    // A server that starts all the same ends with its standard input, which has ended.
    let lifeline = ["--stop-with-stdin"].into_iter().filter(|_| words[0] == "serve");
    let words: Vec<&str> = words.iter().copied().chain(lifeline).collect();
    let output = ablaze(&words).bounded_output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{words:?}");
    let line = one_line(&output);
    assert!(line.starts_with("ablaze: ") && line.contains(needle), "{line}");
    assert_eq!(output.stdout, b"");
}

#[test]
fn command_lines_that_cannot_be_carried_out() {
    refused(&["serve", ":99999"], 2, "HOST:PORT");
    refused(&["serve", "no such host:80"], 2, "unknown host");
    for (words, needle) in [
        ("--status 100", "200 to 999"),
        ("--threads 0", "from 1 up"),
        ("--threads 5000", "exceed the limit of 1024"),
        ("--max-events 0", "must be 1 to 65536"),
        ("--sise 1", "--size"),
        ("--model epol-et", "did you mean epoll-et?"),
        ("--model apache", "expected one of"),
        ("--accept any", "single, shared, exclusive, reuseport"),
        ("--cpus 9999", "is not available to this process"),
        ("--delay uniform:9ms", "uniform:1ms-20ms"),
        ("--fault rest-before=1%", "did you mean reset-before?"),
        ("--fault garbage=101%", "1% or 0.01"),
        ("--route /a=b", "PATH=STATUS:BODY"),
        ("--route /a=200:@/no/such/file", "check its name"),
        ("--echo --size 1", "use only one"),
        ("--app shp", "expected shop"),
        ("--app shop:403=1%", "404 and 500 only"),
        ("--app shop:404", "shop:404=1%/500=0.1%"),
        ("--app shop:404=x", "is not a share"),
        ("--app shop:404=60%/500=50%", "also together"),
        ("--app shop --echo", "use only one"),
        ("--app shop --response none", "an application has no effect"),
        ("--work much", "nanoseconds"),
        ("--sndbuf 0", "remove the option"),
        ("--like nothing", "--like list"),
        ("--ready-fd 1", "3 or more"),
        ("--ready-fd 77", "77>FILE"),
    ] {
        let words: Vec<&str> = ["serve", ":0"].into_iter().chain(words.split(' ')).collect();
        refused(&words, 2, needle);
    }
    refused(&["demo", "--duration", "x"], 2, "10s");
}

#[test]
fn pairs_of_model_and_accept_mode_that_mean_nothing() {
    let help =
        String::from_utf8(ablaze(&["serve", "--help"]).bounded_output().unwrap().stdout).unwrap();
    let pairs = help
        .lines()
        .skip_while(|line| !line.starts_with("Unsupported combinations"))
        .skip(1)
        .take_while(|line| line.starts_with("  "));
    let mut tried = 0;
    // Continued lines are indented by four.
    for pair in pairs.filter(|line| !line.starts_with("    ")) {
        let (model, rest) = pair.trim().split_once(" with ").unwrap();
        for mode in rest.split(':').next().unwrap().split(", ") {
            let words = ["serve", ":0", "-t", "2", "--model", model, "--accept", mode];
            refused(&words, 2, "does not support accept mode ");
            tried += 1;
        }
    }
    let mut pairs = Model::ALL.iter().flat_map(|model| AcceptMode::ALL.map(|mode| (model, mode)));
    assert_eq!(
        tried,
        pairs.by_ref().filter(|(model, mode)| model.refuses(*mode).is_some()).count()
    );
}

#[test]
fn an_address_of_another_machine() {
    // 192.0.2.0/24 is for documentation and belongs to no one (RFC 5737).
    refused(&["serve", "192.0.2.1:8080"], 1, "ip address");
}

#[test]
fn a_port_in_use_is_named_whatever_the_accept_mode() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let port = taken.local_addr().unwrap().port().to_string();
    for mode in ["single", "shared", "exclusive", "reuseport"] {
        let words = ["serve", &address, "--accept", mode, "-t", "2"];
        refused(&words, 1, &format!("port {port} of 127.0.0.1 is in use"));
    }
    // Nor does a second server join the group of listeners of a first.
    let server = Serving::start(&["serve", ":0", "-t", "2"]);
    refused(&["serve", &server.address.to_string(), "-t", "2"], 1, "in use");
}

#[test]
fn a_file_for_the_counters_that_could_not_be_written_is_refused_before_the_start() {
    let missing = directory("refused-stats").join("no/such/folder/stats.json");
    refused(&["serve", ":0", "--stats", missing.to_str().unwrap()], 2, "--stats ");
}
