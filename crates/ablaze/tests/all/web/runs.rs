//! A run with its page: what the page shows, what it does to the run, and how both end.

use std::time::Instant;

use ablaze_testing::process::eventually;
use rustix::process::Signal;
use serde_json::Value;

use super::support::{Watched, body, heard, read_until, serve};

#[test]
fn buttons_change_the_rate_pause_and_end_the_run_and_the_run_says_so() {
    let (_server, url) = serve();
    let watched = Watched::start(&[&url, "-r", "500", "-d", "60s", "-o", "run.json"]);
    assert!(watched.tells("requested"));
    assert_eq!(watched.press("faster"), "550/s");
    assert_eq!(watched.press("pause"), "paused, to go on with 550/s");
    assert!(watched.tells("data-paused"));
    assert_eq!(watched.press("pause"), "550/s");
    assert_eq!(watched.press("rate&to=800"), "800/s");
    for nonsense in ["", "-1", "0", "NaN", "inf", "8x"] {
        let said = watched.press(&format!("rate&to={nonsense}"));
        assert!(said.contains("number of requests"), "{nonsense}: {said}");
    }
    assert_eq!(watched.press("rate&to=900000"), "no further than that");
    assert_eq!(watched.press("rate&to=500"), "500/s");
    assert_eq!(watched.press("stop"), "ending");
    let (status, folder) = watched.ended();
    // As after Ctrl-C: it did not run as long as was asked for.
    assert_eq!(status, Some(130));
    let run: Value = serde_json::from_str(&folder.read("run.json")).unwrap();
    let changes = run["rate_changes"].as_array().unwrap().iter();
    let times: Vec<f64> = changes.map(|change| change["times_asked"].as_f64().unwrap()).collect();
    // The last may have been asked for too late to hold.
    assert!([1.1, 0.0, 1.1, 1.6, 1.0].starts_with(&times) && times.len() > 2, "{times:?}");
}

#[test]
fn the_page_of_a_fleet_shows_the_load_of_all_and_no_button_that_does_nothing() {
    let (_server, url) = serve();
    let words = ["load", "--fleet", "exec:2", "-r", "200", "-c", "40", "-d", "60s", &url];
    let watched = Watched::start(&words);
    let page = watched.get("/");
    assert!(page.contains("at most 40 connections · 2 workers"), "{page}");
    // Its workers are not told of another rate.
    assert!(
        page.contains("data-does=\"stop\"") && !page.contains("data-does=\"faster\""),
        "{page}"
    );
    assert!(watched.tells("responses"));
    // A row for each worker, as in the live view: what it does, then its figures.
    let rate_of = |name: &str| {
        let row = format!("{name}</th><td>");
        let said = heard(&mut watched.events(), &row)?;
        let cell = said.rsplit_once(&row)?.1.chars().next()?;
        cell.is_ascii_digit().then_some(())
    };
    assert!(eventually(|| rate_of("worker-1").is_some() && rate_of("worker-2").is_some()));
    assert!(watched.get("/").contains("id=\"live-workers\""));
    assert_eq!(watched.press("faster"), "the rate of a fleet cannot be changed while it runs");
    assert_eq!(watched.press("stop"), "ending");
    let (status, said) = watched.end();
    assert_eq!(status, Some(130), "{said}");
}

#[test]
fn the_finished_page_is_the_file_and_the_program_ends_when_it_was_fetched() {
    let (_server, url) = serve();
    let words = [&url, "-c", "2", "-d", "4s", "-o", "run.html", "-o", "run.json"];
    let watched = Watched::start(&words);
    let page = watched.get("/");
    for part in ["live-state", "live-over-time", "live-percentiles", "connect-src 'self'"] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(!page.contains("http://") || page.contains(&url), "{page}");
    let mut events = watched.events();
    assert!(read_until(&mut events, "event: finished"));
    let finished = watched.get("/finished");
    assert!(finished.contains("Cache-Control: private"), "{finished}");
    let saved = watched.folder.read("run.html");
    assert_eq!(body(&finished), saved);
    let (status, said) = watched.end();
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn where_nobody_watches_the_end_is_not_waited_for() {
    let (_server, url) = serve();
    let watched = Watched::start(&[&url, "-c", "1", "-d", "800ms"]);
    let begun = Instant::now();
    let (status, said) = watched.end();
    assert_eq!(status, Some(0), "{said}");
    // Ten seconds are for those who have followed.
    assert!(begun.elapsed().as_secs() < 8);
    let watched = Watched::start(&[&url, "-c", "1", "-d", "800ms", "--linger", "20s"]);
    // Somebody who comes when it is over gets the finished page at once.
    assert!(eventually(|| watched.get("/").contains("class=\"verdict")));
    assert_eq!(watched.end().0, Some(0));
}

#[test]
fn a_group_an_error_and_a_status_are_on_the_page_while_it_lasts() {
    let (_server, url) = serve();
    let folder = ablaze_testing::Scratch::new("web-urls");
    let urls = folder.write("urls", format!("{url}hello\n{url}<b>no\n"));
    let watched = Watched::start(&["--urls", &urls, "-r", "300", "-d", "60s"]);
    let mut events = watched.events();
    let said = heard(&mut events, "responses 200").unwrap();
    let said = said + &heard(&mut events, "By group").unwrap();
    // Names of groups are text, whatever they look like.
    assert!(said.contains("&lt;b&gt;no") && !said.contains("<b>no"), "{said}");
    watched.running.signal(Signal::INT);
    assert!(read_until(&mut events, "event: finished"));
    assert_eq!(watched.get("/finished").matches("Interrupted").count().min(1), 1);
    assert_eq!(watched.end().0, Some(130));
}
