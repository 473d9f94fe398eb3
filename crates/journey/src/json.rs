//! JSON, read as far as a path goes and checked to its end, without a tree of what is not asked for. What is valid, and
//! what of several members of one name counts (the last), is as in serde_json, which Hurl uses.

use std::collections::BTreeMap;

use memchr::memchr2;

use crate::value::{Number, Value};

/// A text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

/// How deep arrays and objects may lie in each other.
const DEPTH_MAX: u32 = 127;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Name(String),
    /// From the end if negative.
    Index(i64),
    All,
}

/// The values at the end of `path`, in order.
pub(crate) fn find(text: &str, path: &[Segment], found: &mut Vec<Value>) -> Result<(), NotJson> {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    scanner.space();
    scanner.walk(path, found)?;
    scanner.space();
    if scanner.at == text.len() { Ok(()) } else { Err(NotJson) }
}

/// What keeps a body from being read as JSON, as far as it can be said.
#[cold]
pub(crate) fn why_not(text: &str) -> String {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    scanner.space();
    if scanner.at == text.len() {
        return "the body is no JSON: it is empty".to_owned();
    }
    if text.starts_with('\u{feff}') {
        return "the body is no JSON: it begins with a byte order mark".to_owned();
    }
    if scanner.skip().is_err() && scanner.depth > DEPTH_MAX {
        return format!(
            "in the body more than {DEPTH_MAX} arrays and objects lie in each other, and captures and asserts look no deeper"
        );
    }
    "the body is no JSON".to_owned()
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> Result<u8, NotJson> {
        self.bytes.get(self.at).copied().ok_or(NotJson)
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.eat(byte) { Ok(()) } else { Err(NotJson) }
    }

    fn word(&mut self, word: &str) -> Result<(), NotJson> {
        let found = self.bytes[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        if found { Ok(()) } else { Err(NotJson) }
    }

    /// Reads a value, and puts what is at the end of `path` in it behind `found`.
    fn walk(&mut self, path: &[Segment], found: &mut Vec<Value>) -> Result<(), NotJson> {
        let Some((first, rest)) = path.split_first() else {
            found.push(self.value()?);
            return Ok(());
        };
        match (self.peek()?, first) {
            (b'{', Segment::Name(name)) => self.walk_name(name, rest, found),
            (b'[', Segment::Index(index)) => self.walk_index(*index, rest, found),
            (b'{', Segment::All) => self.walk_members(rest, found),
            (b'[', Segment::All) => self.elements(|scanner, _| scanner.walk(rest, found)),
            _ => self.skip(),
        }
    }

    fn walk_name(
        &mut self,
        name: &str,
        rest: &[Segment],
        found: &mut Vec<Value>,
    ) -> Result<(), NotJson> {
        let before = found.len();
        self.members(|scanner, own| {
            if !own.is(name) {
                return scanner.skip();
            }
            found.truncate(before);
            scanner.walk(rest, found)
        })
    }

    fn walk_index(
        &mut self,
        index: i64,
        rest: &[Segment],
        found: &mut Vec<Value>,
    ) -> Result<(), NotJson> {
        let start = self.at;
        let mut length = 0;
        self.elements(|scanner, own| {
            length = own + 1;
            if index >= 0 && own == index { scanner.walk(rest, found) } else { scanner.skip() }
        })?;
        // Once more, now that the length is known.
        if index < 0 && length + index >= 0 {
            self.at = start;
            return self.walk_index(length + index, rest, found);
        }
        Ok(())
    }

    /// All members, sorted by their names.
    fn walk_members(&mut self, rest: &[Segment], found: &mut Vec<Value>) -> Result<(), NotJson> {
        let mut places = BTreeMap::new();
        self.members(|scanner, name| {
            places.insert(name.text(), scanner.at);
            scanner.skip()
        })?;
        let end = self.at;
        for at in places.into_values() {
            self.at = at;
            self.walk(rest, found)?;
        }
        self.at = end;
        Ok(())
    }

    /// Reads an array; `element` reads each of its elements.
    fn elements(
        &mut self,
        mut element: impl FnMut(&mut Self, i64) -> Result<(), NotJson>,
    ) -> Result<(), NotJson> {
        self.enter(b'[')?;
        if !self.eat(b']') {
            for index in 0.. {
                element(self, index)?;
                self.space();
                if self.eat(b']') {
                    break;
                }
                self.expect(b',')?;
                self.space();
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads an object; `member` reads each of its values.
    fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, Name<'a>) -> Result<(), NotJson>,
    ) -> Result<(), NotJson> {
        self.enter(b'{')?;
        if !self.eat(b'}') {
            loop {
                let name = Name(self.string()?);
                self.space();
                self.expect(b':')?;
                self.space();
                member(self, name)?;
                self.space();
                if self.eat(b'}') {
                    break;
                }
                self.expect(b',')?;
                self.space();
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn enter(&mut self, open: u8) -> Result<(), NotJson> {
        self.expect(open)?;
        self.depth += 1;
        self.space();
        if self.depth <= DEPTH_MAX { Ok(()) } else { Err(NotJson) }
    }

    /// Reads a value for nobody.
    fn skip(&mut self) -> Result<(), NotJson> {
        match self.peek()? {
            b'{' => self.members(|scanner, _| scanner.skip()),
            b'[' => self.elements(|scanner, _| scanner.skip()),
            b'"' => self.string().map(drop),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number().map(drop),
        }
    }

    fn value(&mut self) -> Result<Value, NotJson> {
        Ok(match self.peek()? {
            b'{' => {
                let mut members = BTreeMap::new();
                self.members(|scanner, name| {
                    members.insert(name.text(), scanner.value()?);
                    Ok(())
                })?;
                Value::Object(members.into_iter().collect())
            }
            b'[' => {
                let mut values = Vec::new();
                self.elements(|scanner, _| {
                    values.push(scanner.value()?);
                    Ok(())
                })?;
                Value::List(values)
            }
            b'"' => Value::Text(Name(self.string()?).text()),
            b't' => self.word("true").map(|()| Value::Boolean(true))?,
            b'f' => self.word("false").map(|()| Value::Boolean(false))?,
            b'n' => self.word("null").map(|()| Value::Null)?,
            _ => Value::Number(number(self.number()?)?),
        })
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(NotJson) }
    }

    fn number(&mut self) -> Result<&'a str, NotJson> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'-') || self.eat(b'+');
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    /// What stands between the quotation marks, with its escapes, which are right.
    fn string(&mut self) -> Result<&'a str, NotJson> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            let rest = &self.bytes[self.at..];
            let length = memchr2(b'"', b'\\', rest).ok_or(NotJson)?;
            if rest[..length].iter().any(|byte| *byte < b' ') {
                return Err(NotJson);
            }
            self.at += length + 1;
            if rest[length] == b'"' {
                return Ok(&self.text[start..self.at - 1]);
            }
            let (_, length) = escape(&self.text[self.at..]).ok_or(NotJson)?;
            self.at += length;
        }
    }
}

/// A string's inside, with escapes.
struct Name<'a>(&'a str);

impl Name<'_> {
    fn is(&self, other: &str) -> bool {
        match self.0.contains('\\') {
            false => self.0 == other,
            true => self.text() == other,
        }
    }

    fn text(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        let mut rest = self.0;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            // The scanner has seen that the escapes are right.
            let (character, length) = escape(rest).unwrap_or(('\\', 0));
            out.push(character);
            rest = &rest[length..];
        }
        out + rest
    }
}

/// What the escape after a backslash stands for, and how long it is.
fn escape(rest: &str) -> Option<(char, usize)> {
    let simple = match rest.as_bytes().first()? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(rest),
        _ => return None,
    };
    Some((simple, 1))
}

/// `u0041`, or two halves of a character beyond 16 bits.
fn unicode(rest: &str) -> Option<(char, usize)> {
    let unit = |from: usize| -> Option<u32> {
        let digits = rest.get(from..from + 4)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    };
    let first = unit(1)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 5));
    }
    let second = unit(7).filter(|_| rest.get(5..7) == Some("\\u"))?;
    if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)).map(|found| (found, 11))
}

fn number(text: &str) -> Result<Number, NotJson> {
    if text.contains(['.', 'e', 'E']) {
        let value: f64 = text.parse().map_err(|_| NotJson)?;
        return if value.is_finite() { Ok(Number::Float(value)) } else { Err(NotJson) };
    }
    Ok(text.parse().map_or_else(|_| Number::BigInteger(text.to_owned()), Number::Integer))
}

/// Whether this is a number, true, false or null, as JSON has them.
pub(crate) fn is_scalar(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    let is_simple = !text.starts_with(['"', '{', '[']);
    is_simple && scanner.skip().is_ok() && scanner.at == text.len()
}
