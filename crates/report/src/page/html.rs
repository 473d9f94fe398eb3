//! A page as one HTML file: style and script inside, nothing fetched, every text escaped.

use std::fmt::Write;

use ablaze_chart::svg::{self, Width, escaped};
use ablaze_chart::{Chart, Table};
use ablaze_model::finding::{Severity, Verdict};

use super::{Banner, Block, Explained, Figure, FindingText, Page, Section, TableBlock};
use super::{chart_data, embedded, script};

/// The browser holds the page to it: no script but its own, and nothing from anywhere.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");
/// How what a chart answers with looks: only scripts bring it to the screen.
const OF_CHARTS: &str = include_str!("charts.css");

/// The file.
pub(super) fn write(page: &Page) -> String {
    let mut out = String::with_capacity(64 * 1024);
    begin(page, POLICY, "", &mut out);
    page.sections.iter().for_each(|section| write_section(section, &mut out));
    out.push_str("</main>\n");
    for (name, json) in &page.runs {
        out.push_str(&embedded::element(embedded::RUN, name, json));
    }
    for (name, json) in &page.figures {
        out.push_str(&embedded::element(embedded::FIGURES, name, json));
    }
    end("", &mut out);
    out
}

/// Everything up to the first section, with style behind the page's own.
pub(super) fn begin(page: &Page, policy: &str, more_style: &str, out: &mut String) {
    let title = escaped(&page.title);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\" />\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n\
         <meta name=\"color-scheme\" content=\"light dark\" />\n\
         <meta name=\"generator\" content=\"ablaze {}\" />\n\
         <link rel=\"icon\" href=\"data:,\" />\n<title>{title}</title>\n\
         <style>\n{STYLE}{OF_CHARTS}{more_style}</style>\n<style class=\"ablaze-chart-style\">\n{}\n</style>\n</head>\n<body>\n<main>\n",
        env!("CARGO_PKG_VERSION"),
        svg::css()
    );
    let _ = writeln!(out, "<header>\n<h1>{title}</h1>");
    if !page.about.is_empty() {
        let _ = writeln!(out, "<p class=\"about\">{}</p>", with_code(&page.about));
    }
    for line in [&page.subtitle, &page.when].into_iter().filter(|line| !line.is_empty()) {
        let _ = writeln!(out, "<p>{}</p>", escaped(line));
    }
    out.push_str("</header>\n");
}

/// Everything behind the last section, with another script element behind the page's own.
pub(super) fn end(more: &str, out: &mut String) {
    let _ = write!(out, "<script>{}</script>\n{more}</body>\n</html>\n", script::text());
}

/// A section with its heading.
pub(super) fn write_section(section: &Section, out: &mut String) {
    out.push_str("<section>\n");
    if !section.heading.is_empty() {
        let _ = writeln!(out, "<h2>{}</h2>", escaped(&section.heading));
    }
    section.blocks.iter().for_each(|block| write_block(block, &section.heading, out));
    out.push_str("</section>\n");
}

fn write_block(block: &Block, heading: &str, out: &mut String) {
    match block {
        Block::Verdict(banner) => write_banner(banner, out),
        Block::Findings(findings) => findings.iter().for_each(|text| write_finding(text, out)),
        Block::Figures(figures) => write_figures(figures, out),
        Block::Text(text) => {
            let _ = writeln!(out, "<p>{}</p>", with_code(text));
        }
        Block::Remark(text) | Block::OfTheFile(text) => {
            let _ = writeln!(out, "<p class=\"quiet\">{}</p>", with_code(text));
        }
        Block::Table(block) => write_table(block, out),
        Block::Chart { chart, caption, figures } => {
            // A title that only repeats the heading above it is left out.
            let title = Some(chart.title.as_str()).filter(|title| *title != heading);
            write_chart(chart, title, caption, *figures, out);
        }
        Block::Multiples(charts) => {
            out.push_str("<div class=\"multiples\">\n");
            for chart in charts {
                let drawn = format!("<div>{}</div>\n", chart.svg(Width::Narrow));
                write_figure(chart, &drawn, Some(&chart.title), "", true, out);
            }
            out.push_str("</div>\n");
        }
        Block::Command(text) => {
            let _ = writeln!(
                out,
                "<div class=\"command\"><pre><code>{}</code></pre>\
                 <button type=\"button\" hidden=\"\">Copy</button></div>",
                escaped(text)
            );
        }
        Block::Report { name, text } => {
            let _ = writeln!(
                out,
                "<details><summary>{}</summary>\n<pre class=\"report\">{}</pre></details>",
                escaped(name),
                escaped(text)
            );
        }
        Block::Explained(explained) => explained.iter().for_each(|one| write_explained(one, out)),
        Block::Drawing { name, svg, caption } => {
            let _ = writeln!(
                out,
                "<figure role=\"group\" aria-label=\"{}\"><div class=\"drawing\">{svg}</div>",
                escaped(name)
            );
            write_caption(caption, out);
            out.push_str("</figure>\n");
        }
    }
}

fn class_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::Suspect => "suspect",
        Verdict::Invalid => "invalid",
    }
}

fn write_banner(banner: &Banner, out: &mut String) {
    let _ = writeln!(
        out,
        "<p class=\"verdict {}\"><strong>{}</strong> <span>{}</span></p>",
        class_of(banner.verdict),
        banner.verdict,
        with_code(&banner.text)
    );
}

fn write_finding(text: &FindingText, out: &mut String) {
    let finding = &text.finding;
    let class = match finding.severity {
        Severity::Note => "note",
        Severity::Suspect => "suspect",
        Severity::Invalid => "invalid",
    };
    let of = if text.of.is_empty() { String::new() } else { format!("{}: ", escaped(&text.of)) };
    let _ = write!(
        out,
        "<div class=\"finding {class}\"><h3>{of}<a href=\"#{}\">{} {}</a> <em>{}</em></h3>\n<p>{}</p>\n",
        finding.id.anchor(),
        finding.id,
        escaped(finding.id.name()),
        finding.severity,
        // Evidence of several targets or points has a line for each.
        with_code(&finding.evidence).replace('\n', "<br>\n"),
    );
    let rest = [&finding.cause, &finding.fix].map(|part| with_code(part)).join(" ");
    if !rest.trim().is_empty() {
        let _ = writeln!(out, "<p>{}</p>", rest.trim());
    }
    if !text.explains.is_empty() {
        let explains = escaped(&text.explains.join(", "));
        let _ = writeln!(out, "<p class=\"quiet\">It explains {explains}.</p>");
    }
    out.push_str("</div>\n");
}

fn write_figures(figures: &[Figure], out: &mut String) {
    out.push_str("<dl class=\"figures\">\n");
    for Figure { name, value, note } in figures {
        let _ = writeln!(
            out,
            "<div><dt>{}</dt><dd><b>{}</b><span>{}</span></dd></div>",
            escaped(name),
            kept_together(&escaped(value)),
            kept_together(&escaped(note))
        );
    }
    out.push_str("</dl>\n");
}

fn write_table(block: &TableBlock, out: &mut String) {
    out.push_str("<div class=\"scroll\" tabindex=\"0\">");
    let class = match (block.words, block.sorted_by) {
        (true, _) => "words".to_owned(),
        (false, None) if block.ends_in_words => "numbers told".to_owned(),
        (false, None) => "numbers".to_owned(),
        (false, Some(column)) => format!("numbers sortable\" data-sorted=\"{column}"),
    };
    write_cells(&block.table, &class, out);
    out.push_str("</div>\n");
    write_caption(&block.caption, out);
}

fn write_cells(table: &Table, class: &str, out: &mut String) {
    let _ = write!(out, "<table class=\"{class}\">");
    if !table.head.is_empty() {
        out.push_str("<thead><tr>");
        for cell in &table.head {
            let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(cell));
        }
        out.push_str("</tr></thead>");
    }
    out.push_str("<tbody>");
    for row in &table.rows {
        out.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            let cell = if class == "words" { with_code(cell) } else { escaped(cell) };
            let _ = match index {
                0 => write!(out, "<th scope=\"row\">{cell}</th>"),
                _ => write!(out, "<td>{cell}</td>"),
            };
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>");
}

fn write_chart(chart: &Chart, title: Option<&str>, caption: &str, figures: bool, out: &mut String) {
    let drawn = format!(
        "<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n",
        chart.svg(Width::Wide),
        chart.svg(Width::Narrow)
    );
    write_figure(chart, &drawn, title, caption, figures, out);
}

fn write_figure(
    chart: &Chart,
    drawn: &str,
    title: Option<&str>,
    caption: &str,
    figures: bool,
    out: &mut String,
) {
    let name = name_of(chart);
    let _ = writeln!(out, "<figure data-chart=\"{}\">", escaped(&name));
    if let Some(title) = title {
        let _ = writeln!(out, "<figcaption>{}</figcaption>", escaped(title));
    }
    out.push_str(drawn);
    out.push_str(&embedded::element(embedded::CHART, &name, &chart_data::of_chart(chart)));
    write_caption(caption, out);
    if figures {
        out.push_str("<details><summary>Show the figures as a table</summary>\n");
        for table in chart.tables() {
            out.push_str("<div class=\"scroll\" tabindex=\"0\">");
            write_cells(&table, "numbers", out);
            out.push_str("</div>\n");
        }
        out.push_str("</details>\n");
    }
    out.push_str("</figure>\n");
}

/// What a chart is called across versions of a page: `rate-and-latency-over-time`.
fn name_of(chart: &Chart) -> String {
    let words = chart.title.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

fn write_caption(caption: &str, out: &mut String) {
    if !caption.is_empty() {
        let _ = writeln!(out, "<p class=\"quiet\">{}</p>", with_code(caption));
    }
}

fn write_explained(explained: &Explained, out: &mut String) {
    let _ = writeln!(
        out,
        "<div class=\"explained\" id=\"{}\"><h3>{}</h3>",
        escaped(&explained.anchor),
        escaped(&explained.heading)
    );
    for paragraph in &explained.paragraphs {
        let _ = writeln!(out, "<p>{}</p>", with_code(paragraph));
    }
    out.push_str("</div>\n");
}

/// Escaped, with what stands in backticks as code.
fn with_code(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        out.push_str(&kept_together(&escaped(before)));
        match after.split_once('`') {
            Some((code, after)) => {
                let _ = write!(out, "<code>{}</code>", escaped(code));
                rest = after;
            }
            None => {
                out.push('`');
                rest = after;
            }
        }
    }
    out + &kept_together(&escaped(rest))
}

/// A figure stays on one line with its unit.
fn kept_together(text: &str) -> String {
    let units = ["%", "ms", "µs", "ns"];
    units.into_iter().fold(text.to_owned(), |text, unit| {
        text.replace(&format!(" {unit}"), &format!("\u{a0}{unit}"))
    })
}

#[cfg(test)]
mod tests {
    use ablaze_model::finding::{DiagnosisId, Finding};

    use super::*;

    #[test]
    fn each_line_of_evidence_is_a_line_of_the_page() {
        let evidence = "report 1: 138 B\nreport 2: 612 B";
        let finding = Finding::new(DiagnosisId::D05, Severity::Invalid, evidence, "cause", "fix");
        let mut out = String::new();
        write_finding(&FindingText { of: String::new(), finding, explains: Vec::new() }, &mut out);
        assert!(out.contains("<p>report 1: 138 B<br>\nreport 2: 612 B</p>"), "{out}");
    }
}
