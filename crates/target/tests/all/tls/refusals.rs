//! What does not go together is told before the server starts, in one sentence.

use ablaze_target::conditions::FiberOptions;
use ablaze_target::tls::{Identity, TlsOptions, TlsVersion};
use ablaze_target::{Model, Options, Server};

use ablaze_tamper::tls_client::{identity, options};

struct Pair {
    certificate: String,
    key: String,
}

fn pair() -> Pair {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    Pair { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() }
}

fn refused(tls: TlsOptions) -> String {
    let error = Server::start(Options { tls: Some(tls), ..options() }).unwrap_err().to_string();
    assert!(!error.contains('\n') && error.len() < 200, "{error}");
    error
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let (one, other) = (pair(), pair());
    let right = Identity::from_pem(one.certificate.as_bytes(), one.key.as_bytes()).unwrap();
    assert_eq!(TlsOptions::new(right).check(), Ok(()));
    let wrong = Identity::from_pem(one.certificate.as_bytes(), other.key.as_bytes()).unwrap();
    assert!(refused(TlsOptions::new(wrong)).contains("does not match the certificate"));
}

#[test]
fn files_that_hold_something_else_are_refused() {
    let Pair { certificate, key } = pair();
    let not_pem = Identity::from_pem(b"hello", key.as_bytes()).unwrap_err();
    assert!(not_pem.contains("BEGIN CERTIFICATE"), "{not_pem}");
    let no_key = Identity::from_pem(certificate.as_bytes(), certificate.as_bytes()).unwrap_err();
    assert!(no_key.contains("BEGIN PRIVATE KEY"), "{no_key}");
    let broken = certificate.replace("M", "!");
    assert!(Identity::from_pem(broken.as_bytes(), key.as_bytes()).is_err());
    let text = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    let no_certificate = Identity::from_pem(text.as_bytes(), key.as_bytes()).unwrap();
    assert!(refused(TlsOptions::new(no_certificate)).contains("certificate cannot be used"));
}

#[test]
fn versions_and_authorities_have_to_make_sense() {
    let own = TlsOptions::new(identity(&options()).clone());
    let none = TlsOptions { min: TlsVersion::Tls13, max: TlsVersion::Tls12, ..own.clone() };
    assert!(refused(none).contains("swap the two"));
    let empty = TlsOptions { client_authorities: Some(b"nothing".to_vec()), ..own };
    assert!(refused(empty).contains("CA certificates for clients"));
}

#[test]
fn a_stack_that_a_handshake_would_overflow_is_refused() {
    let fibers = FiberOptions { stack_bytes: 32 * 1024, ..FiberOptions::default() };
    for model in [Model::FiberAsm, Model::FiberUcontext, Model::Blocking] {
        let error = Server::start(Options { model, fibers, ..options() }).unwrap_err().to_string();
        assert!(error.contains("64 KiB"), "{model}: {error}");
    }
}

#[test]
fn raw_refuses_with_the_reason() {
    let error = Server::start(Options { model: Model::Raw, ..options() }).unwrap_err().to_string();
    assert!(error.contains("does not support TLS"), "{error}");
}
