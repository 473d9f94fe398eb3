//! Texts as people have them, held against the `csv` crate, and what is said of those that are none.

#![allow(clippy::unwrap_used)]

use ablaze_feed::{Encoding, FeedError, Format, Table, Wanted, columns};
use proptest::prelude::*;

fn raw(column: &str) -> Wanted {
    Wanted { column: column.to_owned(), encoding: Encoding::Raw }
}

fn rows(table: &Table, columns: usize) -> Vec<Vec<String>> {
    let cell = |row, column| String::from_utf8(table.cell(row, column).to_vec()).unwrap();
    (0..table.rows()).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
}

#[test]
fn quoted_fields_line_ends_and_a_byte_order_mark() {
    let text =
        b"\xef\xbb\xbfname, city\r\nann,\"a \"\"b\"\", c\"\r\n\r\nbob,\"two\nlines\"\r\n\"\",x";
    assert_eq!(columns(text, Format::Csv).unwrap(), ["name", "city"]);
    let table = Table::read(text, Format::Csv, &[raw("city"), raw("name")]).unwrap();
    let expected = [["a \"b\", c", "ann"], ["two\nlines", "bob"], ["x", ""]];
    assert_eq!(rows(&table, 2), expected);
    // The lines on which they begin: an empty one and a line break within a field count.
    assert_eq!((0..3).map(|row| table.line(row)).collect::<Vec<_>>(), [2, 4, 6]);
    assert_eq!((table.longest_bytes(0), table.longest_bytes(1)), (9, 3));
}

#[test]
fn tabs_have_no_quotes() {
    let table = Table::read(b"a\tb\n\"x\ty,z\n", Format::Tsv, &[raw("b"), raw("a")]).unwrap();
    assert_eq!(rows(&table, 2), [["y,z", "\"x"]]);
}

#[test]
fn json_values_are_text() {
    let text = b"{\"id\":7,\"who\":\"a\\\"b\",\"more\":{\"x\":[1,null]},\"is\":true}\n\n{\"who\":\"\",\"id\":1.5,\"more\":null,\"is\":false}\n";
    let wanted = [raw("id"), raw("who"), raw("more"), raw("is")];
    let table = Table::read(text, Format::JsonLines, &wanted).unwrap();
    let expected = [["7", "a\"b", "{\"x\":[1,null]}", "true"], ["1.5", "", "null", "false"]];
    assert_eq!(rows(&table, 4), expected);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let error =
        |text: &[u8], format| Table::read(text, format, &[raw("a")]).unwrap_err().to_string();
    for (text, expected) in [
        (&b""[..], "no row of data"),
        (b"a,b\n", "no row of data"),
        (b"a,,b\n1,2,3\n", "line 1: column 2 has no name"),
        (b"a,b,a\n1,2,3\n", "line 1: the name `a` comes twice"),
        (b"a,b\n1,2\n1\n", "line 3: 1 field where the first line names 2 columns"),
        (b"a,b\n1,2,3\n", "line 2: 3 fields where the first line names 2 columns"),
        (b"a,b\n1,x\"y\n", "line 2: a quote in a field"),
        (b"a,b\n1,\"y\n\nz", "line 2: a field begins with a quote and none ends it"),
        (b"a,b\n\"1\"2,3\n", "line 2: text behind a field in quotes"),
        (b"b,c\n1,2\n", "there is no column `a`; it has `b`, `c`"),
    ] {
        let error = error(text, Format::Csv);
        assert!(error.contains(expected), "{error}");
    }
    for (text, expected) in [
        (&b"[1]\n"[..], "line 1: expected a JSON object"),
        (b"{\"a\":1}\n{\"b\":1}\n", "line 2: no key `a`"),
        (
            b"{\"a\":1}\n{\"a\":\n",
            "line 2: expected a JSON object: EOF while parsing a value at column",
        ),
    ] {
        let error = error(text, Format::JsonLines);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn parts_have_every_row_once() {
    let text: String = "a\n".to_owned() + &(0..10).map(|n| format!("r{n}\n")).collect::<String>();
    let table = Table::read(text.as_bytes(), Format::Csv, &[raw("a")]).unwrap();
    let part = |index| rows(&table.part(index, 3).unwrap(), 1).concat();
    assert_eq!(part(0), ["r0", "r3", "r6", "r9"]);
    assert_eq!(part(1), ["r1", "r4", "r7"]);
    assert_eq!(part(2), ["r2", "r5", "r8"]);
    assert_eq!(table.part(10, 11), None);
}

proptest! {
    /// What another writer wrote is read as it was.
    #[test]
    fn written_by_the_csv_crate(
        cells in prop::collection::vec(prop::collection::vec("[a-z,\"\n é]{0,6}", 3), 1..20),
    ) {
        let mut writer = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::NonNumeric).from_writer(Vec::new());
        writer.write_record(["a", "b", "c"]).unwrap();
        cells.iter().for_each(|row| writer.write_record(row).unwrap());
        let text = writer.into_inner().unwrap();
        let table = Table::read(&text, Format::Csv, &[raw("a"), raw("b"), raw("c")]).unwrap();
        prop_assert_eq!(rows(&table, 3), cells);
    }

    /// Any text gives what the csv crate reads of it, or an error.
    #[test]
    fn any_text(text in "([a-c,\"\n]|\r\n){0,40}") {
        // A carriage return alone is left out: it ends a row there and is a character here.
        let text = format!("a,b\n{text}");
        let wanted = [raw("a"), raw("b")];
        let Ok(table) = Table::read(text.as_bytes(), Format::Csv, &wanted) else { return Ok(()) };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let read: Vec<Vec<String>> = reader
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        prop_assert_eq!(rows(&table, 2), read);
    }

    #[test]
    fn any_bytes_end(text in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in [Format::Csv, Format::Tsv, Format::JsonLines] {
            if let Err(FeedError::Line { line, .. }) = Table::read(&text, format, &[raw("a")]) {
                prop_assert!(line >= 1 && line <= 1 + text.iter().filter(|byte| **byte == b'\n').count());
            }
        }
    }
}
