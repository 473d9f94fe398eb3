//! Saved runs as targets of `ablaze compare`.

use std::path::Path;

use crate::experiments::support::{ablaze, runs, scratch};

/// Two days later.
const LATER: &[(&str, &str)] = &[("1795251909123456789", "1795424709123456789")];
const ANOTHER_MACHINE: &[(&str, &str)] = &[("\"cpus_allowed\": 2", "\"cpus_allowed\": 64")];

/// A saved run, with some of its words changed.
fn saved(folder: &Path, name: &str, change: &[(&str, &str)]) {
    let mut text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../model/tests/saved/format-1.json"
    ))
    .unwrap();
    for (from, to) in change {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn two_saved_runs_are_compared_without_an_interval() {
    let folder = scratch("saved-two");
    saved(&folder, "before.json", &[]);
    saved(&folder, "after.json", LATER);
    let words = ["compare", "before.json", "after.json"];
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 0, "{said:?}");
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines[0], "2 saved runs of 2 targets");
    assert!(lines[1].starts_with("SUSPECT · "), "{}", said.stdout);
    for part in [
        "D15 SUSPECT noise: `after` was measured 2 days after `before`; one run each: no interval.",
        "one run each: no interval",
        "after / before  rate 1.00",
    ] {
        let words: Vec<&str> = said.stdout.split_whitespace().collect();
        let part_words: Vec<&str> = part.split_whitespace().collect();
        let is_there = words.windows(part_words.len()).any(|there| there == part_words);
        assert!(is_there, "{part}\n{}", said.stdout);
    }
    assert_eq!(runs(&folder.join("compare-1")), ["1-before-saved-1.json", "2-after-saved-1.json"]);
    let page = std::fs::read_to_string(folder.join("compare-1/index.html")).unwrap();
    assert!(page.contains("<strong>SUSPECT</strong>"), "no verdict");
    let again = ablaze(&folder, &["report", "compare-1"]);
    assert_eq!(
        (again.status, &again.stdout),
        (0, &crate::experiments::support::without_folder(&said.stdout))
    );
    // A condition goes by the plain ratio.
    for (condition, status) in [("before / after rate < 1.5", 3), ("before / after rate > 1.5", 0)]
    {
        let said = ablaze(&folder, &[&words[..], &["--fail-if", condition]].concat());
        assert_eq!(said.status, status, "{said:?}");
        let why = "it was 1.00, without an interval: there is one run of each";
        assert_eq!(said.stderr.contains(why), status == 3, "{}", said.stderr);
    }
}

#[test]
fn files_of_one_name_are_repeats_and_differences_are_named() {
    let folder = scratch("saved-repeats");
    saved(&folder, "one.json", LATER);
    saved(&folder, "two.json", &[]);
    // Of a third time, under the name of the first.
    std::fs::create_dir(folder.join("third")).unwrap();
    saved(&folder, "third/one.json", &[("1795251909123456789", "1795338309123456789")]);
    std::fs::create_dir(folder.join("other")).unwrap();
    let earlier = ("1795251909123456789", "1795165509123456789");
    saved(&folder, "other/one.json", &[ANOTHER_MACHINE[0], earlier]);
    let words = ["compare", "x=one.json", "x=two.json", "third/one.json", "other/one.json"];
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 0, "{said:?}");
    // The earlier one is the first repeat.
    let kept = runs(&folder.join("compare-1"));
    assert_eq!(
        kept,
        [
            "1-x-saved-1.json",
            "1-x-saved-2.json",
            "2-third-one-saved-1.json",
            "3-other-one-saved-1.json"
        ]
    );
    let text =
        |name: &str| std::fs::read_to_string(folder.join("compare-1/runs").join(name)).unwrap();
    assert!(
        text("1-x-saved-2.json").contains(LATER[0].1)
            && !text("1-x-saved-1.json").contains(LATER[0].1)
    );
    assert!(said.stdout.contains("the client's machine: "), "{}", said.stdout);
    assert!(said.stdout.contains("no ranking: the runs are not comparable"), "{}", said.stdout);
}

#[test]
fn what_is_no_saved_run_is_refused_before_anything_else() {
    let folder = scratch("saved-refused");
    saved(&folder, "fine.json", &[]);
    saved(&folder, "later.json", LATER);
    std::fs::write(folder.join("other.json"), "{}").unwrap();
    for (words, part) in [
        (&["compare", "fine.json", "other.json"][..], "`other.json`: "),
        (&["compare", "fine.json", "nowhere.json"], "cannot read `nowhere.json`: "),
        (
            &["compare", "fine.json", "a=fine.json"],
            "`fine.json` is given twice: a run cannot be its own repeat",
        ),
        (
            &["compare", "fine.json", "a=later.json", "-c", "5"],
            "--connections has no effect: every target is a saved run",
        ),
        (&["compare", "fine.json"], "a comparison needs two targets"),
    ] {
        let said = ablaze(&folder, words);
        assert_eq!((said.status, said.stderr.lines().count()), (2, 1), "{said:?}");
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
}

#[test]
fn a_saved_run_stands_beside_a_live_one() {
    let folder = scratch("saved-live");
    let live =
        ["compare", "serve:epoll-et", "serve:epoll-lt", "--repeat", "1", "-n", "200", "-c", "2"];
    assert_eq!(ablaze(&folder, &live).status, 0);
    let before = "before=compare-1/runs/1-epoll-et-c-2-1.json";
    let words = ["compare", before, "serve:epoll-et", "--repeat", "2", "-n", "200", "-c", "2"];
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 0, "{said:?}");
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("1 run against 2, unpaired: no interval."), "{}", said.stdout);
    assert_eq!(runs(&folder.join("compare-2")).len(), 3);
}
