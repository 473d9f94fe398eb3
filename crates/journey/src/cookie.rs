//! The value of a `Set-Cookie` field, taken apart: for the query `cookie`, and for the jar.

use crate::date;
use crate::syntax::CookieAttribute;
use crate::value::Value;

/// A cookie as a server sets it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetCookie<'a> {
    pub name: &'a str,
    pub value: &'a str,
    /// What follows the first semicolon.
    attributes: &'a str,
}

impl<'a> SetCookie<'a> {
    /// `None` if it is no cookie (it has no `=`), or is no text.
    pub fn parse(field: &'a [u8]) -> Option<Self> {
        let field = std::str::from_utf8(field).ok()?;
        let (pair, attributes) = field.split_once(';').unwrap_or((field, ""));
        let (name, value) = pair.split_once('=')?;
        Some(Self { name: name.trim(), value: value.trim(), attributes })
    }

    /// The attributes in order: names, and values where there are any.
    pub fn attributes(self) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
        let parts = self.attributes.split(';').filter(|part| !part.trim().is_empty());
        parts.map(|part| match part.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (part.trim(), None),
        })
    }

    /// The first attribute of a name; inside: its value, if it has one.
    fn attribute(self, name: &str) -> Option<Option<&'a str>> {
        let mut attributes = self.attributes();
        attributes.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// What the query `cookie "name[Attribute]"` gives.
    ///
    /// # Errors
    /// In words: an expiry that is no date.
    pub fn query(self, attribute: CookieAttribute) -> Result<Option<Value>, String> {
        let text = |name| self.attribute(name).flatten().map(Value::from);
        let flag = |name| self.attribute(name).filter(Option::is_none).map(|_| Value::Unit);
        Ok(match attribute {
            CookieAttribute::Value => Some(Value::from(self.value)),
            CookieAttribute::Expires => match self.attribute("Expires").flatten() {
                Some(date) => match date::cookie_date(date) {
                    Some(seconds) => Some(Value::Date(seconds * 1_000_000)),
                    None => return Err("the cookie's Expires is no date".to_owned()),
                },
                None => None,
            },
            CookieAttribute::MaxAge => {
                let age = self.attribute("Max-Age").flatten();
                age.and_then(|age| age.parse::<i64>().ok()).map(Value::from)
            }
            CookieAttribute::Domain => text("Domain"),
            CookieAttribute::Path => text("Path"),
            CookieAttribute::Secure => flag("Secure"),
            CookieAttribute::HttpOnly => flag("HttpOnly"),
            CookieAttribute::SameSite => text("SameSite"),
        })
    }
}
