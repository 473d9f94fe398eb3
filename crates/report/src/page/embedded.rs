//! Runs inside of a page: written so that no text in them can end the element they lie in, and found
//! again.

use std::fmt::Write;

use ablaze_chart::svg::escaped;
use ablaze_model::printable;

/// The class of a Run's element.
pub(super) const RUN: &str = "ablaze-run";
/// The class of an element with the figures of several runs.
pub(super) const FIGURES: &str = "ablaze-figures";
/// The class of an element with what a chart is drawn from.
pub(super) const CHART: &str = "ablaze-chart-data";

const ENDS: &str = "</script>";

fn begins(class: &str) -> String {
    format!("<script type=\"application/json\" class=\"{class}\"")
}

/// JSON as an element that is not shown. `<` and `&` occur in strings only, where `\u003c` is
/// the same (RFC 8259, 7); without them there is neither `</script>` nor `<!--`, and the page
/// is XML as well.
pub(super) fn element(class: &str, name: &str, json: &str) -> String {
    let mut element = String::with_capacity(json.len() + 128);
    let json = printable::json(json.trim_end()).replace('<', "\\u003c").replace('&', "\\u0026");
    let _ = write!(element, "{} data-name=\"{}\">{json}{ENDS}", begins(class), escaped(name));
    element.push('\n');
    element
}

/// The first Run in a page, as [`crate::json::load`] reads it; `None` when the text is no page with a
/// Run in it.
pub fn run_json(page: &str) -> Option<&str> {
    runs_json(page).next()
}

/// Every Run in a page.
pub fn runs_json(page: &str) -> impl Iterator<Item = &str> {
    all(page, RUN)
}

/// The figures of the experiment on a page, as its command prints them with `--json`.
pub fn figures_json(page: &str) -> Option<&str> {
    all(page, FIGURES).next()
}

fn all<'a>(page: &'a str, class: &str) -> impl Iterator<Item = &'a str> {
    let pieces: Vec<&str> = page.split(&begins(class)).skip(1).collect();
    pieces.into_iter().filter_map(|rest| {
        let (_, json) = rest.split_once('>')?;
        let (json, _) = json.split_once(ENDS)?;
        json.starts_with('{').then_some(json)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_element() {
        let json = r#"{"a":"</script><!-- <script>&amp;"}"#;
        let page = format!("<p>x</p>{}<p>y</p>", element(RUN, "a \">b", json));
        let found: serde_json::Value = serde_json::from_str(run_json(&page).unwrap()).unwrap();
        assert_eq!(found["a"], "</script><!-- <script>&amp;");
        assert_eq!(run_json("<html></html>"), None);
        assert_eq!(runs_json(&page.repeat(2)).count(), 2);
    }
}
