//! Requests of a list that say method, fields and body themselves, among those for which the options say it.

use ablaze_wire::http1::request::Template;

use super::{Bodies, Host, RequestsAsked, is_named};
use crate::Error;

/// What one of them says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRequest {
    /// Where it says so, for errors.
    pub at: String,
    /// Its method.
    pub method: String,
    /// Its header lines. They replace those of the options of the same name.
    pub headers: Vec<String>,
    /// Its body.
    pub body: Option<Vec<u8>>,
}

/// What they have in common.
pub(super) fn base(asked: &RequestsAsked) -> RequestsAsked {
    // Without what there may be a million of.
    RequestsAsked {
        paths: Vec::new(),
        own: Vec::new(),
        bodies: Bodies::None,
        hosts: Vec::new(),
        host_of_paths: Vec::new(),
        headers: asked.headers.clone(),
        method: None,
        content_type: asked.content_type.clone(),
        user: asked.user.clone(),
        user_agent: asked.user_agent.clone(),
        forwarded: asked.forwarded.clone(),
        cells: asked.cells.clone(),
        cookies: asked.cookies.clone(),
        ..*asked
    }
}

/// Whether any has a body.
pub(super) fn have_bodies(own: &[Option<OwnRequest>]) -> bool {
    own.iter().flatten().any(|own| own.body.is_some())
}

/// The method of the first request, if that says it.
pub(super) fn first_method(own: &[Option<OwnRequest>]) -> Option<String> {
    own.first()?.as_ref().map(|own| own.method.clone())
}

impl OwnRequest {
    /// As it is sent.
    pub(super) fn template(
        &self,
        base: &RequestsAsked,
        host: &Host,
        path: &str,
    ) -> Result<Template, Error> {
        let mut asked = base.clone();
        let names = |line: &String| line.split_once(':').map(|(name, _)| name.to_owned());
        for name in self.headers.iter().filter_map(names) {
            asked.headers.retain(|line| !is_named(line, &name));
        }
        asked.headers.extend(self.headers.iter().cloned());
        asked.bodies = self.body.as_deref().map_or(Bodies::None, |body| Bodies::Same(body.into()));
        let body = self.body.as_deref().unwrap_or_default();
        asked
            .check(&self.method)
            .and_then(|()| asked.request(&self.method, host, path, body))
            .map_err(|error| Error::usage(format!("{}: {error}", self.at)))
    }
}
