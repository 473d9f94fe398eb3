//! The page of what is not over yet: the same sections as the finished page, each in a place of its own, which its script
//! fills anew with what the program that serves it sends. It asks nobody but that program for anything.

mod state;

use std::fmt::Write;

use ablaze_chart::svg::escaped;

use super::{Page, Section, html};

pub use state::{Bar, State};

/// What the page does beside being read.
const SCRIPT: &str = include_str!("live.js");
const STYLE: &str = include_str!("live.css");

/// What stands in one place of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name of its place: letters and hyphens.
    pub id: &'static str,
    /// Its markup.
    pub html: String,
}

impl Part {
    /// Sections in the place of this name.
    pub fn of(id: &'static str, sections: &[Section]) -> Self {
        let mut html = String::new();
        sections.iter().for_each(|section| html::write_section(section, &mut html));
        Self { id, html }
    }
}

/// What can be done from the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controls {
    /// Ending it.
    Stop,
    /// Ending it, pausing it, changing its rate.
    StopAndRate,
}

/// The page with these parts, in their order. Of `page`, the head is shown, and the sections, below the parts.
pub fn write(page: &Page, parts: &[Part], controls: Controls) -> String {
    let mut out = String::with_capacity(128 * 1024);
    let policy = format!("{}; connect-src 'self'", html::POLICY);
    html::begin(page, &policy, STYLE, &mut out);
    write_controls(controls, &mut out);
    for Part { id, html } in parts {
        let _ = writeln!(out, "<div class=\"part\" id=\"live-{}\">{html}</div>", escaped(id));
    }
    page.sections.iter().for_each(|section| html::write_section(section, &mut out));
    out.push_str("</main>\n");
    html::end(&format!("<script>\n{SCRIPT}</script>\n"), &mut out);
    out
}

fn write_controls(controls: Controls, out: &mut String) {
    out.push_str("<div class=\"controls\" hidden=\"\">");
    if controls == Controls::StopAndRate {
        write_button(out, "pause", "Pause", "No request is due until it goes on");
        write_button(out, "slower", "Rate −10 %", "Lower the rate by a tenth");
        write_button(out, "faster", "Rate +10 %", "Raise the rate by a tenth");
    }
    if controls == Controls::StopAndRate {
        out.push_str(
            "<form data-does=\"rate\"><input name=\"to\" type=\"number\" min=\"0.001\" step=\"any\" \
             required=\"\" aria-label=\"Requests per second\" placeholder=\"per second\"> \
             <button title=\"Set the rate\">Set</button></form>",
        );
    }
    write_button(out, "stop", "End with the report", "End it now; what was measured is kept");
    out.push_str("<span class=\"said\" role=\"status\"></span></div>\n");
}

/// Writes a button: what it does, its text, and what it says of itself.
fn write_button(out: &mut String, does: &str, text: &str, title: &str) {
    let _ = write!(
        out,
        "<button type=\"button\" data-does=\"{does}\" title=\"{title}\">{text}</button>"
    );
}

#[cfg(test)]
mod tests;
