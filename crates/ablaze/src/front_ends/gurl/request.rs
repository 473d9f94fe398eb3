//! What one request is: the words of the options, with the values of a record in them, made into method, URL, fields and
//! body. The client sends it, and `-bench` loads it. The one place that knows how `-J`, `-F`, `-Jfa` and `-q` become bytes.

use std::collections::BTreeMap;
use std::path::Path;

use ablaze_load::planning::json_body::{self, HERE, Style};
use ablaze_load::planning::sources;
use ablaze_model::spec::{Body, Bytes};
use ablaze_wire::multipart::{self, Part};
use ablaze_wire::url::Url;

use super::options::{Options, Word};
use crate::{CommandError, values};

/// What goes from one stage of a pipeline to the next: the fields of a line, or what came of a request.
pub type Record = BTreeMap<String, serde_json::Value>;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Where it goes, with the parameters of `-q`.
    pub url: Url,
    /// `-X`; without it GET, or POST with a body.
    pub method: Option<String>,
    /// `-H`, in order.
    pub headers: Vec<String>,
    /// `-A`.
    pub user_agent: String,
    /// What `-d`, `-J`, `-F` and `-Jfa` make.
    pub body: Option<Body>,
    /// Of a form; otherwise it follows from the body.
    pub content_type: Option<String>,
    /// The URL that redirected here, unless a header line says otherwise.
    pub referer: Option<String>,
}

impl Request {
    /// The request that options ask for, with the values of a record where its names stand in braces.
    ///
    /// # Errors
    /// When a word makes no URL or no body, or a file cannot be read. The line names it.
    pub fn new(options: &Options, record: Option<&Record>) -> Result<Self, CommandError> {
        let fill = Fill(record);
        let url = options.url.as_deref().map(|url| fill.text(url)).ok_or_else(|| {
            let kept = match options.json.is_empty() {
                true => "",
                false => "; words behind -J belong to it, so give it with -url",
            };
            CommandError::usage(format!("missing URL, for example `ablaze gurl :12345`{kept}"))
        })?;
        let mut url =
            Url::parse_like_gurl(&url).map_err(|error| CommandError::usage(error.to_string()))?;
        add_query(&mut url, &options.query)?;
        let (body, content_type) = body(options, fill)?;
        Ok(Self {
            url,
            method: options.method.clone(),
            headers: options.headers.iter().map(|line| fill.text(line)).collect(),
            user_agent: fill.text(&options.user_agent),
            body,
            content_type,
            referer: None,
        })
    }
}

/// The values of a record, for its names in braces. Other braces stay, and what a value looks like changes nothing: only a
/// word as typed names a file or holds JSON.
#[derive(Debug, Clone, Copy)]
pub struct Fill<'a>(pub Option<&'a Record>);

impl Fill<'_> {
    /// A text with the values in it.
    pub fn text(&self, text: &str) -> String {
        self.with(text, str::to_owned)
    }

    /// The name of a member of JSON with the values in it: what separates names there separates none.
    fn name(&self, text: &str) -> String {
        self.with(text, |value| {
            let escaped = |letter: char| match letter {
                '.' | ':' | '=' | '\\' => format!("\\{letter}"),
                _ => letter.to_string(),
            };
            value.chars().map(escaped).collect()
        })
    }

    fn with(&self, text: &str, written: impl Fn(&str) -> String) -> String {
        let Some(record) = self.0 else { return text.to_owned() };
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            filled.push_str(before);
            let named = behind
                .split_once('}')
                .and_then(|(name, behind)| record.get(name).map(|value| (value, behind)));
            rest = match named {
                Some((value, behind)) => {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    filled.push_str(&written(&text));
                    behind
                }
                None => {
                    filled.push('{');
                    behind
                }
            };
        }
        filled + rest
    }
}

/// Adds the parameters by their names, as gurl does, encoded as forms are.
fn add_query(url: &mut Url, words: &[String]) -> Result<(), CommandError> {
    let pair = |word: &'_ String| match word.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(CommandError::usage(format!("-q `{word}`: expected name=value"))),
    };
    let mut pairs = words.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
    pairs.sort_by(|one, other| one.0.cmp(&other.0));
    for (name, value) in pairs {
        let path = &mut url.path_and_query;
        let mark = match path.as_bytes() {
            [.., b'?' | b'&'] => "",
            _ if path.contains('?') => "&",
            _ => "?",
        };
        path.push_str(&format!("{mark}{}={}", encoded(&name), encoded(&value)));
    }
    Ok(())
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b' ' => "+".to_owned(),
        _ if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => char::from(byte).into(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// The body, and its type where it does not follow from the bytes.
fn body(options: &Options, fill: Fill<'_>) -> Result<(Option<Body>, Option<String>), CommandError> {
    let is_form = !options.fields.is_empty() || !options.json_fields.is_empty();
    let data = options.body.as_deref().filter(|body| !body.is_empty());
    let given = [
        ("-d", data.is_some()),
        ("-J", !options.json.is_empty()),
        (if options.fields.is_empty() { "-Jfa" } else { "-F" }, is_form),
    ];
    let given: Vec<&str> = given.iter().filter(|given| given.1).map(|given| given.0).collect();
    if let [first, second, ..] = given[..] {
        return Err(CommandError::usage(format!(
            "{first} and {second} cannot be used together: a request has one body"
        )));
    }
    if is_form {
        let (bytes, content_type) = form(options, fill)?;
        return Ok((Some(Body::Given(Bytes(bytes))), Some(content_type)));
    }
    if !options.json.is_empty() {
        let word = |text: &String| Word { text: text.clone(), literal: false };
        let json = json(&options.json.iter().map(word).collect::<Vec<_>>(), "-J", fill)?;
        return Ok((Some(Body::Given(json.as_str().into())), None));
    }
    let body = data.map(|data| match data.strip_prefix('@') {
        Some(file) => values::body(&format!("@{}", fill.text(file))),
        None => Ok(Body::Given(fill.text(data).as_str().into())),
    });
    Ok((body.transpose()?, None))
}

/// The object that members make.
fn json(words: &[Word], option: &str, fill: Fill<'_>) -> Result<String, CommandError> {
    let member = |word: &Word| {
        let Some(end) = name_end(&word.text) else {
            // gurl: a name alone has the empty text.
            return format!("{}:", fill.name(&word.text));
        };
        let (name, value) = word.text.split_at(end);
        let name = fill.name(name);
        match (value.strip_prefix('@'), value.strip_prefix("\\@")) {
            (Some(file), _) if !word.literal => format!("{name}@{}", fill.text(file)),
            (_, Some(behind)) if !word.literal => format!("{name}{HERE}@{}", fill.text(behind)),
            _ => format!("{name}{HERE}{}", fill.text(value)),
        }
    };
    let words: Vec<String> = words.iter().map(member).collect();
    let mut read =
        |name: &str| sources::read(Path::new(name), option).map_err(|error| error.to_string());
    json_body::body(&words, Style::Gurl, &mut read)
        .map_err(|why| CommandError::usage(format!("{option} {}", why.replace(HERE, ""))))
}

/// Where the value of a member begins, behind `:` or `:=`.
fn name_end(word: &str) -> Option<usize> {
    let mut letters = word.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            ':' if word[at..].starts_with(":=") => return Some(at + 2),
            ':' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A form as bytes, with its type: JSON fields first, as gurl sends them.
fn form(options: &Options, fill: Fill<'_>) -> Result<(Vec<u8>, String), CommandError> {
    let mut contents: Vec<(String, Option<String>, Vec<u8>)> = Vec::new();
    for (name, members) in json_fields(options, fill)? {
        contents.push((name, None, json(&members, "-Jfa", fill)?.into_bytes()));
    }
    for word in &options.fields {
        let (name, value) = field(&word.text, "-F")?;
        let name = fill.text(name);
        contents.push(match value.strip_prefix('@').filter(|_| !word.literal) {
            Some(path) => {
                let path = fill.text(path);
                let filename = path.rsplit('/').next().unwrap_or(&path).to_owned();
                (name, Some(filename), sources::read(Path::new(&path), "-F")?)
            }
            None => (name, None, fill.text(value).into_bytes()),
        });
    }
    let parts: Vec<Part<'_>> = contents
        .iter()
        .map(|(name, filename, content)| Part {
            name,
            filename: filename.as_deref(),
            // As Go's mime/multipart, whatever the file is called.
            content_type: filename.is_some().then_some("application/octet-stream"),
            content,
        })
        .collect();
    let wrong = |error: multipart::MultipartError| CommandError::usage(format!("-F: {error}"));
    for number in 0..1000 {
        let boundary = format!("----------------ablaze{number:08x}");
        match multipart::Body::new(&parts, &boundary) {
            Ok(body) => return Ok((body.to_vec(), multipart::content_type(&boundary))),
            // It stands in what is sent: another one.
            Err(multipart::MultipartError::Occurs(_)) => {}
            Err(error) => return Err(wrong(error)),
        }
    }
    Err(wrong(multipart::MultipartError::Occurs("of every boundary".into())))
}

/// The members of each JSON field, fields in the order of their first word.
fn json_fields(
    options: &Options,
    fill: Fill<'_>,
) -> Result<Vec<(String, Vec<Word>)>, CommandError> {
    let mut fields: Vec<(String, Vec<Word>)> = Vec::new();
    for word in &options.json_fields {
        let (name, member) = field(&word.text, "-Jfa")?;
        let name = fill.text(name);
        let member = Word { text: member.to_owned(), literal: word.literal };
        match fields.iter_mut().find(|(own, _)| *own == name) {
            Some((_, members)) => members.push(member),
            None => fields.push((name, vec![member])),
        }
    }
    Ok(fields)
}

fn field<'w>(word: &'w str, option: &str) -> Result<(&'w str, &'w str), CommandError> {
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name, value)),
        _ => Err(CommandError::usage(format!("{option} `{word}`: expected name=value"))),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
