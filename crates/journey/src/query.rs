//! Queries: what a response is asked for.

use regex::Regex;
use sha2::{Digest, Sha256};

use crate::cookie::SetCookie;
use crate::json;
use crate::jsonpath::JsonPath;
use crate::md5::md5;
use crate::response::Reading;
use crate::syntax::CookieAttribute;
use crate::text::Text;
use crate::value::Value;
use crate::variables::{Moment, Scope};

/// A query, compiled.
#[derive(Debug, Clone)]
pub(crate) enum Query {
    Status,
    Version,
    Url,
    Header(Text),
    Cookie(Text, CookieAttribute),
    Body,
    Bytes,
    Jsonpath(JsonPath),
    Regex(Regex),
    Variable(usize),
    Duration,
    Sha256,
    Md5,
}

impl Query {
    /// What it finds, if it finds anything.
    ///
    /// # Errors
    /// In words: the response cannot be asked for this.
    pub fn evaluate(
        &self,
        reading: &Reading<'_>,
        scope: &mut Scope<'_, impl Moment>,
    ) -> Result<Option<Value>, String> {
        let view = &reading.view;
        Ok(match self {
            Self::Status => Some(Value::from(i64::from(view.status))),
            Self::Version => Some(Value::from(view.version.number())),
            Self::Url => Some(Value::from(view.url)),
            Self::Header(name) => header(reading, &name.get(scope)?),
            Self::Cookie(name, attribute) => cookie(reading, &name.get(scope)?, *attribute)?,
            Self::Body => Some(Value::from(reading.text()?)),
            Self::Bytes => Some(Value::Bytes(reading.body()?.to_vec())),
            Self::Jsonpath(path) => {
                let text = reading.text()?;
                path.find(text).map_err(|_| json::why_not(text))?
            }
            Self::Regex(regex) => group(regex, reading.text()?),
            Self::Variable(slot) => scope.variables.get(*slot).cloned(),
            Self::Duration => {
                Some(Value::from(i64::try_from(view.duration_ns / 1_000_000).unwrap_or(i64::MAX)))
            }
            Self::Sha256 => Some(Value::Bytes(Sha256::digest(reading.body()?).to_vec())),
            Self::Md5 => Some(Value::Bytes(md5(reading.body()?).to_vec())),
        })
    }
}

/// What the first group of a regular expression matches.
pub(crate) fn group(regex: &Regex, text: &str) -> Option<Value> {
    regex.captures(text)?.get(1).map(|found| Value::from(found.as_str()))
}

/// The value of a field, or the list of several.
fn header(reading: &Reading<'_>, name: &str) -> Option<Value> {
    let text = |value: &[u8]| Value::Text(String::from_utf8_lossy(value).into_owned());
    let mut values = reading.view.headers.values(name.as_bytes());
    let first = text(values.next()?);
    match values.next() {
        None => Some(first),
        Some(second) => {
            Some(Value::List([first, text(second)].into_iter().chain(values.map(text)).collect()))
        }
    }
}

fn cookie(
    reading: &Reading<'_>,
    name: &str,
    attribute: CookieAttribute,
) -> Result<Option<Value>, String> {
    let fields = reading.view.headers.values(b"set-cookie");
    let found = fields.filter_map(SetCookie::parse).find(|cookie| cookie.name == name);
    found.map_or(Ok(None), |cookie| cookie.query(attribute))
}
