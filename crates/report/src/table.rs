//! Columns of text, aligned. A character counts as one column: reports use no wide ones.

/// Rows of cells, the columns flush right except where said.
#[derive(Debug)]
pub struct Table {
    flush_left: Vec<usize>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    cells: Vec<String>,
    note: String,
}

impl Table {
    /// An empty table; `flush_left` names columns, from 0.
    pub fn new(flush_left: &[usize]) -> Self {
        Self { flush_left: flush_left.to_vec(), rows: Vec::new() }
    }

    /// Adds a row: its cells, and a note that stands behind them outside of any column.
    pub fn row(&mut self, cells: Vec<String>, note: &str) {
        self.rows.push(Row { cells, note: note.to_string() });
    }

    /// The rows as lines without trailing spaces, indented by two, two apart.
    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        self.rows.iter().map(|row| row.line(&widths, &self.flush_left)).collect()
    }
}

impl Row {
    fn line(&self, widths: &[usize], flush_left: &[usize]) -> String {
        let mut line = String::from("  ");
        for (column, width) in widths.iter().enumerate() {
            let cell = self.cells.get(column).map_or("", String::as_str);
            let padding = " ".repeat(width - cell.chars().count());
            line.push_str(if column == 0 { "" } else { "  " });
            if flush_left.contains(&column) {
                line.extend([cell, &padding]);
            } else {
                line.extend([&padding, cell]);
            }
        }
        if !self.note.is_empty() {
            line.extend(["   ", &self.note]);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Puts items behind a label, separated, and breaks the line at `width` so that the items of
/// every line stand under each other. An item longer than a line stays whole.
pub fn wrapped(label: &str, items: &[String], separator: &str, width: usize) -> Vec<String> {
    let indent = " ".repeat(label.chars().count());
    let mut lines = Vec::new();
    let mut line = label.to_string();
    let mut empty = true;
    for item in items {
        let added = if empty { 0 } else { separator.chars().count() } + item.chars().count();
        if !empty && line.chars().count() + added > width {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            empty = true;
        }
        if !empty {
            line.push_str(separator);
        }
        line.push_str(item);
        empty = false;
    }
    lines.push(line.trim_end().to_string());
    lines
}

/// Units that stay on the line of their number.
const UNITS: [&str; 12] =
    ["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "B/s", "KiB/s", "MiB/s"];

/// Puts a sentence behind a label and breaks it between words, but not between a number and its unit.
pub fn sentence(label: &str, text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')', ']']));
        match words.last_mut() {
            Some(number) if is_unit && number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.extend([" ", word]);
            }
            _ => words.push(word.to_string()),
        }
    }
    wrapped(label, &words, " ", width)
}

#[cfg(test)]
mod tests {
    use super::{Table, sentence, wrapped};

    #[test]
    fn columns_align_by_characters_not_bytes() {
        let mut table = Table::new(&[0]);
        table.row(vec!["".into(), "mean".into(), "p50".into()], "");
        table.row(vec!["wait".into(), "472 µs".into(), "1.30 ms".into()], "note");
        table.row(vec!["total".into(), "9 ns".into(), "-".into()], "");
        let expected = [
            "           mean      p50",
            "  wait   472 µs  1.30 ms   note",
            "  total    9 ns        -",
        ];
        assert_eq!(table.lines(), expected);
    }

    #[test]
    fn a_number_and_its_unit_stay_together() {
        let lines = sentence("a  ", "for at least 146 µs, which is (99.7 %) of it", 19);
        assert_eq!(lines, ["a  for at least", "   146 µs, which is", "   (99.7 %) of it"]);
    }

    #[test]
    fn long_lists_break_between_items() {
        let items = ["200: 10", "404: 3", "500: 1"].map(String::from);
        assert_eq!(wrapped("  a  ", &items, " · ", 22), ["  a  200: 10 · 404: 3", "     500: 1"]);
        assert_eq!(wrapped("  a  ", &[], " · ", 22), ["  a"]);
    }
}
