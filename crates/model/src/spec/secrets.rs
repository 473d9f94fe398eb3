//! Secrets: passwords, credentials, the key of a client. A spec only refers to them; whoever runs it is
//! handed them explicitly. They show nothing of themselves and are not saved.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::plan::tls::Identity;

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// Fields of a head whose values are credentials by the standards, as they are written there.
const SECRET_FIELDS: [&str; 3] = ["Authorization", "Proxy-Authorization", "Cookie"];

/// Parts of the names of fields whose values are credentials, whatever stands around them (`X-Api-Key`, `Proxy-Authorization`,
/// `X-Amz-Security-Token`). A value that is hidden for nothing costs a look at the own command; one that is shown may leave with
/// the report.
const SECRET_PARTS: [&str; 14] = [
    "auth",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "session",
    "signature",
    "apikey",
    "jwt",
    "csrf",
    "xsrf",
];

/// Whether the value of the field of this name is saved with no run, and stands in no sample nor in a command that is shown.
pub fn is_secret_field(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    // `:authority` is the host, and WWW-Authenticate says which credentials are asked for.
    let host = name.ends_with("authority") || name.ends_with("authenticate");
    let key = name.split(['-', '_', '.']).any(|part| part == "key");
    let idempotency = name == "idempotency-key" || name.starts_with("sec-websocket-");
    !host && !idempotency && (key || SECRET_PARTS.iter().any(|part| name.contains(part)))
}

/// A secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// A password, credentials, or a line of a head that has them.
    Text(String),
    /// A client's certificate with its private key.
    Identity(Identity),
}

/// The name of a secret, in a spec.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SecretRef {
    /// What [`Secrets`] call it.
    pub secret: String,
}

/// Secrets by name.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, Secret>);

/// A secret that a spec refers to was not handed over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the load needs the secret `{0}`, which is never saved: give it again")]
pub struct SecretMissing(pub String);

/// The name of the field, if a line of a head carries credentials.
pub fn secret_field(line: &[u8]) -> Option<String> {
    let name = line.split(|byte| *byte == b':').next()?.trim_ascii();
    let name = String::from_utf8_lossy(name);
    let usual = SECRET_FIELDS.into_iter().find(|field| name.eq_ignore_ascii_case(field));
    is_secret_field(&name).then(|| usual.map_or_else(|| name.into_owned(), str::to_owned))
}

impl Secrets {
    /// Keeps a secret, and gives what a spec refers to it by. Another one under the same name gets a
    /// number behind it; the same one, its first name.
    pub fn keep(&mut self, what: &str, secret: Secret) -> SecretRef {
        let mut name = what.to_owned();
        let mut number = 2;
        while self.0.get(&name).is_some_and(|other| *other != secret) {
            name = format!("{what} ({number})");
            number += 1;
        }
        self.0.insert(name.clone(), secret);
        SecretRef { secret: name }
    }

    /// The same for a text.
    pub fn keep_text(&mut self, what: &str, text: impl Into<String>) -> SecretRef {
        self.keep(what, Secret::Text(text.into()))
    }

    /// All of them by name, for whoever hands them to another machine.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.0.iter().map(|(name, secret)| (name.as_str(), secret))
    }

    /// The text that a spec refers to.
    ///
    /// # Errors
    /// When there is no such text.
    pub fn text(&self, of: &SecretRef) -> Result<&str, SecretMissing> {
        match self.0.get(&of.secret) {
            Some(Secret::Text(text)) => Ok(text),
            _ => Err(SecretMissing(of.secret.clone())),
        }
    }

    /// The client's certificate and key that a spec refers to.
    ///
    /// # Errors
    /// When there are none of this name.
    pub fn identity(&self, of: &SecretRef) -> Result<&Identity, SecretMissing> {
        match self.0.get(&of.secret) {
            Some(Secret::Identity(identity)) => Ok(identity),
            _ => Err(SecretMissing(of.secret.clone())),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter()).finish()
    }
}

impl Serialize for Secrets {
    /// The names, with nothing of the secrets.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.keys().map(|name| (name, HIDDEN)))
    }
}
