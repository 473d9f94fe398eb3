//! `ablaze compare` and `ablaze sweep`, and `ablaze report` of what they kept.

use crate::experiments::support::{ablaze, runs, scratch, without_folder};

#[test]
fn a_comparison_is_kept_and_shown_again() {
    let folder = scratch("compare");
    let words =
        ["compare", "serve:epoll-et", "serve:epoll-lt", "--repeat", "2", "-d", "500ms", "-c", "2"];
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 0, "{said:?}");
    let few = "epoll-et / epoll-lt  not enough runs: 2 pairs";
    assert!(said.stdout.contains(few), "{}", said.stdout);
    assert!(
        said.stdout.contains("2 of each, interleaved") || said.stdout.contains("2 runs of each")
    );
    let kept = folder.join("compare-1");
    let names = ["1-epoll-et-c-2-1", "1-epoll-et-c-2-2", "2-epoll-lt-c-2-1", "2-epoll-lt-c-2-2"];
    assert_eq!(runs(&kept), names.map(|name| format!("{name}.json")));
    assert!(names.iter().all(|name| kept.join(format!("runs/{name}.hlog")).exists()));
    let page = std::fs::read_to_string(kept.join("index.html")).unwrap();
    assert!(page.contains("epoll-lt") && page.contains("<svg"), "no page");
    assert!(std::fs::read_to_string(kept.join("BENCH.md")).unwrap().contains("| epoll-lt |"));
    let again = ablaze(&folder, &["report", "compare-1"]);
    assert_eq!((again.status, &again.stdout), (0, &without_folder(&said.stdout)));
    // The same command goes on with what is there, which is everything.
    let on = ablaze(&folder, &[&words[..], &["--folder", "compare-1"]].concat());
    assert_eq!((on.status, on.stdout), (0, said.stdout));
    let json = ablaze(&folder, &["report", "compare-1", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["trials"].as_array().unwrap().len(), 4);
    assert_eq!(value["ratios"][0]["metrics"][0]["ratio"], serde_json::Value::Null);
    // Too few runs for an answer are none that lets a build pass.
    let fails = ["report", "compare-1", "--fail-if", "epoll-et / epoll-lt rate < 0.5"];
    let said = ablaze(&folder, &fails);
    assert_eq!(said.status, 3, "{said:?}");
    assert!(said.stderr.contains("cannot be judged"), "{}", said.stderr);
    // The report says so in each of its forms.
    let line = "  fail if epoll-et / epoll-lt rate < 0.5: cannot be judged";
    assert!(said.stdout.contains(line), "{}", said.stdout);
    let told = said.stdout.lines().find(|told| told.starts_with(line)).unwrap_or_default();
    assert_eq!(told.matches("cannot be judged").count(), 1, "{told}");
    let json = ablaze(&folder, &[&fails[..], &["--json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let check = &value["checks"][0];
    assert_eq!((&check["answer"], &check["fails"]), (&"cannot be judged".into(), &true.into()));
    let other = [&words[..], &["--folder", "compare-1", "-H", "A: b"]].concat();
    assert_eq!(ablaze(&folder, &other).status, 2, "another experiment");
}

#[test]
fn what_cannot_be_met_is_refused_before_anything_starts() {
    let folder = scratch("refused");
    let compare = ["compare", "serve:epoll-et", "serve:epoll-lt", "--fail-if"];
    for (condition, part) in [
        (
            "mine / epoll-lt rate < 0.95",
            "unknown target `mine`; expected one of epoll-et, \
            epoll-lt",
        ),
        ("epoll-et / epoll-lt rate", "has neither < nor >"),
    ] {
        let said = ablaze(&folder, &[&compare[..], &[condition]].concat());
        assert_eq!(said.status, 2, "{said:?}");
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
    // Whatever the command, and however many runs would have come before it.
    for (words, part) in [
        (&["compare", "serve:epoll-et", "before.json"][..], "cannot read `before.json`"),
        (&["sweep", "-c", "1,2", "before.json"], "a saved run cannot be run again"),
        (&["find", "before.json", "--slo", "p99<1s"], "a saved run cannot be run again"),
        (&["compare", "serve:epol", "serve:epoll-et"], "epol: invalid value"),
        (
            &["sweep", "-c", "1,2", "serve:epoll-et,bogus=1"],
            "epoll-et,bogus=1: unknown option `bogus`",
        ),
    ] {
        let said = ablaze(&folder, words);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{words:?}: {said:?}");
        assert!(said.stderr.contains(part), "{words:?}: {}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{words:?}: {}", said.stderr);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_page_that_cannot_be_written_takes_no_result_away() {
    let folder = scratch("no-page");
    let words = ["sweep", "serve:epoll-et", "-c", "1", "-d", "500ms", "--folder", "kept"];
    assert_eq!(ablaze(&folder, &words).status, 0);
    // Where the page would lie there is a folder.
    std::fs::remove_file(folder.join("kept/index.html")).unwrap();
    std::fs::create_dir(folder.join("kept/index.html")).unwrap();
    std::fs::remove_dir_all(folder.join("kept/runs")).unwrap();
    std::fs::create_dir(folder.join("kept/runs")).unwrap();
    let said = ablaze(&folder, &words);
    // Everything was measured and shown; something that was asked for was not written.
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stdout.ends_with("  runs kept/runs\n"), "{}", said.stdout);
    assert!(said.stderr.contains("cannot save the page"), "{}", said.stderr);
    assert_eq!(runs(&folder.join("kept")), ["1-epoll-et-c-1-1.json"]);
}

#[test]
fn a_saved_run_becomes_other_files_and_is_held_against_what_was_asked() {
    let folder = scratch("convert");
    let sweep = ["sweep", "serve:epoll-et", "-c", "1,2", "-d", "500ms"];
    let said = ablaze(&folder, &sweep);
    assert_eq!(said.status, 0, "{said:?}");
    let run = "sweep-1/runs/1-epoll-et-c-1-1.json";
    let words =
        ["report", run, "-o", "run.csv", "-o", "run.html", "-o", "run.md", "-o", "copy.json"];
    let said = ablaze(&folder, &words);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{said:?}");
    assert!(said.stdout.contains("closed loop, 1 connection"), "{}", said.stdout);
    for file in ["run.csv", "run.html", "run.md", "copy.json"] {
        assert!(std::fs::metadata(folder.join(file)).unwrap().len() > 100, "{file}");
    }
    assert_eq!(ablaze(&folder, &["report", "copy.json"]).stdout, said.stdout);
    let text = std::fs::read_to_string(folder.join("copy.json")).unwrap();
    let at = text.find("\"closed\"").unwrap();
    let asked = text[at..].replacen("\"connections\": 1", "\"connections\": 77", 1);
    let changed = format!("{}{asked}", &text[..at]);
    std::fs::write(folder.join("changed.json"), changed).unwrap();
    let said = ablaze(&folder, &["report", "changed.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stderr.contains("changed.json: D36 SUSPECT"), "{}", said.stderr);
    for wrong in [
        &["report", "sweep-1", "-o", "x.hlog"][..],
        &["report", "nowhere"],
        &["report", "sweep-1/experiment.json"],
        &["report"],
    ] {
        assert_eq!(ablaze(&folder, wrong).status, 2, "{wrong:?}");
    }
}

#[test]
fn the_helps_fit_a_terminal_and_say_what_they_are_for() {
    let folder = scratch("helps");
    for (command, about) in [
        ("compare", "Compare targets"),
        ("sweep", "Load several targets"),
        ("find", "Find the highest rate"),
        ("run", "Run the experiment"),
        ("report", "Show saved results again"),
    ] {
        let said = ablaze(&folder, &[command, "--help"]);
        assert_eq!(said.status, 0);
        assert!(said.stdout.starts_with(about), "{}", said.stdout);
        let wide = said.stdout.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{command}");
        assert_eq!(ablaze(&folder, &["help", command]).stdout, said.stdout);
    }
}
