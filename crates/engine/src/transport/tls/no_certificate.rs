//! The client without a certificate: it has none to give, and notes that it was asked for one. A server of TLS 1.2
//! that gets none refuses with the same alert as for suites and groups (RFC 5246, 7.4.6: handshake_failure).

use std::cell::Cell;
use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;

thread_local! {
    /// rustls asks on the thread that reads the server's request.
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Gives none.
#[derive(Debug)]
pub struct NoCertificate;

impl ResolvesClientCert for NoCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        ASKED.set(true);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// Whether this thread was asked for a certificate since the last call.
pub fn was_asked() -> bool {
    ASKED.take()
}
