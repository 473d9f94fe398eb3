//! Which names go where, what a cell is, and what is refused.

use ablaze_model::experiment::{Place, Target};
use ablaze_model::spec::server::values::Threads;
use ablaze_model::spec::{Secrets, TargetSpec};

use super::place::place;
use super::*;
use crate::CommandError;
use crate::experiments::targets;

/// What these targets, commands first in the list of `--start`, and these options of a load give to vary.
fn scene(written: &[&str], load: &[&str]) -> Scene {
    Scene {
        load: load.iter().map(|word| (*word).to_owned()).collect(),
        texts: written.iter().map(|text| (*text).to_owned()).collect(),
        path: "/hello".to_owned(),
        has_model: written.iter().any(|text| targets::is_model(text)),
        has_command: written.iter().any(|text| text.contains("{port}")),
    }
}

fn varied(vary: &[&str], written: &[&str], load: &[&str]) -> Result<Varied, String> {
    let mut scene = scene(written, load);
    let vary: Vec<String> = vary.iter().map(|text| (*text).to_owned()).collect();
    let wanted = of_words(&mut scene.load, &vary).map_err(|error| error.line)?;
    let texts = scene.texts.clone();
    let mut read = |settings: &Settings, secrets: &mut Secrets| {
        let one = |text: &String| -> Result<Target, CommandError> {
            let put = settings.put_into(text);
            let (target, name) = match text.contains("{port}") {
                true => (targets::started_by(&put)?, targets::name_of_command(text)),
                false => (targets::read(&put, secrets)?, targets::name_of(text)),
            };
            settings.onto(Target { name, ..target })
        };
        texts.iter().map(one).collect()
    };
    cells(&wanted, &scene, &mut Secrets::default(), &mut read, &|_, _| Ok(()))
        .map_err(|wrong| wrong.error.line)
}

fn labels(vary: &[&str], written: &[&str], load: &[&str]) -> Vec<String> {
    let varied = varied(vary, written, load).unwrap();
    varied.loads.into_iter().map(|load| load.label).collect()
}

fn places(name: &str, written: &[&str], load: &[&str]) -> Result<Vec<Place>, String> {
    place(name, &scene(written, load)).map(|placed| placed.of)
}

const MODEL: [&str; 1] = ["serve:epoll-et"];
const URL: [&str; 1] = [":8080/"];
const COMMAND: [&str; 1] = ["mine=./server {port} {size}"];

#[test]
fn a_name_goes_where_the_rule_says() {
    let (server, load, written) = (Place::Server, Place::Load, Place::Placeholder);
    for (name, targets, options, expected) in [
        ("threads", &MODEL[..], &[][..], vec![server]),
        ("threads", &URL, &[], vec![load]),
        ("load:threads", &MODEL, &[], vec![load]),
        ("serve:http", &MODEL, &[], vec![server]),
        ("http", &MODEL, &[], vec![load]),
        ("connections", &MODEL, &[], vec![load]),
        ("c", &MODEL, &[], vec![load]),
        ("t", &MODEL, &[], vec![server]),
        ("size", &MODEL, &[], vec![server]),
        ("size", &COMMAND, &[], vec![written]),
        ("size", &["serve:epoll-et", COMMAND[0]], &[], vec![written, server]),
        ("size", &URL, &["--header", "X: {size}"], vec![written]),
        ("n", &[":8080/{n}"], &[], vec![written]),
        ("path", &MODEL, &[], vec![Place::Path]),
        ("path", &[":8080/{path}"], &[], vec![written]),
        ("env:GOMAXPROCS", &COMMAND, &[], vec![Place::Environment]),
    ] {
        assert_eq!(places(name, targets, options), Ok(expected), "{name} of {targets:?}");
    }
}

#[test]
fn a_name_that_goes_nowhere_is_told_why() {
    for (name, targets, options, part) in [
        ("thread", &MODEL[..], &[][..], "did you mean threads?"),
        ("serve:thread", &MODEL, &[], "no option of `ablaze serve` (did you mean threads?)"),
        ("load:size", &MODEL, &[], "no option of `ablaze load`"),
        ("size", &URL, &[], "no target is serve:MODEL; write {size}"),
        ("env:GOMAXPROCS", &URL, &[], "keeps the environment that it was started with"),
        ("env:A B", &COMMAND, &[], "names no variable"),
        ("repeat", &MODEL, &[], "--repeat is one for the whole sweep"),
        ("port", &COMMAND, &[], "{port} is the port"),
        ("stats", &MODEL, &[], "is set by ablaze"),
        ("threads", &URL, &["--threads", "2"], "--threads is given, too"),
        ("cookie-jar", &URL, &[], "makes one run"),
        ("enw:X", &COMMAND, &[], "unknown prefix `enw:`"),
    ] {
        let why = places(name, targets, options).unwrap_err();
        assert!(why.contains(part), "{name} of {targets:?}: {why}");
    }
}

#[test]
fn each_value_is_a_cell_and_two_axes_are_all_pairs() {
    assert_eq!(labels(&[], &URL, &["--connections", "1,2, 5"]), ["c=1", "c=2", "c=5"]);
    assert_eq!(labels(&["threads=1,2"], &MODEL, &[]), ["threads=1", "threads=2"]);
    let both = labels(&["threads=1,2", "size=1,1k"], &MODEL, &[]);
    let pairs =
        ["threads=1, size=1", "threads=2, size=1", "threads=1, size=1k", "threads=2, size=1k"];
    assert_eq!(both, pairs);
    let sides = labels(&["threads=1,2", "load:threads=1,2"], &MODEL, &[]);
    assert_eq!(sides[3], "threads=2, load:threads=2");
    let lists = ["--connections", "1,2", "--rate", "1k,2k"];
    assert_eq!(labels(&[], &URL, &lists)[1], "c=2, rate=1k");
    // One value is no axis beside one of several.
    assert_eq!(labels(&["threads=1,2"], &MODEL, &["--connections", "5"])[0], "threads=1");
    assert_eq!(labels(&[], &URL, &["--connections", "5", "--rate", "1k,2k"])[0], "rate=1k");
}

#[test]
fn a_cell_is_a_load_and_the_targets_under_it() {
    let swept = varied(&["threads=1,2"], &["serve:epoll-et", ":8080/"], &[]).unwrap();
    let under = |at: usize| &swept.loads[at].targets;
    assert_eq!([under(0)[0].threads(8), under(1)[0].threads(8)], [1, 2]);
    assert_eq!(under(0)[1], under(1)[1], "what runs already stays as it is");
    assert_eq!(swept.loads[0].spec, swept.loads[1].spec);
    assert_eq!(swept.axes[0].of, [Place::Server]);
    let started = varied(&["size=1,1k", "env:N=a,b"], &COMMAND, &[]).unwrap();
    let last = &started.loads[3].targets[0];
    assert_eq!(last.source, TargetSpec::Command("./server {port} 1k".to_owned()));
    assert_eq!((last.name.as_str(), last.environment["N"].as_str()), ("mine", "b"));
    let paths = varied(&["path=/a,/b"], &["serve:epoll-et"], &[]).unwrap();
    assert_eq!(paths.loads[1].path.as_deref(), Some("/b"));
    let TargetSpec::Model(model) = &paths.targets[0].source else { panic!() };
    assert_eq!(model.threads, Some(Threads::Exactly(1)));
    let running = varied(&["path=/a,/b"], &["x=:8080/c?d"], &[]).unwrap();
    let TargetSpec::Url { url, .. } = &running.loads[1].targets[0].source else { panic!() };
    assert_eq!(url.shown, "http://127.0.0.1:8080/b");
    let closing = varied(&["keep-alive=true,false"], &MODEL, &[]).unwrap();
    let kept = closing.loads.iter().map(|load| match &load.targets[0].source {
        TargetSpec::Model(model) => model.connections.keep_alive,
        other => panic!("{other:?}"),
    });
    assert_eq!(kept.collect::<Vec<_>>(), [Some(true), Some(false)]);
    // What only the load differs in needs no targets of its own.
    let loads = varied(&["http=1.1,2"], &MODEL, &[]).unwrap();
    assert!(loads.loads.iter().all(|load| load.targets.is_empty()));
    assert!(loads.loads[1].spec.is_http2());
}

#[test]
fn every_value_is_read_before_anything_starts_and_named() {
    for (vary, targets, load, parts) in [
        (&["threads=1,many"][..], &MODEL[..], &[][..], ["--vary threads=many", "many"]),
        (&["connections=1,x"], &URL, &[], ["--vary connections=x", "--connections"]),
        (&["path=/a,b"], &MODEL, &[], ["--vary path=b", "start with /"]),
        (&["no-keepalive=true,maybe"], &URL, &[], ["--vary no-keepalive=maybe", "true or false"]),
        (&["threads"], &MODEL, &[], ["--vary threads has no value", "such as"]),
        (&["threads="], &MODEL, &[], ["--vary threads has no value", "such as"]),
        (&["=1"], &MODEL, &[], ["expected NAME=VALUE", "threads=1,2,4"]),
        (&["threads=1,2,1"], &MODEL, &[], ["`1` is given twice", "--repeat"]),
        (&["size=1k,1000"], &MODEL, &[], ["`1k` and `1000` ask for the same", "remove one"]),
        (&["threads=1,2", "threads=4,8"], &MODEL, &[], ["is varied by", "use one"]),
        (&["threads=1,2", "size=1,2", "c=1,2"], &MODEL, &[], ["at most two axes", "--vary c"]),
        (
            &["threads=1,2", "size=1,2"],
            &MODEL,
            &["--connections", "1,2"],
            ["at most two axes", "-c"],
        ),
        (&["connections=1,2"], &URL, &["--arrivals", "poisson"], ["--arrivals", "--rate"]),
    ] {
        let line = varied(vary, targets, load).unwrap_err();
        assert!(parts.iter().all(|part| line.contains(part)), "{vary:?}: {line}");
    }
    // What is wrong whatever the value is not blamed on it.
    let line = varied(&["connections=1,2"], &URL, &["--arrivals", "poisson"]).unwrap_err();
    assert!(!line.contains("--vary"), "{line}");
}
