//! Certificate and key of a server: given as PEM, or made for the occasion and signed by an
//! authority that is made with it and then forgotten, so that clients can verify the one by the
//! certificate of the other.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate with its chain and its key.
#[derive(Clone)]
pub struct Identity(Arc<Parts>);

struct Parts {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// As text, if it was made here.
    pem: Option<Pem>,
}

/// A certificate that was made here, with what belongs to it, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pem {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// The certificate of the authority that signed it.
    pub authority: String,
}

impl Identity {
    /// Makes a certificate (P-256) for this machine under its usual names and these addresses,
    /// and an authority that signs it.
    ///
    /// # Errors
    /// One sentence, when there is no randomness to make a key of.
    pub fn self_made(addresses: &[IpAddr]) -> Result<Self, String> {
        self_made(addresses).map_err(|error| format!("cannot create a certificate: {error}"))
    }

    /// Takes the certificate, its chain behind it, and its key, both as PEM.
    ///
    /// # Errors
    /// One sentence about what is no PEM, or missing.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, String> {
        let chain = read_certificates(certificates)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| match error {
            rustls::pki_types::pem::Error::NoItemsFound => {
                "the key file contains no private key; expected PEM with BEGIN PRIVATE KEY"
                    .to_owned()
            }
            error => format!("the key cannot be read: {error}"),
        })?;
        Ok(Self(Arc::new(Parts { chain, key, pem: None })))
    }

    /// The certificate, as PEM, of the authority that signed a certificate made here.
    pub fn authority(&self) -> Option<&str> {
        self.pem().map(|pem| pem.authority.as_str())
    }

    /// All of it as text; nothing of an identity that was given.
    pub fn pem(&self) -> Option<&Pem> {
        self.0.pem.as_ref()
    }

    /// The certificate first, then those that vouch for it.
    pub(super) fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.0.chain.clone()
    }

    pub(super) fn key(&self) -> PrivateKeyDer<'static> {
        self.0.key.clone_key()
    }
}

/// The certificates of a PEM file, at least one.
pub(super) fn read_certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(chain) if chain.is_empty() => {
            Err("the file contains no certificate; expected PEM with BEGIN CERTIFICATE".into())
        }
        Ok(chain) => Ok(chain),
        Err(error) => Err(format!("the certificate cannot be read: {error}")),
    }
}

fn self_made(addresses: &[IpAddr]) -> Result<Identity, rcgen::Error> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "ablaze serve, made for one run");
    let authority_key = KeyPair::generate()?;
    let authority_pem = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);

    let mut leaf = CertificateParams::new(names(addresses))?;
    leaf.distinguished_name.push(DnType::CommonName, "localhost");
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = leaf.signed_by(&key, &issuer)?;
    let parts = Parts {
        chain: vec![certificate.der().clone()],
        key: PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        pem: Some(Pem {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            authority: authority_pem,
        }),
    };
    Ok(Identity(Arc::new(parts)))
}

/// What this machine is called when it is loaded from itself, or from beside.
fn names(addresses: &[IpAddr]) -> Vec<String> {
    let mut names = vec!["localhost".to_owned()];
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    // An address that stands for all of them is nobody's name.
    let specific = addresses.iter().filter(|address| !address.is_unspecified());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let usable = |host: &String| {
        !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
    };
    let addresses = loopback.iter().chain(specific).map(IpAddr::to_string);
    for name in addresses.chain(Some(host).filter(usable)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

impl fmt::Debug for Identity {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = if self.0.pem.is_some() { "made here" } else { "given" };
        write!(to, "Identity({made}, {} certificates)", self.0.chain.len())
    }
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        self.0.chain == other.0.chain
    }
}

impl Eq for Identity {}
