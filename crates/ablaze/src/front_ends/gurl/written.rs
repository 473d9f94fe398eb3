//! What is written of a response: where `-o` says, in the form that `-oflag`, `-v` and `-c` ask for. It is the server's, and
//! goes out as it is, byte for byte.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use ablaze_report::system_error::reason;

use super::client::{Head, Piece};
use super::colors;
use super::options::Output;
use crate::outlets;

/// One response on its way there: written as it comes or, where several are under way at once, when it is whole.
pub struct Delivery<'o> {
    asked: &'o Output,
    /// A file, `stdout` or `stderr`; nowhere if bodies are not asked for.
    path: Option<String>,
    /// The same, once something goes there.
    place: Option<Place>,
    /// Whether pieces are written as they come.
    live: bool,
    /// What is written when the response is whole.
    later: Vec<u8>,
    /// What is to be coloured when it is whole.
    body: Vec<u8>,
    /// Why it could not be written.
    pub error: Option<String>,
    /// Nobody reads it any more.
    pub unread: bool,
}

/// Held while a response is written whole: two of them never stand mixed in one file.
static WRITING: Mutex<()> = Mutex::new(());

/// Where bytes go.
enum Place {
    Stdout,
    Stderr,
    File(File),
}

impl<'o> Delivery<'o> {
    /// To a file, or to `stdout` or `stderr`; `None` writes nothing. `live`: as it comes.
    pub fn to(asked: &'o Output, path: Option<String>, live: bool) -> Self {
        let (later, body) = (Vec::new(), Vec::new());
        Self { asked, path, place: None, live, later, body, error: None, unread: false }
    }

    /// Takes the next piece; `false` wants no more.
    pub fn piece(&mut self, piece: &Piece<'_>) -> bool {
        if self.path.is_none() {
            return true;
        }
        match piece {
            Piece::Head(head) if self.asked.heads => self.put(&heads(head, self.asked.color)),
            Piece::Head(_) => self.put(b""),
            // JSON is coloured as a whole.
            Piece::Body(bytes) if self.asked.color => {
                self.body.extend_from_slice(bytes);
                true
            }
            Piece::Body(bytes) => self.put(bytes),
        }
    }

    /// The response is whole.
    pub fn end(&mut self) {
        if self.path.is_none() || self.error.is_some() || self.unread {
            return;
        }
        if self.asked.color {
            let body = std::mem::take(&mut self.body);
            let colored = colors::json(&body);
            self.put(colored.as_deref().unwrap_or(&body));
        }
        if self.asked.line {
            self.put(b"\n");
        }
        if !self.live {
            let _whole = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
            let later = std::mem::take(&mut self.later);
            self.write(&later);
        }
    }

    fn put(&mut self, bytes: &[u8]) -> bool {
        match self.live {
            true => self.write(bytes),
            false => {
                self.later.extend_from_slice(bytes);
                true
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        let Some(path) = &self.path else { return true };
        if self.place.is_none() {
            match opened(path, self.asked.append) {
                Ok(place) => self.place = Some(place),
                Err(error) => {
                    self.error = Some(format!("cannot open `{path}` for -o: {}", reason(&error)));
                    return false;
                }
            }
        }
        match &mut self.place {
            Some(Place::Stdout) => self.unread |= !outlets::print_raw(bytes),
            // With stderr closed there is no one left to tell.
            Some(Place::Stderr) => self.unread |= io::stderr().write_all(bytes).is_err(),
            Some(Place::File(file)) => {
                let error = file.write_all(bytes).err();
                let why = |error| format!("cannot write `{path}` for -o: {}", reason(&error));
                self.error = error.map(why);
            }
            None => {}
        }
        !self.unread && self.error.is_none()
    }
}

/// A file is written from its beginning, or behind its end.
fn opened(path: &str, append: bool) -> io::Result<Place> {
    if matches!(path, "stdout" | "stderr") {
        return Ok(if path == "stdout" { Place::Stdout } else { Place::Stderr });
    }
    let mut options = OpenOptions::new();
    if append {
        options.append(true)
    } else {
        options.write(true).truncate(true)
    };
    options.create(true).open(path).map(Place::File)
}

/// The heads of request and response, with `>` and `<` before each line, and an empty line behind each.
fn heads(head: &Head<'_>, color: bool) -> Vec<u8> {
    let mut text = Vec::new();
    for (mark, bytes) in [(">", head.request), ("<", head.bytes)] {
        let lines = bytes.split(|byte| *byte == b'\n');
        for (at, line) in lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).enumerate() {
            if line.is_empty() {
                continue;
            }
            let colon = line.iter().position(|byte| *byte == b':').filter(|_| at > 0 && color);
            match colon {
                Some(colon) => colors::field(&mut text, mark, &line[..colon], &line[colon + 1..]),
                None => {
                    text.extend_from_slice(mark.as_bytes());
                    text.push(b' ');
                    text.extend_from_slice(line);
                }
            }
            text.extend_from_slice(b"\r\n");
        }
        text.extend_from_slice(mark.as_bytes());
        text.extend_from_slice(b"\r\n\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_marked_line_by_line() {
        let head = Head {
            status: 200,
            bytes: b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
            request: b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        };
        let expected =
            "> GET / HTTP/1.1\r\n> Host: h\r\n>\r\n\n< HTTP/1.1 200 OK\r\n< A: b\r\n<\r\n\n";
        assert_eq!(String::from_utf8(heads(&head, false)).unwrap(), expected);
        let colored = String::from_utf8(heads(&head, true)).unwrap();
        assert!(colored.contains("\x1b[30;1m< A\x1b[0m: \x1b[34;1mb\x1b[0m\r\n"), "{colored:?}");
        assert!(colored.starts_with("> GET / HTTP/1.1\r\n"), "{colored:?}");
    }
}
