//! `ablaze vegeta attack` and `report` against a server that remembers, beside vegeta's own where that is installed.

use std::process::Command;

use ablaze_testing::{Bounded, Scratch, ScratchFile, skip};

use crate::command::beside::{assert_same_patterns, fields, of_real};
use crate::command::support::{Said, Server, ablaze};

/// What scripts take out of the text.
const PATTERNS: [&str; 16] = [
    "awk '/^Requests/ {print $5}' | tr -d ,",
    "awk '/^Requests/ {print $6}' | tr -d ,",
    "awk '/^Requests/ {print $NF}'",
    "sed -n 's/^Requests *\\[total, rate, throughput\\] *\\([0-9]*\\),.*/\\1/p'",
    "awk '/^Duration/ {print $5}' | tr -d ,",
    "awk '/^Latencies/ {print $9}' | tr -d ,",
    "awk '/^Latencies/ {print $NF}'",
    "grep -oP 'Latencies.*\\]\\s+\\K[^,]+'",
    "awk '/^Bytes In/ {print $(NF-1)}' | tr -d ,",
    "awk '/^Bytes In/ {print $NF}'",
    "awk '/^Bytes Out/ {print $NF}'",
    "awk '/^Success/ {print $NF}' | tr -d %",
    "grep -oP 'Success\\s+\\[ratio\\]\\s+\\K[0-9.]+'",
    "grep '^Status Codes' | grep -oE '[0-9]+:[0-9]+' | head -1",
    "grep '^Status Codes' | grep -oE '404:[0-9]+' | cut -d: -f2",
    "sed -n '/^Error Set:/,$p' | tail -n +2 | grep -oE '^[0-9]+'",
];

/// `ablaze vegeta attack` with targets on its standard input.
fn attack(options: &[&str], targets: &str) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(["vegeta", "attack"]).args(options);
    fed(&mut command, targets)
}

fn fed(command: &mut Command, input: &str) -> Said {
    let file = ScratchFile::with("input", input.as_bytes());
    // What is bounded has no standard input of its own.
    let mut shell = Command::new("sh");
    shell.args(["-c", "input=$1; shift; exec \"$@\" < \"$input\"", "sh", file.word()]);
    shell.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    let output = shell.bounded_output().unwrap();
    Said {
        status: output.status.code().expect("not killed by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn report(options: &[&str], results: &str) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(["vegeta", "report"]).args(options);
    fed(&mut command, results)
}

/// Results of 40 requests, of which half have no success.
fn results() -> String {
    let (good, bad) = (Server::start(200), Server::start(404));
    let one = |server: &Server| {
        let said =
            attack(&["-rate=100", "-duration=200ms"], &format!("GET {}\n", server.url("/a")));
        assert_eq!((said.status, said.stdout.lines().count()), (0, 20), "{said:?}");
        said.stdout
    };
    one(&good) + &one(&bad)
}

#[test]
fn vegeta_reads_what_is_written_and_both_reports_agree() {
    let results = results();
    let file = ScratchFile::with("results.json", results.as_bytes());
    let own = ablaze(&["vegeta", "report", file.word()]);
    assert_eq!(own.status, 0, "{own:?}");
    let theirs = of_real("vegeta", &["report", file.word()]);
    assert_same_patterns(&PATTERNS, &own.stdout, theirs.as_deref());
    let Some(theirs) = theirs else { return };
    // Percentiles of so few are exact in vegeta's digest, too.
    assert_eq!(own.stdout, theirs.trim_end_matches('\n').to_owned() + "\n");
    for kind in ["-type=json", "-type=hist[0,100us,1ms,10ms]"] {
        let own = ablaze(&["vegeta", "report", kind, file.word()]);
        let theirs = of_real("vegeta", &["report", kind, file.word()]).unwrap();
        if kind == "-type=json" {
            let parsed = |text: &str| -> serde_json::Value {
                let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
                // The same moments, with and without their last zeros; 1 and 1.0.
                for name in ["earliest", "latest", "end"] {
                    let text =
                        value[name].as_str().unwrap().trim_end_matches('Z').trim_end_matches('0');
                    value[name] = text.into();
                }
                for pointer in
                    ["/success", "/rate", "/throughput", "/bytes_in/mean", "/bytes_out/mean"]
                {
                    let figure = value.pointer_mut(pointer).unwrap();
                    *figure = figure.as_f64().unwrap().into();
                }
                value
            };
            assert_eq!(parsed(&own.stdout), parsed(&theirs));
        } else {
            assert_eq!(own.stdout.trim_end(), theirs.trim_end());
        }
    }
    let encoded = of_real("vegeta", &["encode", "-to", "csv", file.word()]).unwrap();
    let of_csv = report(&[], &encoded);
    assert_eq!((of_csv.status, of_csv.stdout), (0, own.stdout));
}

#[test]
fn gob_is_named_with_what_reads_it() {
    let said = report(&[], "\u{1}\u{fffd}\u{3}Result\n");
    assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{said:?}");
    assert!(said.stderr.contains("use `vegeta encode FILE`"), "{said:?}");
    let Some(vegeta) = skip::installed_by_hand("vegeta") else { return };
    let server = Server::start(200);
    let gob = ScratchFile::new("results.gob");
    let words =
        ["attack", "-rate=50", "-duration=100ms", "-prometheus-addr=", "-output", gob.word()];
    fed(Command::new(vegeta).args(words), &format!("GET {}\n", server.url("/")));
    let said = ablaze(&["vegeta", "report", gob.word()]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("use `vegeta encode FILE`"), "{said:?}");
}

#[test]
fn the_server_sees_the_requests_that_vegeta_sends() {
    let folder = Scratch::new("vegeta");
    let body = folder.write("body", "from a file");
    let server = Server::start(200);
    let list = format!(
        "GET {}\nX-A: 1\n\n# a comment\nPOST {}\nContent-Type: text/x\n@{body}\n\nPUT {}\n@{body}\n",
        server.url("/a?b=c"),
        server.url("/d"),
        server.url("/e")
    );
    let words = ["-rate=100", "-duration=30ms", "-header=X-All: 1"];
    let said = attack(&words, &list);
    assert_eq!((said.status, said.stdout.lines().count()), (0, 3), "{said:?}");
    let own = server.seen();
    let first: serde_json::Value =
        serde_json::from_str(said.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&first["method"], &first["bytes_out"]), (&"POST".into(), &11.into()), "{first}");
    assert_eq!(
        (&first["url"], &first["bytes_in"]),
        (&server.url("/d").into(), &5.into()),
        "{first}"
    );
    let Some(vegeta) = skip::installed_by_hand("vegeta") else { return };
    let mut command = Command::new(vegeta);
    command.args(["attack", "-prometheus-addr=", "-output=/dev/null"]).args(words);
    fed(&mut command, &list);
    let theirs = server.seen().split_off(3);
    let all = |seen: &[crate::command::support::Request]| {
        let one = |request: &crate::command::support::Request| {
            let mut fields = fields(request);
            fields.retain(|line| !line.starts_with("x-vegeta-seq:"));
            (fields, request.body.clone())
        };
        let mut all: Vec<_> = seen.iter().map(one).collect();
        all.sort();
        all
    };
    assert_eq!(all(&own), all(&theirs));
}

#[test]
fn targets_come_as_json_and_from_files_and_results_go_to_files() {
    let server = Server::start(200);
    let line = format!(
        r#"{{"method":"POST","url":"{}","body":"aGk=","header":{{"X-A":["1"]}}}}"#,
        server.url("/")
    );
    let targets = ScratchFile::with("targets.json", line.as_bytes());
    let results = ScratchFile::new("results.json");
    let words = ["-format=json", "-targets", targets.word(), "-output", results.word(), "-name=me"];
    let said = attack(&[&words[..], &["-rate=100/1s", "-duration=50ms"]].concat(), "");
    assert_eq!((said.status, said.stdout.as_str()), (0, ""), "{said:?}");
    let text = std::fs::read_to_string(results.path()).unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.starts_with("{\"attack\":\"me\",\"seq\":0,\"code\":200,"), "{text}");
    assert_eq!((server.seen()[0].body.as_str(), server.seen()[0].fields("X-A")), ("hi", vec!["1"]));
}

#[test]
fn mistakes_are_named_and_have_vegetas_statuses() {
    let url = "GET http://127.0.0.1:1/\n";
    for (options, targets, status, problem) in [
        (&["-rate=0"][..], url, 1, "-rate=0 requires setting -max-workers"),
        (&["-rate=1"][..], "", 1, "no targets to attack"),
        (&["-rate=1"][..], "GET /\n", 1, "bad URL: /"),
        (&["-nosuch"][..], url, 2, "unknown option -nosuch"),
        (
            &["-duration=1s"][..],
            "GET http://127.0.0.1:1/\nGET http://127.0.0.1:2/\n",
            1,
            "on different servers",
        ),
        (&["-duration=100ms"][..], url, 1, "refused the connection"),
    ] {
        let said = attack(options, targets);
        assert_eq!(said.status, status, "{said:?}");
        assert!(said.stderr.contains(problem), "{said:?}");
    }
    let said = ablaze(&["vegeta", "plot"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("vegeta's command plot is not supported"), "{said:?}");
    let said = report(&["-type=xml"], "");
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("expected text, json, hist[buckets] or hdrplot"), "{said:?}");
    let said = report(&["/no/such/results"], "");
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("/no/such/results"), "{said:?}");
}
