//! The head of a request (RFC 9112, 3 and 5), as far as a server needs it that takes no bodies.

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// The path of its target.
    pub path: String,
    /// Behind the question mark of its target; empty if there is none.
    query: String,
    fields: Vec<(String, String)>,
}

impl Request {
    /// Reads a head.
    ///
    /// # Errors
    /// With the status of the response when it cannot be read, or has a body.
    pub fn read(head: &[u8]) -> Result<Self, u16> {
        let text = String::from_utf8_lossy(head);
        let mut lines = text.split("\r\n");
        let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let [method, target, version] = words[..] else { return Err(400) };
        if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
            return Err(400);
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let lines = lines.take_while(|line| !line.is_empty());
        let fields = lines.filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        let request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            fields: fields.collect(),
        };
        let has_length = request.all("content-length").any(|length| length != "0");
        let has_body = has_length || request.all("transfer-encoding").next().is_some();
        if has_body { Err(413) } else { Ok(request) }
    }

    /// The value of a field; those of several are joined (RFC 9110, 5.2).
    pub fn field(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self.all(name).collect();
        (!values.is_empty()).then(|| values.join(","))
    }

    /// A parameter of the query, as it was sent: names and values here need no percent-encoding.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let named = self.fields.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_and_what_is_none_is_refused() {
        let request =
            Request::read(b"GET /a?x=1&token=2 HTTP/1.1\r\nHost: h\r\n\r\nrest: x").unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a"));
        assert_eq!((request.parameter("token"), request.parameter("y")), (Some("2"), None));
        assert_eq!((request.field("host").as_deref(), request.field("rest")), (Some("h"), None));
        let status = |head: &[u8]| Request::read(head).map(|_| ()).unwrap_err();
        assert_eq!(status(b"\x16\x03\x01\r\n\r\n"), 400);
        assert_eq!(status(b"GET / HTTP/2.0\r\n\r\n"), 400);
        assert_eq!(status(b"GET http://h/ HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n"), 413);
        assert_eq!(status(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 413);
    }

    #[test]
    fn several_fields_of_a_name_are_one_list() {
        let head = b"GET /metrics HTTP/1.1\r\nAccept: text/plain\r\naccept:a/b \r\n\r\n";
        let request = Request::read(head).unwrap();
        assert_eq!(request.field("Accept").as_deref(), Some("text/plain,a/b"));
    }
}
