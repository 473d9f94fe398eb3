//! `ablaze sweep --vary`: the server's side as an axis, two axes, what is refused, and what is kept of it.

use crate::experiments::support::{ablaze, runs, scratch, without_folder};

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn threads_of_a_built_in_server_are_an_axis() {
    let folder = scratch("vary-threads");
    let words = ["sweep", "--vary", "threads=1,2", "serve:epoll-et", "-d", "500ms", "-c", "2"];
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("2 values of threads of the server"), "{}", said.stdout);
    let kept = folder.join("sweep-1");
    assert_eq!(runs(&kept), ["1-epoll-et-threads-1-1.json", "1-epoll-et-threads-2-1.json"]);
    // The server that ran says how many threads it had: `ablaze serve --stats`.
    for (threads, name) in [(1, "1-epoll-et-threads-1-1"), (2, "1-epoll-et-threads-2-1")] {
        let counters = std::fs::read_to_string(kept.join(format!("counters/{name}.json"))).unwrap();
        assert_eq!(json(&counters)["config"]["threads"], threads, "{counters}");
    }
    // The same command goes on with what is there, and the report is made again of it.
    let on = ablaze(&folder, &[&words[..], &["--folder", "sweep-1"]].concat());
    assert_eq!((on.status, &on.stdout), (0, &said.stdout));
    let again = ablaze(&folder, &["report", "sweep-1"]);
    assert_eq!((again.status, again.stdout), (0, without_folder(&said.stdout)));
    let other = ["sweep", "--vary", "threads=1,3", "serve:epoll-et", "-d", "500ms", "-c", "2"];
    let other = ablaze(&folder, &[&other[..], &["--folder", "sweep-1"]].concat());
    assert_eq!(other.status, 2, "another experiment: {other:?}");
    // Its runs are saved runs like any other.
    let files =
        runs(&kept).into_iter().map(|name| format!("sweep-1/runs/{name}")).collect::<Vec<_>>();
    let compared = ablaze(&folder, &["compare", &files[0], &files[1]]);
    assert_eq!(compared.status, 0, "{compared:?}");
}

#[test]
fn two_axes_are_a_table_and_a_chart_for_each_value_of_the_second() {
    let folder = scratch("vary-two");
    let words = ["sweep", "--vary", "size=10,1k", "--vary", "no-keepalive=false,true"];
    let rest =
        ["serve:epoll-et", "--path", "/", "-d", "500ms", "-c", "2", "--json", "-o", "sweep.csv"];
    let said = ablaze(&folder, &[&words[..], &rest].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let value = json(&said.stdout);
    let points = value["curves"][0]["points"].as_array().unwrap();
    let second = serde_json::json!({"size": "1k", "no-keepalive": "false"});
    assert_eq!((points.len(), &points[1]["values"]), (4, &second));
    assert!(points.iter().all(|point| point["point"]["verdict"].is_string()), "{points:?}");
    // Each run got the body that its cell asks for, over the connections that it asks for.
    let kept = folder.join("sweep-1");
    for (at, size) in [(0, "10"), (1, "1000"), (2, "10"), (3, "1000")] {
        let file = value["trials"]
            .as_array()
            .unwrap()
            .iter()
            .find(|trial| trial["load"] == points[at]["load"]);
        let file = kept.join("runs").join(file.unwrap()["run"].as_str().unwrap());
        let run = json(&std::fs::read_to_string(file).unwrap());
        let asked = &run["asked"]["connections"]["keep_alive"];
        assert_eq!(asked, &serde_json::json!(at < 2), "{at}");
        let lengths: Vec<&str> =
            run["body_lengths"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(lengths, [size], "{at}");
    }
    let csv = std::fs::read_to_string(folder.join("sweep.csv")).unwrap();
    assert!(csv.starts_with("target,load,x,repeat,"), "{csv}");
    assert!(csv.lines().next().unwrap().ends_with(",run,size,no-keepalive"), "{csv}");
    assert!(csv.lines().nth(1).unwrap().ends_with(",10,false"), "{csv}");
    let report = ablaze(&folder, &["report", "sweep-1"]);
    let heads = ["no-keepalive=false:", "no-keepalive=true:"];
    assert!(heads.iter().all(|head| report.stdout.contains(head)), "{}", report.stdout);
    let page = std::fs::read_to_string(kept.join("index.html")).unwrap();
    assert!(page.contains("class=\"multiples\""), "no small multiples");
    let markdown = std::fs::read_to_string(kept.join("BENCH.md")).unwrap();
    assert!(markdown.contains("![no-keepalive=true]"), "{markdown}");
}

/// Three numbers of connections make curves, of which each belongs to one value of the second axis: other work, and other
/// rates, are what that axis is for.
#[test]
fn values_of_a_second_axis_are_not_held_against_each_other() {
    let folder = scratch("vary-curves");
    let words = ["sweep", "-c", "1,2,4", "--vary", "path=/hello,/status/404,/bytes/10000"];
    let rest = ["serve:epoll-et", "serve:poll", "-d", "200ms", "--json"];
    let said = ablaze(&folder, &[&words[..], &rest].concat());
    let value = json(&said.stdout);
    let findings = value["findings"].as_array().unwrap();
    let of = |id: &str| {
        findings.iter().filter(|finding| finding["id"] == id).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of("D05"), [serde_json::Value::Null; 0], "{findings:?}");
    for finding in ["D15", "D16", "D17", "D39"].iter().flat_map(|id| of(id)) {
        let evidence = finding["evidence"].as_str().unwrap();
        assert!(evidence.starts_with("At path=/"), "{evidence}");
    }
}

#[test]
fn the_environment_and_placeholders_reach_a_command() {
    let folder = scratch("vary-command");
    // What it was started with, it leaves behind, and then gives way to a server.
    let program = env!("CARGO_BIN_EXE_ablaze");
    let start = format!(
        "mine=echo {{word}}-$LEVEL >> started; exec {program} serve 127.0.0.1:{{port}} --quiet --threads 1"
    );
    let words = ["sweep", "--start", &start, "--vary", "env:LEVEL=low,high", "--vary", "word=a,b"];
    let said = ablaze(&folder, &[&words[..], &["-d", "500ms", "-c", "2"]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let started = std::fs::read_to_string(folder.join("started")).unwrap();
    assert_eq!(started.lines().collect::<Vec<_>>(), ["a-low", "a-high", "b-low", "b-high"]);
}

/// The control does under each value what the others do there; a long body is a file of nginx's.
#[test]
fn a_control_follows_the_others_from_value_to_value() {
    if ablaze_testing::skip::installed("nginx").is_none() {
        return;
    }
    let folder = scratch("vary-control");
    let words = ["sweep", "--vary", "size=10,10k", "serve:epoll-et", "--control", "nginx"];
    let said = ablaze(&folder, &[&words[..], &["--path", "/", "-d", "500ms", "-c", "2"]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    for (file, size) in [("2-nginx-size-10-1", "10"), ("2-nginx-size-10k-1", "10000")] {
        let run =
            std::fs::read_to_string(folder.join(format!("sweep-1/runs/{file}.json"))).unwrap();
        let run = json(&run);
        let lengths: Vec<&str> =
            run["body_lengths"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!((lengths, run["unexpected"].as_u64()), (vec![size], Some(0)), "{file}");
    }
}

#[test]
fn a_sweep_nobody_meant_is_refused_before_it_starts() {
    let folder = scratch("vary-refused");
    let list = |most: u32| (1..=most).map(|value| value.to_string()).collect::<Vec<_>>().join(",");
    let (few, many) = (list(30), list(100));
    let [one, other] = ["size", "in-service"].map(|name| format!("{name}={few}"));
    let [more, most] = ["size", "in-service"].map(|name| format!("{name}={many}"));
    for (words, part) in [
        (
            &["--vary", &one, "--vary", &other, "--repeat", "10", "-d", "1s"][..],
            "9000 runs would take about 3 h 30 min, more than an hour",
        ),
        (&["--vary", &more, "--vary", &most], "10000 combinations of values are too many"),
        (&["--vary", "thread=1,2"], "did you mean threads?"),
        (&["--vary", "repeat=1,2"], "one for the whole sweep"),
        (&["--vary", "threads=1,1"], "given twice"),
        (&["--vary", "threads"], "has no value"),
    ] {
        let said = ablaze(&folder, &[&["sweep", "serve:epoll-et"], words].concat());
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{words:?}: {said:?}");
        assert!(said.stderr.contains(part), "{words:?}: {}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{words:?}: {}", said.stderr);
        assert!(!folder.join("sweep-1").exists(), "{words:?}");
    }
}

#[test]
fn marks_and_notes_of_a_table_are_those_of_what_is_in_it() {
    let folder = scratch("sweep-marks");
    let sweep = |target: &str| ablaze(&folder, &["sweep", "-c", "1,2", "-n", "200", target]).stdout;
    let nothing = sweep("http://127.0.0.1:1/");
    assert!(!nothing.contains("CPU: one run each"), "{nothing}");
    let whole = sweep("serve:epoll-et");
    assert!(whole.contains("CPU: one run each") && !whole.contains("!: "), "{whole}");
    let broken = sweep("serve:epoll-et,fault=reset-during=20%");
    assert!(broken.contains("!: some requests of these runs failed"), "{broken}");
}
