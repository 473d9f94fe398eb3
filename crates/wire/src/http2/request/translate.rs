//! From HTTP/1 to HTTP/2: what the builder of [`crate::http1`] made, as fields (RFC 9113, 8.2.2
//! and 8.3.1).

use std::ops::Range;

use super::{Request, RequestError, RequestField};
use crate::http1::request::{Patch, Template};

impl Request {
    /// Translates an HTTP/1 request. Host becomes `:authority` (`authority` if there is none),
    /// names become lower case, and the fields of HTTP/1 connections are left out.
    ///
    /// # Errors
    /// When the template cannot be translated; the text says what to do.
    pub fn from_template(
        template: &Template,
        scheme: &str,
        authority: &str,
    ) -> Result<Self, RequestError> {
        let head = Self::head_of_template(template, scheme, authority)?;
        Ok(Self { body: template.bytes[template.head_bytes..].to_vec(), ..head })
    }

    /// The same without its body, which may be large: to know whether there is one.
    ///
    /// # Errors
    /// As [`from_template`](Self::from_template).
    pub fn head_of_template(
        template: &Template,
        scheme: &str,
        authority: &str,
    ) -> Result<Self, RequestError> {
        let bytes = &template.bytes;
        let mut lines = lines(template).into_iter();
        let first = lines.next().ok_or(RequestError::Malformed("there is no request line"))?;
        let (method, path) = request_line(bytes, first)?;
        let mut request = Self {
            fields: Vec::new(),
            body: Vec::new(),
            body_patches: patches_within(template, &(template.head_bytes..bytes.len())),
            response_has_no_body: template.response_has_no_body,
        };
        request.push(b":method", &bytes[method], Vec::new());
        request.push(b":scheme", scheme.as_bytes(), Vec::new());
        request.push(b":authority", authority.as_bytes(), Vec::new());
        request.push(b":path", &bytes[path.clone()], patches_within(template, &path));

        let lines: Vec<_> =
            lines.map(|line| name_and_value(bytes, line)).collect::<Result<_, _>>()?;
        let named = named_by_connection(bytes, &lines);
        let mut left_out = 0;
        for (name, value) in lines {
            let name = bytes[name].to_ascii_lowercase();
            let patches = patches_within(template, &value);
            let value = &bytes[value];
            match &name[..] {
                b"host" => request.fields[2] = RequestField::new(b":authority", value, patches),
                b"transfer-encoding" => return Err(RequestError::TransferEncoding),
                b"te" if value == b"trailers" => request.push(&name, value, patches),
                b"connection" | b"keep-alive" | b"proxy-connection" | b"upgrade" | b"te"
                | b"http2-settings" => left_out += patches.len(),
                _ if named.contains(&name) => left_out += patches.len(),
                _ => request.push(&name, value, patches),
            }
        }
        let in_head: usize = request.fields.iter().map(|field| field.patches.len()).sum();
        if in_head + request.body_patches.len() + left_out != template.patches.len() {
            return Err(RequestError::PlaceholderMisplaced);
        }
        Ok(request)
    }
}

/// The lines of the head, without their ends and the empty one.
fn lines(template: &Template) -> Vec<Range<usize>> {
    let head = &template.bytes[..template.head_bytes];
    let mut lines = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', head) {
        let text_end = if end > start && head[end - 1] == b'\r' { end - 1 } else { end };
        if text_end > start {
            lines.push(start..text_end);
        }
        start = end + 1;
    }
    lines
}

/// Where method and path stand in the request line.
fn request_line(
    bytes: &[u8],
    line: Range<usize>,
) -> Result<(Range<usize>, Range<usize>), RequestError> {
    let malformed = RequestError::Malformed("the request line is not 'METHOD PATH HTTP/1.1'");
    let text = &bytes[line.clone()];
    let (Some(first), Some(last)) = (memchr::memchr(b' ', text), memchr::memrchr(b' ', text))
    else {
        return Err(malformed);
    };
    if first == 0 || first == last || !text[last + 1..].starts_with(b"HTTP/1.") {
        return Err(malformed);
    }
    let (method, path) =
        (line.start..line.start + first, line.start + first + 1..line.start + last);
    if &bytes[method.clone()] == b"CONNECT" {
        return Err(RequestError::Connect);
    }
    if bytes[path.start] == b'/' || &bytes[path.clone()] == b"*" {
        return Ok((method, path));
    }
    // The form for proxies, scheme://authority/path (RFC 9112, 3.2.2).
    let target = &text[first + 1..last];
    let authority = memchr::memmem::find(target, b"://").map(|colon| colon + 3);
    match authority.and_then(|at| Some(at + memchr::memchr(b'/', &target[at..])?)) {
        Some(slash) => Ok((method, path.start + slash..path.end)),
        None => Err(RequestError::Malformed("the path has to begin with /")),
    }
}

/// Where name and trimmed value of a field stand.
fn name_and_value(
    bytes: &[u8],
    line: Range<usize>,
) -> Result<(Range<usize>, Range<usize>), RequestError> {
    let text = &bytes[line.clone()];
    let colon = memchr::memchr(b':', text)
        .filter(|&colon| colon > 0)
        .ok_or(RequestError::Malformed("a header line is not 'Name: value'"))?;
    let value = &text[colon + 1..];
    let start = line.start + colon + 1 + (value.len() - value.trim_ascii_start().len());
    Ok((line.start..line.start + colon, start..start + value.trim_ascii().len()))
}

/// Fields that Connection names belong to the connection, too (RFC 9110, 7.6.1).
fn named_by_connection(bytes: &[u8], lines: &[(Range<usize>, Range<usize>)]) -> Vec<Vec<u8>> {
    let connection =
        lines.iter().filter(|(name, _)| bytes[name.clone()].eq_ignore_ascii_case(b"connection"));
    connection
        .flat_map(|(_, value)| bytes[value.clone()].split(|&byte| byte == b','))
        .map(|name| name.trim_ascii().to_ascii_lowercase())
        .collect()
}

/// The patches within a range, with offsets from its beginning.
fn patches_within(template: &Template, range: &Range<usize>) -> Vec<Patch> {
    let inside = template.patches.iter().filter(|patch| {
        let start = patch.offset as usize;
        range.start <= start && start + patch.width as usize <= range.end
    });
    inside.map(|patch| Patch { offset: patch.offset - range.start as u32, ..*patch }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::builder::RequestBuilder;
    use crate::http1::request::PatchValue;

    fn translated(builder: &RequestBuilder) -> Result<Request, RequestError> {
        Request::from_template(&builder.build().unwrap(), "http", "fallback:1")
    }

    fn fields(request: &Request) -> Vec<(&str, &str)> {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        request.fields.iter().map(|field| (text(&field.name), text(&field.value))).collect()
    }

    #[test]
    fn a_request_with_everything() {
        let builder = RequestBuilder::new("POST", "/a?b={rand:3}")
            .header("Host", "localhost:8080")
            .header("User-Agent", "ablaze")
            .header("Connection", "close, X-Hop")
            .header("X-Hop", "1")
            .header("TE", "gzip")
            .header("Authorization", "Basic YTpi")
            .header("Cookie", "a=b")
            .body_length_header("Content-Length")
            .body("x{seq:4}");
        let request = translated(&builder).unwrap();
        let expected = [
            (":method", "POST"),
            (":scheme", "http"),
            (":authority", "localhost:8080"),
            (":path", "/a?b=000"),
            ("user-agent", "ablaze"),
            ("authorization", "Basic YTpi"),
            ("cookie", "a=b"),
            ("content-length", "5"),
        ];
        assert_eq!(fields(&request), expected);
        let path_patch = Patch { offset: 5, width: 3, value: PatchValue::Random };
        assert_eq!(request.fields[3].patches, [path_patch]);
        assert_eq!(request.body, b"x0000");
        let body_patch = Patch { offset: 1, width: 4, value: PatchValue::Sequence };
        assert_eq!(request.body_patches, [body_patch]);
        let never: Vec<_> = request.fields.iter().map(|field| field.never_indexed).collect();
        assert_eq!(never, [false, false, false, false, false, true, true, false]);
        assert!(!request.response_has_no_body);
    }

    #[test]
    fn what_the_builder_of_fields_makes_is_the_same() {
        let builder = RequestBuilder::new("HEAD", "/").header("Accept", "*/*");
        let same = Request::new("HEAD", "http", "fallback:1", "/").field("accept", "*/*");
        assert_eq!(translated(&builder), Ok(same));
        let proxied = RequestBuilder::new("GET", "http://other/x/y");
        assert_eq!(translated(&proxied), Ok(Request::new("GET", "http", "fallback:1", "/x/y")));
    }

    #[test]
    fn what_cannot_be_translated() {
        let connect = RequestBuilder::new("CONNECT", "localhost:1");
        assert_eq!(translated(&connect), Err(RequestError::Connect));
        let chunked = RequestBuilder::new("POST", "/").header("Transfer-Encoding", "chunked");
        assert_eq!(translated(&chunked), Err(RequestError::TransferEncoding));
        let verbatim = RequestBuilder::new("nonsense", "x").verbatim();
        assert!(matches!(translated(&verbatim), Err(RequestError::Malformed(_))));
        let name = RequestBuilder::new("GET", "/").header_line("X-{seq:1}: 1").verbatim();
        assert!(translated(&name.placeholders(true)).is_err());
    }
}
