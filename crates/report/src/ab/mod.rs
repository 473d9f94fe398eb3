//! ab's reports, so that every script which parses them goes on working: [`text`], [`html`],
//! [`csv`] (`-e`) and [`gnuplot`] (`-g`). [`figures`] derives ab's numbers from a Run; what they
//! mean where ab's own are wrong is in docs/ab-compatibility.md.

pub mod csv;
pub mod figures;
pub mod gnuplot;
pub mod html;
pub mod text;

#[cfg(test)]
pub(crate) mod sample;

use std::io::{self, Write};

use ablaze_model::Run;

/// What ab's options change in its reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// `-l`: bodies may differ in length.
    pub variable_length: bool,
    /// Off by `-d`: the table of percentiles.
    pub percentiles: bool,
    /// Off by `-S`: standard deviations, medians and warnings.
    pub confidence: bool,
    /// `-w`, `-x`, `-y`, `-z`: HTML with these attributes.
    pub html: Option<HtmlAttributes>,
}

impl Default for Layout {
    fn default() -> Self {
        Self { variable_length: false, percentiles: true, confidence: true, html: None }
    }
}

/// Raw text inside the tags of the HTML report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlAttributes {
    /// `-x`: of `<table>`.
    pub table: String,
    /// `-y`: of `<tr>`.
    pub row: String,
    /// `-z`: of `<td>` and `<th>`.
    pub cell: String,
}

impl Default for HtmlAttributes {
    fn default() -> Self {
        Self { table: String::new(), row: String::new(), cell: "bgcolor=white".into() }
    }
}

/// The three lines that say which program this is; in ab's place, of ab's shape.
pub const BANNER: [&str; 3] = [
    concat!("This is ablaze, Version ", env!("CARGO_PKG_VERSION"), " <reports as ApacheBench 2.3>"),
    "An HTTP load tester compatible with ab; docs/ab-compatibility.md lists the differences",
    "Licensed under MIT or Apache-2.0, without warranty",
];

/// Writes the banner and what sets it off from the rest.
///
/// # Errors
/// Those of writing.
pub fn banner(html: bool, out: &mut dyn Write) -> io::Result<()> {
    if !html {
        return writeln!(out, "{}\n{}\n{}\n", BANNER[0], BANNER[1], BANNER[2]);
    }
    writeln!(out, "<p>")?;
    for line in BANNER {
        let line: String = line.split_inclusive(['<', '>']).map(in_italics).collect();
        writeln!(out, " {line}<br>")?;
    }
    writeln!(out, "</p>")
}

/// A piece of a line up to an angle bracket: what is in brackets is in italics, as ab's revision.
fn in_italics(piece: &str) -> String {
    match (piece.strip_suffix('<'), piece.strip_suffix('>')) {
        (Some(before), _) => format!("{before}<i>&lt;"),
        (_, Some(within)) => format!("{within}&gt;</i>"),
        _ => piece.to_owned(),
    }
}

/// Writes the report, in HTML or as text, as the layout says.
///
/// # Errors
/// Those of writing.
pub fn report(run: &Run, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    match &layout.html {
        Some(attributes) => html::write(run, layout, attributes, out),
        None => text::write(run, layout, out),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_banner_has_three_lines_and_an_empty_one_and_no_label() {
        let mut out = Vec::new();
        super::banner(false, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 4);
        assert!(text.ends_with("\n\n") && text.starts_with("This is ablaze, Version "));
        // Scrapers take every line `label: value` for a figure.
        assert!(!text.contains(": "));
    }

    /// ab prints its revision as `<i>&lt;%s&gt;</i>`.
    #[test]
    fn brackets_of_the_banner_are_escaped_in_html() {
        let mut out = Vec::new();
        super::banner(true, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("<i>&lt;reports as ApacheBench 2.3&gt;</i><br>"), "{text}");
        assert!(!text.contains("<i&gt;"), "{text}");
    }
}
