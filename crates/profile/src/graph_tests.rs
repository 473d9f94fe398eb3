//! Flame graphs: the widths, the names and the totals that they show.

use super::drawn::COUNTS;
use super::*;
use crate::folded::sample;

/// The titles of the frames of an SVG.
pub(crate) fn titles(svg: &str) -> Vec<String> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(svg, options).unwrap();
    let titles = document.descendants().filter(|node| node.has_tag_name("title"));
    titles.filter_map(|node| node.text().map(str::to_owned)).collect()
}

fn drawing() -> Drawing {
    let stacks =
        [("main;handle::<[u8, 8]>;send;tcp_sendmsg_[k]", 6), ("main;work", 3), ("main", 1)];
    let profile = sample::profile(&stacks, 1_000);
    flame("server", "CPU per request", &PerRequest::of(&profile)).unwrap()
}

#[test]
fn every_function_is_drawn_with_its_time_per_request_and_its_share() {
    let drawing = drawing();
    for svg in [&drawing.file, &drawing.element] {
        let mut titles = titles(svg);
        titles.sort();
        // 10 samples of 1 ms over 1,000 requests.
        let expected = [
            "all (10.0 µs per request, 100%)",
            "handle::<[u8, 8]> (6.00 µs per request, 60.00%)",
            "main (10.0 µs per request, 100.00%)",
            "send (6.00 µs per request, 60.00%)",
            "tcp_sendmsg (6.00 µs per request, 60.00%)",
            "work (3.00 µs per request, 30.00%)",
        ];
        assert_eq!(titles, expected);
    }
}

#[test]
fn the_file_can_be_searched_and_the_element_reaches_nowhere() {
    let Drawing { file, element } = drawing();
    assert!(file.contains("function zoom"));
    for beyond in ["<script", "<style", " id=", "url(", "onload", "<?xml", "Search"] {
        assert!(!element.contains(beyond), "{beyond}");
    }
    assert!(element.starts_with("<svg ") && element.ends_with("</svg>"));
    assert!(!file.contains(COUNTS) && !element.contains(COUNTS));
}

#[test]
fn the_same_profile_is_drawn_the_same_and_nothing_is_not_drawn() {
    assert_eq!(drawing(), drawing());
    assert_eq!(flame("", "", &PerRequest::default()), None);
}
