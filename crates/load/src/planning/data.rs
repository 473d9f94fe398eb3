//! Rows of a file as the data of requests: finds the columns that templates use and reads no others.

use ablaze_feed::{Encoding, Format, Table, Wanted, columns};
use ablaze_model::plan::data::Data;
use ablaze_model::spec::{DataSpec, Part};
use ablaze_wire::http1::request::{PatchValue, Template};

use crate::Error;

/// What may stand in braces.
#[derive(Debug)]
pub struct Columns<'s> {
    spec: &'s DataSpec,
    format: Format,
    /// What stands in braces, for the builder of requests.
    pub names: Vec<String>,
    wanted: Vec<Wanted>,
}

/// Placeholders that are there without a feed.
const OWN: [&str; 2] = ["seq", "rand"];

impl<'s> Columns<'s> {
    /// Those of a feed.
    ///
    /// # Errors
    /// When its bytes are not here, its name says no format, or its first line cannot be read.
    pub fn of(spec: &'s DataSpec) -> Result<Self, Error> {
        let name = &spec.feed.file.name;
        let Some(format) = Format::of_name(name) else {
            return Err(Error::usage(format!(
                "file `{name}` for --feed: its name must end with .csv, .tsv or .jsonl"
            )));
        };
        let columns =
            columns(spec.feed.file.bytes()?, format).map_err(|error| wrong(spec, &error))?;
        if let Some(own) = columns.iter().find(|column| OWN.contains(&column.as_str())) {
            return Err(Error::usage(format!(
                "file `{name}` for --feed: `{{{own}}}` has a meaning already: give column `{own}` another name"
            )));
        }
        let each = columns.iter().flat_map(|column| {
            Encoding::ALL.map(|encoding| Wanted { column: column.clone(), encoding })
        });
        let wanted: Vec<Wanted> = each.collect();
        let names = wanted.iter().map(|w| format!("{}{}", w.column, w.encoding.suffix())).collect();
        Ok(Self { spec, format, names, wanted })
    }

    /// Reads those that templates use. Their cells have numbers of [`names`](Self::names) before, and of the table then.
    ///
    /// # Errors
    /// When none uses any, a line cannot be read, or a value cannot stand where it is used.
    pub fn read(self, templates: &mut [Template]) -> Result<Data, Error> {
        let mut used: Vec<u32> = Vec::new();
        for patch in templates.iter_mut().flat_map(|template| &mut template.patches) {
            let PatchValue::Cell(column) = &mut patch.value else { continue };
            let index = used.iter().position(|used| used == column).unwrap_or_else(|| {
                used.push(*column);
                used.len() - 1
            });
            *column = index as u32;
        }
        let name = &self.spec.feed.file.name;
        if used.is_empty() {
            let some: Vec<String> =
                self.names.iter().step_by(3).take(5).map(|name| format!("{{{name}}}")).collect();
            return Err(Error::usage(format!(
                "no request uses a column of `{name}`: write {} in the URL, a header or the body",
                some.join(", ")
            )));
        }
        let wanted: Vec<Wanted> =
            used.iter().map(|column| self.wanted[*column as usize].clone()).collect();
        let bytes = self.spec.feed.file.bytes()?;
        let table = Table::read(bytes, self.format, &wanted).map_err(|e| wrong(self.spec, &e))?;
        let table = match self.spec.feed.part {
            None => table,
            Some(Part { index, of }) => {
                table.part(index as usize, of as usize).ok_or_else(|| {
                    Error::usage(format!(
                        "file `{name}` has fewer rows than machines that share it: add rows"
                    ))
                })?
            }
        };
        templates.iter().try_for_each(|template| self.check(template, &table, &wanted))?;
        Ok(Data::new(name, self.spec.order, table))
    }

    /// Values are not encoded unless asked, so that one could end the request line or a field.
    fn check(&self, template: &Template, table: &Table, wanted: &[Wanted]) -> Result<(), Error> {
        let line_bytes = template.bytes.iter().position(|byte| *byte == b'\r').unwrap_or(0);
        for patch in &template.patches {
            let PatchValue::Cell(column) = patch.value else { continue };
            let at = patch.offset as usize;
            let (forbidden, place): (fn(u8) -> bool, _) = match at {
                _ if at <= line_bytes => (|byte| !(0x21..0x7f).contains(&byte), "a URL"),
                _ if at < template.head_bytes => {
                    (|byte| matches!(byte, b'\r' | b'\n' | 0), "a header")
                }
                _ => continue,
            };
            let column = column as usize;
            let wrong = (0..table.rows())
                .find(|row| table.cell(*row, column).iter().any(|byte| forbidden(*byte)));
            let Some(row) = wrong else { continue };
            let Wanted { column: name, .. } = &wanted[column];
            let what = table.cell(row, column).iter().copied().find(|byte| forbidden(*byte));
            let what = match what {
                Some(b' ') => "a space",
                Some(0x80..) => "a byte outside ASCII",
                _ => "a control character",
            };
            return Err(Error::usage(format!(
                "file `{}` for --feed, line {}: column `{name}` contains {what}, which {place} cannot contain: write {{{name}:url}}",
                self.spec.feed.file.name,
                table.line(row)
            )));
        }
        Ok(())
    }
}

fn wrong(spec: &DataSpec, error: &ablaze_feed::FeedError) -> Error {
    Error::usage(format!("file `{}` for --feed: {error}", spec.feed.file.name))
}
