//! A journey, compiled: its steps, and what each of them sends. What they do with a response is in
//! [`checks`](crate::checks); sending is the caller's.

use std::sync::Arc;

use crate::checks::{Assert, Capture, Expected};
use crate::dot_segments;
use crate::query::Query;
use crate::template::{RenderError, Template};
use crate::value::Value;
use crate::variables::{Moment, Names, Variables};

/// A file, compiled.
#[derive(Debug, Clone, Default)]
pub struct Journey {
    /// In order.
    pub steps: Vec<Step>,
    pub(crate) names: Arc<Names>,
    pub(crate) needed: Vec<Needed>,
}

/// A variable that must be set before a step, because nothing before that step sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// The variable.
    pub slot: usize,
    /// The first line that uses it.
    pub line: u32,
}

impl Journey {
    /// The variables, and their slots.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// What must be given from outside: by `--variable`, a feed or the like.
    pub fn needed(&self) -> &[Needed] {
        &self.needed
    }

    /// The variables that its steps set, by captures and options.
    pub fn set(&self) -> Vec<usize> {
        let captured = |step: &Step| step.captured().map(|(slot, _)| slot).collect::<Vec<_>>();
        let chosen = |step: &Step| step.options.variables.iter().map(|(slot, _)| *slot).collect();
        self.steps.iter().flat_map(|step| [captured(step), chosen(step)].concat()).collect()
    }

    /// Puts the steps of another behind its own, which was compiled knowing all of its variables.
    pub fn append(&mut self, other: Self) {
        self.steps.extend(other.steps);
        self.names = other.names;
        self.needed.extend(other.needed);
    }

    /// Knows the variables of another, too, which was compiled knowing its own.
    pub fn know(&mut self, other: &Self) {
        self.names = Arc::clone(&other.names);
    }

    /// Variables for one user, none set.
    pub fn variables(&self) -> Variables {
        Variables::new(self.names.len())
    }
}

/// A request, and what is captured and checked of its response.
#[derive(Debug, Clone)]
pub struct Step {
    /// From a comment `# name: …` above it, otherwise method and path; different from those of the other steps.
    pub name: String,
    /// The line of its request.
    pub line: u32,
    /// Its method.
    pub method: String,
    /// Its URL, without what `[Query]` adds.
    pub url: Template,
    /// What `[Query]` adds, encoded: `a=1&b=2`.
    pub query: Template,
    /// Header fields: names and values.
    pub headers: Vec<(Template, Template)>,
    /// `user:password`, not encoded yet.
    pub basic_auth: Option<Template>,
    /// Cookies beside those of the jar: `a=1; b=2`.
    pub cookies: Template,
    /// The `Content-Type` if no header field gives one. A multipart body's wants a boundary.
    pub content_type: Option<&'static str>,
    /// What follows the head.
    pub body: StepBody,
    /// How it is done.
    pub options: StepOptions,
    pub(crate) names: Arc<Names>,
    pub(crate) expected: Option<Expected>,
    pub(crate) captures: Vec<Capture>,
    pub(crate) asserts: Vec<Assert>,
}

/// What follows the head of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum StepBody {
    /// Nothing.
    None,
    /// Text, JSON, a form, bytes.
    Template(Template),
    /// A file, by its name.
    File(Template),
    /// A multipart form.
    Multipart(Vec<FormPart>),
}

/// A part of a multipart form.
#[derive(Debug, Clone, PartialEq)]
pub enum FormPart {
    /// A name and a value.
    Field(Template, Template),
    /// A name, a file's name, and its type: if none is given, [`content_type_of`] the name.
    File(Template, Template, Option<Template>),
}

/// `[Options]`. `None` is what the command says, or Hurl's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepOptions {
    /// How long before the request.
    pub delay_ns: Option<u64>,
    /// How often it is done again while it fails; inside, `None` is without end.
    pub retry: Option<Option<u64>>,
    /// How long between tries.
    pub retry_interval_ns: Option<u64>,
    /// How often it is done; inside, `None` is without end.
    pub repeat: Option<Option<u64>>,
    /// Whether redirects are followed.
    pub location: Option<bool>,
    /// Whether they are, with the credentials of the step wherever they lead.
    pub location_trusted: Option<bool>,
    /// How many; inside, `None` is all.
    pub max_redirects: Option<Option<u64>>,
    /// Whether a compressed response is asked for.
    pub compressed: Option<bool>,
    /// Whether it is left out.
    pub skip: Option<bool>,
    /// Variables to set before: slots and values.
    pub variables: Vec<(usize, Setting)>,
}

/// What an option sets a variable to.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// A value.
    Value(Value),
    /// Text with variables.
    Text(Template),
}

impl Step {
    /// Sets the variables of `[Options]`: before the request is rendered.
    ///
    /// # Errors
    /// A variable in the text of another.
    pub fn set_variables(
        &self,
        variables: &mut Variables,
        moment: &mut impl Moment,
    ) -> Result<(), RenderError> {
        for (slot, setting) in &self.options.variables {
            let value = match setting {
                Setting::Value(value) => value.clone(),
                Setting::Text(template) => {
                    let mut out = Vec::new();
                    template.render(variables, moment, &mut out)?;
                    Value::Text(String::from_utf8_lossy(&out).into_owned())
                }
            };
            variables.set(*slot, Some(value));
        }
        Ok(())
    }

    /// Writes the URL with its query behind `out`, with a path, and without the segments `.` and `..` in it.
    ///
    /// # Errors
    /// A variable in it.
    pub fn write_url(
        &self,
        variables: &Variables,
        moment: &mut impl Moment,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        let start = out.len();
        self.url.render(variables, moment, out)?;
        if !self.query.is_empty() {
            match &out[start..] {
                [.., b'?'] => {}
                url if url.contains(&b'?') => out.push(b'&'),
                _ => out.push(b'?'),
            }
            self.query.render(variables, moment, out)?;
        }
        let path = start + dot_segments::path_start(&out[start..]);
        if out.get(path) != Some(&b'/') {
            out.insert(path, b'/');
        }
        dot_segments::remove(out, path);
        Ok(())
    }

    /// Whether its captures and asserts look at the body.
    pub fn needs_body(&self) -> bool {
        let is_of_body = |query: &Query| {
            use Query::{Body, Bytes, Jsonpath, Md5, Regex, Sha256};
            matches!(query, Body | Bytes | Jsonpath(_) | Md5 | Regex(_) | Sha256)
        };
        let mut queries = self.captures.iter().map(|capture| &capture.query);
        let mut asserted = self.asserts.iter().map(|assert| &assert.query);
        let is_expected = self.expected.as_ref().is_some_and(|expected| expected.body.is_some());
        is_expected || queries.any(is_of_body) || asserted.any(is_of_body)
    }

    /// The variables that it captures, and whether each is a secret.
    pub fn captured(&self) -> impl Iterator<Item = (usize, bool)> {
        self.captures.iter().map(|capture| (capture.slot, capture.is_redacted))
    }
}

/// The type of a file by its name, as Hurl sees it.
pub fn content_type_of(file: &str) -> &'static str {
    match file.rsplit(['.', '/']).next().filter(|ending| ending.len() < file.len()).unwrap_or("") {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}
