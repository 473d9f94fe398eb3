//! HTTP/2 in the file: what was asked, and what the server permitted and did.

use ablaze_engine::plan;
use ablaze_engine::record::Http2Facts;
use ablaze_engine::run::Run;
use serde::{Deserialize, Serialize};

use super::read::kind;

#[derive(Serialize, Deserialize)]
pub(super) struct Http2 {
    streams: u32,
    streams_permitted: Option<u32>,
    goaways: u64,
    first_goaway: Option<String>,
    first_failure: Option<Failure>,
}

#[derive(Serialize, Deserialize)]
struct Failure {
    kind: String,
    detail: String,
}

pub(super) fn save(run: &Run) -> Option<Http2> {
    let (asked, facts) = (run.plan.http2?, run.record.http2.as_ref()?);
    Some(Http2 {
        streams: asked.streams,
        streams_permitted: facts.streams_permitted,
        goaways: facts.goaways,
        first_goaway: facts.first_goaway.clone(),
        first_failure: facts
            .first_failure
            .as_ref()
            .map(|(kind, detail)| Failure { kind: kind.key().to_owned(), detail: detail.clone() }),
    })
}

impl Http2 {
    pub(super) fn plan(&self) -> plan::Http2 {
        plan::Http2 { streams: self.streams }
    }

    pub(super) fn facts(&self) -> Box<Http2Facts> {
        Box::new(Http2Facts {
            goaways: self.goaways,
            first_goaway: self.first_goaway.clone(),
            streams_permitted: self.streams_permitted,
            first_failure: self
                .first_failure
                .as_ref()
                .map(|failure| (kind(&failure.kind), failure.detail.clone())),
        })
    }
}
