//! What is asked for where nothing is said: the native defaults.

use super::{
    ConnectionsSpec, Destination, FrontEnd, LoadSpec, QuicSpec, RequestsSpec, Shape, TlsSpec,
    Words, WorkersSpec,
};
use crate::plan::{ClockStarts, Close, Limits};

impl Default for LoadSpec {
    /// 50 connections for 10 s, kept alive, on a clock that starts when all connections stand.
    fn default() -> Self {
        Self {
            destination: Destination::default(),
            requests: RequestsSpec::default(),
            http: None,
            shape: Shape::Closed { connections: None },
            in_flight: 1,
            quic: QuicSpec::default(),
            limits: Limits {
                requests: None,
                duration_ns: Some(10_000_000_000),
                warmup_ns: 0,
                timeout_ns: 30_000_000_000,
                max_head_bytes: 65_536,
                unreachable_after: 10,
            },
            connections: ConnectionsSpec::default(),
            workers: WorkersSpec::default(),
            tls: TlsSpec::default(),
            expect: vec![200..=399],
            expect_asked: false,
            checks: Vec::new(),
            keep_every_request: false,
            part: None,
            requests_of_all: None,
            seed_of_all: None,
            monitored: true,
            server_arguments: false,
            front_end: FrontEnd::Load,
            words: Words::default(),
        }
    }
}

impl Default for ConnectionsSpec {
    fn default() -> Self {
        Self {
            keep_alive: true,
            requests_per_connection: None,
            close: Close::Await,
            repeat: true,
            clock_starts: ClockStarts::AfterConnecting,
            ramp_ns: 0,
            local_addresses: Vec::new(),
            local_ports: None,
            socket_buffer_bytes: None,
            no_delay: true,
        }
    }
}
