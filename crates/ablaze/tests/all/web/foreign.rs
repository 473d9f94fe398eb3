//! Names of others on the page of what is under way: no markup, and nothing that a terminal obeys in what its program
//! sends.

use ablaze_testing::Scratch;
use rustix::process::Signal;

use super::support::{Watched, body, heard};
use crate::e2e::foreign::{assert_fit, list, served_as};

#[test]
fn the_page_shows_names_of_others_spelled_out() {
    let folder = Scratch::new("web-foreign");
    let (_server, url) = served_as(&folder, "\u{202e}\u{9b}\u{1b}c");
    let list = list(&folder);
    let words = ["load", &url, "--urls", &list, "-d", "60s", "-c", "2", "--expect", "100-599"];
    let watched = Watched::start(&words);
    let events = heard(&mut watched.events(), "hostile").unwrap();
    let page = watched.get("/");
    for text in [&events, body(&page)] {
        assert_fit(&["the page"], text);
        assert!(!text.contains("<b>hostile"), "markup: {text}");
    }
    assert!(events.contains("u{202e}"), "{events}");
    watched.running.signal(Signal::INT);
    let (_, folder) = watched.ended();
    for stream in ["stdout", "stderr"] {
        assert_fit(&[stream], &folder.read(stream));
    }
}
