//! From what was asked about TLS to what the Plan says of it: files are read, names looked up.

use std::path::{Path, PathBuf};

use ablaze_engine::transport::tls::{Shared, pem};
use ablaze_model::plan::tls::{Identity, PrivateKey, Tls, TlsVersion, Trust};
use ablaze_model::plan::tls_names::{GROUPS, SUITES, group_named, suite_named};
use ablaze_report::system_error::reason;

use crate::Refusal;

/// What was asked about TLS.
#[derive(Debug, Clone, Default)]
pub struct TlsAsked {
    /// Accept any certificate.
    pub insecure: bool,
    /// Certificates to trust instead of the system's, PEM.
    pub cacert: Option<PathBuf>,
    /// The client's certificate, PEM; its key too, where `key` is not given.
    pub cert: Option<PathBuf>,
    /// The key of the client's certificate, PEM.
    pub key: Option<PathBuf>,
    /// Name to send and to verify instead of the URL's host; `none` sends none.
    pub sni: Option<String>,
    /// Oldest version.
    pub oldest: Option<TlsVersion>,
    /// Newest version.
    pub newest: Option<TlsVersion>,
    /// Names of cipher suites.
    pub suites: Option<String>,
    /// Names of groups.
    pub groups: Option<String>,
    /// Resume sessions.
    pub resume: bool,
    /// Application protocols to offer.
    pub protocols: Vec<String>,
}

impl TlsAsked {
    /// Whether anything was asked.
    pub fn is_asked(&self) -> bool {
        self.insecure
            || self.resume
            || self.oldest.is_some()
            || self.newest.is_some()
            || [&self.sni, &self.suites, &self.groups].iter().any(|text| text.is_some())
            || [&self.cacert, &self.cert, &self.key].iter().any(|path| path.is_some())
    }

    /// What the Plan says, for a server of this name.
    ///
    /// # Errors
    /// When a file cannot be used, a name is unknown, or nothing is left to offer.
    pub fn plan(&self, host: &str) -> Result<Tls, Refusal> {
        let mut tls = Tls::new(host);
        match self.sni.as_deref() {
            Some("none") => tls.send_server_name = false,
            Some(name) => tls.server_name = name.to_owned(),
            None => {}
        }
        tls.trust = match (&self.cacert, self.insecure) {
            (_, true) => Trust::Anyone,
            (Some(path), false) => Trust::Issuers(certificates(path, "--cacert")?),
            (None, false) => Trust::System,
        };
        tls.identity = self.identity()?;
        tls.oldest = self.oldest.unwrap_or(tls.oldest);
        tls.newest = self.newest.unwrap_or(tls.newest);
        tls.suites = self.suites.as_deref().map_or(Ok(Vec::new()), suites)?;
        tls.groups = self.groups.as_deref().map_or(Ok(Vec::new()), groups)?;
        tls.resume = self.resume;
        tls.protocols.clone_from(&self.protocols);
        check(&tls)?;
        Ok(tls)
    }

    fn identity(&self) -> Result<Option<Identity>, Refusal> {
        let (cert, key) = match (&self.cert, &self.key) {
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                return Err(Refusal::usage(
                    "--key needs the certificate it belongs to: --cert FILE",
                ));
            }
            (Some(cert), key) => (cert, key.as_ref().unwrap_or(cert)),
        };
        let chain = certificates(cert, "--cert")?;
        let missing = || {
            Refusal::usage(format!(
                "{} has no private key in PEM: give it with --key",
                key.display()
            ))
        };
        let der = pem::private_key(&read(key, "--key")?)
            .map_err(|error| unreadable(key, "--key", &error))?
            .ok_or_else(missing)?;
        Ok(Some(Identity { chain, key: PrivateKey { der } }))
    }
}

/// Whether connections can be made as the Plan says.
///
/// # Errors
/// When they cannot.
pub fn check(tls: &Tls) -> Result<(), Refusal> {
    Shared::new(tls).map(drop).map_err(|error| Refusal::usage(error.to_string()))
}

/// The certificates of a PEM file.
///
/// # Errors
/// When it cannot be read, or has none.
pub fn certificates(path: &Path, option: &str) -> Result<Vec<Vec<u8>>, Refusal> {
    let found = pem::certificates(&read(path, option)?)
        .map_err(|error| unreadable(path, option, &error))?;
    if found.is_empty() {
        return Err(unreadable(path, option, "it has no certificate in PEM"));
    }
    Ok(found)
}

fn read(path: &Path, option: &str) -> Result<Vec<u8>, Refusal> {
    std::fs::read(path).map_err(|error| unreadable(path, option, &reason(&error)))
}

fn unreadable(path: &Path, option: &str, why: &str) -> Refusal {
    Refusal::usage(format!("{option} {} cannot be used: {why}", path.display()))
}

/// Numbers of suites, from names with commas or colons between them.
///
/// # Errors
/// For a name that is none, with those that there are.
pub fn suites(text: &str) -> Result<Vec<u16>, Refusal> {
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
pub fn groups(text: &str) -> Result<Vec<u16>, Refusal> {
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
) -> Result<Vec<u16>, Refusal> {
    text.split([',', ':'])
        .map(|name| {
            let name = name.trim();
            number(name).ok_or_else(|| {
                Refusal::usage(format!(
                    "{option} `{name}` is not spoken here: give some of {}",
                    known().join(", ")
                ))
            })
        })
        .collect()
}
