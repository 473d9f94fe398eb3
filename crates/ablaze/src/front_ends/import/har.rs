//! HAR files (version 1.2, <http://www.softwareishard.com/blog/har-12-spec/>), as Chrome, Firefox, Safari and proxies
//! write them: each request becomes a step, with the status that it got.

use std::collections::HashSet;

use serde_json::Value;

use super::hurl::{Body, Entry, Part};
use super::{Imported, encoded};

/// Headers that a client makes itself, or that belong to one connection.
const OF_THE_CLIENT: [&str; 12] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "upgrade",
    "keep-alive",
    "proxy-connection",
    "http2-settings",
    "expect",
    // These two are written otherwise.
    "cookie",
    "accept-encoding",
];

/// Reads a HAR file.
///
/// # Errors
/// When it is none.
pub fn import(text: &str) -> Result<Imported, String> {
    let har: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Some(recorded) = har["log"]["entries"].as_array() else {
        return Err("it is JSON, but no HAR file: it has no log.entries".into());
    };
    let mut imported = Imported::default();
    let mut set = HashSet::new();
    for (at, recorded) in recorded.iter().enumerate() {
        match entry(recorded, &set, &mut imported.notes) {
            Ok(entry) => imported.entries.push(entry),
            Err(why) => {
                imported.notes.push(format!("left out: entry {} of the HAR file, {why}", at + 1))
            }
        }
        let host = host(text_of(&recorded["request"]["url"])).to_owned();
        let names = values(&recorded["response"]["headers"], "set-cookie")
            .flat_map(|value| value.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()));
        set.extend(names.map(|name| (host.clone(), name)));
    }
    match imported.entries.is_empty() {
        false => Ok(imported),
        true => Err(match imported.notes.first() {
            None => "it has no request that can be imported".into(),
            Some(why) => format!("it has no request that can be imported ({why})"),
        }),
    }
}

fn entry(
    recorded: &Value,
    set: &HashSet<(String, String)>,
    notes: &mut Vec<String>,
) -> Result<Entry, String> {
    let request = &recorded["request"];
    let (method, url) = (text_of(&request["method"]), text_of(&request["url"]));
    let short = super::shortened(url, 80);
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(format!("`{short}`: only http:// and https:// can be imported"));
    }
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(format!("method `{method}`: a journey's methods are capital letters"));
    }
    if values(&request["headers"], "upgrade").any(|value| value.eq_ignore_ascii_case("websocket")) {
        return Err(format!("`{short}`: it opens a WebSocket"));
    }
    let (body, own_type) = body(&request["postData"], notes)?;
    let mut headers = Vec::new();
    for (name, value) in pairs(&request["headers"]) {
        let own = name.to_ascii_lowercase();
        let said = own_type && own == "content-type";
        if !name.starts_with(':') && !OF_THE_CLIENT.contains(&own.as_str()) && !said {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
    let mut cookies: Vec<(String, String)> = values(&request["headers"], "cookie")
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    // The server has set them in this recording: they come from the jar.
    cookies.retain(|(name, _)| !set.contains(&(host(url).to_owned(), name.clone())));
    let compressed = values(&request["headers"], "accept-encoding").next().is_some();
    let status =
        recorded["response"]["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.filter(|status| *status >= 100);
    if status.is_none() {
        notes.push(format!("`{method} {short}` had no response: its status is not asserted"));
    }
    Ok(Entry {
        method: method.to_owned(),
        url: url.to_owned(),
        headers,
        options: compressed.then(|| ("compressed", "true".to_owned())).into_iter().collect(),
        user: None,
        cookies,
        body,
        status,
    })
}

/// What was sent, and whether its form says its content type itself.
fn body(post: &Value, notes: &mut Vec<String>) -> Result<(Body, bool), String> {
    let text = text_of(&post["text"]);
    let kind = text_of(&post["mimeType"])
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let fields = post["params"].as_array().map(Vec::as_slice).unwrap_or_default();
    if kind == "multipart/form-data" && !fields.is_empty() {
        return Ok((Body::Multipart(parts(fields, notes)), true));
    }
    if kind == "multipart/form-data" && text.is_empty() {
        return Err("its form is not in the file".into());
    }
    if text_of(&post["encoding"]).eq_ignore_ascii_case("base64") {
        let bytes = base64(text).ok_or("its body is not base64, as it is said to be")?;
        return Ok((
            String::from_utf8(bytes).map_or_else(|error| Body::Bytes(error.into_bytes()), as_text),
            false,
        ));
    }
    if kind == "application/x-www-form-urlencoded" {
        if let Some(fields) = encoded::form_fields(text.as_bytes()) {
            return Ok((Body::Form(fields), true));
        }
        if text.is_empty() && !fields.is_empty() {
            let pairs = fields.iter().map(|field| {
                (text_of(&field["name"]).to_owned(), text_of(&field["value"]).to_owned())
            });
            return Ok((Body::Form(pairs.collect()), true));
        }
    }
    Ok((as_text(text.to_owned()), false))
}

fn as_text(text: String) -> Body {
    if text.is_empty() { Body::Nothing } else { Body::Text(text) }
}

fn parts(fields: &[Value], notes: &mut Vec<String>) -> Vec<Part> {
    let part = |field: &Value| {
        let name = text_of(&field["name"]).to_owned();
        let file = text_of(&field["fileName"]);
        if file.is_empty() {
            return Part::Value(name, text_of(&field["value"]).to_owned());
        }
        notes.push(format!("`{file}`, which was sent as `{name}`, is not in the HAR file: put it beside the journey"));
        let kind = Some(text_of(&field["contentType"])).filter(|kind| !kind.is_empty());
        Part::File(name, file.to_owned(), kind.map(str::to_owned))
    };
    fields.iter().map(part).collect()
}

/// Names and values of a list of headers.
fn pairs(headers: &Value) -> impl Iterator<Item = (&str, &str)> {
    let headers = headers.as_array().map(Vec::as_slice).unwrap_or_default();
    headers.iter().map(|header| (text_of(&header["name"]), text_of(&header["value"])))
}

fn values<'a>(headers: &'a Value, name: &'a str) -> impl Iterator<Item = &'a str> {
    pairs(headers).filter(move |(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn host(url: &str) -> &str {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    authority.split(['/', '?', '#']).next().unwrap_or_default()
}

/// RFC 4648, 4.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            // The upper bits are those of bytes that were taken before.
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}
