//! Far ends that are no TLS servers, or bad ones: each ends as its own kind, soon, and with little
//! memory.

use std::sync::Arc;

use ablaze_model::FailureKind as Kind;
use ablaze_model::plan::tls::{Tls, Trust};
use ablaze_model::run::Ended;
use ablaze_net::sim::{Answer, FarEnd, SimPeer};
use proptest::prelude::*;

use crate::tls::authority::Authority;
use crate::tls::peer::{TlsPeer, config, run, with_tls};
use crate::tls::plans::*;

/// Sends these bytes to whoever says something, and then the same again and again.
#[derive(Clone)]
struct Says {
    bytes: Arc<[u8]>,
    times: u32,
}

impl Says {
    fn once(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), times: 1 }
    }
}

impl SimPeer for Says {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn connect(&mut self, _: &mut FarEnd<'_>, _: u64) -> Answer {
        Answer::AcceptAfter(US)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, _: &[u8]) {
        for time in 0..std::mem::take(&mut self.times) {
            far.send_after(US * u64::from(time + 1), 0, self.bytes.len() as u32);
        }
    }
}

fn first_kind(says: &Says) -> Option<Kind> {
    let tls = Tls { trust: Trust::Anyone, ..Tls::new("there") };
    let plan = with_tls(clock_before(with_timeout(plan(100, 1), 200 * MS)), tls);
    let run = run(&plan, says, |run| {
        assert_eq!(run.record.answers, 0);
        assert_eq!(run.ended, Ended::Hopeless, "{:?}", run.record.failures);
        assert!(run.record.failures_total() <= 11, "{:?}", run.record.failures);
    });
    run.record.first_failure.map(|first| first.kind)
}

#[test]
fn what_is_no_tls_is_named() {
    let http = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let huge = [22, 3, 3, 0xff, 0xff, 2, 0, 0, 0];
    let alert = [21, 3, 3, 0, 2, 2, 40];
    let rows: [(&[u8], Kind); 8] = [
        (http, Kind::AnsweredInPlain),
        (b"<html>\r\n<head><title>400 The plain", Kind::AnsweredInPlain),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Kind::TlsBroken),
        (&[0; 64], Kind::TlsBroken),
        (&huge, Kind::TlsBroken),
        (&alert, Kind::NoCommonTls),
        (&[21, 3, 3, 0, 2, 2, 80], Kind::TlsRefused),
        (&[23, 3, 3, 0, 4, 1, 2, 3, 4], Kind::TlsBroken),
    ];
    for (bytes, kind) in rows {
        assert_eq!(first_kind(&Says::once(bytes)), Some(kind), "{bytes:?}");
    }
}

#[test]
fn a_handshake_without_end_is_ended() {
    // Harmless records without end: change_cipher_spec, and empty handshake messages.
    for bytes in [&[20, 3, 3, 0, 1, 1][..], &[22, 3, 3, 0, 4, 0, 0, 0, 0]] {
        let kind = first_kind(&Says { bytes: bytes.into(), times: 20_000 });
        assert!(matches!(kind, Some(Kind::TlsBroken | Kind::Timeout)), "{kind:?}");
    }
}

#[test]
fn a_server_that_says_farewell_instead_of_answering_is_asked_again() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let peer = TlsPeer::new(config(&[&rustls::version::TLS13], &issued), |moment| {
        if moment.request == 1 {
            moment.server.send_close_notify();
        }
        moment.answer(HELLO);
    });
    let mut plan = with_tls(plan(10, 1), authority.trusted("there"));
    plan.connections.repeat = true;
    run(&plan, &peer, |run| {
        // Said farewell before it answered: the request is sent again elsewhere.
        assert_eq!((run.record.answers, run.record.failures_total()), (10, 0));
        assert!(run.record.repeated > 0);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_ends_as_an_error(bytes in prop::collection::vec(any::<u8>(), 1..600), kind in 20u8..24) {
        let mut bytes = bytes;
        bytes[0] = kind;
        let tls = Tls { trust: Trust::Anyone, list_messages: true, ..Tls::new("there") };
        let plan = with_tls(clock_before(with_timeout(plan(20, 1), 20 * MS)), tls);
        run(&plan, &Says::once(&bytes), |run| {
            // The beginning of a record may be waited for to the timeout, each time.
            let all_failed = run.record.failures_total() == 20;
            assert_eq!(run.record.answers, 0);
            assert!(all_failed || run.ended == Ended::Hopeless, "{:?}", run.ended);
        });
    }
}
