//! A file that a spec names: its name and what tells whether it is still the same. The bytes travel
//! beside the spec, never in it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A file. Two are equal if name and contents are.
#[derive(Clone, Serialize, Deserialize)]
pub struct Blob {
    /// As it was written on the command line or in the file of an experiment.
    pub name: String,
    /// SHA-256 of its bytes (FIPS 180-4), 64 hex digits.
    pub sha256: String,
    /// The number of its bytes.
    pub length_bytes: u64,
    #[serde(skip)]
    bytes: Option<Arc<[u8]>>,
}

/// Why the bytes of a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// They are not here.
    #[error(
        "the bytes of the file `{0}` are missing from the load that names it: pass the file along"
    )]
    Missing(String),
    /// They are others.
    #[error(
        "the file `{name}` has changed: its SHA-256 was {before} and is {now}; restore the old \
         file, or start over"
    )]
    Changed {
        /// The file.
        name: String,
        /// SHA-256 that the spec says.
        before: String,
        /// SHA-256 of these bytes.
        now: String,
    },
}

impl Blob {
    /// A file with these bytes.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let (sha256, length_bytes) = (hex(&Sha256::digest(&bytes)), bytes.len() as u64);
        Self { name: name.into(), sha256, length_bytes, bytes: Some(bytes.into()) }
    }

    /// Its bytes.
    ///
    /// # Errors
    /// When they are not here: a spec that was read back has none until they are attached.
    pub fn bytes(&self) -> Result<&[u8], BlobError> {
        self.bytes.as_deref().ok_or_else(|| BlobError::Missing(self.name.clone()))
    }

    /// The same, to keep them without a copy.
    ///
    /// # Errors
    /// As above.
    pub fn shared(&self) -> Result<Arc<[u8]>, BlobError> {
        self.bytes.clone().ok_or_else(|| BlobError::Missing(self.name.clone()))
    }

    /// Leaves only what tells whether a file is the same.
    pub(super) fn leave_bytes(&mut self) {
        self.bytes = None;
    }

    /// Puts the bytes beside it.
    ///
    /// # Errors
    /// When they are others than it was made from.
    pub fn attach(&mut self, bytes: Vec<u8>) -> Result<(), BlobError> {
        let now = hex(&Sha256::digest(&bytes));
        if now != self.sha256 {
            let (name, before) = (self.name.clone(), self.sha256.clone());
            return Err(BlobError::Changed { name, before, now });
        }
        self.bytes = Some(bytes.into());
        Ok(())
    }
}

impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.sha256 == other.sha256
    }
}

impl Eq for Blob {}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({}, {} bytes, sha256 {})", self.name, self.length_bytes, self.sha256)
    }
}

/// Bytes as lower-case hex digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes from hex digits; `None` if they are none.
pub(super) fn unhex(digits: &str) -> Option<Vec<u8>> {
    let nibbles: Vec<u8> =
        digits.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let pairs = nibbles.chunks_exact(2);
    pairs.remainder().is_empty().then(|| pairs.map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::Blob;

    /// NIST's examples for FIPS 180-4: files of saved experiments are called by these digits.
    #[test]
    fn digests_are_those_of_the_standard() {
        let of = |bytes: &[u8]| Blob::new("a file", bytes.to_vec()).sha256;
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of(b"abc"), abc);
        let none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of(b""), none);
        let two = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
        assert_eq!(of(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), two);
    }
}
