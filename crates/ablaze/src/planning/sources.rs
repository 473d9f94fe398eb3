//! Files that say what is sent: bodies, lists of URLs, lines that are bodies. Each is read once,
//! before the run.

use std::io::Read;
use std::path::Path;

use ablaze_model::spec::{Blob, Body, Feed};
use ablaze_report::system_error::reason;
use ablaze_wire::url::Url;

use crate::Refusal;

/// A body as given to `-b`: text, `@FILE`, or `@-` for standard input.
///
/// # Errors
/// When the file cannot be read.
pub fn body(given: &str) -> Result<Body, Refusal> {
    match given.strip_prefix('@') {
        None => Ok(Body::Given(given.into())),
        Some("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map_err(|error| {
                Refusal::usage(format!("the body cannot be read from standard input: {error}"))
            })?;
            Ok(Body::File(Blob::new("-", bytes)))
        }
        Some(path) => file(Path::new(path), "the body").map(Body::File),
    }
}

/// A whole file; `what` it is for is part of the refusal.
///
/// # Errors
/// When it cannot be read.
pub fn file(path: &Path, what: &str) -> Result<Blob, Refusal> {
    Ok(Blob::new(path.display().to_string(), read(path, what)?))
}

/// The bytes of a file; `what` it is for is part of the refusal.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path, what: &str) -> Result<Vec<u8>, Refusal> {
    std::fs::read(path).map_err(|error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => "check its name",
            std::io::ErrorKind::PermissionDenied => "make it readable",
            _ => "give another file",
        };
        let reason = reason(&error);
        Refusal::usage(format!("file `{}` for {what}: {reason}; {remedy}", path.display()))
    })
}

/// The lines of a file as bodies, without their line ends. A last line end begins no line.
///
/// # Errors
/// When its bytes are not here, or it has no line.
pub fn body_lines(feed: &Feed) -> Result<Vec<Vec<u8>>, Refusal> {
    let text = feed.file.bytes()?;
    if text.is_empty() {
        return Err(Refusal::usage(format!(
            "file `{}` for --body-lines is empty: each line becomes the body of a request",
            feed.file.name
        )));
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec()).collect();
    taken(feed, lines)
}

/// The part of a list that is meant.
fn taken<T>(feed: &Feed, entries: Vec<T>) -> Result<Vec<T>, Refusal> {
    let taken = feed.taken(entries);
    if taken.is_empty() {
        return Err(Refusal::usage(format!(
            "file `{}` has fewer entries than machines that share it: give more of them",
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
    /// Path of each, and its weight.
    pub paths: Vec<(String, u64)>,
}

/// Reads a list of URLs: lines `URL [weight]`, empty ones and those beginning with `#` left out.
/// With a base, a line may be a path alone.
///
/// # Errors
/// When its bytes are not here, a line cannot be read, or not all URLs share scheme, host and port.
pub fn url_list(feed: &Feed, base: Option<&Url>) -> Result<UrlList, Refusal> {
    let name = &feed.file.name;
    let at = |number: usize| format!("{name} line {number}");
    let text = std::str::from_utf8(feed.file.bytes()?)
        .map_err(|_| Refusal::usage(format!("{name} is not text: give a list of URLs")))?;
    let mut common: Option<Url> = base.cloned();
    let mut paths = Vec::new();
    for (index, line) in text.lines().enumerate() {
        // A fragment is not sent, so that a `#` behind white space can only begin a comment.
        let line = line.find(" #").map_or(line, |comment| &line[..comment]).trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (url, weight) = url_and_weight(line, common.as_ref().filter(|_| base.is_some()))
            .map_err(|reason| Refusal::usage(format!("{}: {reason}", at(index + 1))))?;
        let first = common.get_or_insert_with(|| url.clone());
        if !same_far_end(first, &url) {
            return Err(Refusal::usage(format!(
                "{}: {url} is not on {}://{}: in this version all URLs share scheme, host and port",
                at(index + 1),
                first.scheme.name(),
                first.host_header()
            )));
        }
        paths.push((url.path_and_query, weight));
    }
    match common {
        Some(url) if !paths.is_empty() => Ok(UrlList { url, paths: taken(feed, paths)? }),
        _ => Err(Refusal::usage(format!(
            "file `{name}` for --urls has no URL: write one on each line"
        ))),
    }
}

/// A URL.
///
/// # Errors
/// When it cannot be read.
pub fn url(text: &str) -> Result<Url, Refusal> {
    Url::parse(text).map_err(|error| Refusal::usage(error.to_string()))
}

fn url_and_weight(line: &str, base: Option<&Url>) -> Result<(Url, u64), String> {
    let mut words = line.split_ascii_whitespace();
    let (text, weight) = (words.next().unwrap_or_default(), words.next());
    if words.next().is_some() {
        return Err("more than a URL and its weight: write %20 for a space".to_owned());
    }
    let weight = match weight {
        None => 1,
        Some(weight) => {
            weight.parse::<u64>().map_err(|_| format!("weight `{weight}` is no whole number"))?
        }
    };
    let read = match (text.starts_with('/'), base) {
        (true, Some(base)) => {
            let path = format!("{}://{}{text}", base.scheme.name(), base.host_header());
            url(&path)
        }
        (true, None) => {
            return Err(format!("`{text}` has no host: give it as the URL of the command line"));
        }
        (false, _) => url(text),
    };
    Ok((read.map_err(|refusal| refusal.line)?, weight))
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
        assert_eq!(list.paths, expected.map(|(path, weight)| (path.to_owned(), weight)));
    }

    #[test]
    fn with_a_base_lines_may_be_paths() {
        let base = Url::parse("h:81/ignored").unwrap();
        let feed = feed("/a\nh:81/b 2\n");
        let list = url_list(&feed, Some(&base)).unwrap();
        assert_eq!(list.paths, [("/a".to_owned(), 1), ("/b".to_owned(), 2)]);
        assert!(url_list(&feed, None).unwrap_err().line.contains("line 1"));
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        let table = [
            ("far", "h/a\nother/b\n", "line 2"),
            ("port", "h/a\nh:81/b\n", "line 2"),
            ("weight", "h/a\nh/b often\n", "line 2: weight `often`"),
            ("words", "h/a 1 2\n", "line 1"),
            ("empty", "# nothing\n", "has no URL"),
        ];
        for (name, text, expected) in table {
            let refusal = url_list(&feed(text), None).unwrap_err();
            assert!(refusal.line.contains(expected), "{name}: {refusal}");
            assert_eq!(refusal.status, 2);
        }
    }

    #[test]
    fn body_lines_are_the_lines() {
        let all = feed("a\r\n\nb{}\nc");
        assert_eq!(body_lines(&all).unwrap(), [&b"a"[..], b"", b"b{}", b"c"]);
        let part = |index, of| Feed { part: Some(Part { index, of }), ..all.clone() };
        assert_eq!(body_lines(&part(1, 3)).unwrap(), [&b""[..]]);
        assert!(body_lines(&part(4, 5)).unwrap_err().line.contains("fewer entries"));
        assert!(body_lines(&feed("")).is_err());
    }

    #[test]
    fn bodies_come_from_text_and_files() {
        assert_eq!(body("a=b").unwrap(), Body::Given("a=b".into()));
        let path = std::env::temp_dir().join(format!("ablaze-body-{}", std::process::id()));
        std::fs::write(&path, "from a file").unwrap();
        let read = body(&format!("@{}", path.display()));
        std::fs::remove_file(&path).unwrap();
        let Body::File(file) = read.unwrap() else { panic!("no file") };
        assert_eq!(file.bytes().unwrap(), b"from a file");
        let refusal = body("@/no/such/file").unwrap_err();
        assert!(
            refusal.line.contains("`/no/such/file`") && refusal.line.contains("check its name")
        );
    }
}
