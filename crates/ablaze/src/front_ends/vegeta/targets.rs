//! What is attacked: vegeta's lists of targets, as text or as JSON.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// A request of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// Its header fields, `Name: value`.
    pub fields: Vec<String>,
    /// Its body, where it has one of its own.
    pub body: Option<Vec<u8>>,
}

/// Reads files that a list names.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> Result<Vec<u8>, String>;

/// Reads targets as text: `METHOD URL`, lines of fields, `@FILE` for the body; empty lines between them, `#` before
/// comments.
///
/// # Errors
/// When a line is none of these.
pub fn of_text(text: &str, read: ReadFile<'_>) -> Result<Vec<Target>, String> {
    let mut targets: Vec<Target> = Vec::new();
    // Whether lines of the last target may follow.
    let mut is_open = false;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            is_open = false;
        } else if line.starts_with('#') {
            // A comment.
        } else if begins_with_method(line) {
            targets.push(target(line)?);
            is_open = true;
        } else if let (true, Some(target)) = (is_open, targets.last_mut()) {
            match line.strip_prefix('@') {
                Some(file) => {
                    target.body = Some(read(Path::new(file))?);
                    is_open = false;
                }
                None => target.fields.push(field(line)?),
            }
        } else {
            return Err(format!("bad target: {line}: expected METHOD URL"));
        }
    }
    Ok(targets)
}

/// Whether a line begins with a word in capital letters, as methods are.
fn begins_with_method(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    word.len() >= 2 && line.len() > word.len() && word.bytes().all(|b| b.is_ascii_uppercase())
}

fn target(line: &str) -> Result<Target, String> {
    let (method, url) = line.split_once(' ').unwrap_or((line, ""));
    let url = url.trim();
    if !url.contains("://") {
        return Err(format!("bad URL: {url}: expected http://HOST/PATH or https://HOST/PATH"));
    }
    Ok(Target { method: method.into(), url: url.into(), fields: Vec::new(), body: None })
}

fn field(line: &str) -> Result<String, String> {
    let parts = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    match parts {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok(format!("{name}: {value}"))
        }
        _ => Err(format!("bad header: {line}: expected Name: value")),
    }
}

/// Reads targets as JSON, a line each: method, url, header with lists of values, body in Base64.
///
/// # Errors
/// When a line is no such object.
pub fn of_json(text: &str) -> Result<Vec<Target>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| of_json_line(line).map_err(|why| format!("bad target: {line}: {why}")))
        .collect()
}

fn of_json_line(line: &str) -> Result<Target, String> {
    let json: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |name: &str| json[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let (Some(method), Some(url)) = (text("method"), text("url")) else {
        return Err("method and url are required".to_owned());
    };
    let body = text("body").map(|body| STANDARD.decode(body));
    let body = body.transpose().map_err(|_| "body is no Base64".to_owned())?;
    let mut fields = Vec::new();
    for (name, values) in json["header"].as_object().into_iter().flatten() {
        for value in values.as_array().ok_or("header has lists of values")? {
            let value = value.as_str().ok_or("header has lists of texts")?;
            fields.push(format!("{name}: {value}"));
        }
    }
    Ok(Target { method, url, fields, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Result<Vec<u8>, String> {
        match path.to_str() {
            Some("/body") => Ok(b"from a file".to_vec()),
            _ => Err("no such file".to_owned()),
        }
    }

    #[test]
    fn text_is_read_as_vegeta_reads_it() {
        let text = "# all\nGET http://h/a\nX-A: 1\n  x-b:  2 \n# no field\n\nPOST http://h/b\n@/body\n\n\
                    PUT http://h/c\nDELETE http://h/d\n";
        let targets = of_text(text, &read).unwrap();
        let shown: Vec<String> =
            targets.iter().map(|target| format!("{} {}", target.method, target.url)).collect();
        assert_eq!(
            shown,
            ["GET http://h/a", "POST http://h/b", "PUT http://h/c", "DELETE http://h/d"]
        );
        assert_eq!(targets[0].fields, ["X-A: 1", "x-b: 2"]);
        assert_eq!(targets[1].body.as_deref(), Some(&b"from a file"[..]));
        assert_eq!(of_text("", &read).unwrap(), []);
    }

    #[test]
    fn json_is_read_as_vegeta_reads_it() {
        let text = r#"{"method":"POST","url":"http://h/","body":"aGk=","header":{"X-A":["1","2"]}}

            {"method":"GET","url":"http://h/b"}"#;
        let targets = of_json(text).unwrap();
        assert_eq!(targets[0].fields, ["X-A: 1", "X-A: 2"]);
        assert_eq!(targets[0].body.as_deref(), Some(&b"hi"[..]));
        assert_eq!((targets.len(), &targets[1].body), (2, &None));
    }

    #[test]
    fn what_is_no_target_is_named() {
        for (text, part) in [
            ("X-A: 1\n", "bad target: X-A: 1"),
            ("GET /path", "bad URL: /path"),
            ("GET http://h/\nnothing", "bad header: nothing"),
            ("GET http://h/\n@/nosuch", "no such file"),
        ] {
            let refused = of_text(text, &read).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
        for (text, part) in [
            ("{}", "method and url"),
            ("x", "bad target: x"),
            (r#"{"method":"GET","url":"u","body":"!"}"#, "Base64"),
        ] {
            let refused = of_json(text).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
