//! Lists of requests for `--urls`: URLs on one far end, each with its weight, or with a method, fields and a body of its own.
//! `lines` says which lines are what.

mod lines;

use ablaze_model::spec::{Blob, Feed};
use ablaze_wire::url::Url;

use super::order::LONGEST;
use super::sources;
use crate::Error;
use lines::{BodyText, Entry, OwnText};

/// URLs that are requested in turn: one far end, many paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlList {
    /// The first of them, or the base given: says where to connect.
    pub url: Url,
    /// Each of them.
    pub entries: Vec<ListedUrl>,
}

/// An entry of a list of URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedUrl {
    /// The URL as it stands there, without user and password; with a method, that and the path.
    pub name: String,
    /// Its path and query.
    pub path: String,
    /// How often it is requested among the others.
    pub weight: u64,
    /// What it says itself.
    pub own: Option<Own>,
}

/// What an entry says itself; the options say it for the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// Where it stands, for errors.
    pub at: String,
    /// Its method.
    pub method: String,
    /// Its fields, as typed: they replace those of the options.
    pub headers: Vec<String>,
    /// Its body.
    pub body: Option<OwnBody>,
}

/// The body of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnBody {
    /// This text.
    Text(String),
    /// The content of the file of this name.
    File(String),
}

impl UrlList {
    /// Path of each, and its weight.
    pub fn paths(&self) -> Vec<(String, u64)> {
        self.entries.iter().map(|entry| (entry.path.clone(), entry.weight)).collect()
    }

    /// Whether any of them says its method itself.
    pub fn has_methods(&self) -> bool {
        self.entries.iter().any(|entry| entry.own.is_some())
    }
}

/// Reads a list of URLs; with a base, a line may have a path alone.
///
/// # Errors
/// When its bytes are not here, a line cannot be read, or not all URLs share scheme, host and port.
pub fn url_list(feed: &Feed, base: Option<&Url>) -> Result<UrlList, Error> {
    let name = &feed.file.name;
    let at = |line: usize| format!("{name} line {line}");
    let mut common: Option<Url> = base.cloned();
    let mut listed = Vec::new();
    for entry in entries(feed)? {
        let own_base = common.as_ref().filter(|_| base.is_some());
        let url = resolved(entry.url, own_base)
            .map_err(|reason| Error::usage(format!("{}: {reason}", at(entry.line))))?;
        let first = common.get_or_insert_with(|| url.clone());
        if !same_far_end(first, &url) {
            return Err(Error::usage(format!(
                "{}: {url} is not on {}://{}: all URLs must have the same scheme, host and port",
                at(entry.line),
                first.scheme.name(),
                first.host_header()
            )));
        }
        let name = match &entry.own {
            Some(own) => format!("{} {}", own.method, url.path_and_query),
            None => Url::text_without_userinfo(entry.url),
        };
        let own = entry.own.map(|own| Own::of(own, at(entry.line)));
        listed.push(ListedUrl { name, path: url.path_and_query, weight: entry.weight, own });
    }
    match common {
        Some(url) if !listed.is_empty() => {
            Ok(UrlList { url, entries: sources::taken(feed, listed)? })
        }
        _ => Err(Error::usage(format!(
            "file `{name}` for --urls contains no URL: write one on each line"
        ))),
    }
}

/// The files that bodies of a list are, read, each with the name it has there.
///
/// # Errors
/// When a line or a file cannot be read.
pub fn files(feed: &Feed) -> Result<Vec<(String, Blob)>, Error> {
    let mut files: Vec<(String, Blob)> = Vec::new();
    for entry in entries(feed)? {
        if let Some(OwnText { body: Some(BodyText::File(name)), .. }) = entry.own
            && !files.iter().any(|(known, _)| known == name)
        {
            let what = format!("{} line {}", feed.file.name, entry.line);
            files.push((name.to_owned(), sources::file(std::path::Path::new(name), &what)?));
        }
    }
    Ok(files)
}

impl Own {
    fn of(text: OwnText<'_>, at: String) -> Self {
        Self {
            at,
            method: text.method.to_owned(),
            headers: text.headers.into_iter().map(str::to_owned).collect(),
            body: text.body.map(|body| match body {
                BodyText::Text(text) => OwnBody::Text(text.to_owned()),
                BodyText::File(name) => OwnBody::File(name.to_owned()),
            }),
        }
    }

    /// The bytes of its body.
    ///
    /// # Errors
    /// When its file was not handed over.
    pub fn body_bytes(&self, files: &[(String, Blob)]) -> Result<Option<Vec<u8>>, Error> {
        match &self.body {
            None => Ok(None),
            Some(OwnBody::Text(text)) => Ok(Some(text.as_bytes().to_vec())),
            Some(OwnBody::File(name)) => match files.iter().find(|(own, _)| own == name) {
                Some((_, blob)) => Ok(Some(blob.bytes()?.to_vec())),
                None => Err(Error::usage(format!(
                    "{}: the file `{name}` was not handed over with the list",
                    self.at
                ))),
            },
        }
    }
}

fn entries(feed: &Feed) -> Result<Vec<Entry<'_>>, Error> {
    let name = &feed.file.name;
    let text = std::str::from_utf8(feed.file.bytes()?)
        .map_err(|_| Error::usage(format!("{name} is not text: expected a list of URLs")))?;
    let most = LONGEST as usize;
    let entries = lines::entries(text, most)
        .map_err(|(line, why)| Error::usage(format!("{name} line {line}: {why}")))?;
    match entries.len() > most {
        false => Ok(entries),
        true => Err(Error::usage(format!(
            "file `{name}` for --urls contains more than {LONGEST} URLs: remove some"
        ))),
    }
}

/// A URL, or a path of the base.
fn resolved(text: &str, base: Option<&Url>) -> Result<Url, String> {
    let read = match (text.starts_with('/'), base) {
        (true, Some(base)) => {
            sources::url(&format!("{}://{}{text}", base.scheme.name(), base.host_header()))
        }
        (true, None) => {
            return Err(format!(
                "`{text}` has no host: put the host in the URL on the command line"
            ));
        }
        (false, _) => sources::url(text),
    };
    read.map_err(|error| error.to_string())
}

fn same_far_end(left: &Url, right: &Url) -> bool {
    left.scheme == right.scheme
        && left.port == right.port
        && left.host.eq_ignore_ascii_case(&right.host)
}

#[cfg(test)]
mod tests;
