//! What each worker of a fleet is told to do: the whole load, its number, and what the load refers to.

use std::collections::BTreeMap;
use std::io::Read;

use ablaze_fleet::message::{Assignment, Files, Identity, VERSION};
use ablaze_model::LoadSpec;
use ablaze_model::spec::{Secret, Secrets};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::CommandError;

/// The assignments of these hosts.
///
/// # Errors
/// When there is less of something than there are hosts, or the bytes of a file are not here.
pub fn of(
    load: &LoadSpec,
    secrets: &Secrets,
    hosts: &[String],
    id: &str,
) -> Result<Vec<Assignment>, CommandError> {
    let of = hosts.len() as u32;
    super::check(load, of)?;
    let files = files(load)?;
    let (mut texts, mut identities) = (BTreeMap::new(), BTreeMap::new());
    for (name, secret) in secrets.all() {
        match secret {
            Secret::Text(text) => drop(texts.insert(name.to_owned(), text.clone())),
            Secret::Identity(identity) => {
                let chain = identity.chain.iter().map(|der| STANDARD.encode(der)).collect();
                let key = STANDARD.encode(&identity.key.der);
                identities.insert(name.to_owned(), Identity { chain, key });
            }
        }
    }
    let assignment = |(index, name): (usize, &String)| Assignment {
        version: VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        id: id.to_owned(),
        name: name.clone(),
        index: index as u32,
        of,
        load: load.clone(),
        files: files.clone(),
        secrets: texts.clone(),
        identities: identities.clone(),
    };
    Ok(hosts.iter().enumerate().map(assignment).collect())
}

/// The bytes of the files that the load names, by SHA-256, in base64.
fn files(load: &LoadSpec) -> Result<Files, CommandError> {
    let file =
        |blob: &ablaze_model::spec::Blob| Ok((blob.sha256.clone(), STANDARD.encode(blob.bytes()?)));
    load.blobs().into_iter().map(file).collect()
}

/// What tells this run from all others.
///
/// # Errors
/// When the system gives no random numbers.
pub fn random_id() -> Result<String, CommandError> {
    let mut bytes = [0; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| CommandError::machine(format!("cannot read /dev/urandom: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
