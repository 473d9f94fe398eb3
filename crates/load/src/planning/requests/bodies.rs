//! The bodies of requests, which may be large files: what was read of one is not copied until it is part of a request.

use std::sync::Arc;

use ablaze_wire::http1::builder::{BodyPart, RequestBuilder};

use crate::planning::form::Form;

/// The bodies of the requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bodies {
    /// None.
    None,
    /// The same in every request.
    Same(Arc<[u8]>),
    /// One after the other, over and over.
    InTurn(Vec<Vec<u8>>),
    /// The same form in every request.
    Form(Form),
}

impl Bodies {
    /// Each body; an empty one where there is none, or a form, whose parts are [put](Self::put) into requests.
    pub fn each(&self) -> Vec<&[u8]> {
        match self {
            Self::None | Self::Form(_) => vec![&[]],
            Self::Same(body) => vec![body],
            Self::InTurn(bodies) => bodies.iter().map(Vec::as_slice).collect(),
        }
    }

    /// The request with one of them as its body.
    pub fn put(&self, body: &[u8], request: RequestBuilder) -> RequestBuilder {
        match self {
            Self::Form(form) => request.body_parts(form.parts.clone()),
            Self::Same(body) => request.body_parts(vec![BodyPart::Text(Arc::clone(body))]),
            _ => request.body(body),
        }
    }
}
