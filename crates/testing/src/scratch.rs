//! Files and folders of a test's own. No two are the same, whatever runs beside this test.

use std::ffi::OsStr;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A path in the folder for temporary files that no other test has.
fn unused(name: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("ablaze-test-{}-{number}-{name}", std::process::id()))
}

/// A folder that is empty at first and removed, with all that came into it, when this is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes it. The name is for people who look while the test runs.
    pub fn new(name: &str) -> Self {
        let path = unused(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Makes it with these files, in folders where their paths have some.
    pub fn tree(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = Self::new(name);
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it, as a word of a command line. Nothing is written.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file; its path as a word of a command line.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.0.join(name), content).unwrap();
        self.file(name)
    }

    /// What a file says, with what is not UTF-8 replaced; nothing if there is none.
    pub fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.0.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<OsStr> for Scratch {
    fn as_ref(&self) -> &OsStr {
        self.0.as_os_str()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The path of one file, which does not exist at first and is removed when this is dropped.
#[derive(Debug)]
pub struct ScratchFile(PathBuf);

impl ScratchFile {
    /// Chooses the path; nothing is written.
    pub fn new(name: &str) -> Self {
        Self(unused(name))
    }

    /// A file that holds this.
    pub fn with(name: &str, content: &[u8]) -> Self {
        let file = Self::new(name);
        fs::write(&file.0, content).unwrap();
        file
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The same, as a word of a command line.
    pub fn word(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// An empty folder that stays after the test, to be looked at: below `root`, which is
/// `env!("CARGO_TARGET_TMPDIR")`. The next run of the same test empties it.
pub fn kept(root: &str, name: &str) -> PathBuf {
    let path = Path::new(root).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_gone_with_its_owner_and_nobody_shares_it() {
        let (one, other) = (Scratch::new("same"), Scratch::new("same"));
        assert_ne!(one.path(), other.path());
        let written = one.write("text", "said");
        assert_eq!((one.read("text"), other.read("text")), ("said".into(), String::new()));
        let file = ScratchFile::with("same", b"bytes");
        let paths = [PathBuf::from(written), file.path().to_owned()];
        assert!(paths.iter().all(|path| path.is_file()));
        drop((one, file));
        assert!(paths.iter().all(|path| !path.exists()));
    }
}
