//! TLS and HTTP/2 of the targets that are started here: all of them show the one certificate that is
//! made for the experiment, and the tester is told whom to trust for it.

use std::cell::OnceCell;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ablaze_report::system_error::reason;
use ablaze_target::tls::Identity;
use serde::{Deserialize, Serialize};

use super::{Source, Subject};

/// Stand for the files of the certificate and its key in commands that start servers.
const PLACES: [&str; 2] = ["{cert}", "{key}"];

/// What targets that are started here are to speak beside plain HTTP/1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Speaks {
    /// TLS, all of them.
    pub https: bool,
    /// HTTP/2.
    pub http2: bool,
}

impl Speaks {
    /// TLS as told, HTTP/2 if one of these options of loads asks for it.
    pub fn of<'a>(https: bool, options: impl IntoIterator<Item = &'a String>) -> Self {
        let mut before = "";
        let asks = |word: &'a String| {
            let before = std::mem::replace(&mut before, word);
            word == "--http=2" || (before == "--http" && word == "2")
        };
        Self { https, http2: options.into_iter().any(asks) }
    }
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
    pub fn files(&self, folder: &Path) -> Result<&Files, String> {
        if self.0.get().is_none() {
            let files = made(folder)?;
            // Nobody else has it: a cell is not shared between threads.
            let _ = self.0.set(files);
        }
        self.0.get().ok_or_else(|| "no certificate was made".to_owned())
    }
}

fn made(folder: &Path) -> Result<Files, String> {
    let identity = Identity::self_made(&[])?;
    let pem = identity.pem().ok_or("a certificate made here has no text")?;
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

impl Subject {
    /// Whether it speaks TLS, as far as its words tell. A control does what the others do.
    pub fn is_secure(&self, speaks: Speaks) -> bool {
        match &self.source {
            Source::Url(url) => url.starts_with("https://"),
            Source::Model(words) => speaks.https || words.iter().any(|word| asks_for_tls(word)),
            Source::Command(line) => speaks.https || shows_our_certificate(line),
            Source::Nginx { .. } => speaks.https,
            Source::Saved(_) => false,
        }
    }
}

/// What a control is to speak beside these: TLS if all of them do.
pub fn of_control(others: &[Subject], speaks: Speaks) -> Speaks {
    let mut others = others
        .iter()
        .filter(|other| !matches!(other.source, Source::Nginx { .. } | Source::Saved(_)))
        .peekable();
    let https =
        speaks.https || (others.peek().is_some() && others.all(|other| other.is_secure(speaks)));
    Speaks { https, ..speaks }
}

/// The words behind `ablaze serve` of a model that is to speak so. Its certificate comes last.
pub fn model_words(words: &[String], speaks: Speaks) -> Vec<String> {
    let mut words = words.to_vec();
    let says = |words: &[String], option: &str| {
        words.iter().any(|word| word == option || word.starts_with(&format!("{option}=")))
    };
    if speaks.https && !says(&words, "--tls") {
        words.push("--tls".to_owned());
    }
    if speaks.http2 && !says(&words, "--http") {
        words.extend(["--http", "2"].map(str::to_owned));
    }
    words
}

/// Whether a model that speaks TLS has no certificate of its own.
pub fn needs_certificate(words: &[String]) -> bool {
    let own = ["--tls-cert", "--tls-ca-out"];
    words.iter().any(|word| asks_for_tls(word))
        && !words.iter().any(|word| own.iter().any(|own| word.starts_with(own)))
}

fn asks_for_tls(word: &str) -> bool {
    word == "--tls" || word.starts_with("--tls-")
}

/// Whether a command is told where our certificate is.
pub fn shows_our_certificate(line: &str) -> bool {
    PLACES.iter().any(|place| line.contains(place))
}

/// A command with the files in their places.
pub fn with_certificate(line: &str, files: &Files) -> String {
    let [certificate, key] = PLACES;
    line.replace(certificate, &quoted(&files.certificate)).replace(key, &quoted(&files.key))
}

/// As one word for sh(1).
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// Options of `ablaze load` for a target that shows a certificate of this authority: whoever else was
/// to be trusted is for other targets. Who wants nothing verified gets that.
pub fn trusting(options: &[String], authority: Option<&Path>) -> Vec<String> {
    let Some(authority) = authority else { return options.to_vec() };
    if options.iter().any(|word| word == "--insecure" || word == "-k") {
        return options.to_vec();
    }
    let mut trusting = Vec::with_capacity(options.len() + 2);
    let mut words = options.iter();
    while let Some(word) = words.next() {
        if word == "--cacert" {
            words.next();
        } else if !word.starts_with("--cacert=") {
            trusting.push(word.clone());
        }
    }
    trusting.extend(["--cacert".to_owned(), authority.display().to_string()]);
    trusting
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn subject(text: &str) -> Subject {
        Subject::read(text).unwrap()
    }

    const HTTPS: Speaks = Speaks { https: true, http2: false };
    const PLAIN: Speaks = Speaks { https: false, http2: false };

    #[test]
    fn a_target_speaks_tls_by_its_own_words_or_by_those_for_all() {
        assert!(!subject("serve:epoll-et").is_secure(PLAIN));
        assert!(subject("serve:epoll-et").is_secure(HTTPS));
        assert!(subject("serve:epoll-et,tls").is_secure(PLAIN));
        assert!(subject("serve:epoll-et,tls-max=1.2").is_secure(PLAIN));
        assert!(subject("https://h/").is_secure(PLAIN));
        assert!(!subject("http://h/").is_secure(HTTPS), "it runs already");
        let started = |line: &str| Subject::started_by(line).unwrap();
        assert!(started("mine=./server {port} {cert} {key}").is_secure(PLAIN));
        assert!(!started("mine=./server {port}").is_secure(PLAIN));
    }

    #[test]
    fn http2_is_spoken_where_a_load_asks_for_it() {
        let of = |line: &str| Speaks::of(false, &words(line)).http2;
        assert!(of("--connections 2 --http 2") && of("--http=2"));
        assert!(!of("--connections 2 --http 1.1") && !of("--http-version 2") && !of(""));
    }

    #[test]
    fn a_control_speaks_tls_where_all_others_do() {
        let of = |texts: &[&str]| {
            let mut subjects: Vec<_> = texts.iter().map(|text| subject(text)).collect();
            subjects.push(Subject::new("nginx", Source::Nginx { workers: 1 }));
            of_control(&subjects, PLAIN).https
        };
        assert!(of(&["serve:epoll-et,tls", "https://h/"]));
        assert!(!of(&["serve:epoll-et,tls", "serve:epoll-et"]));
        assert!(!of(&[]));
    }

    #[test]
    fn a_model_is_told_what_it_does_not_say_itself() {
        let speaks = Speaks { https: true, http2: true };
        let told = |line: &str| model_words(&words(line), speaks).join(" ");
        assert_eq!(told("--model async"), "--model async --tls --http 2");
        assert_eq!(told("--tls --http 1.1"), "--tls --http 1.1");
        assert!(needs_certificate(&words("--model async --tls")));
        assert!(!needs_certificate(&words("--tls-cert a --tls-key b")));
        assert!(!needs_certificate(&words("--model async")));
    }

    #[test]
    fn the_tester_trusts_who_signed_for_targets_started_here() {
        let authority = Path::new("/a/authority.pem");
        let trusted = |line: &str| trusting(&words(line), Some(authority)).join(" ");
        assert_eq!(trusted("--connections 5"), "--connections 5 --cacert /a/authority.pem");
        assert_eq!(trusted("--cacert b --http 2"), "--http 2 --cacert /a/authority.pem");
        assert_eq!(trusted("--insecure"), "--insecure");
        assert_eq!(trusting(&words("--cacert b"), None), words("--cacert b"));
    }

    #[test]
    fn a_command_gets_the_files_as_words() {
        let file = |name: &str| PathBuf::from(format!("/it's/{name}"));
        let files = Files { certificate: file("c"), key: file("k"), authority: file("a") };
        let line = with_certificate("./server --cert={cert} {key}", &files);
        assert_eq!(line, r"./server --cert='/it'\''s/c' '/it'\''s/k'");
    }
}
