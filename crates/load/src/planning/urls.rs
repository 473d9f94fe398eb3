//! Lists of requests for `--urls`: URLs on one host or several, each with its weight, or with a method, fields and a body of its own.
//! `lines` says which lines are what.

mod lines;

use ablaze_model::spec::{Blob, Feed, UrlSpec};
use ablaze_wire::url::Url;

use super::order::LONGEST;
use super::{hosts, sources};
use crate::Error;
use lines::{BodyText, Entry, OwnText};

/// URLs that are requested in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlList {
    /// The first of them, or the base given: says where to connect.
    pub url: Url,
    /// The other hosts that they are on, in the order of their first lines.
    pub others: Vec<Url>,
    /// Each of them.
    pub entries: Vec<ListedUrl>,
}

/// An entry of a list of URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedUrl {
    /// The URL as it stands there, without user and password; with a method, that and the path, or the URL where there are
    /// several hosts.
    pub name: String,
    /// Its path and query.
    pub path: String,
    /// Where it is: 0 is [`UrlList::url`], and the others follow.
    pub host: u32,
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

    /// The host of each.
    pub fn host_of_paths(&self) -> Vec<u32> {
        self.entries.iter().map(|entry| entry.host).collect()
    }

    /// The hosts beside the first.
    pub fn other_hosts(&self) -> Vec<UrlSpec> {
        self.others.iter().map(UrlSpec::from).collect()
    }

    /// Whether any of them says its method itself.
    pub fn has_methods(&self) -> bool {
        self.entries.iter().any(|entry| entry.own.is_some())
    }
}

/// Reads a list of URLs; with a base, a line may have a path alone.
///
/// # Errors
/// When its bytes are not here, a line cannot be read, or the hosts are too many or none is that of the base.
pub fn url_list(feed: &Feed, base: Option<&Url>) -> Result<UrlList, Error> {
    let name = &feed.file.name;
    let mut hosts: Vec<Url> = base.cloned().into_iter().collect();
    let mut listed = Vec::new();
    for entry in entries(feed)? {
        let wrong = |why: String| Error::usage(format!("{name} line {}: {why}", entry.line));
        let url = resolved(entry.url, base).map_err(wrong)?;
        let host = host_of(&mut hosts, &url).map_err(wrong)?;
        listed.push((entry, url, host));
    }
    if listed.is_empty() {
        return Err(Error::usage(format!(
            "file `{name}` for --urls contains no URL: write one on each line"
        )));
    }
    check_hosts(name, &hosts, &listed)?;
    let has_several = hosts.len() > 1;
    let listed = listed.into_iter().map(|(entry, url, host)| ListedUrl {
        name: match &entry.own {
            Some(own) if has_several => {
                format!("{} {}{}", own.method, front(&url), url.path_and_query)
            }
            Some(own) => format!("{} {}", own.method, url.path_and_query),
            None => Url::text_without_userinfo(entry.url),
        },
        own: entry.own.map(|own| Own::of(own, format!("{name} line {}", entry.line))),
        path: url.path_and_query,
        weight: entry.weight,
        host,
    });
    let entries = sources::taken(feed, listed.collect())?;
    let url = hosts.remove(0);
    Ok(UrlList { url, others: hosts, entries })
}

/// The number of a URL's host, which is known from then on.
fn host_of(hosts: &mut Vec<Url>, url: &Url) -> Result<u32, String> {
    let known = hosts.iter().position(|host| same_far_end(host, url));
    let host = known.unwrap_or(hosts.len());
    if host == hosts::MOST {
        return Err(format!(
            "{} is one host too many: a list goes to {} at most",
            front(url),
            hosts::MOST
        ));
    }
    if known.is_none() {
        hosts.push(url.clone());
    }
    Ok(host as u32)
}

/// With several hosts, requests go to that of the command line, too, and nobody's password to another's.
fn check_hosts(name: &str, hosts: &[Url], listed: &[(Entry<'_>, Url, u32)]) -> Result<(), Error> {
    if hosts.len() < 2 {
        return Ok(());
    }
    if !listed.iter().any(|(_, _, host)| *host == 0) {
        return Err(Error::usage(format!(
            "no line of `{name}` goes to {}: leave the URL of the command line out, or give the host of a line",
            front(&hosts[0])
        )));
    }
    let with_password = |url: &Url| url.userinfo.is_some();
    match hosts.iter().chain(listed.iter().map(|(_, url, _)| url)).find(|url| with_password(url)) {
        None => Ok(()),
        Some(url) => Err(Error::usage(format!(
            "the URLs of `{name}` go to several hosts, and that of {} has a user and a password, which would go to all of \
             them: write a line `Authorization: …` below its requests instead",
            front(url)
        ))),
    }
}

/// Scheme, host and port of a URL, as written before its path.
fn front(url: &Url) -> String {
    format!("{}://{}", url.scheme.name(), url.host_header())
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
    let text = sources::text(feed.file.bytes()?)
        .map_err(|place| Error::usage(format!("{name} {place}, a list of URLs")))?;
    if lines::are_more_than(text, LONGEST as usize) {
        return Err(Error::usage(format!(
            "file `{name}` for --urls contains more than {LONGEST} URLs: remove some"
        )));
    }
    lines::entries(text).map_err(|(line, why)| Error::usage(format!("{name} line {line}: {why}")))
}

/// A URL, or a path of the base.
fn resolved(text: &str, base: Option<&Url>) -> Result<Url, String> {
    let read = match (text.starts_with('/'), base) {
        (true, Some(base)) => sources::url(&format!("{}{text}", front(base))),
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
