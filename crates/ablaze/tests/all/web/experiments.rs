//! Experiments and searches with their page.

use super::support::{Watched, body, heard, read_until};

/// Two quick servers, each once.
const TARGETS: [&str; 6] = ["serve:epoll-et", "serve:blocking", "--repeat", "1", "-c", "2"];

#[test]
fn a_comparison_shows_its_plan_its_results_so_far_and_ends_as_its_page() {
    let words = [&["compare"], &TARGETS[..], &["-d", "1s", "-o", "page.html"]].concat();
    let watched = Watched::start(&words);
    let mut events = watched.events();
    let said = heard(&mut events, "one under way").unwrap();
    assert!(said.contains("run 1 of 2") && said.contains("time left"), "{said}");
    assert!(said.contains("by the lengths that were asked for"), "{said}");
    let said = heard(&mut events, "run 2 of 2").unwrap();
    assert!(said.contains("median of the runs so far") || said.contains("asked for"), "{said}");
    // The table of the first run, by the code of the finished page.
    let said = heard(&mut events, "event: finished").unwrap();
    assert!(said.contains("server CPU/request") && said.contains("1 of 1"), "{said}");
    let finished = watched.get("/finished");
    let (status, folder) = watched.ended();
    assert_eq!(status, Some(0));
    assert_eq!(body(&finished), folder.read("page.html"));
    assert_eq!(body(&finished), folder.read("compare-1/index.html"));
}

#[test]
fn a_sweep_can_be_ended_from_its_page_and_gone_on_with() {
    let words = [&["sweep", "-c", "1,2,3,4"], &TARGETS[..4], &["-d", "1s"]].concat();
    let watched = Watched::start(&words);
    let mut events = watched.events();
    assert!(read_until(&mut events, "run 2 of 8"));
    assert_eq!(watched.press("faster"), "nothing is under way that could do it");
    assert_eq!(watched.press("stop"), "ending");
    assert!(read_until(&mut events, "event: finished"));
    let finished = watched.get("/finished");
    assert!(finished.contains("Interrupted after ") && finished.contains(" of 8 runs: partial"));
    let (status, said) = watched.end();
    assert_eq!(status, Some(130), "{said}");
    assert!(said.contains("--folder sweep-1"), "{said}");
}

#[test]
fn a_search_shows_its_stages() {
    let slo = ["--slo", "p99<10s", "-d", "500ms", "--from", "50", "--to", "100"];
    let watched = Watched::start(&[&["find", "serve:epoll-et", "-c", "2"], &slo[..]].concat());
    let mut events = watched.events();
    assert!(read_until(&mut events, "stage 1, "));
    assert!(read_until(&mut events, "Stages so far"));
    assert!(read_until(&mut events, "event: finished"));
    let finished = watched.get("/finished");
    let (status, folder) = watched.ended();
    // On a busy machine no rate may hold; that is an answer, too.
    assert!(matches!(status, Some(0 | 1)), "{}", folder.read("stderr"));
    assert_eq!(body(&finished), folder.read("find-1/index.html"));
}

#[test]
fn the_parts_of_a_file_come_one_after_the_other() {
    let file = ablaze_testing::Scratch::new("web-parts");
    let text = "[targets.one]\nserve = \"epoll-et\"\n[load]\nduration = \"300ms\"\nconnections = \"{n}\"\n\
                [parts.'first part']\nn = 1\n[parts.'second part']\nn = 2\n";
    let path = file.write("parts.toml", text);
    let watched = Watched::start(&["run", &path, "--folder", "results"]);
    let mut events = watched.events();
    assert!(
        read_until(&mut events, "part 1 of 2: first part"),
        "{}",
        watched.folder.read("stderr")
    );
    assert!(read_until(&mut events, "part 2 of 2: second part"));
    assert!(read_until(&mut events, "event: finished"));
    let finished = watched.get("/finished");
    let (status, folder) = watched.ended();
    assert_eq!(status, Some(0), "{}", folder.read("stderr"));
    assert_eq!(body(&finished), folder.read("results/index.html"));
}
