//! HTTP/3 in the file: what was asked, what the server permitted and did, and what is known of the QUIC below it.

use std::collections::BTreeMap;

use crate::plan;
use crate::record::{DatagramTraffic, Http3Facts, NamedCounts, QuicFacts, QuicHandshakes, Spread};
use crate::run::Run;
use serde::{Deserialize, Serialize};

use super::http2::{Failure, InFlight, Waits};

#[derive(Serialize, Deserialize)]
pub(super) struct Http3 {
    streams: u32,
    settings: Settings,
    streams_in_flight: Option<InFlight>,
    streams_permitted: Option<u64>,
    #[serde(default)]
    streams_at_last: Option<u64>,
    #[serde(default)]
    streams_raised_ns: u64,
    goaways: u64,
    closes_by_code: BTreeMap<String, u64>,
    first_close: Option<String>,
    resets_by_code: BTreeMap<String, u64>,
    refused_again: u64,
    window_waits: Waits,
    first_failure: Option<Failure>,
    quic: Quic,
}

/// The client's.
#[derive(Serialize, Deserialize)]
struct Settings {
    idle_timeout_ns: u64,
    stream_window_bytes: u64,
    connection_window_bytes: u64,
    datagram_bytes: Option<u16>,
    paces: bool,
    qpack_table_bytes: u32,
}

#[derive(Serialize, Deserialize)]
struct Quic {
    handshakes: u64,
    retries: u64,
    #[serde(default)]
    all_handshakes: Handshakes,
    sent: Traffic,
    received: Traffic,
    dropped_here: u64,
    given_up: u64,
    packets_sent: u64,
    packets_lost: u64,
    bytes_lost: u64,
    congestion_events: u64,
    #[serde(default)]
    silent_ns: Option<u64>,
    rtt_ns: Option<SpreadOf>,
    window_bytes: Option<SpreadOf>,
    datagram_bytes: Option<SpreadOf>,
    no_segmentation_errno: Option<i32>,
    no_coalescing_errno: Option<i32>,
}

/// Of the whole run. Not in files of older versions.
#[derive(Default, Serialize, Deserialize)]
struct Handshakes {
    version: Option<u32>,
    protocol: Option<String>,
    whole_ns: Option<SpreadOf>,
    retry_ns: Option<SpreadOf>,
    limited_ns: Option<SpreadOf>,
    limited_at: Option<LimitedAt>,
    #[serde(default)]
    incomplete_received: u64,
}

#[derive(Serialize, Deserialize)]
struct LimitedAt {
    sent_bytes: u64,
    received_bytes: u64,
}

/// In one direction.
#[derive(Serialize, Deserialize)]
struct Traffic {
    calls: u64,
    datagrams: u64,
    bytes: u64,
    per_call: Option<f64>,
}

/// Over the connections as they ended. The mean is for readers: it follows from the others.
#[derive(Serialize, Deserialize)]
struct SpreadOf {
    min: u64,
    mean: f64,
    max: u64,
    sum: u64,
    connections: u64,
}

pub(super) fn save(run: &Run) -> Option<Http3> {
    let asked = run.plan.http3?;
    // What was asked is in the file also where no worker came as far as having facts.
    let none = Http3Facts::default();
    let facts = run.record.http3.as_deref().unwrap_or(&none);
    Some(Http3 {
        streams: asked.streams,
        settings: Settings {
            idle_timeout_ns: asked.idle_timeout_ns,
            stream_window_bytes: asked.stream_window_bytes,
            connection_window_bytes: asked.connection_window_bytes,
            datagram_bytes: asked.datagram_bytes,
            paces: asked.paces,
            qpack_table_bytes: asked.qpack_table_bytes,
        },
        streams_in_flight: InFlight::save(run, asked.streams),
        streams_permitted: facts.streams_permitted,
        streams_at_last: facts.streams_at_last,
        streams_raised_ns: facts.streams_raised_ns,
        goaways: facts.goaways,
        closes_by_code: by_name(&facts.closes),
        first_close: facts.first_close.clone(),
        resets_by_code: by_name(&facts.resets),
        refused_again: facts.refused_again,
        window_waits: Waits::save(&facts.waits),
        first_failure: facts.first_failure.as_ref().map(Failure::save),
        quic: Quic::save(&facts.quic),
    })
}

fn by_name(counts: &NamedCounts) -> BTreeMap<String, u64> {
    counts.0.iter().cloned().collect()
}

fn counts(by_name: &BTreeMap<String, u64>) -> NamedCounts {
    NamedCounts(by_name.iter().map(|(name, times)| (name.clone(), *times)).collect())
}

impl Http3 {
    pub(super) fn plan(&self) -> plan::Http3 {
        let Settings {
            idle_timeout_ns,
            stream_window_bytes,
            connection_window_bytes,
            datagram_bytes,
            paces,
            qpack_table_bytes,
        } = self.settings;
        plan::Http3 {
            streams: self.streams,
            idle_timeout_ns,
            stream_window_bytes,
            connection_window_bytes,
            datagram_bytes,
            paces,
            qpack_table_bytes,
        }
    }

    pub(super) fn facts(&self) -> Box<Http3Facts> {
        Box::new(Http3Facts {
            goaways: self.goaways,
            closes: counts(&self.closes_by_code),
            first_close: self.first_close.clone(),
            resets: counts(&self.resets_by_code),
            refused_again: self.refused_again,
            streams_permitted: self.streams_permitted,
            streams_at_last: self.streams_at_last,
            streams_raised_ns: self.streams_raised_ns,
            waits: self.window_waits.restore(),
            first_failure: self.first_failure.as_ref().map(Failure::restore),
            quic: self.quic.restore(),
        })
    }
}

impl Quic {
    fn save(quic: &QuicFacts) -> Self {
        Self {
            handshakes: quic.handshakes,
            retries: quic.retries,
            all_handshakes: Handshakes::save(&quic.all_handshakes),
            sent: Traffic::save(quic.sent),
            received: Traffic::save(quic.received),
            dropped_here: quic.dropped_here,
            given_up: quic.given_up,
            packets_sent: quic.packets_sent,
            packets_lost: quic.packets_lost,
            bytes_lost: quic.bytes_lost,
            congestion_events: quic.congestion_events,
            silent_ns: quic.silent_ns,
            rtt_ns: quic.rtt_ns.map(SpreadOf::save),
            window_bytes: quic.window_bytes.map(SpreadOf::save),
            datagram_bytes: quic.datagram_bytes.map(SpreadOf::save),
            no_segmentation_errno: quic.no_segmentation,
            no_coalescing_errno: quic.no_coalescing,
        }
    }

    fn restore(&self) -> QuicFacts {
        QuicFacts {
            handshakes: self.handshakes,
            retries: self.retries,
            all_handshakes: self.all_handshakes.restore(),
            sent: self.sent.restore(),
            received: self.received.restore(),
            dropped_here: self.dropped_here,
            given_up: self.given_up,
            packets_sent: self.packets_sent,
            packets_lost: self.packets_lost,
            bytes_lost: self.bytes_lost,
            congestion_events: self.congestion_events,
            silent_ns: self.silent_ns,
            rtt_ns: self.rtt_ns.as_ref().map(SpreadOf::restore),
            window_bytes: self.window_bytes.as_ref().map(SpreadOf::restore),
            datagram_bytes: self.datagram_bytes.as_ref().map(SpreadOf::restore),
            no_segmentation: self.no_segmentation_errno,
            no_coalescing: self.no_coalescing_errno,
        }
    }
}

impl Handshakes {
    fn save(all: &QuicHandshakes) -> Self {
        let at = |(sent_bytes, received_bytes)| LimitedAt { sent_bytes, received_bytes };
        Self {
            version: all.version,
            protocol: all.protocol.clone(),
            whole_ns: all.whole_ns.map(SpreadOf::save),
            retry_ns: all.retry_ns.map(SpreadOf::save),
            limited_ns: all.limited_ns.map(SpreadOf::save),
            limited_at: all.limited_at.map(at),
            incomplete_received: all.incomplete_received,
        }
    }

    fn restore(&self) -> QuicHandshakes {
        let at = |at: &LimitedAt| (at.sent_bytes, at.received_bytes);
        QuicHandshakes {
            version: self.version,
            protocol: self.protocol.clone(),
            whole_ns: self.whole_ns.as_ref().map(SpreadOf::restore),
            retry_ns: self.retry_ns.as_ref().map(SpreadOf::restore),
            limited_ns: self.limited_ns.as_ref().map(SpreadOf::restore),
            limited_at: self.limited_at.as_ref().map(at),
            incomplete_received: self.incomplete_received,
        }
    }
}

impl Traffic {
    fn save(traffic: DatagramTraffic) -> Self {
        let DatagramTraffic { calls, datagrams, bytes } = traffic;
        Self { calls, datagrams, bytes, per_call: traffic.per_call() }
    }

    fn restore(&self) -> DatagramTraffic {
        DatagramTraffic { calls: self.calls, datagrams: self.datagrams, bytes: self.bytes }
    }
}

impl SpreadOf {
    fn save(spread: Spread) -> Self {
        Self {
            min: spread.min,
            mean: spread.mean(),
            max: spread.max,
            sum: spread.sum.try_into().unwrap_or(u64::MAX),
            connections: spread.count,
        }
    }

    fn restore(&self) -> Spread {
        Spread { min: self.min, max: self.max, sum: self.sum.into(), count: self.connections }
    }
}
