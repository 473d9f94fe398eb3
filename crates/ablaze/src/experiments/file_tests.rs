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
    let names: Vec<_> = described.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["mine", "edge", "nginx"], "as written, the control last");
    assert_eq!(described.targets[2].source, TargetSpec::Nginx { workers: 2 });
    assert_eq!(described.targets[0].source, TargetSpec::Command("./server -p {port}".into()));
    let labels: Vec<_> = described.loads.iter().map(|load| load.label.as_str()).collect();
    assert_eq!(labels, ["c=1", "c=10", "c=100"]);
    let words = "--duration 1s --no-keepalive --header|A: b|--header|C: d|--connections 10";
    assert_eq!(described.loads[1].spec.words.0.join(" "), words.replace('|', " "));
    assert_eq!(
        (described.repeats, described.restart, described.path.as_str()),
        (Some(8), false, "/x")
    );
    let (line, check) = &described.checks[0];
    assert_eq!((*line, check.to_string().as_str()), (22, "mine / nginx CPU/request <= 1.15"));
}

#[test]
fn little_is_enough() {
    let described = read("[targets.a]\nurl = \":8080/\"\n").unwrap();
    let TargetSpec::Url { url, .. } = &described.targets[0].source else { panic!("no URL") };
    assert_eq!(url.shown, "http://127.0.0.1:8080/");
    assert_eq!(described.loads[0].label, "c=50");
    assert_eq!(described.loads[0].spec.words.0, ["--duration", "3s"]);
    assert!(described.restart && described.checks.is_empty() && described.repeats.is_none());
    let rates = read("[targets.a]\nurl = \":1/\"\n[load]\nrate = [\"1k\", 2000]\n").unwrap();
    let x: Vec<_> = rates.loads.iter().map(|load| load.x).collect();
    assert_eq!(x, [Some(1000.0), Some(2000.0)]);
}

#[test]
fn what_is_wrong_is_named_by_its_line() {
    let target = "[targets.a]\nurl = \":1/\"\n";
    for (text, line, part) in [
        (String::new(), 1, "no targets"),
        ("title = \"x\"\nrepeat = 3\n".to_owned(), 2, "did you mean `repeats`"),
        ("title = \"x\"\nrepeats 3\n".to_owned(), 2, ""),
        (format!("repeats = 0\n{target}"), 1, "measures nothing"),
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
        (format!("{target}[load]\nconnections = [1, 2]\nthreads = [1, 2]\n"), 5, "one axis"),
        (format!("{target}[load]\nconnections = []\n"), 4, "the list is empty"),
        (format!("{target}[load]\narrivals = \"poisson\"\n"), 3, "--rate"),
        (format!("{target}[checks]\n\"a / b speed\" = \"< 1\"\n"), 4, "CPU/request"),
        (format!("{target}[checks]\n\"a / b rate\" = 1\n"), 4, "must be a string"),
    ] {
        let error = read(&text).unwrap_err();
        assert_eq!(error.line, line, "{text}{error}");
        assert!(error.why.contains(part), "{part}: {error}");
    }
}
