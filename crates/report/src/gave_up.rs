//! Why a run was given up that got no connection to send on, in words: for every report that is read by
//! people.

use ablaze_model::{FailureKind, Run};

/// `no connection could be made`, unless connections were made and could not be used, or carried responses before.
pub(crate) fn in_words(run: &Run) -> String {
    if run.record.responses > 0 {
        return "no connection could be made any more for 30 s".to_owned();
    }
    let Some(first) = run.record.first_failure else {
        return "no connection could be made".to_owned();
    };
    let facts = run.record.tls.as_ref();
    let stood = facts.is_some_and(|facts| facts.connected > 0);
    let completed = facts.is_some_and(|facts| facts.all_completed());
    // Where some tunnels were made, or some handshakes completed, the first failure is not why the others were of no use.
    let tunnels = run.record.proxy.as_ref().map_or(0, |proxy| proxy.tunnels);
    let some_completed = facts.is_some_and(|facts| facts.handshakes() > 0);
    let why = match first.kind {
        FailureKind::NoHttp2 => ": the server does not speak HTTP/2",
        FailureKind::NoHttp3 => ": the server does not speak HTTP/3",
        FailureKind::AnsweredInTls => ": the server responds in TLS, https:// is meant",
        FailureKind::AnsweredInPlain => ": the server responds in plain HTTP, not TLS",
        kind if kind.is_of_proxy() && tunnels == 0 => ": the proxy opened no tunnel",
        kind if kind.is_of_proxy() => "",
        // Here it is this side that ends the connection.
        FailureKind::TlsBroken if completed => ": what followed the TLS handshake failed",
        kind if kind.is_of_tls() && completed => {
            ": the server ended the connections after the TLS handshake"
        }
        kind if kind.is_of_tls() || (stood && first.connecting) => match some_completed {
            true => "",
            false => ": the TLS handshake failed",
        },
        // Only what came after a connection was made can break HTTP.
        FailureKind::Http2Violated
        | FailureKind::Http3Violated
        | FailureKind::QuicClosed
        | FailureKind::GoAway
        | FailureKind::StreamReset
        | FailureKind::TooLarge
        | FailureKind::Malformed => "",
        _ => return "no connection could be made".to_owned(),
    };
    format!("no connection could be used{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::record::{ProxyFacts, TlsFacts};

    use crate::sample;

    #[test]
    fn a_connection_that_stood_was_made() {
        let mut run = sample::refused();
        assert_eq!(in_words(&run), "no connection could be made");
        for (kind, why) in [
            (FailureKind::CertificateIssuer, ": the TLS handshake failed"),
            (FailureKind::AnsweredInTls, ": the server responds in TLS, https:// is meant"),
            (FailureKind::AnsweredInPlain, ": the server responds in plain HTTP, not TLS"),
            (FailureKind::NoHttp2, ": the server does not speak HTTP/2"),
            (FailureKind::NoHttp3, ": the server does not speak HTTP/3"),
            (FailureKind::ProxyRefused, ": the proxy opened no tunnel"),
            (FailureKind::Http2Violated, ""),
        ] {
            run.record.first_failure.as_mut().unwrap().kind = kind;
            assert_eq!(in_words(&run), format!("no connection could be used{why}"));
        }
        let mut later = run.clone();
        later.record.responses = 10;
        assert_eq!(in_words(&later), "no connection could be made any more for 30 s");
        // A server of TLS 1.3 judges the client's certificate when the client's handshake is over.
        run.record.first_failure.as_mut().unwrap().kind = FailureKind::ClientCertificate;
        let facts = TlsFacts { connected: 10, handshakes_full: 10, ..TlsFacts::default() };
        run.record.tls = Some(facts.into());
        assert!(in_words(&run).ends_with("after the TLS handshake"));
        run.record.first_failure.as_mut().unwrap().kind = FailureKind::TlsBroken;
        assert!(in_words(&run).ends_with(": what followed the TLS handshake failed"));
        run.record.first_failure.as_mut().unwrap().kind = FailureKind::ClientCertificate;
        run.record.tls.as_mut().unwrap().handshakes_full = 9;
        assert_eq!(in_words(&run), "no connection could be used");
        run.record.tls.as_mut().unwrap().handshakes_full = 0;
        assert!(in_words(&run).ends_with("the TLS handshake failed"));
        // A proxy that opens some of the tunnels.
        run.record.first_failure.as_mut().unwrap().kind = FailureKind::ProxyRefused;
        run.record.proxy = Some(Box::new(ProxyFacts { tunnels: 3, ..ProxyFacts::default() }));
        assert_eq!(in_words(&run), "no connection could be used");
    }
}
