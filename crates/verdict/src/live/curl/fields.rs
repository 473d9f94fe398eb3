//! The fields of requests as curl's options, and what stands where a request has placeholders.

use ablaze_model::spec::{FrontEnd, Head, Line, LoadSpec, RequestsSpec, is_secret_field};

use crate::words::for_shell;

/// What ab writes by itself (the beginning of its name), other than the host: curl sends the same, or its own name.
const OWN: [(&str, &str); 3] =
    [("accept", "*/*"), ("user-agent", "ApacheBench/"), ("content-length", "")];
/// What clients call themselves unless they are told otherwise.
const USUAL_NAME: &str = "gurl";

/// `-u NAME:PASSWORD -H 'X-Id: 1'`: everything that was asked for, secrets by their names. `host` is that of the URL.
pub fn of_head(requests: &RequestsSpec, front_end: FrontEnd, host: &str, words: &mut Vec<String>) {
    let mut lines = requests.lines().iter();
    match &requests.head {
        Head::Composed { content_type, user, user_agent, .. } => {
            if user.is_some() {
                words.push("-u NAME:PASSWORD".to_owned());
            }
            let name = user_agent
                .as_ref()
                .filter(|name| !(front_end == FrontEnd::Gurl && *name == USUAL_NAME));
            words.extend(name.map(|name| format!("-A {}", for_shell(name))));
            let typed = content_type.as_ref().filter(|_| requests.given("Content-Type").is_none());
            words.extend(typed.map(|value| header(&format!("Content-Type: {value}"))));
            words.extend(lines.filter_map(|line| one(line, true)));
            if let Some(cookies) = &requests.cookies {
                let files =
                    cookies.files.iter().map(|(name, _)| format!("--cookie {}", for_shell(name)));
                words.extend(files);
                words.extend(cookies.typed.iter().map(|_| "--cookie 'NAME=VALUE'".to_owned()));
            }
        }
        Head::Verbatim { placeholders, .. } => {
            // ab's own are among them; one that was given instead is another request.
            let asked = |line: &&Line| !is_own(line, host);
            words.extend(lines.by_ref().filter(asked).filter_map(|line| one(line, *placeholders)));
        }
    }
}

fn is_own(line: &Line, host: &str) -> bool {
    let Some(name) = name(line) else { return true };
    let Line::Text(text) = line else { return false };
    let value = String::from_utf8_lossy(&text.0);
    let value = value.split_once(':').map_or("", |(_, value)| value.trim());
    match name.as_str() {
        "host" => {
            let port = value.rfind(':').filter(|at| !value[*at..].contains(']'));
            let named = &value[..port.unwrap_or(value.len())];
            named.trim_matches(['[', ']']).eq_ignore_ascii_case(host.trim_matches(['[', ']']))
        }
        name => OWN.iter().any(|(own, begins)| *own == name && value.starts_with(begins)),
    }
}

fn one(line: &Line, placeholders: bool) -> Option<String> {
    match line {
        Line::Text(text) => {
            let text = String::from_utf8_lossy(&text.0);
            if let Some((name, value)) = text.split_once(':')
                && is_secret_field(name)
                && !value.trim().is_empty()
            {
                return Some(header(&format!("{}: VALUE", name.trim())));
            }
            Some(header(&if placeholders { filled(&text) } else { text.into_owned() }))
        }
        Line::Secret(of) => Some(header(&format!("{}: VALUE", of.field()?))),
        Line::BodyLength(_) => None,
    }
}

/// One field as an option.
pub fn header(line: &str) -> String {
    format!("-H {}", for_shell(line))
}

/// A field's name in lower case.
fn name(line: &Line) -> Option<String> {
    match line {
        Line::Text(text) => {
            let name = text.0.split(|byte| *byte == b':').next()?;
            Some(String::from_utf8_lossy(name).trim().to_ascii_lowercase())
        }
        Line::Secret(of) => of.field().map(str::to_ascii_lowercase),
        Line::BodyLength(_) => None,
    }
}

/// Whether `{seq}` and `{rand:N}` stand for digits.
pub fn have_placeholders(asked: Option<&LoadSpec>) -> bool {
    match asked.map(|asked| &asked.requests.head) {
        Some(Head::Verbatim { placeholders, .. }) => *placeholders,
        Some(Head::Composed { .. }) => true,
        None => false,
    }
}

/// A command's text with a word for each column of a feed (`{user}`, `{user:url}`): whose cells these are nobody else is to
/// read.
pub fn without_columns(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        left.push_str(before);
        match behind.split_once('}').filter(|(name, _)| is_column(name)) {
            Some((_, after)) => {
                left.push_str("VALUE");
                rest = after;
            }
            None => {
                left.push('{');
                rest = behind;
            }
        }
    }
    left + rest
}

fn is_column(name: &str) -> bool {
    !name.is_empty() && !name.contains(['{', '"', '\'', ',', '\\', '/'])
}

/// A request's text with digits for its placeholders, as one request has them.
pub fn filled(text: &str) -> String {
    let mut filled = text.replace("{seq}", "0000000000");
    let mut from = 0;
    while let Some(begin) = filled[from..].find("{rand:").map(|at| from + at) {
        let digits = begin + "{rand:".len();
        let Some(end) = filled[digits..].find('}').map(|at| digits + at) else { break };
        match filled[digits..end].parse::<usize>() {
            Ok(count @ 1..=64) => filled.replace_range(begin..=end, &"1".repeat(count)),
            _ => from = digits,
        }
    }
    filled
}
