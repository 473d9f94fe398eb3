//! Certificates and keys out of PEM files (RFC 7468).

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// All certificates in a file's text, DER, in their order; others blocks are left out.
///
/// # Errors
/// What is wrong with a block, in words.
pub fn certificates(text: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    let all = all.map_err(|error| error.to_string())?;
    Ok(all.into_iter().map(|certificate| certificate.to_vec()).collect())
}

/// The first private key in a file's text, DER; `None` if there is none.
///
/// # Errors
/// What is wrong with a block, in words.
pub fn private_key(text: &[u8]) -> Result<Option<Vec<u8>>, String> {
    use rustls::pki_types::pem::Error;
    match PrivateKeyDer::from_pem_slice(text) {
        Ok(key) => Ok(Some(key.secret_der().to_vec())),
        Err(Error::NoItemsFound) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
