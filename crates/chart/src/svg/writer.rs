//! Writes XML: elements, attributes, escaped text. Whatever it is given, the result is well-formed.

use std::fmt::{self, Write};

/// Marked-up text under construction.
#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
}

/// A length or place in the drawing, written with at most two decimals. What is no number is 0:
/// callers leave such points out, and a slip of theirs must not break the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length(pub f64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.0.is_finite() { self.0.clamp(-1e6, 1e6) } else { 0.0 };
        let text = format!("{value:.2}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

/// Where a text begins, is centred, or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Writer {
    /// What was written.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Begins an element; attributes are name and value in turn.
    pub fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.start(name, attributes);
        self.text.push('>');
    }

    /// Ends an element.
    pub fn close(&mut self, name: &str) {
        let _ = write!(self.text, "</{name}>");
    }

    /// An element with nothing but text in it.
    pub fn whole(&mut self, name: &str, attributes: &[(&str, &str)], content: &str) {
        self.open(name, attributes);
        self.text.push_str(&escaped(content));
        self.close(name);
    }

    /// Text that is markup already: the style sheet.
    pub fn style(&mut self, css: &str) {
        self.text.push_str("<style>");
        self.text.push_str(css);
        self.text.push_str("</style>");
    }

    /// A group of one class.
    pub fn group(&mut self, class: &str) {
        self.open("g", &[("class", class)]);
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ends = [from.0, from.1, to.0, to.1].map(|v| Length(v).to_string());
        self.empty(
            "line",
            &[
                ("class", class),
                ("x1", &ends[0]),
                ("y1", &ends[1]),
                ("x2", &ends[2]),
                ("y2", &ends[3]),
            ],
        );
    }

    /// A line along `data`, with dashes if there are any.
    pub fn path(&mut self, class: &str, data: &str, dashes: &str) {
        let attributes = [("class", class), ("d", data), ("stroke-dasharray", dashes)];
        let count = if dashes.is_empty() { 2 } else { 3 };
        self.empty("path", &attributes[..count]);
    }

    /// A rectangle: left, top, width, height; with a note that shows when it is pointed at.
    pub fn rect(&mut self, class: &str, place: [f64; 4], note: &str) {
        let [x, y, width, height] = [place[0], place[1], place[2].max(0.0), place[3].max(0.0)];
        let place = [x, y, width, height].map(|v| Length(v).to_string());
        let attributes = [
            ("class", class),
            ("x", &place[0]),
            ("y", &place[1]),
            ("width", &place[2]),
            ("height", &place[3]),
        ];
        self.noted("rect", &attributes, note);
    }

    /// A circle with a note that shows when it is pointed at.
    pub fn circle(&mut self, class: &str, centre: (f64, f64), radius: f64, note: &str) {
        let place = [centre.0, centre.1, radius].map(|v| Length(v).to_string());
        let attributes = [("class", class), ("cx", &place[0]), ("cy", &place[1]), ("r", &place[2])];
        self.noted("circle", &attributes, note);
    }

    /// A line of text.
    pub fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, content: &str) {
        let (x, y) = (Length(at.0).to_string(), Length(at.1).to_string());
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let attributes = [("class", class), ("x", &x), ("y", &y), ("text-anchor", anchor)];
        self.whole("text", &attributes, content);
    }

    fn noted(&mut self, name: &str, attributes: &[(&str, &str)], note: &str) {
        if note.is_empty() {
            return self.empty(name, attributes);
        }
        self.open(name, attributes);
        self.whole("title", &[], note);
        self.close(name);
    }

    fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.start(name, attributes);
        self.text.push_str("/>");
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
    }
}

/// Text as XML and HTML take it, in elements and in quoted attributes. Characters that XML 1.0 (2.2)
/// does not permit become U+FFFD.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(character),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

/// About how wide a text is in a sans-serif font of this size: on the wide side of what browsers
/// choose, so that nothing is cut off.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    let em = |character: char| match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '·' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.43,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' => 0.92,
        'A'..='Z' => 0.72,
        _ if (character as u32) < 0x2000 || character == '–' || character == '−' => 0.62,
        _ => 1.0,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// A text cut so that it is no wider than this.
pub(super) fn cut(text: &str, size: f64, width: f64) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if width_of(&kept, size) + size > width {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_texts_is_text() {
        let mut writer = Writer::default();
        writer.whole("text", &[("class", "a\"b")], "<b> & 'c' \u{0} \u{ffff}");
        let text = writer.into_text();
        let expected =
            "<text class=\"a&quot;b\">&lt;b&gt; &amp; &#39;c&#39; \u{fffd} \u{fffd}</text>";
        assert_eq!(text, expected);
    }

    #[test]
    fn lengths_are_short_and_always_numbers() {
        let texts = [1.0, 1.25, 1.238, -0.001, f64::NAN, f64::INFINITY, -1e300]
            .map(|length| Length(length).to_string());
        assert_eq!(texts, ["1", "1.25", "1.24", "0", "0", "0", "-1000000"]);
    }

    #[test]
    fn a_long_name_is_cut_and_says_so() {
        let cut = cut("a name that goes on and on", 12.0, 80.0);
        assert!(cut.ends_with('…') && width_of(&cut, 12.0) <= 80.0, "{cut}");
        assert_eq!(super::cut("short", 12.0, 80.0), "short");
    }
}
