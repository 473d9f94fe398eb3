//! Files that say what is sent: bodies, lists of URLs, lines that are bodies. Each is read once,
//! before the run.

use std::io::Read;
use std::path::Path;

use ablaze_report::system_error::reason;
use ablaze_wire::url::Url;

use crate::Refusal;

/// A body as given to `-b`: text, `@FILE`, or `@-` for standard input.
///
/// # Errors
/// When the file cannot be read.
pub fn body(given: &str) -> Result<Vec<u8>, Refusal> {
    match given.strip_prefix('@') {
        None => Ok(given.as_bytes().to_vec()),
        Some("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map_err(|error| {
                Refusal::usage(format!("the body cannot be read from standard input: {error}"))
            })?;
            Ok(bytes)
        }
        Some(path) => read(Path::new(path), "the body"),
    }
}

/// A whole file; `what` it is for is part of the refusal.
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
/// When the file cannot be read, or has no line.
pub fn body_lines(path: &Path) -> Result<Vec<Vec<u8>>, Refusal> {
    let text = read(path, "--body-lines")?;
    if text.is_empty() {
        return Err(Refusal::usage(format!(
            "file `{}` for --body-lines is empty: each line becomes the body of a request",
            path.display()
        )));
    }
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    let lines = text.split(|byte| *byte == b'\n');
    Ok(lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec()).collect())
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
/// When the file cannot be read, a line cannot, or not all URLs share scheme, host and port.
pub fn url_list(path: &Path, base: Option<&Url>) -> Result<UrlList, Refusal> {
    let text = read(path, "--urls")?;
    let at = |number: usize| format!("{} line {number}", path.display());
    let text = String::from_utf8(text).map_err(|_| {
        Refusal::usage(format!("{} is not text: give a list of URLs", path.display()))
    })?;
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
        Some(url) if !paths.is_empty() => Ok(UrlList { url, paths }),
        _ => Err(Refusal::usage(format!(
            "file `{}` for --urls has no URL: write one on each line",
            path.display()
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

    struct File(std::path::PathBuf);

    impl File {
        fn new(name: &str, text: &str) -> Self {
            let name = format!("ablaze-sources-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, text).unwrap();
            Self(path)
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn url_lists_have_comments_weights_and_one_far_end() {
        let text = "# shop\nhttp://h:8080/a\n\n  h:8080/b?c=1  3 # often\nHTTP://H:8080/{seq} 2\n";
        let file = File::new("good", text);
        let list = url_list(&file.0, None).unwrap();
        assert_eq!((list.url.host.as_str(), list.url.port), ("h", 8080));
        let expected = [("/a", 1), ("/b?c=1", 3), ("/{seq}", 2)];
        assert_eq!(list.paths, expected.map(|(path, weight)| (path.to_owned(), weight)));
    }

    #[test]
    fn with_a_base_lines_may_be_paths() {
        let base = Url::parse("h:81/ignored").unwrap();
        let file = File::new("base", "/a\nh:81/b 2\n");
        let list = url_list(&file.0, Some(&base)).unwrap();
        assert_eq!(list.paths, [("/a".to_owned(), 1), ("/b".to_owned(), 2)]);
        assert!(url_list(&file.0, None).unwrap_err().line.contains("line 1"));
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
            let file = File::new(name, text);
            let refusal = url_list(&file.0, None).unwrap_err();
            assert!(refusal.line.contains(expected), "{name}: {refusal}");
            assert_eq!(refusal.status, 2);
        }
    }

    #[test]
    fn body_lines_are_the_lines() {
        let file = File::new("lines", "a\r\n\nb{}\nc");
        let lines = body_lines(&file.0).unwrap();
        assert_eq!(lines, [&b"a"[..], b"", b"b{}", b"c"]);
        let file = File::new("no-lines", "");
        assert!(body_lines(&file.0).is_err());
    }

    #[test]
    fn bodies_come_from_text_and_files() {
        assert_eq!(body("a=b").unwrap(), b"a=b");
        let file = File::new("body", "from a file");
        assert_eq!(body(&format!("@{}", file.0.display())).unwrap(), b"from a file");
        let refusal = body("@/no/such/file").unwrap_err();
        assert!(
            refusal.line.contains("`/no/such/file`") && refusal.line.contains("check its name")
        );
    }
}
