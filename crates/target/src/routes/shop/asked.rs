//! What a client of the shop has sent: fields of a form or of JSON, and who it says it is.

use serde_json::{Map, Value};

/// Fields of a body.
#[derive(Debug, PartialEq)]
pub struct Sent(Map<String, Value>);

impl Sent {
    /// The fields of a body of this type; without a type they are a form's.
    ///
    /// # Errors
    /// What is wrong with the body.
    pub fn of(content_type: &[u8], body: &[u8]) -> Result<Self, &'static str> {
        let kind = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
        if kind.trim_ascii().eq_ignore_ascii_case(b"application/json") {
            return match serde_json::from_slice(body) {
                Ok(Value::Object(fields)) => Ok(Self(fields)),
                Ok(_) => Err("the body is JSON, but not an object"),
                Err(_) => Err("the body is not JSON, which its Content-Type says it is"),
            };
        }
        let mut fields = Map::new();
        for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let (name, value) = (&pair[..at], pair.get(at + 1..).unwrap_or_default());
            // The first of a name counts, as with fields of heads.
            fields.entry(unescaped(name)?).or_insert(Value::String(unescaped(value)?));
        }
        Ok(Self(fields))
    }

    /// Whether there is a field of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A field as text.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A field as a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Value::String(text) => crate::routes::values::whole(text.as_bytes()),
            other => other.as_u64(),
        }
    }
}

/// As a form writes it (URL Standard, 5.1).
fn unescaped(text: &[u8]) -> Result<String, &'static str> {
    const WRONG: &str =
        "the form is not as its Content-Type says: a % without two digits behind it";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
                let (high, low) = (digit(rest.next()), digit(rest.next()));
                (high.ok_or(WRONG)? * 16 + low.ok_or(WRONG)?) as u8
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).map_err(|_| "a field of the form is not UTF-8")
}

/// The tokens that a head shows: those of cookies, then that of `Authorization: Bearer`.
pub fn credentials(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let cookies = fields(head, "Cookie")
        .flat_map(|value| value.split(|byte| *byte == b';'))
        .filter_map(|pair| pair.trim_ascii().strip_prefix(b"session="));
    let bearers = fields(head, "Authorization").filter_map(|value| {
        let (scheme, token) = value.split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
    });
    cookies.chain(bearers)
}

/// Every field of this name: HTTP/2 may send a cookie in pieces (RFC 9113, 8.2.3).
fn fields<'a>(head: &'a [u8], name: &'static str) -> impl Iterator<Item = &'a [u8]> {
    head.split(|byte| *byte == b'\n').filter_map(move |line| {
        let (own, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        own.eq_ignore_ascii_case(name.as_bytes()).then(|| value.trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_json_say_the_same() {
        let form = Sent::of(b"", b"user=ann+b&password=%62%20n&item=3&a&user=other").unwrap();
        let json = br#"{"user":"ann b","password":"b n","item":3,"a":""}"#;
        let json = Sent::of(b"Application/JSON; charset=utf-8", json).unwrap();
        for sent in [form, json] {
            assert_eq!(sent.text("user").as_deref(), Some("ann b"));
            assert_eq!(sent.text("password").as_deref(), Some("b n"));
            assert_eq!((sent.number("item"), sent.number("user")), (Some(3), None));
            assert_eq!((sent.has("a"), sent.has("b"), sent.text("b")), (true, false, None));
        }
    }

    #[test]
    fn what_is_neither_is_refused() {
        for (kind, body) in [
            ("application/json", &b"{"[..]),
            ("application/json", b"[1]"),
            ("application/x-www-form-urlencoded", b"a=%4"),
            ("", b"a=%zz"),
            ("", b"a=%ff"),
        ] {
            assert!(Sent::of(kind.as_bytes(), body).is_err(), "{kind} {body:?}");
        }
    }

    #[test]
    fn tokens_come_in_cookies_and_behind_bearer() {
        let head = b"GET / HTTP/1.1\r\nCookie: a=b; session=one;c=d\r\ncookie: session=two\r\n\
                     Cookies: session=no\r\nAuthorization: bearer three\r\n\r\n";
        let found: Vec<_> = credentials(head).collect();
        assert_eq!(found, [b"one" as &[u8], b"two", b"three"]);
        assert_eq!(credentials(b"GET / HTTP/1.1\r\nAuthorization: Basic x\r\n\r\n").count(), 0);
    }
}
