//! A server's folder: certificates, the files it serves, its log. It goes with the test.

use std::path::Path;

use ablaze_testing::Scratch;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// What `/small` and `/large` are.
pub const SMALL: &[u8] = b"Hello, World!!\n";
pub const LARGE_BYTES: usize = 1 << 20;

/// The folder, with certificates and files to serve.
pub fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    std::fs::create_dir_all(scratch.path().join("files")).unwrap();
    scratch.write("files/small", SMALL);
    let large: Vec<u8> = (0..LARGE_BYTES).map(|at| (at % 251) as u8).collect();
    scratch.write("files/large", large);
    write_certificates(scratch.path());
    scratch
}

fn write_certificates(folder: &Path) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "issuer of the test");
    write("issuer.pem", &params.self_signed(&key).unwrap().pem());
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".into(), "127.0.0.1".into()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap().pem();
    write("there.pem", &certificate);
    write("there.key", &key.serialize_pem());
    write("there.both", &format!("{certificate}{}", key.serialize_pem()));
}
