//! Charts as characters, for a terminal of a given width: lines in braille dots, bars in blocks, or
//! all in ASCII. Nothing needs colour: each series has a sign of its own.

mod bars;
mod canvas;
mod plot;
mod sparkline;

use crate::{Chart, Panel};

pub use sparkline::sparkline;

/// The characters that a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Characters {
    /// Braille dots, blocks, lines.
    Unicode,
    /// Nothing outside of ASCII.
    Ascii,
}

/// Nothing is drawn narrower than this.
const LEAST_WIDTH: usize = 24;

impl Chart {
    /// The chart as lines of at most `width` characters (24 at least), without the title; ends in a
    /// newline unless there is nothing to draw.
    pub fn terminal(&self, width: usize, characters: Characters) -> String {
        let width = width.max(LEAST_WIDTH);
        let mut lines = Vec::new();
        for panel in &self.panels {
            lines.extend(match panel {
                Panel::Plot(plot) => plot::lines(plot, width, characters),
                Panel::Bars(bars) => bars::lines(bars, width, characters),
            });
        }
        let lines = lines.into_iter().map(|line| fitting(&line, width, characters) + "\n");
        lines.collect()
    }
}

/// A line no longer than the width, without trailing blanks, in characters that are shown.
fn fitting(line: &str, width: usize, characters: Characters) -> String {
    let shown = |character: char| match character {
        _ if character.is_control() => ' ',
        'µ' if characters == Characters::Ascii => 'u',
        '−' | '–' if characters == Characters::Ascii => '-',
        _ if characters == Characters::Ascii && !character.is_ascii() => '?',
        _ => character,
    };
    let line: String = line.chars().map(shown).take(width).collect();
    line.trim_end().to_owned()
}

/// The sign of a series, by slot.
fn sign(slot: usize, characters: Characters) -> char {
    let signs = match characters {
        Characters::Unicode => ['●', '■', '▲', '◆', '✕', '▼', '✚', '▬'],
        Characters::Ascii => ['o', '#', '^', '*', 'x', 'v', '+', '='],
    };
    signs[slot % signs.len()]
}

/// A text in this many characters, cut or filled up.
fn padded(text: &str, width: usize) -> String {
    let kept: String = text.chars().take(width).collect();
    format!("{kept:<width$}")
}

#[cfg(test)]
mod tests;
