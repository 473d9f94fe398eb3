//! Whether a server's certificate is accepted: by the rules of the web, by one given, or always.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

use ablaze_model::certificate::Certificate;

/// For so long a chain that was found good is not looked at again, if it comes byte for byte.
const MEMORY_S: u64 = 10;

/// The refusal of a certificate that was issued by itself and is not among those given.
#[derive(Debug)]
pub struct SelfSigned;

impl fmt::Display for SelfSigned {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the certificate is self-signed")
    }
}

impl std::error::Error for SelfSigned {}

/// Accepts what the given roots have issued for the name, and the given certificates themselves.
#[derive(Debug)]
pub struct Verified {
    rules: Arc<WebPkiServerVerifier>,
    /// Certificates that are accepted although they issued themselves.
    given: Vec<CertificateDer<'static>>,
    number: u64,
}

impl Verified {
    /// By these rules; `given` are accepted themselves.
    pub fn new(rules: Arc<WebPkiServerVerifier>, given: Vec<CertificateDer<'static>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { rules, given, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    fn is_given(&self, leaf: &CertificateDer<'_>) -> bool {
        self.given.iter().any(|given| given.as_ref() == leaf.as_ref())
    }

    /// A certificate that was given is trusted as it is: its name and its time are looked at.
    fn check_given(
        &self,
        leaf: &CertificateDer<'_>,
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        let certificate = Certificate::read(leaf)
            .ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))?;
        let refused = |error| Err(Error::InvalidCertificate(error));
        if certificate.not_after_unix_s.is_some_and(|until| now.as_secs() > until) {
            return refused(CertificateError::Expired);
        }
        if certificate.not_before_unix_s.is_some_and(|from| now.as_secs() < from) {
            return refused(CertificateError::NotValidYet);
        }
        let parsed = rustls::server::ParsedCertificate::try_from(leaf)?;
        rustls::client::verify_server_name(&parsed, name)
    }
}

/// A chain that this thread found good.
struct Memory {
    verifier: u64,
    checked_s: u64,
    name: ServerName<'static>,
    leaf: Vec<u8>,
    others: Vec<Vec<u8>>,
}

thread_local! {
    // Per thread, so that workers share nothing; the chain of the run's one server.
    static GOOD: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

impl Memory {
    fn is_of(
        &self,
        verifier: u64,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now_s: u64,
    ) -> bool {
        self.verifier == verifier
            && (self.checked_s..self.checked_s + MEMORY_S).contains(&now_s)
            && self.leaf == leaf.as_ref()
            && self.name == *name
            && self.others.len() == others.len()
            && self.others.iter().zip(others).all(|(mine, other)| mine == other.as_ref())
    }
}

impl ServerCertVerifier for Verified {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let now_s = now.as_secs();
        let known = GOOD.with_borrow(|good| {
            good.as_ref().is_some_and(|good| good.is_of(self.number, leaf, others, name, now_s))
        });
        if known {
            return Ok(ServerCertVerified::assertion());
        }
        if self.is_given(leaf) {
            self.check_given(leaf, name, now)?;
        } else if let Err(error) = self.rules.verify_server_cert(leaf, others, name, ocsp, now) {
            let untrusted = matches!(
                &error,
                Error::InvalidCertificate(
                    CertificateError::UnknownIssuer | CertificateError::Other(_)
                )
            );
            if untrusted && Certificate::read(leaf).is_some_and(|leaf| leaf.is_self_issued()) {
                let reason = OtherError(Arc::new(SelfSigned));
                return Err(Error::InvalidCertificate(CertificateError::Other(reason)));
            }
            return Err(error);
        }
        let memory = Memory {
            verifier: self.number,
            checked_s: now_s,
            name: name.to_owned(),
            leaf: leaf.to_vec(),
            others: others.iter().map(|other| other.to_vec()).collect(),
        };
        GOOD.set(Some(memory));
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.rules.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.rules.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.rules.supported_verify_schemes()
    }
}

/// Accepts anything and checks nothing, as was asked for.
#[derive(Debug)]
pub struct Unverified {
    schemes: Vec<SignatureScheme>,
}

impl Unverified {
    /// Offers the signatures that this provider knows.
    pub fn new(provider: &CryptoProvider) -> Self {
        Self { schemes: provider.signature_verification_algorithms.supported_schemes() }
    }
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _leaf: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
