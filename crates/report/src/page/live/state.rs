//! How far it is: the one part of the page that only a live page has.

use std::fmt::Write;

use ablaze_chart::svg::escaped;

use super::Part;

/// How far it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// In words: `4.2 s of 10 s`.
    pub text: String,
    /// How much of it is over, from 0 to 1, if that can be told.
    pub share: Option<f64>,
    /// Whether it is paused by hand.
    pub is_paused: bool,
    /// Bars below it.
    pub bars: Vec<Bar>,
    /// Lines of a name and what there is to say.
    pub rows: Vec<(String, String)>,
}

/// A share of a whole as a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Of what.
    pub name: String,
    /// The share, from 0 to 1.
    pub share: f64,
    /// Behind the bar.
    pub text: String,
    /// Whether there is hardly any left.
    pub is_full: bool,
}

impl State {
    /// As the part of this name.
    pub fn part(&self, id: &'static str) -> Part {
        let mut html = String::from("<section class=\"state\">\n");
        let paused = if self.is_paused { " data-paused=\"\"" } else { "" };
        let _ = writeln!(html, "<p class=\"far\"{paused}>{}</p>", escaped(&self.text));
        if let Some(share) = self.share {
            let _ = writeln!(html, "{}", meter("how much is over", share));
        }
        html.push_str("<table class=\"words\"><tbody>");
        for bar in &self.bars {
            let class = if bar.is_full { " class=\"full\"" } else { "" };
            let _ = write!(
                html,
                "<tr{class}><th scope=\"row\">{}</th><td>{} <b>{:.0}\u{a0}%</b> <span>{}</span></td></tr>",
                escaped(&bar.name),
                meter(&bar.name, bar.share),
                bar.share * 100.0,
                escaped(&bar.text)
            );
        }
        for (name, text) in &self.rows {
            let (name, text) = (escaped(name), escaped(text));
            let _ = write!(html, "<tr><th scope=\"row\">{name}</th><td>{text}</td></tr>");
        }
        html.push_str("</tbody></table>\n</section>\n");
        Part { id, html }
    }
}

fn meter(name: &str, share: f64) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    format!("<progress max=\"1\" value=\"{share:.4}\" aria-label=\"{}\"></progress>", escaped(name))
}
