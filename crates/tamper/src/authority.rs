//! Certificates made for the tests: an issuer, and what it issues.

use ablaze_model::plan::tls::{Identity, PrivateKey, Tls, Trust};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// An issuer of certificates.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub der: Vec<u8>,
}

/// A certificate with its key.
#[derive(Debug)]
pub struct Issued {
    /// The certificate.
    pub certificate: CertificateDer<'static>,
    /// Its key.
    pub key: PrivateKeyDer<'static>,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// An issuer that nobody trusts yet.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        // Issuers of one name and two keys would be taken for one another.
        let name = format!("issuer {:x?}", &key.public_key_raw()[..8]);
        params.distinguished_name.push(DnType::CommonName, name);
        let der = params.self_signed(&key).unwrap().der().to_vec();
        Self { issuer: Issuer::new(params, key), der }
    }

    /// A certificate for this name, changed as told.
    pub fn issue(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Issued {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Issued::new(certificate.der().clone(), &key)
    }

    /// TLS that trusts this issuer alone, for a server of this name.
    pub fn trusted(&self, name: &str) -> Tls {
        Tls { trust: Trust::Issuers(vec![self.der.clone()]), ..Tls::new(name) }
    }
}

/// A certificate that issued itself.
pub fn self_signed(name: &str) -> Issued {
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    Issued::new(certificate.der().clone(), &key)
}

impl Issued {
    fn new(certificate: CertificateDer<'static>, key: &KeyPair) -> Self {
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Self { certificate, key }
    }

    /// What a client shows of it.
    pub fn identity(&self) -> Identity {
        Identity {
            chain: vec![self.certificate.to_vec()],
            key: PrivateKey { der: self.key.secret_der().to_vec() },
        }
    }
}
