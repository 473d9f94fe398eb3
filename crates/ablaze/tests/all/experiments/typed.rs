//! What was asked for reaches targets, clients and the saved experiment as it was meant, however it was
//! written.

use serde_json::Value;

use crate::experiments::support::{ablaze, runs, scratch};

fn read(path: &std::path::Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A control does the work with as many processes as the others have threads, also where a preset says
/// how many these are. (Where nginx is not installed, its row is left out; what was planned is kept.)
#[test]
fn a_control_has_as_many_workers_as_a_preset_has_threads() {
    let folder = scratch("preset");
    let compare = ["compare", "serve:like=cppnet-1", "--control", "nginx", "--path", "/"];
    ablaze(&folder, &[&compare[..], &["--repeat=1", "-n50", "-c2", "--quiet"]].concat());
    let experiment = read(&folder.join("compare-1/experiment.json"));
    assert_eq!(experiment["format"], 2);
    assert_eq!(experiment["targets"][0]["source"]["model"]["threads"], 2);
    assert_eq!(experiment["targets"][1]["source"]["nginx"]["workers"], 2);
}

/// The processors that a report names are those that the workers were pinned to.
#[test]
fn what_is_said_of_the_clients_processors_is_where_its_workers_ran() {
    let folder = scratch("processors");
    for threads in ["1", "2", "4"] {
        let vary = format!("threads={threads}");
        let sweep = ["sweep", "--vary", &vary, "serve:epoll-et", "-c8", "-n200", "--quiet"];
        let said = ablaze(&folder, &[&sweep[..], &["--folder", threads]].concat());
        assert_eq!(said.status, 0, "{said:?}");
        let results = folder.join(threads);
        let run = read(&results.join("runs").join(&runs(&results)[0]));
        let pinned: Vec<u64> = run["threads"]["cpus"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c.as_u64().unwrap())
            .collect();
        let line = said.stdout.lines().find(|line| line.contains("1 target × ")).unwrap();
        let named = line.split("client on CPU").nth(1).map(|list| list.trim_start_matches('s'));
        let named = named.unwrap_or_default().split(", ").filter_map(|cpu| cpu.trim().parse().ok());
        assert_eq!(named.collect::<Vec<u64>>(), pinned, "{threads} threads: {line}");
    }
}

#[test]
fn threads_that_share_processors_are_named() {
    let folder = scratch("shared");
    let run = |targets: &[&str]| {
        let words = ["--repeat=2", "-n50", "-c8", "--quiet"];
        ablaze(&folder, &[&["compare"], targets, &words].concat())
    };
    let cpus = std::thread::available_parallelism().unwrap().get();
    let [some, more] = [cpus + 1, cpus + 2];
    let target = |threads: usize| format!("serve:epoll-et,threads={threads}");
    let many = run(&[&target(some), &target(more)]);
    let same = format!("Targets of {some}, {more} threads had");
    assert!(many.stdout.contains(&same), "{}", many.stdout);
    assert!(many.stdout.contains("the rows cannot differ by number of threads"), "{}", many.stdout);
    let few = run(&["serve:epoll-et", "serve:epoll-lt"]);
    assert!(!few.stdout.contains("differ by number of threads"), "{}", few.stdout);
}

#[test]
fn http_2_is_spoken_however_its_version_is_written() {
    let folder = scratch("http-2.0");
    let words = ["--http", "2.0", "--repeat=1", "-n50", "-c2", "--quiet", "--folder=results"];
    let targets = ["serve:epoll-et", "serve:epoll-lt"];
    let said = ablaze(&folder, &[&["compare"][..], &targets, &words].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let results = folder.join("results");
    assert_eq!(runs(&results).len(), 2);
    assert_eq!(read(&results.join("experiment.json"))["speaks"]["http2"], true);
    // The other way of writing it goes on with the same experiment.
    let words = words.map(|word| if word == "2.0" { "2" } else { word });
    let again = ablaze(&folder, &[&["compare"][..], &targets, &words].concat());
    assert_eq!(again.status, 0, "{again:?}");
}

/// What older versions kept, with loads and models as words.
#[test]
fn a_folder_of_format_1_is_shown_and_gone_on_with() {
    let folder = scratch("format-1");
    let compare = ["compare", "serve:epoll-et,threads=1", "serve:epoll-lt", "--repeat=1", "-n50"];
    let words = [&compare[..], &["-c2", "--quiet", "--folder=results"]].concat();
    assert_eq!(ablaze(&folder, &words).status, 0);
    let path = folder.join("results/experiment.json");
    let mut experiment = read(&path);
    let fields = experiment.as_object_mut().unwrap();
    fields.remove("format");
    let options = |words: &[&str]| Value::from(words.to_vec());
    for (target, words) in
        [&["--model", "epoll-et", "--threads", "1"][..], &["--model", "epoll-lt"]]
            .iter()
            .enumerate()
    {
        experiment["targets"][target]["source"]["model"] = options(words);
    }
    let load = experiment["loads"][0].as_object_mut().unwrap();
    load.remove("spec");
    load.insert("options".into(), options(&["--connections", "2", "--requests", "50"]));
    std::fs::write(&path, experiment.to_string()).unwrap();
    let shown = ablaze(&folder, &["report", "results"]);
    assert_eq!(shown.status, 0, "{shown:?}");
    assert!(shown.stdout.contains("epoll-lt"), "{}", shown.stdout);
    std::fs::remove_file(folder.join("results/runs").join(&runs(&folder.join("results"))[0]))
        .unwrap();
    let on = ablaze(&folder, &words);
    assert_eq!((on.status, runs(&folder.join("results")).len()), (0, 2), "{on:?}");
}

/// The first form of format 2 had the options of built-in servers as names and values: what it wrote, but for the place
/// of the file.
#[test]
fn a_folder_with_options_as_names_and_values_is_shown_and_gone_on_with() {
    let folder = scratch("pairs");
    std::fs::write(folder.join("body.txt"), "hi").unwrap();
    let first = "serve:epoll-et,threads=2,route=/x=200:@body.txt,size=1KiB,delay=exp:1us";
    let compare =
        ["compare", first, "serve:like=cppnet-1,echo", "serve:epoll-lt,tls-max=1.2,http=1.1"];
    let rest = ["-k", "--repeat=1", "-n50", "-c2", "--quiet", "--folder=results"];
    let words = [&compare[..], &rest].concat();
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 0, "{said:?}");
    let path = folder.join("results/experiment.json");
    let mut experiment = read(&path);
    let models = [
        r#"{"certificate": false, "http": null, "options": [{"name": "model", "value": "epoll-et"},
            {"name": "threads", "value": "2"}, {"name": "route", "value": "/x=200:@body.txt"},
            {"name": "size", "value": "1KiB"}, {"name": "delay", "value": "exp:1us"}],
            "threads": 2, "tls": false}"#,
        r#"{"certificate": false, "http": null, "options": [{"name": "like", "value": "cppnet-1"},
            {"name": "echo", "value": null}], "threads": 2, "tls": false}"#,
        r#"{"certificate": false, "http": "1.1", "options": [{"name": "model", "value": "epoll-lt"},
            {"name": "tls-max", "value": "1.2"}, {"name": "http", "value": "1.1"}], "threads": 1,
            "tls": true}"#,
    ];
    for (at, model) in models.iter().enumerate() {
        let target = &mut experiment["targets"][at];
        target["source"]["model"] = serde_json::from_str(model).unwrap();
    }
    std::fs::write(&path, experiment.to_string()).unwrap();
    let shown = ablaze(&folder, &["report", "results"]);
    assert_eq!(shown.status, 0, "{shown:?}");
    assert!(shown.stdout.contains("like=cppnet-1,echo"), "{}", shown.stdout);
    // The same experiment: what is missing is measured again, and nothing else.
    let results = folder.join("results");
    std::fs::remove_file(results.join("runs").join(&runs(&results)[0])).unwrap();
    let on = ablaze(&folder, &words);
    assert_eq!((on.status, runs(&results).len()), (0, 3), "{on:?}");
}

/// The file of a target, too: what it is was read when the experiment was described.
#[test]
fn a_route_sends_the_file_that_was_named() {
    let folder = scratch("route");
    std::fs::write(folder.join("page.html"), "x".repeat(1234)).unwrap();
    let targets =
        ["serve:epoll-et,route=/p=200:@page.html", "serve:epoll-lt,route=/p=200:@page.html"];
    let rest = ["--path=/p", "--repeat=1", "-n50", "-c2", "--quiet", "--folder=results"];
    let words = [&["compare"][..], &targets, &rest].concat();
    assert_eq!(ablaze(&folder, &words).status, 0);
    let results = folder.join("results");
    let run = read(&results.join("runs").join(&runs(&results)[0]));
    assert!(run.to_string().contains("1234"), "{run}");
    std::fs::write(folder.join("page.html"), "other").unwrap();
    let refused = ablaze(&folder, &words);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("the file `page.html` has changed"), "{}", refused.stderr);
}

#[test]
fn a_file_that_changed_since_is_told() {
    let folder = scratch("changed");
    std::fs::write(folder.join("body.json"), "{}").unwrap();
    let compare = ["compare", "serve:epoll-et,echo", "serve:epoll-lt,echo", "--repeat=1", "-n50"];
    let words = [&compare[..], &["-b@body.json", "-c2", "--quiet", "--folder=results"]].concat();
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 0, "{said:?}");
    std::fs::write(folder.join("body.json"), "[]").unwrap();
    let refused = ablaze(&folder, &words);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("the file `body.json` has changed"), "{}", refused.stderr);
}

/// What every run would be refused for is told before the first one.
#[test]
fn what_no_run_could_do_is_refused_before_the_first() {
    let folder = scratch("refused-early");
    let target = |name: &str, url: &str| {
        format!("[targets.\"{name}\"]\nurl = \"{url}\"\n[load]\nconnections = 1\n")
    };
    std::fs::write(folder.join("name.toml"), target("b<b>", "http://127.0.0.1:1/")).unwrap();
    std::fs::write(folder.join("plain.toml"), target("b", "http://127.0.0.1:1/")).unwrap();
    for (words, part) in [
        (
            &["compare", "a=https://127.0.0.1:1/", "b=:1/", "--http", "3", "-k"][..],
            "b: --http 3 needs TLS",
        ),
        (&["sweep", "b=:1/", "-c", "1,2", "--http", "3"], "b: --http 3 needs TLS"),
        (&["find", "b=:1/", "--slo", "p99<1s", "--http", "3"], "b: --http 3 needs TLS"),
        (&["run", "name.toml"], "the name of a target cannot contain `<` or `>`"),
        (&["run", "plain.toml", "--quick"], "--quick has no effect: plain.toml has no [quick]"),
        (&["report", "."], "no results here: experiment.json is missing"),
        (
            &["compare", "a=:1/", "b=:2/", "-o", "x.pdf"],
            "use one of .html .svg .md .json .csv .txt .xml\n",
        ),
    ] {
        let said = ablaze(&folder, words);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{words:?}: {said:?}");
        assert!(said.stderr.contains(part), "{words:?}: {}", said.stderr);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "something was started");
}
