//! From what was asked about TLS to what the Plan says of it: files are read, names looked up.

use std::path::Path;

use ablaze_engine::transport::tls::{Shared, pem};
use ablaze_model::plan::tls::{Identity, PrivateKey, Tls, Trust};
use ablaze_model::plan::tls_names::{GROUPS, SUITES, group_named, suite_named};
use ablaze_model::spec::{Blob, Secrets, TlsSpec, TrustSpec};
use ablaze_report::system_error::reason;

use crate::Error;

/// What the Plan says, for a server of this name and this application protocol.
///
/// # Errors
/// When the client's key or a file was not handed over, a file has no certificate, or nothing is left
/// to offer.
pub fn resolve(
    spec: &TlsSpec,
    host: &str,
    protocol: Option<&str>,
    secrets: &Secrets,
) -> Result<Tls, Error> {
    let mut tls = Tls::new(spec.server_name.as_deref().unwrap_or(host));
    tls.send_server_name = spec.send_server_name;
    tls.trust = match &spec.trust {
        TrustSpec::System => Trust::System,
        TrustSpec::Anyone => Trust::Anyone,
        TrustSpec::Issuers(file) => Trust::Issuers(certificates(file, "--cacert")?),
    };
    tls.identity = spec.identity.as_ref().map(|of| secrets.identity(of).cloned()).transpose()?;
    tls.oldest = spec.oldest.unwrap_or(tls.oldest);
    tls.newest = spec.newest.unwrap_or(tls.newest);
    tls.suites.clone_from(&spec.suites);
    tls.groups.clone_from(&spec.groups);
    tls.resume = spec.resume;
    tls.list_messages = spec.list_messages;
    let protocol = protocol.filter(|_| spec.offer_protocol);
    tls.protocols = protocol.map(str::to_owned).into_iter().collect();
    check(&tls)?;
    Ok(tls)
}

/// A client's certificate and its key, PEM, in two files or in one.
///
/// # Errors
/// When one cannot be read, or has not what it should have.
pub fn identity(cert: Option<&Path>, key: Option<&Path>) -> Result<Option<Identity>, Error> {
    let (cert, key) = match (cert, key) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            return Err(Error::usage("--key requires its certificate: add --cert FILE"));
        }
        (Some(cert), key) => (cert, key.unwrap_or(cert)),
    };
    let chain = certificates(&file(cert, "--cert")?, "--cert")?;
    let missing =
        || Error::usage(format!("{} contains no private key (PEM): use --key FILE", key.display()));
    let name = key.display().to_string();
    let der = pem::private_key(&read(key, "--key")?)
        .map_err(|error| unreadable(&name, "--key", &error))?
        .ok_or_else(missing)?;
    Ok(Some(Identity { chain, key: PrivateKey { der } }))
}

/// Whether connections can be made as the Plan says.
///
/// # Errors
/// When they cannot.
pub fn check(tls: &Tls) -> Result<(), Error> {
    Shared::new(tls).map(drop).map_err(|error| Error::usage(error.to_string()))
}

/// A PEM file that an option names.
///
/// # Errors
/// When it cannot be read.
pub fn file(path: &Path, option: &str) -> Result<Blob, Error> {
    Ok(Blob::new(path.display().to_string(), read(path, option)?))
}

/// The certificates of a PEM file.
fn certificates(file: &Blob, option: &str) -> Result<Vec<Vec<u8>>, Error> {
    let found =
        pem::certificates(file.bytes()?).map_err(|error| unreadable(&file.name, option, &error))?;
    if found.is_empty() {
        return Err(unreadable(&file.name, option, "it contains no certificate (PEM)"));
    }
    Ok(found)
}

fn read(path: &Path, option: &str) -> Result<Vec<u8>, Error> {
    std::fs::read(path)
        .map_err(|error| unreadable(&path.display().to_string(), option, &reason(&error)))
}

fn unreadable(name: &str, option: &str, why: &str) -> Error {
    Error::usage(format!("cannot use {option} {name}: {why}"))
}

/// Numbers of suites, from names with commas or colons between them.
///
/// # Errors
/// For a name that is none, with those that there are.
pub fn suites(text: &str) -> Result<Vec<u16>, Error> {
    named(
        text,
        "--tls-ciphers",
        |name| suite_named(name).map(|suite| suite.number),
        || SUITES.iter().map(|suite| suite.name).collect(),
    )
}

/// Numbers of groups, from names with commas or colons between them.
///
/// # Errors
/// For a name that is none, with those that there are.
pub fn groups(text: &str) -> Result<Vec<u16>, Error> {
    named(
        text,
        "--tls-groups",
        |name| group_named(name).map(|group| group.number),
        || GROUPS.iter().map(|group| group.name).collect(),
    )
}

fn named(
    text: &str,
    option: &str,
    number: impl Fn(&str) -> Option<u16>,
    known: impl Fn() -> Vec<&'static str>,
) -> Result<Vec<u16>, Error> {
    text.split([',', ':'])
        .map(|name| {
            let name = name.trim();
            number(name).ok_or_else(|| {
                Error::usage(format!(
                    "{option} `{name}` is not supported: use some of {}",
                    known().join(", ")
                ))
            })
        })
        .collect()
}
