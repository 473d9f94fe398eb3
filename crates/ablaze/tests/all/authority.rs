//! An issuer of certificates for servers of a test.

#![allow(clippy::unwrap_used)]

use ablaze_testing::Scratch;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

/// The years of a certificate that is valid.
pub const NOW: (i32, i32) = (2020, 2090);

/// An issuer, its certificate in a file of the test's own.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
    _folder: Scratch,
    file: String,
}

/// A certificate and its key, as PEM.
pub type Issued = (String, String);

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let folder = Scratch::new(name);
        let file = folder.write("issuer.pem", &pem);
        Self { issuer: Issuer::new(params, key), pem, _folder: folder, file }
    }

    /// A certificate for this name, valid from the first of these years to the second.
    pub fn issue(&self, name: &str, years: (i32, i32)) -> Issued {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// The file of its own certificate.
    pub fn cacert(&self) -> &str {
        &self.file
    }
}
