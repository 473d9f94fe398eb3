//! From an assignment to what a worker resolves: its part of the load, with the files and the secrets that came along.

use ablaze_fleet::message::{Assignment, Identity};
use ablaze_model::plan::tls::{Identity as ClientIdentity, PrivateKey};
use ablaze_model::spec::{LoadSpec, Secret, Secrets};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::CommandError;

/// A worker's share of a load.
pub struct Share {
    /// Its part of the load.
    pub spec: LoadSpec,
    /// What that refers to.
    pub secrets: Secrets,
}

impl Share {
    /// What was assigned.
    ///
    /// # Errors
    /// When there is less of something than there are workers, or the bytes of a file are missing or others.
    pub fn of(assignment: Assignment) -> Result<Self, CommandError> {
        let Assignment { index, of, mut load, files, secrets: texts, identities, .. } = assignment;
        for blob in load.blobs_mut() {
            if let Some(text) = files.get(&blob.sha256) {
                blob.attach(decoded(text, "a file")?)?;
            }
        }
        let mut secrets = Secrets::default();
        for (name, text) in texts {
            secrets.keep_text(&name, text);
        }
        for (name, identity) in identities {
            secrets.keep(&name, Secret::Identity(client_identity(&identity)?));
        }
        let spec = load.shard(index, of).map_err(|error| CommandError::usage(error.to_string()))?;
        Ok(Self { spec, secrets })
    }
}

fn client_identity(identity: &Identity) -> Result<ClientIdentity, CommandError> {
    let chain = identity.chain.iter().map(|text| decoded(text, "a certificate"));
    Ok(ClientIdentity {
        chain: chain.collect::<Result<_, _>>()?,
        key: PrivateKey { der: decoded(&identity.key, "a private key")? },
    })
}

fn decoded(text: &str, what: &str) -> Result<Vec<u8>, CommandError> {
    STANDARD
        .decode(text)
        .map_err(|_| CommandError::usage(format!("{what} of the assignment is not base64")))
}
