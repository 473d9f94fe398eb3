//! The files of `-o`, runs put together, and the figures of a page against the runs beside it.

use ablaze_report::page::{figures_json, runs_json};
use serde_json::Value;

use crate::experiments::support::{ablaze, runs, scratch};
use ablaze_testing::repository;

const COMPARE: [&str; 9] =
    ["compare", "serve:epoll-et", "serve:epoll-lt", "--repeat", "6", "-n", "200", "-c", "2"];

#[test]
fn every_figure_of_a_page_follows_from_the_runs_beside_it() {
    let folder = scratch("recompute");
    let files = ["-o", "x.html", "-o", "x.json", "-o", "x.csv", "-o", "x.svg", "-o", "BENCH.md"];
    let said = ablaze(&folder, &[&COMPARE[..], &files, &["-o", "x.txt"]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let page = read("x.html");
    assert_eq!(page, read("compare-1/index.html"));
    let figures: Value = serde_json::from_str(figures_json(&page).unwrap()).unwrap();
    assert_eq!(figures, serde_json::from_str::<Value>(&read("x.json")).unwrap());
    let trials = figures["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 12);
    let csv = read("x.csv");
    for trial in trials {
        let run: Value = serde_json::from_str(&read(&format!(
            "compare-1/runs/{}",
            trial["run"].as_str().unwrap()
        )))
        .unwrap();
        let rate = run["responses"].as_f64().unwrap() * 1e9 / run["elapsed_ns"].as_f64().unwrap();
        assert!((trial["rate_per_s"].as_f64().unwrap() - rate).abs() < 1e-6 * rate);
        assert_eq!(trial["p50_ns"], run["latency_ns"]["total"]["p50"]);
        assert_eq!(trial["errors"], run["failed"]["total"]);
        assert!(csv.contains(&format!(",{rate:.3},")), "{rate}\n{csv}");
    }
    for (at, row) in figures["rows"].as_array().unwrap().iter().enumerate() {
        let of = trials.iter().filter(|trial| trial["target"] == row["target"]);
        let mut rates: Vec<f64> = of.map(|trial| trial["rate_per_s"].as_f64().unwrap()).collect();
        rates.sort_by(f64::total_cmp);
        let median = (rates[2] + rates[3]) / 2.0;
        assert!((row["point"]["rate_per_s"].as_f64().unwrap() - median).abs() < 1e-6 * median);
        let shown = ablaze_report::number::grouped(median.round() as u64);
        let target = row["target"].as_str().unwrap();
        assert!(page.contains(&format!("{target}</th><td>{shown}</td>")), "row {at}: {shown}");
    }
    // The words are those of the terminal.
    assert!(said.stdout.starts_with(&read("x.txt")), "{}", said.stdout);
    assert!(read("x.svg").starts_with("<svg") && read("x.svg").contains("epoll-lt"));
    assert!(read("BENCH.md").contains("](BENCH.svg)") && read("BENCH.svg").starts_with("<svg"));
    let explained = ablaze(&folder, &["explain", "BENCH.md"]);
    assert_eq!(explained.status, 0, "{explained:?}");
    assert!(explained.stdout.starts_with("side by side\n"), "{}", explained.stdout);
    for row in figures["rows"].as_array().unwrap() {
        let rate = ablaze_report::number::grouped(
            row["point"]["rate_per_s"].as_f64().unwrap().round() as u64,
        );
        let line = format!("{rate}/s  {} (line ", row["target"].as_str().unwrap());
        assert!(explained.stdout.contains(&line), "{line}\n{}", explained.stdout);
    }
    assert!(!explained.stdout.contains("without its report"), "{}", explained.stdout);
}

#[test]
fn a_sweep_and_a_search_are_kept_in_files_and_read_back() {
    let folder = scratch("keep-sweep");
    let words = ["sweep", "serve:epoll-et", "-c", "1,2,4", "-n", "200", "-o", "BENCH.md"];
    let said = ablaze(&folder, &[&words[..], &["-o", "chart.svg", "-o", "all.csv"]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let explained = ablaze(&folder, &["explain", "BENCH.md"]);
    let part = "epoll-et: 3 points from c = 1 to 4";
    assert!(explained.stdout.contains(part), "{}", explained.stdout);
    let csv = std::fs::read_to_string(folder.join("all.csv")).unwrap();
    assert_eq!(csv.lines().count(), 4, "{csv}");
    // The same files from what was kept.
    let again = ["report", "sweep-1", "-o", "again.csv", "-o", "again.svg"];
    assert_eq!(ablaze(&folder, &again).status, 0);
    assert_eq!(std::fs::read_to_string(folder.join("again.csv")).unwrap(), csv);
    let chart = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(chart("again.svg"), chart("chart.svg"));
    let find = ["find", "serve:epoll-et,delay=10ms,in-service=8", "--slo", "p50<5s", "--to", "60"];
    let more =
        ["--from", "50", "-d", "500ms", "--confirm", "500ms", "-o", "find.html", "-o", "f.csv"];
    let said = ablaze(&folder, &[&find[..], &more].concat());
    assert!(matches!(said.status, 0 | 1), "{said:?}");
    assert!(said.stdout.contains("  page find-1/index.html"), "{}", said.stdout);
    let page = std::fs::read_to_string(folder.join("find.html")).unwrap();
    assert!(page.contains("Answered over requested rate") && figures_json(&page).is_some());
    let rows = std::fs::read_to_string(folder.join("f.csv")).unwrap().lines().count() - 1;
    assert_eq!(rows, runs(&folder.join("find-1")).len());
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_first_run() {
    let folder = scratch("keep-refused");
    for (name, part) in [
        ("x.pdf", "unknown report format .pdf"),
        ("x.hlog", "a .hlog file holds one run"),
        ("no/x.json", "the folder does not exist"),
    ] {
        let file = std::fs::write(
            folder.join("x.toml"),
            "[targets.a]\nserve = \"epoll-et\"\n[load]\nconnections = 1\n",
        );
        file.unwrap();
        for words in [
            &COMPARE[..],
            &["sweep", "serve:epoll-et", "-c", "1,2"],
            &["find", "serve:epoll-et", "--slo", "p99<1s"],
            &["run", "x.toml"],
        ] {
            let said = ablaze(&folder, &[words, &["-o", name]].concat());
            assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{words:?}: {said:?}");
            assert!(said.stderr.contains(part), "{words:?}: {}", said.stderr);
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "something was started");
}

#[test]
fn runs_are_put_on_one_page_and_shards_together() {
    let folder = scratch("together");
    let saved = &repository::file("crates/model/tests/saved/format-1.json");
    let save = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    save("a.json", saved);
    // Half a second later.
    save("b.json", &saved.replace("1795251909123456789", "1795251909623456789"));
    save("copy.json", saved);
    save("other.json", &saved.replace("\"method\": \"GET\"", "\"method\": \"HEAD\""));
    save("later.json", &saved.replace("1795251909123456789", "1795259909123456789"));
    let said = ablaze(&folder, &["report", "a.json", "b.json", "-o", "both.html", "-o", "both.md"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(said.stdout, "a, b: on one page, both.html · both.md\n");
    let page = std::fs::read_to_string(folder.join("both.html")).unwrap();
    assert_eq!(runs_json(&page).count(), 2);
    let merge = ["report", "--merge", "a.json", "b.json", "-o", "whole.json"];
    let said = ablaze(&folder, &merge);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        said.stdout.contains("200 connections") && said.stdout.contains("2 shards"),
        "{}",
        said.stdout
    );
    let whole: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("whole.json")).unwrap()).unwrap();
    assert_eq!(
        (&whole["responses"], &whole["elapsed_ns"]),
        (&40_000.into(), &10_500_000_000u64.into())
    );
    assert_eq!(ablaze(&folder, &["report", "whole.json"]).stdout, said.stdout);
    for (words, part) in [
        (&["report", "--merge", "a.json", "other.json"][..], "method GET and HEAD"),
        (&["report", "--merge", "a.json", "later.json"], "did not run at the same time"),
        (&["report", "--merge", "a.json", "copy.json"], "hold the same run"),
        (&["report", "--merge", "a.json"], "--merge needs the files of two or more runs"),
        (&["report", "a.json", "b.json", "-o", "x.csv"], "this format holds one run"),
    ] {
        let said = ablaze(&folder, words);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{words:?}: {said:?}");
        assert!(said.stderr.contains(part), "{words:?}: {}", said.stderr);
    }
}

#[test]
fn a_file_with_parts_is_kept_whole_or_refused() {
    let folder = scratch("keep-parts");
    let text = "repeats = 1\n[targets.a]\nserve = \"epoll-et\"\n[load]\nconnections = \"{c}\"\n\
                requests = 200\n[parts.one]\nc = \"1\"\n[parts.two]\nc = \"2\"\n";
    std::fs::write(folder.join("x.toml"), text).unwrap();
    let refused = ablaze(&folder, &["run", "x.toml", "-o", "x.csv"]);
    assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{refused:?}");
    assert!(refused.stderr.contains("use .html .md .json .txt"), "{}", refused.stderr);
    let said = ablaze(&folder, &["run", "x.toml", "-o", "x.json", "-o", "x.txt", "-o", "x.html"]);
    assert_eq!(said.status, 0, "{said:?}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let parts: Value = serde_json::from_str(&read("x.json")).unwrap();
    assert_eq!(parts["parts"].as_array().unwrap().len(), 2);
    assert!(said.stdout.starts_with(&read("x.txt")) && !read("x.txt").is_empty(), "{said:?}");
    assert_eq!(read("x.html"), read("x-1/index.html"));
}

/// What is mailed and committed has no password in it, and nothing else that is kept: the command that
/// goes on with an experiment says it again.
#[test]
fn what_is_passed_on_shows_no_password() {
    let folder = scratch("secrets");
    let targets = ["lt=serve:epoll-lt", "et=serve:epoll-et"];
    let load = ["-c2", "-n50", "--repeat=1", "--quiet", "--folder=results", "-u", "me:s3cr3t"];
    let field = ["-H", "Cookie: id=s3cr3t", "-o", "page.html", "-o", "rows.json", "-o", "BENCH.md"];
    let said = ablaze(&folder, &[&["compare"][..], &targets, &load, &field].concat());
    assert_eq!(said.status, 0, "{}", said.stderr);
    let results = folder.join("results");
    let mut files: Vec<_> =
        runs(&results).iter().map(|run| results.join("runs").join(run)).collect();
    assert_eq!(files.len(), 2, "{files:?}");
    files.extend(["index.html", "BENCH.md"].map(|name| results.join(name)));
    files.extend(["page.html", "rows.json", "BENCH.md"].map(|name| folder.join(name)));
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("s3cr3t"), "{}", file.display());
        assert!(text.contains("me:***"), "{}", file.display());
    }
    assert!(!(said.stdout + &said.stderr).contains("s3cr3t"));
    let experiment = std::fs::read_to_string(results.join("experiment.json")).unwrap();
    assert!(!experiment.contains("s3cr3t") && experiment.contains("me:***"), "{experiment}");
    std::fs::remove_file(results.join("runs").join(&runs(&results)[0])).unwrap();
    let on = ablaze(&folder, &[&["compare"][..], &targets, &load, &field].concat());
    assert_eq!((on.status, runs(&results).len()), (0, 2), "{on:?}");
}
