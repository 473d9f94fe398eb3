//! The rows that requests take: cells one behind the other, found by row and column.

use crate::delimited::{Reader, Row};
use crate::{Encoding, FeedError, Format, json_lines, shown, without_mark};

/// A column as requests use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub column: String,
    /// How its values go into a request.
    pub encoding: Encoding,
}

/// The columns that requests use, encoded as they use them: a copy of those cells, and 4 bytes for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    cells: Vec<u8>,
    /// Where each cell ends, row by row.
    ends: Vec<u32>,
    columns: usize,
    longest: Vec<usize>,
    /// The line of each row in the text, from 1.
    lines: Vec<u32>,
}

impl Table {
    /// Reads a text. The columns of the table are those `wanted`, in that order; there is at least one.
    ///
    /// # Errors
    /// When it has no row or not the columns, or a line cannot be read.
    pub fn read(text: &[u8], format: Format, wanted: &[Wanted]) -> Result<Self, FeedError> {
        let text = without_mark(text);
        let mut table = Self {
            cells: Vec::new(),
            ends: Vec::new(),
            columns: wanted.len(),
            longest: vec![0; wanted.len()],
            lines: Vec::new(),
        };
        match format {
            Format::Csv => table.read_delimited(Reader::csv(text), wanted)?,
            Format::Tsv => table.read_delimited(Reader::tsv(text), wanted)?,
            Format::JsonLines => table.read_json_lines(text, wanted)?,
        }
        if table.lines.is_empty() {
            return Err(FeedError::Empty);
        }
        Ok(table)
    }

    /// The number of rows; at least 1.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// A cell.
    ///
    /// # Panics
    /// When there is no such row or column.
    #[inline]
    pub fn cell(&self, row: usize, column: usize) -> &[u8] {
        let index = row * self.columns + column;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.cells[start as usize..self.ends[index] as usize]
    }

    /// Length of the longest cell of a column, bytes.
    pub fn longest_bytes(&self, column: usize) -> usize {
        self.longest[column]
    }

    /// The line of a row in the text, from 1.
    pub fn line(&self, row: usize) -> u32 {
        self.lines[row]
    }

    /// Keeps rows `index`, `index + of`, `index + 2 of`, …: one of several machines' shares, which may be none.
    pub fn part(&self, index: usize, of: usize) -> Option<Self> {
        let mut part = Self {
            cells: Vec::new(),
            ends: Vec::new(),
            columns: self.columns,
            longest: vec![0; self.columns],
            lines: Vec::new(),
        };
        for row in (index..self.rows()).step_by(of.max(1)) {
            for column in 0..self.columns {
                part.cells.extend_from_slice(self.cell(row, column));
                // Not longer than the whole, which fits.
                part.end_cell(column).ok()?;
            }
            part.lines.push(self.lines[row]);
        }
        (!part.lines.is_empty()).then_some(part)
    }

    fn read_delimited(
        &mut self,
        mut reader: Reader<'_>,
        wanted: &[Wanted],
    ) -> Result<(), FeedError> {
        let names = reader.names()?;
        let indices = wanted
            .iter()
            .map(|wanted| {
                let index = names.iter().position(|name| *name == wanted.column);
                index.ok_or_else(|| missing(&wanted.column, &names))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut row = Row::default();
        while reader.next(&mut row)? {
            let line = row.line;
            if row.ends.len() != names.len() {
                let what = format!(
                    "{} where the first line names {}",
                    fields(row.ends.len()),
                    columns(names.len())
                );
                return Err(FeedError::Line { line, what });
            }
            for (column, (index, wanted)) in indices.iter().zip(wanted).enumerate() {
                let start = if *index == 0 { 0 } else { row.ends[index - 1] };
                let value = &row.bytes[start..row.ends[*index]];
                wanted.encoding.write(value, &mut self.cells);
                self.end_cell(column)?;
            }
            self.lines.push(line as u32);
        }
        Ok(())
    }

    fn read_json_lines(&mut self, text: &[u8], wanted: &[Wanted]) -> Result<(), FeedError> {
        let mut value = Vec::new();
        for row in json_lines::rows(text) {
            let (line, object) = row?;
            for (column, wanted) in wanted.iter().enumerate() {
                let Some(found) = object.get(&wanted.column) else {
                    let what = format!("no key `{}`", shown(wanted.column.as_bytes()));
                    return Err(FeedError::Line { line, what });
                };
                value.clear();
                json_lines::text(found, &mut value);
                wanted.encoding.write(&value, &mut self.cells);
                self.end_cell(column)?;
            }
            self.lines.push(line as u32);
        }
        Ok(())
    }

    fn end_cell(&mut self, column: usize) -> Result<(), FeedError> {
        let start = self.ends.last().map_or(0, |end| *end as usize);
        self.longest[column] = self.longest[column].max(self.cells.len() - start);
        self.ends.push(u32::try_from(self.cells.len()).map_err(|_| FeedError::TooLong)?);
        Ok(())
    }
}

fn missing(column: &str, names: &[String]) -> FeedError {
    let has = names.iter().map(|name| format!("`{}`", shown(name.as_bytes())));
    let has = has.take(20).collect::<Vec<_>>().join(", ");
    FeedError::Column { column: shown(column.as_bytes()), has }
}

fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}

fn columns(count: usize) -> String {
    if count == 1 { "1 column".to_owned() } else { format!("{count} columns") }
}
