//! The lines of a list of requests, taken apart: one URL a line, a method in front of it and a body behind it, or
//! vegeta's targets. Which of them a line is, its first words say:
//!
//! | line | is |
//! |---|---|
//! | empty, `# …` | nothing; an empty line ends a target |
//! | `METHOD URL`, `METHOD URL BODY` | a target: the first word is capital letters, the second a URL or a path |
//! | `Name: value`, below a target without a body | a field of it: a blank follows the colon |
//! | `@FILE`, below a target without a body | its body |
//! | `URL METHOD`, `URL METHOD BODY` | a target, as siege writes it |
//! | `URL`, `URL WEIGHT` | a URL, for which the options say the rest |
//!
//! A body that begins with `@` is the content of a file; one that begins with `#` is a comment.

/// An entry of the list, as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The number of its line, from 1.
    pub line: usize,
    /// Its URL, or a path.
    pub url: &'a str,
    /// How often it is requested among the others.
    pub weight: u64,
    /// What it says itself.
    pub own: Option<OwnText<'a>>,
}

/// What an entry with a method says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnText<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its fields, as typed.
    pub headers: Vec<&'a str>,
    /// Its body.
    pub body: Option<BodyText<'a>>,
}

/// The body of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyText<'a> {
    /// This text.
    Text(&'a str),
    /// The content of this file.
    File(&'a str),
}

/// Whether there are more entries than `most`. No line is taken apart, and none is kept.
pub fn are_more_than(text: &str, most: usize) -> bool {
    // What is neither part of an entry nor nothing is one, or else an error.
    let is_entry =
        |line: &&str| !line.is_empty() && !line.starts_with(['#', '@']) && !is_field(line);
    text.lines().map(str::trim).filter(is_entry).nth(most).is_some()
}

/// Reads the lines.
///
/// # Errors
/// The number of the line and what was expected there.
pub fn entries(text: &str) -> Result<Vec<Entry<'_>>, (usize, String)> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    // Whether the last entry takes fields and a body.
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            is_open &= !line.is_empty();
            continue;
        }
        let last = entries.last_mut().and_then(|entry| entry.own.as_mut()).filter(|_| is_open);
        if let Some((method, rest)) = method_and_rest(line) {
            let (url, body) = first_word(rest);
            let own = own(method, body).map_err(|why| (number, why))?;
            is_open = own.body.is_none();
            entries.push(Entry { line: number, url, weight: 1, own: Some(own) });
        } else if let Some(path) = line.strip_prefix('@') {
            let Some(own) = last else { return Err((number, no_target(line))) };
            own.body = Some(file(own.method, path).map_err(|why| (number, why))?);
            is_open = false;
        } else if is_field(line) {
            let Some(own) = last else { return Err((number, no_target(line))) };
            own.headers.push(line);
        } else {
            entries.push(by_url(number, line)?);
            is_open = entries.last().and_then(|entry| entry.own.as_ref()).is_some_and(takes_more);
        }
    }
    Ok(entries)
}

fn takes_more(own: &OwnText<'_>) -> bool {
    own.body.is_none()
}

/// A line that begins with a URL.
fn by_url(number: usize, line: &str) -> Result<Entry<'_>, (usize, String)> {
    let (url, rest) = first_word(line);
    let (second, body) = first_word(rest);
    if is_method(second) {
        let own = own(second, body).map_err(|why| (number, why))?;
        return Ok(Entry { line: number, url, weight: 1, own: Some(own) });
    }
    // A fragment is not sent, so that a `#` behind white space can only begin a comment.
    if second.is_empty() || second.starts_with('#') {
        return Ok(Entry { line: number, url, weight: 1, own: None });
    }
    let weight = second.parse().map_err(|_| {
        let wrong = match second.bytes().all(|byte| byte.is_ascii_digit()) {
            true => "is too large",
            false => "is not a whole number",
        };
        let text = format!("weight `{second}` {wrong}: expected `URL WEIGHT` or `METHOD URL BODY`");
        (number, text)
    })?;
    if !body.is_empty() && !body.starts_with('#') {
        let text = "expected only a URL and a weight: write spaces as %20";
        return Err((number, text.to_owned()));
    }
    Ok(Entry { line: number, url, weight, own: None })
}

fn own<'a>(method: &'a str, body: &'a str) -> Result<OwnText<'a>, String> {
    let body = match body.strip_prefix('@') {
        _ if body.is_empty() || body.starts_with('#') => None,
        Some(path) => Some(file(method, path)?),
        None if has_none(method) => {
            return Err(format!(
                "`{body}` behind the URL is a body, which {method} does not send: a weight stands behind a URL \
                 without a method"
            ));
        }
        None => Some(BodyText::Text(body)),
    };
    Ok(OwnText { method, headers: Vec::new(), body })
}

fn file<'a>(method: &str, path: &'a str) -> Result<BodyText<'a>, String> {
    match path.trim() {
        "" => Err("`@` names no file: expected `@FILE`".to_owned()),
        path if has_none(method) => {
            Err(format!("`@{path}` is a body, which {method} does not send: remove it"))
        }
        path => Ok(BodyText::File(path)),
    }
}

fn has_none(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

fn no_target(line: &str) -> String {
    let (first, _) = first_word(line);
    let what = if line.starts_with('@') { "a body" } else { "a header" };
    format!("`{first}` is {what} and belongs below a line `METHOD URL` that has no body yet")
}

/// `METHOD`, and what follows it, if that begins with a URL.
fn method_and_rest(line: &str) -> Option<(&str, &str)> {
    let (first, rest) = first_word(line);
    let (url, _) = first_word(rest);
    let is_url = url.contains(['/', ':', '.']) || url == "localhost";
    (is_method(first) && is_url).then_some((first, rest))
}

/// Capital letters, and not a single one.
fn is_method(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')
}

/// A field's name, a colon, and a blank or nothing: no URL.
fn is_field(line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else { return false };
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_blank = value.is_empty() || value.starts_with([' ', '\t']);
    is_blank && !name.is_empty() && name.bytes().all(is_token)
}

/// The first word, and what follows the blanks behind it.
fn first_word(text: &str) -> (&str, &str) {
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}
