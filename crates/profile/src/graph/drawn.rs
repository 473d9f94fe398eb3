//! A flame graph as `inferno` draws it, with units of its own, and the part of it that can stand in a page.

use std::io;

use ablaze_chart::number::time;
use inferno::differential;
use inferno::flamegraph::color::MultiPalette;
use inferno::flamegraph::{self, Options, Palette};

use super::Drawing;
use crate::folded::{PER_MICROSECOND, PerRequest};

/// What `inferno` calls the counts, which no function is called: titles are put right by it.
pub(super) const COUNTS: &str = "picoseconds-per-request";
/// Pixels.
const WIDTH: usize = 1200;

/// Lines of a stack and two counts: what a profile is held against, and its own.
pub(super) fn lines_of_both(before: &PerRequest, after: &PerRequest) -> Option<String> {
    let mut lines = Vec::new();
    // Not scaled to each other: a request of one may well cost more than one of the other.
    let options = differential::Options::default();
    let (first, second) = (before.lines(), after.lines());
    differential::from_readers(options, first.as_bytes(), second.as_bytes(), &mut lines).ok()?;
    String::from_utf8(lines).ok()
}

/// Draws lines of a stack and one count, or two: then the first is what the second is held against.
pub(super) fn drawn(title: &str, subtitle: &str, lines: &str, total_ns: f64) -> Option<Drawing> {
    let svg = |for_a_page: bool| -> io::Result<String> {
        let mut options = Options::default();
        options.title = title.to_owned();
        options.subtitle = (!subtitle.is_empty()).then(|| subtitle.to_owned());
        options.count_name = COUNTS.to_owned();
        options.colors = Palette::Multi(MultiPalette::Java);
        // The same functions, the same colours: two graphs are looked at beside each other.
        options.deterministic = true;
        options.image_width = for_a_page.then_some(WIDTH);
        options.no_javascript = for_a_page;
        let mut bytes = Vec::new();
        flamegraph::from_lines(&mut options, lines.lines(), &mut bytes)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    };
    let file = with_units(&svg(false).ok()?, total_ns);
    let element = element(&with_units(&svg(true).ok()?, total_ns))?;
    Some(Drawing { file, element })
}

/// `f (1,234,567 picoseconds-per-request, 12.34%; +1.20%)` as
/// `f (1.23 µs per request, 12.34%; itself +0.12 µs)`.
fn with_units(svg: &str, total_ns: f64) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some((before, after)) = rest.split_once(&format!(" {COUNTS}, ")) {
        let digits = before.rfind('(').map_or(before.len(), |at| at + 1);
        let count: f64 = before[digits..].replace(',', "").parse().unwrap_or(0.0);
        out.push_str(&before[..digits]);
        out.push_str(&format!("{} per request, ", time(count / PER_MICROSECOND * 1e3)));
        let (share, behind) = after.split_once(')').unwrap_or((after, ""));
        match share.split_once("; ") {
            Some((share, change)) => {
                let percent: f64 = change.trim_end_matches('%').parse().unwrap_or(0.0);
                let change_us = percent / 100.0 * total_ns / 1e3;
                out.push_str(share);
                // Of the function itself: what it calls has its own rectangle and its own colour.
                if change_us != 0.0 {
                    let sign = if change_us < 0.0 { '−' } else { '+' };
                    out.push_str(&format!("; itself {sign}{}", time(change_us.abs() * 1e3)));
                }
            }
            None => out.push_str(share),
        }
        out.push(')');
        rest = behind;
    }
    out + rest
}

/// The drawing without what would reach beyond it in a page: script, style, names.
fn element(svg: &str) -> Option<String> {
    let (_, body) = svg.split_once("</script>")?;
    let size = |name: &str| {
        let (_, after) = svg.split_once(&format!(" {name}=\""))?;
        after.split_once('"').map(|(value, _)| value)
    };
    let body = without_names(&without_idle_words(body.trim_end()))
        .replace("fill=\"url(#background)\"", "fill=\"#f4f4f4\"");
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:fg=\"http://github.com/jonhoo/inferno\" \
         viewBox=\"0 0 {WIDTH} {}\" width=\"{WIDTH}\" height=\"{}\" font-family=\"monospace\" \
         font-size=\"12\">{body}",
        size("height")?,
        size("height")?
    ))
}

/// Without the words that do something only with the script, and without empty ones.
fn without_idle_words(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some((before, after)) = rest.split_once("<text") {
        out.push_str(before);
        let Some((text, behind)) = after.split_once("</text>") else { break };
        let words = text.split_once('>').map_or("", |(_, words)| words.trim());
        if !matches!(words, "" | "Search" | "Reset Zoom") {
            out.push_str(&format!("<text{text}</text>"));
        }
        rest = behind;
    }
    out + rest
}

/// Without ` id="…"`; a heading that was placed by its name gets its place as an attribute.
fn without_names(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some((before, after)) = rest.split_once(" id=\"") {
        out.push_str(before);
        let Some((name, behind)) = after.split_once('"') else { break };
        out.push_str(match name {
            "title" => " text-anchor=\"middle\" font-size=\"17\"",
            "subtitle" => " text-anchor=\"middle\"",
            _ => "",
        });
        rest = behind;
    }
    out + rest
}
