//! Tunnels through a proxy in the file: how many there were, and what went wrong first. The proxy
//! itself stands in `target`.

use crate::record::ProxyFacts;
use crate::run::Run;
use serde::{Deserialize, Serialize};

use super::read::kind;

#[derive(Serialize, Deserialize)]
pub(super) struct Proxy {
    connected: u64,
    tunnels: u64,
    first_failure: Option<Failure>,
}

#[derive(Serialize, Deserialize)]
struct Failure {
    kind: String,
    detail: String,
}

pub(super) fn save(run: &Run) -> Option<Proxy> {
    let facts = run.record.proxy.as_ref()?;
    Some(Proxy {
        connected: facts.connected,
        tunnels: facts.tunnels,
        first_failure: facts
            .first_failure
            .as_ref()
            .map(|(kind, detail)| Failure { kind: kind.key().to_owned(), detail: detail.clone() }),
    })
}

impl Proxy {
    pub(super) fn facts(&self) -> Box<ProxyFacts> {
        let first = self.first_failure.as_ref();
        Box::new(ProxyFacts {
            connected: self.connected,
            tunnels: self.tunnels,
            first_failure: first.map(|failure| (kind(&failure.kind), failure.detail.clone())),
        })
    }
}
