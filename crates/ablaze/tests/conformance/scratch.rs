//! A server's folder: certificates, the files it serves, its log. It goes with the test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// What `/small` and `/large` are.
pub const SMALL: &[u8] = b"Hello, World!!\n";
pub const LARGE_BYTES: usize = 1 << 20;

/// The folder.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ablaze-conformance-{}-{number}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let files = folder.join("files");
        std::fs::create_dir_all(&files).unwrap();
        std::fs::write(files.join("small"), SMALL).unwrap();
        let large: Vec<u8> = (0..LARGE_BYTES).map(|at| (at % 251) as u8).collect();
        std::fs::write(files.join("large"), large).unwrap();
        write_certificates(&folder);
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it, as a word.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.file(name)
    }

    /// What a log says; nothing if there is none.
    pub fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.0.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A port nobody listens on; most servers cannot be asked which they took.
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
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
