//! A spec beside the results of its run: what was asked for, as far as findings and whoever reads them need
//! it, without secrets, without its words and without long bodies. [`Run`](crate::Run) has it, and its file.

use serde::{Deserialize, Serialize};

use super::requests::usual_content_type;
use super::secrets::{SecretRef, secret_field};
use super::{Blob, Bodies, Body, Bytes, Feed, Head, Line, LoadSpec, RequestsSpec, Words};

/// Bodies that were given themselves, and not as a file, are kept up to so many bytes.
const BODY_BYTES: usize = 4096;

/// Whose options a load was described with: what is advised is said in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FrontEnd {
    /// Those of `ablaze load`, and of the experiments.
    #[default]
    Load,
    /// Those of `ablaze ab`.
    Ab,
    /// Those of `ablaze gurl`.
    Gurl,
    /// Those of `ablaze wrk`.
    Wrk,
    /// Those of `ablaze hey`.
    Hey,
    /// Those of `ablaze h2load`.
    H2load,
    /// Those of `ablaze oha`.
    Oha,
    /// Those of `ablaze vegeta attack`.
    Vegeta,
    /// The setters of the library.
    Library,
}

/// What a request's head says about a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given<'a> {
    /// This value, trimmed; empty where the field is left out.
    Value(std::borrow::Cow<'a, str>),
    /// A value that is a secret.
    Secret,
}

impl LoadSpec {
    /// What of it stays with its run.
    pub fn kept(&self) -> Self {
        let mut kept = Self { words: Words::default(), ..self.clone() };
        let mut long: Vec<&mut Body> = match &mut kept.requests.bodies {
            Bodies::Same(body) => vec![body],
            Bodies::Form(fields) => fields.iter_mut().map(|field| &mut field.content).collect(),
            Bodies::None | Bodies::InTurn(_) => Vec::new(),
        };
        for body in &mut long {
            if let Body::Given(bytes) = &**body
                && bytes.0.len() > BODY_BYTES
            {
                **body = Body::File(Blob::new("", bytes.0.clone()));
            }
        }
        kept.leave_files();
        let lines = match &mut kept.requests.head {
            Head::Composed { lines, .. } | Head::Verbatim { lines, .. } => lines,
        };
        for line in lines {
            if let Line::Text(text) = line
                && let Some(field) = secret_field(&text.0)
            {
                *line = Line::Secret(SecretRef { secret: format!("header {field}") });
            }
        }
        kept
    }

    /// Leaves the bytes of files behind; name, length and digest stay. For one whose Plan is made: a file may be large.
    pub fn leave_files(&mut self) {
        let began = match &self.requests.bodies {
            Bodies::None | Bodies::Form(_) => None,
            Bodies::Same(Body::Given(bytes)) => Some(usual_content_type(&bytes.0)),
            Bodies::Same(Body::File(file)) | Bodies::InTurn(Feed { file, .. }) => {
                file.bytes().ok().map(usual_content_type)
            }
        };
        if let Head::Composed { content_type, .. } = &mut self.requests.head {
            // It followed from bytes that are not kept.
            *content_type = content_type.take().or(began.map(str::to_owned));
        }
        self.blobs_mut().into_iter().for_each(Blob::leave_bytes);
    }

    /// Whether requests carry credentials, however they were given.
    pub fn has_credentials(&self) -> bool {
        let user = matches!(&self.requests.head, Head::Composed { user: Some(_), .. });
        user || self.requests.cookies.is_some() || self.requests.given("Authorization").is_some()
    }
}

impl RequestsSpec {
    /// The lines of the head, as typed or as they are sent.
    pub fn lines(&self) -> &[Line] {
        match &self.head {
            Head::Composed { lines, .. } | Head::Verbatim { lines, .. } => lines,
        }
    }

    /// What the last line of this name says, in any case of its letters.
    pub fn given(&self, name: &str) -> Option<Given<'_>> {
        self.lines().iter().rev().find_map(|line| match line {
            Line::Text(Bytes(text)) => {
                let colon = text.iter().position(|byte| *byte == b':')?;
                let is_it = text[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes());
                let value = || String::from_utf8_lossy(text[colon + 1..].trim_ascii());
                is_it.then(|| Given::Value(value()))
            }
            Line::Secret(of) => of
                .field()
                .is_some_and(|own| own.eq_ignore_ascii_case(name))
                .then_some(Given::Secret),
            Line::BodyLength(_) => None,
        })
    }
}

impl SecretRef {
    /// The field of a head whose line it is: all of them are called `header NAME`, with a number behind it if there are
    /// several.
    pub fn field(&self) -> Option<&str> {
        self.secret.strip_prefix("header ")?.split(' ').next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(lines: Vec<Line>) -> LoadSpec {
        let mut spec = LoadSpec::default();
        spec.requests.head =
            Head::Composed { lines, content_type: None, user: None, user_agent: None };
        spec
    }

    #[test]
    fn neither_secrets_nor_words_nor_long_bodies_stay_with_a_run() {
        let mut spec = with(vec![Line::Text(Bytes(b"aUTHORIZATION: Basic \xff\xfe".to_vec()))]);
        spec.words = Words(vec!["ablaze".into()]);
        spec.requests.bodies = Bodies::Same(Body::Given(Bytes(vec![b'x'; 5000])));
        let kept = spec.kept();
        assert!(kept.words.0.is_empty() && kept.has_credentials());
        assert_eq!(kept.requests.given("authorization"), Some(Given::Secret));
        let saved = serde_json::to_string(&kept).unwrap();
        assert!(!saved.contains("Basic") && !saved.contains("xxx") && !saved.contains("ablaze"));
        assert!(saved.contains("\"length_bytes\":5000"), "{saved}");
        assert_eq!(serde_json::from_str::<LoadSpec>(&saved).unwrap(), kept);
    }

    #[test]
    fn the_last_line_of_a_field_counts_however_it_is_spelled() {
        let text = |line: &str| Line::Text(line.into());
        let spec =
            with(vec![text("Connection: Close"), text("connection :keep-alive"), text("X:")]);
        let value = |name| match spec.requests.given(name) {
            Some(Given::Value(value)) => Some(value.into_owned()),
            _ => None,
        };
        assert_eq!(value("CONNECTION").as_deref(), Some("keep-alive"));
        assert_eq!(value("x").as_deref(), Some(""));
        assert_eq!(value("Host"), None);
        let of = SecretRef { secret: "header Cookie (2)".into() };
        assert_eq!(of.field(), Some("Cookie"));
    }
}
