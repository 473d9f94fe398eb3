//! Runs inside of a page: written so that no text in them can end the element they lie in, and found
//! again.

use std::fmt::Write;

use ablaze_chart::svg::escaped;

const BEGINS: &str = "<script type=\"application/json\" class=\"ablaze-run\"";
const ENDS: &str = "</script>";

/// A Run's JSON as an element that is not shown. `<` and `&` occur in strings only, where `\u003c` is
/// the same (RFC 8259, 7); without them there is neither `</script>` nor `<!--`, and the page
/// is XML as well.
pub(super) fn element(name: &str, json: &str) -> String {
    let mut element = String::with_capacity(json.len() + 128);
    let json = json.trim_end().replace('<', "\\u003c").replace('&', "\\u0026");
    let _ = write!(element, "{BEGINS} data-name=\"{}\">{json}{ENDS}", escaped(name));
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
    page.split(BEGINS).skip(1).filter_map(|rest| {
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
        let page = format!("<p>x</p>{}<p>y</p>", element("a \">b", json));
        let found: serde_json::Value = serde_json::from_str(run_json(&page).unwrap()).unwrap();
        assert_eq!(found["a"], "</script><!-- <script>&amp;");
        assert_eq!(run_json("<html></html>"), None);
        assert_eq!(runs_json(&page.repeat(2)).count(), 2);
    }
}
