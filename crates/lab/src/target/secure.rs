//! TLS, HTTP/2 and HTTP/3 of the targets that are started here: all of them show the one certificate that is
//! made for the experiment, and the client trusts its authority.

use std::cell::OnceCell;
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ablaze_model::experiment::Speaks;
use ablaze_model::spec::ModelSpec;
use ablaze_model::spec::target::CERTIFICATE_PLACES;
use ablaze_report::system_error::reason;

/// This program, for what is started here.
#[derive(Debug, Clone)]
pub struct ThisProgram {
    /// Its file, whose `serve` runs the built-in models.
    pub file: PathBuf,
    /// Makes a certificate for the usual names of this machine, and an address.
    pub issue: Issue,
}

impl ThisProgram {
    /// For what is only looked at: it starts nothing.
    pub fn nowhere() -> Self {
        Self { file: PathBuf::new(), issue: |_| Err("no certificate is issued here".to_owned()) }
    }
}

/// Makes a certificate with its key for an address of this machine, and an authority that signs it; the error is one sentence.
pub type Issue = fn(IpAddr) -> Result<IssuedPem, String>;

/// A certificate with what belongs to it, all PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedPem {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// The certificate of who signed it.
    pub authority: String,
}

/// The certificate of an experiment, made when the first target needs it.
#[derive(Debug, Clone, Default)]
pub struct Certificate(OnceCell<Files>);

/// Its files, all PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The certificate of who signed it.
    pub authority: PathBuf,
}

impl Certificate {
    /// Its files in this folder.
    ///
    /// # Errors
    /// One sentence, when they cannot be made or written.
    pub fn files(&self, folder: &Path, issue: Issue, address: IpAddr) -> Result<&Files, String> {
        if self.0.get().is_none() {
            let files = made(folder, issue, address)?;
            // Nobody else has it: a cell is not shared between threads.
            let _ = self.0.set(files);
        }
        self.0.get().ok_or_else(|| "no certificate was generated".to_owned())
    }
}

fn made(folder: &Path, issue: Issue, address: IpAddr) -> Result<Files, String> {
    let pem = issue(address)?;
    let failed =
        |path: &Path, error: &std::io::Error| format!("{}: {}", path.display(), reason(error));
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let kept = |name: &str, text: &str| {
        let path = folder.join(name);
        private(&path, text).map_err(|error| failed(&path, &error)).map(|()| path)
    };
    Ok(Files {
        certificate: kept("certificate.pem", &pem.certificate)?,
        key: kept("key.pem", &pem.key)?,
        authority: kept("authority.pem", &pem.authority)?,
    })
}

/// Writes a file that others cannot read: a new one, whatever is in its place.
fn private(path: &Path, text: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// Whether a model that is to speak so needs a certificate of ours.
pub fn needs_certificate(model: &ModelSpec, speaks: Speaks) -> bool {
    (model.speaks_tls() || speaks.https || speaks.http3) && !model.has_certificate()
}

/// A command with the files in their places.
pub fn with_certificate(line: &str, files: &Files) -> String {
    let [certificate, key] = CERTIFICATE_PLACES;
    line.replace(certificate, &quoted(&files.certificate)).replace(key, &quoted(&files.key))
}

/// As one word for sh(1).
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A built-in server that speaks TLS.
    fn secure() -> ModelSpec {
        let mut model = ModelSpec::default();
        model.tls.on = true;
        model
    }

    const HTTPS: Speaks = Speaks { https: true, http2: false, http3: false };
    const PLAIN: Speaks = Speaks { https: false, http2: false, http3: false };

    #[test]
    fn a_model_without_a_certificate_of_its_own_needs_one() {
        let plain = ModelSpec::default();
        assert!(needs_certificate(&secure(), PLAIN) && needs_certificate(&plain, HTTPS));
        let mut own = secure();
        own.tls.certificate = Some("a".into());
        assert!(!needs_certificate(&own, PLAIN) && !needs_certificate(&plain, PLAIN));
    }

    #[test]
    fn a_command_gets_the_files_as_words() {
        let file = |name: &str| PathBuf::from(format!("/it's/{name}"));
        let files = Files { certificate: file("c"), key: file("k"), authority: file("a") };
        let line = with_certificate("./server --cert={cert} {key}", &files);
        assert_eq!(line, r"./server --cert='/it'\''s/c' '/it'\''s/k'");
    }
}
