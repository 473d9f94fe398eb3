//! Options reach the server, and whoever started it learns when it is ready.

use std::fs::{self, File};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ablaze_testing::Bounded;

use crate::serve_and_demo::support::{Serving, ablaze, directory};

#[test]
fn options_reach_the_server() {
    let words = ["serve", ":0", "--status", "418", "--close", "--server-name", "pot", "-q"];
    let server = Serving::start(&[&words[..], &["--delay", "20ms"]].concat());
    let began = Instant::now();
    let response = server.get();
    assert!(began.elapsed() >= Duration::from_millis(20));
    assert!(response.starts_with("HTTP/1.1 418 I'm a teapot\r\nServer: pot\r\n"), "{response}");
    assert!(response.contains("\r\nConnection: close\r\n"), "{response}");
    assert_eq!(server.stop(), "");
}

#[test]
fn the_first_line_names_what_serves() {
    let words = ["serve", ":0", "--accept", "exclusive", "-t", "2", "--size", "48576", "--close"];
    let server = Serving::start(&words);
    let facts = "/ · epoll-et, exclusive · 2 threads · 48,576 B body · close\n";
    assert!(server.line.ends_with(facts), "{}", server.line);
    // The other name of the same option.
    let server = Serving::start(&["serve", ":0", "--io", "epoll-et", "-t", "1", "--echo"]);
    let facts = "/ · epoll-et, reuseport · 1 thread · echoes bodies · keep-alive\n";
    assert!(server.line.ends_with(facts), "{}", server.line);
}

#[test]
fn workers_are_pinned_to_the_cpus_given() {
    let own = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = own.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let cpu: String = allowed.trim().chars().take_while(char::is_ascii_digit).collect();
    let server = Serving::start(&["serve", ":0", "--cpus", &cpu, "-t", "2"]);
    let mut workers = 0;
    for task in fs::read_dir(format!("/proc/{}/task", server.child.id())).unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        if status.starts_with("Name:\tserve-") {
            workers += 1;
            assert!(status.contains(&format!("Cpus_allowed_list:\t{cpu}\n")), "{status}");
        }
    }
    assert_eq!(workers, 2);
}

#[test]
fn the_url_is_written_to_the_ready_descriptor_which_is_then_closed() {
    let fifo = directory("ready-fd").join("ready");
    assert!(Command::new("mkfifo").arg(&fifo).bounded_status().unwrap().success());
    // A shell opens the descriptor, as a script that starts a server would.
    let program = env!("CARGO_BIN_EXE_ablaze");
    let script = format!("exec '{program}' serve :0 --ready-fd 7 7>'{}'", fifo.display());
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        // Ends when all writers have closed the descriptor: with the server still running.
        File::open(fifo).unwrap().read_to_string(&mut text).unwrap();
        text
    });
    let server = Serving::spawn(Command::new("sh").args(["-c", &script]).stderr(Stdio::piped()));
    let until = Instant::now() + Duration::from_secs(20);
    while !reader.is_finished() {
        assert!(Instant::now() < until, "the descriptor is still open");
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = reader.join().unwrap();
    assert_eq!(text, format!("http://{}/\n", server.address));
    assert!(server.get().contains("hello"));
}

#[test]
fn a_reader_of_the_ready_descriptor_that_went_away_stops_nothing() {
    let fifo = directory("ready-fd-gone").join("ready");
    assert!(Command::new("mkfifo").arg(&fifo).bounded_status().unwrap().success());
    let program = env!("CARGO_BIN_EXE_ablaze");
    // Opened for both ways the FIFO has a reader for a moment; then there is none.
    let name = fifo.display();
    let script =
        format!("exec 8<>'{name}' 7>'{name}' 8<&-; exec '{program}' serve :0 --ready-fd 7");
    let server = Serving::spawn(Command::new("sh").args(["-c", &script]).stderr(Stdio::piped()));
    assert!(server.get().contains("hello"));
}

#[test]
fn the_help_fits_a_terminal_and_names_every_model_and_mode() {
    let output = ablaze(&["serve", "--help"]).bounded_output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for line in help.lines() {
        assert!(line.chars().count() < 100, "{line}");
    }
    // A screen or two.
    assert!(help.lines().count() <= 115, "{}", help.lines().count());
    for word in ["epoll-et", "single", "shared", "exclusive", "reuseport", "--like", "--fault"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn a_route_of_the_command_line_is_answered() {
    let file = directory("route").join("body");
    fs::write(&file, "from a file").unwrap();
    let from_file = format!("/=203:@{}", file.display());
    let server = Serving::start(&["serve", ":0", "--route", &from_file]);
    let response = server.get();
    assert!(
        response.starts_with("HTTP/1.1 203 ") && response.ends_with("from a file"),
        "{response}"
    );
}
