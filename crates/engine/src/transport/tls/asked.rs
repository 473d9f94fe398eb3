//! The client's certificate, if it has one, and a note of each time that a server asks for it. A server of TLS 1.2
//! that gets none refuses with the same alert as for suites and groups (RFC 5246, 7.4.6: handshake_failure), and alerts
//! about a certificate are about the client's only where it was asked for one.

use std::cell::Cell;
use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::trouble::CertificateRequest;

thread_local! {
    /// rustls asks on the thread that reads the server's request.
    static ASKED: Cell<Option<CertificateRequest>> = const { Cell::new(None) };
}

/// Gives the certificate that there is.
#[derive(Debug)]
pub struct Asked(pub Option<SingleCertAndKey>);

impl ResolvesClientCert for Asked {
    fn resolve(&self, issuers: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let given = self.0.as_ref().and_then(|own| own.resolve(issuers, schemes));
        // rustls sends none whose key signs in no way that the server accepts.
        let is_sent =
            given.as_ref().is_some_and(|given| given.key.choose_scheme(schemes).is_some());
        ASKED.set(Some(match is_sent {
            true => CertificateRequest::Met,
            false => CertificateRequest::InVain,
        }));
        given
    }

    fn has_certs(&self) -> bool {
        self.0.is_some()
    }
}

/// Whether this thread was asked for a certificate since the last call.
pub fn was_asked() -> Option<CertificateRequest> {
    ASKED.take()
}

/// What was asked on this thread, for connections whose handshakes are not read here: those of one worker go to the
/// same servers.
pub fn on_this_thread() -> CertificateRequest {
    ASKED.get().unwrap_or_default()
}
