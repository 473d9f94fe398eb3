//! Whoever presses Ctrl-C twice does not wait, and leaves nothing running.

use std::process::Command;
use std::time::{Duration, Instant};

use ablaze_testing::Bounded;

use crate::experiments::support::{command, runs, said, scratch};

fn signal(pid: &str, name: &str) -> bool {
    Command::new("kill").args([name, pid]).bounded_output().unwrap().status.success()
}

#[test]
fn the_second_ctrl_c_takes_the_targets_along() {
    for words in [
        &["compare", "serve:epoll-et", "--ready-within", "60s", "-d", "100ms"][..],
        &["find", "--slo", "p99<1s", "--ready-within", "60s"],
    ] {
        let folder = scratch(&format!("twice-{}", words[0]));
        // It ignores every kind word, never answers, and has a child of its own.
        let start = "deaf=trap '' TERM INT; (trap '' TERM INT; echo $$ > shell; sleep 600) & \
                     echo $! > child; wait; # {port}";
        let child = command(&folder, &[words, &["--start", start]].concat()).start().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        let pid = |name: &str| {
            let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let (shell, sleeper) = loop {
            if let (Some(shell), Some(sleeper)) = (pid("shell"), pid("child")) {
                break (shell, sleeper);
            }
            assert!(Instant::now() < until, "the target was not started");
            std::thread::sleep(Duration::from_millis(5));
        };
        let own = child.id().to_string();
        assert!(signal(&own, "-INT"));
        std::thread::sleep(Duration::from_millis(500));
        assert!(signal(&own, "-INT"), "the first Ctrl-C waits for the target");
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.status, 130, "{said:?}");
        let until = Instant::now() + Duration::from_secs(10);
        while [&shell, &sleeper].iter().any(|pid| signal(pid, "-0")) {
            assert!(Instant::now() < until, "{words:?}: the target still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Nobody interrupted it: the status is that of a file that was not written.
#[test]
fn a_folder_that_goes_away_is_no_interruption() {
    for (words, said_first) in [
        (&["compare", "serve:epoll-et", "serve:epoll-lt", "--repeat", "200"][..], "ended after "),
        (&["sweep", "serve:epoll-et", "-c", "1,2", "--repeat", "200", "--yes"], "ended after "),
    ] {
        let folder = scratch(&format!("gone-{}", words[0]));
        let more = ["-d", "50ms", "--folder", "kept", "-o", "x.json", "-o", "x.xml"];
        let child = command(&folder, &[words, &more].concat()).start().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while runs(&folder.join("kept")).is_empty() {
            assert!(Instant::now() < until, "nothing was kept");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::fs::rename(folder.join("kept"), folder.join("elsewhere")).unwrap();
        let said = said(child.wait_with_output().unwrap());
        assert_eq!(said.status, 1, "{said:?}");
        assert!(said.stdout.contains(said_first), "{said:?}");
        let xml = std::fs::read_to_string(folder.join("x.xml")).unwrap();
        let json = std::fs::read_to_string(folder.join("x.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["interrupted"], false);
        assert!(json["unsaved"].as_str().unwrap().contains("the folder does not exist"), "{json}");
        for text in [&said.stdout, &said.stderr, &xml] {
            assert!(!text.contains("nterrupted"), "{text}");
        }
    }
}
