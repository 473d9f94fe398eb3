//! HTTP/2 in the file: what was asked, and what the server permitted and did.

use std::collections::BTreeMap;

use crate::FailureKind;
use crate::plan;
use crate::record::{Codes, Http2Facts, ServerSettings, WindowWaits};
use crate::run::Run;
use serde::{Deserialize, Serialize};

use super::read::kind;

#[derive(Serialize, Deserialize)]
pub(super) struct Http2 {
    streams: u32,
    #[serde(default)]
    streams_in_flight: Option<InFlight>,
    #[serde(default)]
    settings: Option<Settings>,
    streams_permitted: Option<u32>,
    goaways: u64,
    #[serde(default)]
    goaways_by_code: BTreeMap<String, Code>,
    first_goaway: Option<String>,
    #[serde(default)]
    last_goaway_said: Option<String>,
    #[serde(default)]
    resets_by_code: BTreeMap<String, Code>,
    #[serde(default)]
    refused_again: u64,
    #[serde(default)]
    window_waits: Waits,
    first_failure: Option<Failure>,
}

/// Streams of all connections together. What is asked for is a bound in open loop.
#[derive(Serialize, Deserialize)]
pub(super) struct InFlight {
    asked: u64,
    mean: f64,
}

/// The server's.
#[derive(Serialize, Deserialize)]
struct Settings {
    max_concurrent_streams: Option<u32>,
    initial_window_bytes: u32,
    max_frame_bytes: u32,
    max_header_list_bytes: Option<u32>,
}

/// The key beside it is its name.
#[derive(Serialize, Deserialize)]
struct Code {
    code: u32,
    count: u64,
}

#[derive(Serialize, Deserialize, Default)]
pub(super) struct Waits {
    stream_times: u64,
    stream_ns: u64,
    connection_times: u64,
    connection_ns: u64,
    longest_ns: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Failure {
    kind: String,
    detail: String,
}

pub(super) fn save(run: &Run) -> Option<Http2> {
    let (asked, facts) = (run.plan.http2?, run.record.http2.as_ref()?);
    Some(Http2 {
        streams: asked.streams,
        streams_in_flight: InFlight::save(run, asked.streams),
        settings: facts.settings.map(|settings| Settings {
            max_concurrent_streams: settings.streams_max,
            initial_window_bytes: settings.stream_window_bytes,
            max_frame_bytes: settings.payload_bytes_max,
            max_header_list_bytes: settings.header_list_bytes,
        }),
        streams_permitted: facts.streams_permitted,
        goaways: facts.goaways,
        goaways_by_code: by_code(&facts.goaway_codes),
        first_goaway: facts.first_goaway.clone(),
        last_goaway_said: facts.last_goaway_said.clone(),
        resets_by_code: by_code(&facts.resets),
        refused_again: facts.refused_again,
        window_waits: Waits::save(&facts.waits),
        first_failure: facts.first_failure.as_ref().map(Failure::save),
    })
}

fn by_code(codes: &Codes) -> BTreeMap<String, Code> {
    let entry = |&(code, count): &(u32, u64)| (Codes::name(code), Code { code, count });
    codes.0.iter().map(entry).collect()
}

impl Http2 {
    pub(super) fn plan(&self) -> plan::Http2 {
        plan::Http2 { streams: self.streams }
    }

    pub(super) fn facts(&self) -> Box<Http2Facts> {
        let codes = |by_code: &BTreeMap<String, Code>| {
            Codes(by_code.values().map(|code| (code.code, code.count)).collect())
        };
        Box::new(Http2Facts {
            goaways: self.goaways,
            goaway_codes: codes(&self.goaways_by_code),
            first_goaway: self.first_goaway.clone(),
            last_goaway_said: self.last_goaway_said.clone(),
            resets: codes(&self.resets_by_code),
            refused_again: self.refused_again,
            settings: self.settings.as_ref().map(|settings| ServerSettings {
                streams_max: settings.max_concurrent_streams,
                stream_window_bytes: settings.initial_window_bytes,
                payload_bytes_max: settings.max_frame_bytes,
                header_list_bytes: settings.max_header_list_bytes,
            }),
            streams_permitted: self.streams_permitted,
            waits: self.window_waits.restore(),
            first_failure: self.first_failure.as_ref().map(Failure::restore),
        })
    }
}

impl InFlight {
    pub(super) fn save(run: &Run, streams: u32) -> Option<Self> {
        (run.elapsed_ns > 0).then(|| Self {
            asked: u64::from(streams) * u64::from(run.plan.load.connections()),
            mean: run.record.in_flight_ns as f64 / run.elapsed_ns as f64,
        })
    }
}

impl Waits {
    pub(super) fn save(waits: &WindowWaits) -> Self {
        Self {
            stream_times: waits.stream_times,
            stream_ns: waits.stream_ns.try_into().unwrap_or(u64::MAX),
            connection_times: waits.connection_times,
            connection_ns: waits.connection_ns.try_into().unwrap_or(u64::MAX),
            longest_ns: waits.longest_ns,
        }
    }

    pub(super) fn restore(&self) -> WindowWaits {
        WindowWaits {
            stream_times: self.stream_times,
            stream_ns: self.stream_ns.into(),
            connection_times: self.connection_times,
            connection_ns: self.connection_ns.into(),
            longest_ns: self.longest_ns,
        }
    }
}

impl Failure {
    pub(super) fn save((kind, detail): &(FailureKind, String)) -> Self {
        Self { kind: kind.key().to_owned(), detail: detail.clone() }
    }

    pub(super) fn restore(&self) -> (FailureKind, String) {
        (kind(&self.kind), self.detail.clone())
    }
}
