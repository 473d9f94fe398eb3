//! Files that say what is sent: bodies, lists of URLs, lines that are bodies. Each is read once, before the run.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ablaze_model::spec::{Blob, Feed};
use ablaze_report::system_error::reason;
use ablaze_wire::url::Url;

use super::order::LONGEST;
use crate::Error;

/// A whole file; `what` it is for is part of the error.
///
/// # Errors
/// When it cannot be read.
pub fn file(path: &Path, what: &str) -> Result<Blob, Error> {
    Ok(Blob::new(path.display().to_string(), read(path, what)?))
}

/// The bytes of a file; `what` it is for is part of the error.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path, what: &str) -> Result<Vec<u8>, Error> {
    let (bytes, changed) = read_watching(path, || {}).map_err(|error| {
        let fix = match error.kind() {
            std::io::ErrorKind::NotFound => "check its name",
            std::io::ErrorKind::PermissionDenied => "make it readable",
            _ => "use another file",
        };
        let reason = reason(&error);
        Error::usage(format!("cannot read file `{}` for {what}: {reason}; {fix}", path.display()))
    })?;
    match changed {
        false => Ok(bytes),
        true => Err(Error::usage(format!(
            "file `{}` for {what} changed while it was read: use one that nobody writes to",
            path.display()
        ))),
    }
}

/// The bytes of a file, and whether it was written to meanwhile. `read` is called when it has been read.
fn read_watching(path: &Path, read: impl FnOnce()) -> std::io::Result<(Vec<u8>, bool)> {
    let mut file = File::open(path)?;
    let before = file.metadata()?;
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    read();
    let after = file.metadata()?;
    // A pipe has neither length nor age.
    let is_same = before.len() == after.len() && before.modified().ok() == after.modified().ok();
    Ok((bytes, before.is_file() && !is_same))
}

/// The lines of a file as bodies, without their line ends. A last line end begins no line.
///
/// # Errors
/// When its bytes are not here, or it has no line.
pub fn body_lines(feed: &Feed) -> Result<Vec<Vec<u8>>, Error> {
    let text = feed.file.bytes()?;
    if text.is_empty() {
        return Err(Error::usage(format!(
            "file `{}` for --body-lines is empty: write one body on each line",
            feed.file.name
        )));
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec()).collect();
    taken(feed, lines)
}

/// The part of a list that is meant.
fn taken<T>(feed: &Feed, entries: Vec<T>) -> Result<Vec<T>, Error> {
    let taken = feed.taken(entries);
    if taken.is_empty() {
        return Err(Error::usage(format!(
            "file `{}` has fewer entries than machines that share it: add entries",
            feed.file.name
        )));
    }
    Ok(taken)
}

/// URLs that are requested in turn: one far end, many paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlList {
    /// The first of them, or the base given: says where to connect.
    pub url: Url,
    /// Each of them.
    pub entries: Vec<ListedUrl>,
}

/// A line of a list of URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedUrl {
    /// The URL as it stands there, without user and password.
    pub name: String,
    /// Its path and query.
    pub path: String,
    /// How often it is requested among the others.
    pub weight: u64,
}

impl UrlList {
    /// Path of each, and its weight.
    pub fn paths(&self) -> Vec<(String, u64)> {
        self.entries.iter().map(|entry| (entry.path.clone(), entry.weight)).collect()
    }
}

/// Reads a list of URLs: lines `URL [weight]`, empty ones and those beginning with `#` left out.
/// With a base, a line may be a path alone.
///
/// # Errors
/// When its bytes are not here, a line cannot be read, or not all URLs share scheme, host and port.
pub fn url_list(feed: &Feed, base: Option<&Url>) -> Result<UrlList, Error> {
    let name = &feed.file.name;
    let at = |number: usize| format!("{name} line {number}");
    let text = std::str::from_utf8(feed.file.bytes()?)
        .map_err(|_| Error::usage(format!("{name} is not text: expected a list of URLs")))?;
    // Before any is read: that takes seconds for millions.
    let begins = |line: &str| line.trim_start().bytes().next().is_some_and(|first| first != b'#');
    if text.lines().filter(|line| begins(line)).nth(LONGEST as usize).is_some() {
        return Err(Error::usage(format!(
            "file `{name}` for --urls contains more than {LONGEST} URLs: remove some"
        )));
    }
    let mut common: Option<Url> = base.cloned();
    let mut entries = Vec::new();
    for (index, line) in text.lines().enumerate() {
        // A fragment is not sent, so that a `#` behind white space can only begin a comment.
        let line = line.find(" #").map_or(line, |comment| &line[..comment]).trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, url, weight) = url_and_weight(line, common.as_ref().filter(|_| base.is_some()))
            .map_err(|reason| Error::usage(format!("{}: {reason}", at(index + 1))))?;
        let first = common.get_or_insert_with(|| url.clone());
        if !same_far_end(first, &url) {
            return Err(Error::usage(format!(
                "{}: {url} is not on {}://{}: all URLs must have the same scheme, host and port",
                at(index + 1),
                first.scheme.name(),
                first.host_header()
            )));
        }
        entries.push(ListedUrl { name, path: url.path_and_query, weight });
    }
    match common {
        Some(url) if !entries.is_empty() => Ok(UrlList { url, entries: taken(feed, entries)? }),
        _ => Err(Error::usage(format!(
            "file `{name}` for --urls contains no URL: write one on each line"
        ))),
    }
}

/// A URL.
///
/// # Errors
/// When it cannot be read.
pub fn url(text: &str) -> Result<Url, Error> {
    Url::parse(text).map_err(|error| Error::usage(error.to_string()))
}

/// A line's URL as it may be shown, what it is, and its weight.
fn url_and_weight(line: &str, base: Option<&Url>) -> Result<(String, Url, u64), String> {
    let mut words = line.split_ascii_whitespace();
    let (text, weight) = (words.next().unwrap_or_default(), words.next());
    if words.next().is_some() {
        return Err("expected only a URL and a weight: write spaces as %20".to_owned());
    }
    let weight = match weight {
        None => 1,
        Some(weight) => {
            weight.parse::<u64>().map_err(|_| format!("weight `{weight}` is not a whole number"))?
        }
    };
    let read = match (text.starts_with('/'), base) {
        (true, Some(base)) => {
            let path = format!("{}://{}{text}", base.scheme.name(), base.host_header());
            url(&path)
        }
        (true, None) => {
            return Err(format!(
                "`{text}` has no host: put the host in the URL on the command \
                line"
            ));
        }
        (false, _) => url(text),
    };
    let url = read.map_err(|error| error.to_string())?;
    Ok((Url::text_without_userinfo(text), url, weight))
}

fn same_far_end(left: &Url, right: &Url) -> bool {
    left.scheme == right.scheme
        && left.port == right.port
        && left.host.eq_ignore_ascii_case(&right.host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::spec::requests::Part;

    fn feed(text: &str) -> Feed {
        Feed::of(Blob::new("list", text.as_bytes().to_vec()))
    }

    #[test]
    fn url_lists_have_comments_weights_and_one_far_end() {
        let text = "# shop\nhttp://h:8080/a\n\n  h:8080/b?c=1  3 # often\nHTTP://H:8080/{seq} 2\n";
        let list = url_list(&feed(text), None).unwrap();
        assert_eq!((list.url.host.as_str(), list.url.port), ("h", 8080));
        let expected = [("/a", 1), ("/b?c=1", 3), ("/{seq}", 2)];
        assert_eq!(list.paths(), expected.map(|(path, weight)| (path.to_owned(), weight)));
        let names: Vec<&str> = list.entries.iter().map(|entry| &entry.name[..]).collect();
        assert_eq!(names, ["http://h:8080/a", "h:8080/b?c=1", "HTTP://H:8080/{seq}"]);
    }

    #[test]
    fn a_list_too_long_is_refused_before_a_line_is_read() {
        let text = "http://elsewhere:1/\n".repeat(LONGEST as usize + 1);
        let base = Url::parse("h:81/").unwrap();
        let error = url_list(&feed(&text), Some(&base)).unwrap_err().to_string();
        assert!(error.contains("more than 1000000 URLs"), "{error}");
    }

    #[test]
    fn names_have_no_passwords() {
        let text =
            "http://me:s3cret@h/a\nme:s3cret@h/x@y:z\nhttp://s3cret@h/?u=http://a:b@c/\nh/d 2\n";
        let list = url_list(&feed(text), None).unwrap();
        let names: Vec<&str> = list.entries.iter().map(|entry| &entry.name[..]).collect();
        assert_eq!(names, ["http://h/a", "h/x@y:z", "http://h/?u=http://a:b@c/", "h/d"]);
    }

    #[test]
    fn with_a_base_lines_may_be_paths() {
        let base = Url::parse("h:81/ignored").unwrap();
        let feed = feed("/a\nh:81/b 2\n");
        let list = url_list(&feed, Some(&base)).unwrap();
        assert_eq!(list.paths(), [("/a".to_owned(), 1), ("/b".to_owned(), 2)]);
        let names: Vec<&str> = list.entries.iter().map(|entry| &entry.name[..]).collect();
        assert_eq!(names, ["/a", "h:81/b"]);
        assert!(url_list(&feed, None).unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        let table = [
            ("far", "h/a\nother/b\n", "line 2"),
            ("port", "h/a\nh:81/b\n", "line 2"),
            ("weight", "h/a\nh/b often\n", "line 2: weight `often`"),
            ("words", "h/a 1 2\n", "line 1"),
            ("empty", "# nothing\n", "contains no URL"),
        ];
        for (name, text, expected) in table {
            let error = url_list(&feed(text), None).unwrap_err();
            assert!(error.to_string().contains(expected), "{name}: {error}");
            assert!(matches!(error, Error::Usage(_)), "{name}: {error:?}");
        }
    }

    #[test]
    fn a_file_that_is_written_to_meanwhile_is_noticed() {
        let path = std::env::temp_dir().join(format!("ablaze-source-{}", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let same = read_watching(&path, || {}).unwrap();
        let grown = read_watching(&path, || std::fs::write(&path, "one and more").unwrap());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(same, (b"one".to_vec(), false));
        assert!(grown.unwrap().1);
        // They say that they have no bytes, and have some.
        let kernels = read_watching(Path::new("/proc/self/stat"), || {}).unwrap();
        assert!(!kernels.0.is_empty() && !kernels.1);
    }

    #[test]
    fn body_lines_are_the_lines() {
        let all = feed("a\r\n\nb{}\nc");
        assert_eq!(body_lines(&all).unwrap(), [&b"a"[..], b"", b"b{}", b"c"]);
        let part = |index, of| Feed { part: Some(Part { index, of }), ..all.clone() };
        assert_eq!(body_lines(&part(1, 3)).unwrap(), [&b""[..]]);
        assert!(body_lines(&part(4, 5)).unwrap_err().to_string().contains("fewer entries"));
        assert!(body_lines(&feed("")).is_err());
    }
}
