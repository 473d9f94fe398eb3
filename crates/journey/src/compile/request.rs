//! What a step sends.

use std::sync::Arc;

use super::Compiler;
use super::options::FromOptions;
use crate::journey::{FormPart, Step, StepBody};
use crate::syntax::{
    Body, BodyValue, Entry, KeyValue, Multiline, Part, Piece, Request, Source, Template as Tree,
};
use crate::template::{Encoding, Template};
use crate::variables::Names;

impl Compiler {
    pub(super) fn request(&mut self, entry: &Entry, from: FromOptions<'_>) -> Step {
        let request = &entry.request;
        let url = self.plain(&request.url);
        let mut headers: Vec<_> = request
            .headers
            .iter()
            .map(|field| (self.plain(&field.key), self.plain(&field.value)))
            .collect();
        headers.extend(from.headers.into_iter().filter_map(|header| self.header_option(header)));
        let mut basic_auth = request.basic_auth.as_ref().map(|auth| self.user(auth));
        if let (None, Some(user)) = (&basic_auth, from.user) {
            basic_auth = Some(self.plain(user));
        }
        let query = self.parameters(&request.query);
        let cookies = self.joined(&request.cookies, "; ", Encoding::Plain);
        let (body, content_type) = self.body_of(request);
        Step {
            name: entry.name.clone().unwrap_or_else(|| name_of(request)),
            line: request.at.line,
            method: request.method.clone(),
            url,
            query,
            headers,
            basic_auth,
            cookies,
            content_type,
            body,
            options: from.options,
            names: Arc::new(Names::default()),
            expected: None,
            captures: Vec::new(),
            asserts: Vec::new(),
        }
    }

    /// `name: value` in one template.
    fn header_option(&mut self, header: &Tree) -> Option<(Template, Template)> {
        let Some(Piece::Text(first)) = header.pieces.first() else {
            self.refuse(header.at, "the option header: it wants a name, a colon and a value");
            return None;
        };
        let Some((name, value)) = first.split_once(':') else {
            self.refuse(header.at, "the option header: it wants a name, a colon and a value");
            return None;
        };
        let mut pieces = header.pieces.clone();
        pieces[0] = Piece::Text(value.trim_start().to_owned());
        let value = self.plain(&Tree { at: header.at, pieces });
        Some((Template::constant(name.trim().as_bytes()), value))
    }

    fn user(&mut self, auth: &KeyValue) -> Template {
        let mut user = self.plain(&auth.key);
        user.push_bytes(b":");
        user.push(&self.plain(&auth.value));
        user
    }

    /// `a=1&b=2`, the values encoded; names are sent as they stand, as Hurl does.
    fn parameters(&mut self, items: &[KeyValue]) -> Template {
        self.joined(items, "&", Encoding::Percent)
    }

    fn joined(&mut self, items: &[KeyValue], separator: &str, encoding: Encoding) -> Template {
        let mut out = Template::default();
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push_bytes(separator.as_bytes());
            }
            out.push(&self.plain(&item.key));
            out.push_bytes(b"=");
            out.push(&self.template(&item.value, encoding));
        }
        out
    }

    /// The body, and the type it has if no header field gives one.
    fn body_of(&mut self, request: &Request) -> (StepBody, Option<&'static str>) {
        let given =
            [!request.form.is_empty(), !request.multipart.is_empty(), request.body.is_some()];
        if given.into_iter().filter(|is_given| *is_given).count() > 1 {
            self.refuse(request.at, "a request has only one of [Form], [Multipart] and a body");
        }
        if !request.form.is_empty() {
            let form = self.parameters(&request.form);
            return (StepBody::Template(form), Some("application/x-www-form-urlencoded"));
        }
        if !request.multipart.is_empty() {
            let parts = request.multipart.iter().map(|part| self.part(part)).collect();
            return (StepBody::Multipart(parts), Some("multipart/form-data"));
        }
        let Some(body) = &request.body else { return (StepBody::None, None) };
        let content_type = match &body.value {
            BodyValue::Json(_)
            | BodyValue::Multiline(Multiline::Json(_) | Multiline::GraphQl { .. }) => {
                Some("application/json")
            }
            BodyValue::Xml(_) | BodyValue::Multiline(Multiline::Xml(_)) => Some("application/xml"),
            _ => None,
        };
        let body = match &body.value {
            BodyValue::File(path) => StepBody::File(self.plain(path)),
            _ => StepBody::Template(self.body(body).unwrap_or_default()),
        };
        (body, content_type)
    }

    fn part(&mut self, part: &Part) -> FormPart {
        match part {
            Part::Field(field) => FormPart::Field(self.plain(&field.key), self.plain(&field.value)),
            Part::File { name, path, content_type } => FormPart::File(
                self.plain(name),
                self.plain(path),
                content_type.as_ref().map(|given| self.plain(given)),
            ),
        }
    }

    /// A body as a template; `None` for a file.
    pub(super) fn body(&mut self, body: &Body) -> Option<Template> {
        Some(match &body.value {
            BodyValue::Json(json) => self.json(json),
            BodyValue::Xml(text) => Template::constant(text.as_bytes()),
            BodyValue::Oneline(text) => self.plain(text),
            BodyValue::Bytes(bytes) => Template::constant(bytes),
            BodyValue::Multiline(multiline) => self.multiline(multiline),
            BodyValue::File(_) => return None,
        })
    }

    pub(super) fn multiline(&mut self, multiline: &Multiline) -> Template {
        match multiline {
            Multiline::Text(text) | Multiline::Json(text) | Multiline::Xml(text) => {
                self.plain(text)
            }
            Multiline::Raw(text) => Template::constant(text.as_bytes()),
            Multiline::GraphQl { query, variables } => {
                let mut out = Template::constant(b"{\"query\":\"");
                out.push(&self.graphql(query));
                out.push_bytes(b"\"");
                if let Some(variables) = variables {
                    out.push_bytes(b",\"variables\":");
                    out.push(&self.json(variables));
                }
                out.push_bytes(b"}");
                out
            }
        }
    }

    /// A query as the inside of a JSON string, without the space around it.
    fn graphql(&mut self, query: &Tree) -> Template {
        let mut out = Template::default();
        let last = query.pieces.len().saturating_sub(1);
        for (index, piece) in query.pieces.iter().enumerate() {
            match piece {
                Piece::Placeholder(inner) => {
                    self.placeholder(inner, Encoding::JsonString, &mut out);
                }
                Piece::Text(text) => {
                    let text = if index == 0 { text.trim_start() } else { text };
                    let text = if index == last { text.trim_end() } else { text };
                    let mut escaped = Vec::new();
                    crate::template::escape_json(text, &mut escaped);
                    out.push_bytes(&escaped);
                }
            }
        }
        out
    }
}

/// `POST /login`: the method, and the URL's path with the names of its variables.
fn name_of(request: &Request) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Placeholder(inner) => match &inner.source {
            Source::Variable(name) => format!("{{{{{name}}}}}"),
            Source::NewUuid => "{{newUuid}}".to_owned(),
            Source::NewDate => "{{newDate}}".to_owned(),
        },
    };
    let url: String = request.url.pieces.iter().map(piece).collect();
    let after_scheme = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let after_scheme = after_scheme.split(['?', '#']).next().unwrap_or_default();
    let path = after_scheme.find('/').map_or("/", |at| &after_scheme[at..]);
    format!("{} {path}", request.method)
}
