//! Bodies of `multipart/form-data` (RFC 7578), byte for byte as `curl -F` writes them: from parts whose contents are
//! borrowed, to a list of slices, so that a file that is mapped is never copied. [`argument`] reads what stands behind `-F`.
//!
//! ```
//! use ablaze_wire::multipart::{Body, Part, content_type};
//!
//! let parts = [Part::value("name", b"ann"), Part::file("photo", "a.png", b"...")];
//! let body = Body::new(&parts, "boundary").unwrap();
//! assert_eq!(content_type("boundary"), "multipart/form-data; boundary=boundary");
//! assert_eq!(body.slices().map(<[u8]>::len).sum::<usize>() as u64, body.len_bytes());
//! ```

pub mod argument;

use std::borrow::Cow;

/// A field of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its name.
    pub name: &'a str,
    /// Name of the file that the content is said to be; nothing for a plain value.
    pub filename: Option<&'a str>,
    /// Content-Type; without one the part has none, which stands for `text/plain`.
    pub content_type: Option<&'a str>,
    /// What it holds.
    pub content: &'a [u8],
}

impl<'a> Part<'a> {
    /// A plain value, without a Content-Type.
    pub fn value(name: &'a str, content: &'a [u8]) -> Self {
        Self { name, filename: None, content_type: None, content }
    }

    /// A file, of the type that its name says: [`content_type_of`].
    pub fn file(name: &'a str, filename: &'a str, content: &'a [u8]) -> Self {
        let content_type = Some(content_type_of(filename));
        Self { name, filename: Some(filename), content_type, content }
    }
}

/// Why parts make no body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MultipartError {
    /// The boundary is not one by RFC 2046, 5.1.1.
    #[error("`{0}` is no boundary: use 1 to 70 letters, digits or '()+_,-./:=?, and blanks inside")]
    Boundary(String),
    /// The boundary stands in what it is to bound.
    #[error("the boundary occurs in the content of part `{0}`: use another boundary")]
    Occurs(String),
    /// A Content-Type that would end its line.
    #[error("the content type of part `{0}` has a line end in it")]
    ContentType(String),
}

/// The body as slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body<'a> {
    slices: Vec<Cow<'a, [u8]>>,
    len_bytes: u64,
}

impl<'a> Body<'a> {
    /// The body that these parts make. Reads every content once, to see that the boundary does not occur in it.
    ///
    /// # Errors
    /// When they make none.
    pub fn new(parts: &[Part<'a>], boundary: &str) -> Result<Self, MultipartError> {
        if !is_boundary(boundary) {
            return Err(MultipartError::Boundary(boundary.to_owned()));
        }
        let delimiter = format!("--{boundary}");
        let finder = memchr::memmem::Finder::new(&delimiter);
        let mut slices = Vec::with_capacity(2 * parts.len() + 1);
        let mut line_end = "";
        for part in parts {
            if finder.find(part.content).is_some() {
                return Err(MultipartError::Occurs(part.name.to_owned()));
            }
            let head =
                part.head().ok_or_else(|| MultipartError::ContentType(part.name.to_owned()))?;
            slices.push(Cow::Owned(format!("{line_end}{delimiter}\r\n{head}\r\n").into_bytes()));
            slices.push(Cow::Borrowed(part.content));
            line_end = "\r\n";
        }
        slices.push(Cow::Owned(format!("{line_end}{delimiter}--\r\n").into_bytes()));
        let len_bytes = slices.iter().map(|slice| slice.len() as u64).sum();
        Ok(Self { slices, len_bytes })
    }

    /// The pieces, in order; contents are the caller's own bytes.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.slices.iter().map(AsRef::as_ref)
    }

    /// The length: Content-Length.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// A copy in one piece.
    pub fn to_vec(&self) -> Vec<u8> {
        self.slices.concat()
    }
}

impl Part<'_> {
    /// The lines before the empty one; nothing if the content type is none.
    fn head(&self) -> Option<String> {
        let mut head = format!("Content-Disposition: form-data; name=\"{}\"", escaped(self.name));
        if let Some(filename) = self.filename {
            head += &format!("; filename=\"{}\"", escaped(filename));
        }
        head += "\r\n";
        if let Some(content_type) = self.content_type {
            if content_type.contains(['\r', '\n', '\0']) {
                return None;
            }
            head += &format!("Content-Type: {content_type}\r\n");
        }
        Some(head)
    }
}

/// The Content-Type of a request with such a body.
pub fn content_type(boundary: &str) -> String {
    // A token needs no quotation marks (RFC 9110, 5.6.2).
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"'+_-.".contains(&byte);
    match boundary.bytes().all(token) {
        true => format!("multipart/form-data; boundary={boundary}"),
        false => format!("multipart/form-data; boundary=\"{boundary}\""),
    }
}

/// The type that a file's name says, by the ending and as curl has it; `application/octet-stream` for all others.
pub fn content_type_of(filename: &str) -> &'static str {
    known_type_of(filename).unwrap_or(UNKNOWN)
}

/// Of a file whose name says no type.
const UNKNOWN: &str = "application/octet-stream";

/// The type that a file's name says, if it says one.
fn known_type_of(filename: &str) -> Option<&'static str> {
    const TYPES: [(&str, &str); 10] = [
        (".gif", "image/gif"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ];
    let ends = |ending: &str| {
        let at = filename.len().checked_sub(ending.len());
        at.and_then(|at| filename.as_bytes().get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
    };
    TYPES.iter().find(|(ending, _)| ends(ending)).map(|(_, own)| *own)
}

/// A name inside quotation marks, as browsers and curl since 7.81 write it (HTML Standard, "multipart form data").
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn is_boundary(boundary: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
    (1..=70).contains(&boundary.len()) && boundary.bytes().all(allowed) && !boundary.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_between_boundaries() {
        let parts = [
            Part::value("a", b"1"),
            Part::file("b\"c", "x\r\n.TXT", b"\r\n"),
            Part { content_type: Some("text/csv"), ..Part::value("d", b"") },
        ];
        let expected = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
                        --B\r\nContent-Disposition: form-data; name=\"b%22c\"; filename=\"x%0D%0A.TXT\"\r\n\
                        Content-Type: text/plain\r\n\r\n\r\n\r\n\
                        --B\r\nContent-Disposition: form-data; name=\"d\"\r\n\
                        Content-Type: text/csv\r\n\r\n\r\n--B--\r\n";
        let body = Body::new(&parts, "B").unwrap();
        assert_eq!(String::from_utf8(body.to_vec()).unwrap(), expected);
        assert_eq!(body.len_bytes(), expected.len() as u64);
        // RFC 2046 wants a part; curl without any never sends a form.
        assert_eq!(Body::new(&[], "B").unwrap().to_vec(), b"--B--\r\n");
    }

    #[test]
    fn contents_are_not_copied() {
        let content = vec![7; 1 << 20];
        let parts = [Part::file("f", "f", &content)];
        let body = Body::new(&parts, "B").unwrap();
        assert!(body.slices().any(|slice| std::ptr::eq(slice, &content[..])));
    }

    #[test]
    fn what_would_be_read_otherwise_is_refused() {
        let of = |boundary: &str, part: Part<'_>| Body::new(&[part], boundary).map(|_| ());
        let plain = Part::value("n", b"a\r\n--Bc");
        assert_eq!(of("B", plain), Err(MultipartError::Occurs("n".into())));
        assert_eq!(of("C", plain), Ok(()));
        for wrong in ["", "a ", "a\"", "a\r\nb", &"a".repeat(71)] {
            assert_eq!(of(wrong, plain), Err(MultipartError::Boundary(wrong.into())));
        }
        let typed = Part { content_type: Some("a\r\nX: y"), ..plain };
        assert_eq!(of("C", typed), Err(MultipartError::ContentType("n".into())));
    }

    #[test]
    fn the_boundary_is_quoted_where_it_must_be() {
        assert_eq!(content_type("--aB9"), "multipart/form-data; boundary=--aB9");
        assert_eq!(content_type("a b"), "multipart/form-data; boundary=\"a b\"");
    }

    #[test]
    fn types_follow_the_ending() {
        for (name, expected) in [
            ("a.JPG", "image/jpeg"),
            ("/b/c.html", "text/html"),
            ("c.json", "application/octet-stream"),
            ("txt", "application/octet-stream"),
            (".txt", "text/plain"),
            ("é.xml", "application/xml"),
        ] {
            assert_eq!(content_type_of(name), expected, "{name}");
        }
    }
}
