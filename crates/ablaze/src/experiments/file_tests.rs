//! What experiment files are read as, and what is refused in them.

use super::*;

const WHOLE: &str = "\
title = \"mine against nginx\"
repeats = 8
path = \"/x\"
restart = false

[targets.nginx]
control = \"nginx\"

[targets.mine]
start = \"./server -p {port}\"

[targets.edge]
serve = \"epoll-et,threads=2\"

[load]
connections = [1, 10, 100]
duration = \"1s\"
no_keepalive = true
header = [\"A: b\", \"C: d\"]

[checks]
\"mine / nginx CPU/request\" = \"<= 1.15\"
";

#[test]
fn a_file_becomes_an_experiment() {
    let described = read(WHOLE).unwrap();
    let names: Vec<_> =
        described.varied.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["mine", "edge", "nginx"], "as written, the control last");
    assert_eq!(described.varied.targets[2].source, TargetSpec::Nginx { workers: 2 });
    assert_eq!(
        described.varied.targets[0].source,
        TargetSpec::Command("./server -p {port}".into())
    );
    let labels: Vec<_> = described.varied.loads.iter().map(|load| load.label.as_str()).collect();
    assert_eq!(labels, ["c=1", "c=10", "c=100"]);
    let words = "--duration 1s --no-keepalive --header|A: b|--header|C: d|--connections 10";
    assert_eq!(described.varied.loads[1].spec.words.0.join(" "), words.replace('|', " "));
    assert_eq!(
        (described.repeats, described.restart, described.varied.path.as_str()),
        (Some(8), false, "/x")
    );
    let (line, check) = &described.checks[0];
    assert_eq!((*line, check.to_string().as_str()), (22, "mine / nginx CPU/request <= 1.15"));
}

#[test]
fn little_is_enough() {
    let described = read("[targets.a]\nurl = \":8080/\"\n").unwrap();
    let TargetSpec::Url { url, .. } = &described.varied.targets[0].source else { panic!("no URL") };
    assert_eq!(url.shown, "http://127.0.0.1:8080/");
    assert_eq!(described.varied.loads[0].label, "c=50");
    assert_eq!(described.varied.loads[0].spec.words.0, ["--duration", "3s"]);
    assert!(described.restart && described.checks.is_empty() && described.repeats.is_none());
    let rates = read("[targets.a]\nurl = \":1/\"\n[load]\nrate = [\"1k\", 2000]\n").unwrap();
    let x: Vec<_> = rates.varied.loads.iter().map(|load| load.x).collect();
    assert_eq!(x, [Some(1000.0), Some(2000.0)]);
}

#[test]
fn vary_has_the_axes_of_the_servers_side() {
    let text = "[targets.a]\nserve = \"epoll-et\"\n[targets.b]\nstart = \"./b {port} {size}\"\n\
        [targets.c]\ncontrol = \"nginx\"\n[load]\nconnections = [5, 10]\n[vary]\nsize = [\"1k\", 10000]\n";
    let Varied { targets, loads, axes, .. } = read(text).unwrap().varied;
    let labels: Vec<_> = loads.iter().map(|load| load.label.as_str()).collect();
    let pairs = ["c=5, size=1k", "c=10, size=1k", "c=5, size=10000", "c=10, size=10000"];
    assert_eq!((labels, axes.len(), targets.len()), (pairs.to_vec(), 2, 3));
    let TargetSpec::Model(model) = &loads[3].targets[0].source else { panic!() };
    assert_eq!(model.responses.body_bytes, Some(10_000));
    assert_eq!(loads[3].targets[1].source, TargetSpec::Command("./b {port} 10000".into()));
    // A control has as many workers as the others have threads in the same cell.
    let threads = "[targets.a]\nserve = \"epoll-et\"\n[targets.c]\ncontrol = \"nginx\"\n[vary]\nthreads = [1, 3]\n";
    let loads = read(threads).unwrap().varied.loads;
    assert_eq!(loads[1].targets[1].source, TargetSpec::Nginx { workers: 3 });
}

#[test]
fn what_is_wrong_is_named_by_its_line() {
    let target = "[targets.a]\nurl = \":1/\"\n";
    for (text, line, part) in [
        (String::new(), 1, "no targets"),
        ("title = \"x\"\nrepeat = 3\n".to_owned(), 2, "did you mean `repeats`"),
        ("title = \"x\"\nrepeats 3\n".to_owned(), 2, ""),
        (format!("repeats = 0\n{target}"), 1, "repeats must be 1 or more"),
        (format!("path = \"x\"\n{target}"), 1, "starts with /"),
        ("[targets.a]\n".to_owned(), 1, "url, start, serve or control"),
        (format!("{target}serve = \"epoll-et\"\n"), 3, "one of url"),
        (format!("{target}ulr = \":1/\"\n"), 3, "did you mean `url`"),
        ("[targets.a]\nstart = \"./server\"\n".to_owned(), 2, "{port}"),
        ("[targets.a]\nserve = \"epol-et\"\n".to_owned(), 2, "epoll-et"),
        ("[targets.a]\ncontrol = \"apache\"\n".to_owned(), 2, "only nginx is supported"),
        (format!("{target}[load]\nconections = 5\n"), 4, "did you mean `connections`"),
        (format!("{target}[load]\nconnections = \"many\"\n"), 4, "connections = many: "),
        (format!("{target}[load]\nno_keepalive = 5\n"), 4, "true or false"),
        (
            format!("{target}[load]\nconnections = [1, 2]\nthreads = [1, 2]\nstreams = [1, 2]\n"),
            6,
            "at most two axes",
        ),
        (format!("{target}[vary]\nthread = [1, 2]\n"), 4, "did you mean threads?"),
        (format!("{target}[vary]\nthreads = []\n"), 4, "no value"),
        (format!("{target}[vary]\nthreads = [1, 2]\nrepeats = [1, 2]\n"), 5, "unknown name"),
        (format!("{target}[vary]\nthreads = [1, \"x\"]\n"), 4, "[vary] threads=x"),
        (
            "[targets.a]\nserve = \"epoll-et,size={n}\"\n[vary]\nn = [1, \"x\"]\n".to_owned(),
            2,
            "[vary] n=x",
        ),
        (format!("{target}[load]\nconnections = []\n"), 4, "the list is empty"),
        (format!("{target}[load]\narrivals = \"poisson\"\n"), 3, "--rate"),
        (format!("{target}[checks]\n\"a / b speed\" = \"< 1\"\n"), 4, "CPU/request"),
        (format!("{target}[checks]\n\"a / b rate\" = 1\n"), 4, "must be a string"),
        ("[targets.\"\"]\nurl = \":1/\"\n".to_owned(), 1, "write [targets.NAME]"),
        (format!("ready_within = 0\n{target}"), 1, "ready_within must be above zero"),
        (format!("ready_within = \"0s\"\n{target}"), 1, "such as \"10s\""),
        (format!("{target}[quick]\n"), 3, "such as repeats = 1, or remove [quick]"),
        (format!("{target}[quick]\nrepeat = 1\n"), 4, "did you mean `repeats`?"),
        // There is no [load] that it could be held against.
        (format!("{target}[quick]\nconections = 5\n"), 4, "did you mean `connections`?"),
        (format!("{target}[quick]\n[quick.quick]\nrepeats = 1\n"), 4, "unknown key of [quick]"),
        (
            format!("{target}[load]\nno_keepalive = true\nrequests_per_connection = 4\n"),
            3,
            "--no-keepalive and --requests-per-connection 4 cannot be used together",
        ),
    ] {
        let error = read(&text).unwrap_err();
        assert_eq!(error.line, line, "{text}{error}");
        assert!(error.why.contains(part), "{part}: {error}");
    }
}

#[test]
fn quick_shortens_a_load_of_defaults() {
    let text = "[targets.a]\nurl = \":1/\"\n[quick]\nduration = \"200ms\"\nconnections = 7\n";
    let words = |quick| described(text, quick).unwrap().varied.loads[0].spec.words.0.join(" ");
    assert_eq!(words(true), "--duration 200ms --connections 7");
    assert_eq!(words(false), "--duration 3s");
}
