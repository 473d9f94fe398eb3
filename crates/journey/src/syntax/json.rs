//! JSON with placeholders: as values of their own, and in strings. What stands around them is kept as it was written.

use super::reader::{Parsed, Reader};
use super::text::placeholder;
use super::tree::{Json, JsonPiece, Placeholder};

/// How deep arrays and objects may lie in each other.
const DEPTH_MAX: usize = 128;

/// Whether a JSON value may begin here.
pub(super) fn sees_json(reader: &Reader<'_>) -> bool {
    let sees_word = ["true", "false", "null"].iter().any(|word| reader.sees(word));
    let sign = |next| matches!(next, '{' | '[' | '"' | '-' | '0'..='9');
    sees_word || reader.peek().is_some_and(sign)
}

/// A JSON value as it stands.
pub(super) fn json(reader: &mut Reader<'_>) -> Parsed<Json> {
    let mut document = Document { keeps_space: true, ..Document::default() };
    document.value(reader, 0)?;
    Ok(document.end())
}

/// A JSON value without the spaces between its tokens.
pub(super) fn compact(reader: &mut Reader<'_>) -> Parsed<Json> {
    let mut document = Document::default();
    document.value(reader, 0)?;
    Ok(document.end())
}

#[derive(Default)]
struct Document {
    pieces: Vec<JsonPiece>,
    text: String,
    keeps_space: bool,
}

impl Document {
    fn end(mut self) -> Json {
        self.flush();
        Json { pieces: self.pieces }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(JsonPiece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn placeholder(
        &mut self,
        reader: &mut Reader<'_>,
        made: fn(Placeholder) -> JsonPiece,
    ) -> Parsed<()> {
        let placeholder = placeholder(reader)?;
        self.flush();
        self.pieces.push(made(placeholder));
        Ok(())
    }

    fn space(&mut self, reader: &mut Reader<'_>) {
        let space = reader.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
        if self.keeps_space {
            self.text.push_str(space);
        }
    }

    fn token(&mut self, reader: &mut Reader<'_>, token: &str) -> Parsed<()> {
        reader.expect(token)?;
        self.text.push_str(token);
        Ok(())
    }

    fn value(&mut self, reader: &mut Reader<'_>, depth: usize) -> Parsed<()> {
        if reader.sees("{{") {
            return self.placeholder(reader, JsonPiece::Value);
        }
        match reader.peek() {
            Some('{') => self.items(reader, depth, "{", "}", Self::member),
            Some('[') => self.items(reader, depth, "[", "]", Self::value),
            Some('"') => self.string(reader),
            Some('-' | '0'..='9') => self.number(reader),
            _ => {
                let word = ["true", "false", "null"].into_iter().find(|word| reader.sees(word));
                match word {
                    Some(word) => self.token(reader, word),
                    None => reader.fail("a JSON value"),
                }
            }
        }
    }

    fn items(
        &mut self,
        reader: &mut Reader<'_>,
        depth: usize,
        open: &str,
        close: &str,
        item: fn(&mut Self, &mut Reader<'_>, usize) -> Parsed<()>,
    ) -> Parsed<()> {
        if depth == DEPTH_MAX {
            return reader
                .fail(format!("at most {DEPTH_MAX} JSON arrays and objects in each other"));
        }
        self.token(reader, open)?;
        self.space(reader);
        if reader.sees(close) {
            return self.token(reader, close);
        }
        loop {
            item(self, reader, depth + 1)?;
            self.space(reader);
            if reader.sees(close) {
                return self.token(reader, close);
            }
            if !reader.sees(",") {
                return reader.fail(format!("`,` or `{close}`"));
            }
            self.token(reader, ",")?;
            self.space(reader);
        }
    }

    fn member(&mut self, reader: &mut Reader<'_>, depth: usize) -> Parsed<()> {
        if !reader.sees("\"") {
            return reader.fail("a name in quotation marks");
        }
        self.string(reader)?;
        self.space(reader);
        self.token(reader, ":")?;
        self.space(reader);
        self.value(reader, depth)
    }

    fn string(&mut self, reader: &mut Reader<'_>) -> Parsed<()> {
        self.token(reader, "\"")?;
        loop {
            if reader.sees("{{") {
                self.placeholder(reader, JsonPiece::InString)?;
                continue;
            }
            match reader.peek() {
                Some('"') => return self.token(reader, "\""),
                Some('\\') => self.escape(reader)?,
                Some(character) if character >= ' ' => {
                    self.text.push(character);
                    reader.next();
                }
                _ => return reader.fail("`\"` at the end of the string, on the same line"),
            }
        }
    }

    fn escape(&mut self, reader: &mut Reader<'_>) -> Parsed<()> {
        let start = reader.offset();
        reader.next();
        let is_right = match reader.next() {
            Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => true,
            Some('u') => {
                let digits =
                    reader.rest().bytes().take_while(u8::is_ascii_hexdigit).take(4).count();
                reader.seek(reader.offset() + digits);
                digits == 4
            }
            _ => false,
        };
        if !is_right {
            reader.seek(start);
            return reader.fail("an escape of JSON: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0041");
        }
        self.text.push_str(reader.since(start));
        Ok(())
    }

    /// The exponent's letter is written in lower case, as Hurl does.
    fn number(&mut self, reader: &mut Reader<'_>) -> Parsed<()> {
        let start = reader.offset();
        reader.eat("-");
        let is_digit = |c: char| c.is_ascii_digit();
        if !reader.eat("0") && reader.take_while(is_digit).is_empty() {
            return reader.fail("digits");
        }
        if reader.eat(".") && reader.take_while(is_digit).is_empty() {
            return reader.fail("digits after the point");
        }
        if reader.eat("e") || reader.eat("E") {
            let _ = reader.eat("-") || reader.eat("+");
            if reader.take_while(is_digit).is_empty() {
                return reader.fail("the digits of the exponent");
            }
        }
        self.text.push_str(&reader.since(start).replace('E', "e"));
        Ok(())
    }
}
