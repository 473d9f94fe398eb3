//! TLS and HTTP/2 of the targets that are started here: all of them show the one certificate that is
//! made for the experiment, and the client trusts its authority.

use std::cell::OnceCell;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ablaze_model::LoadSpec;
use ablaze_model::spec::target::CERTIFICATE_PLACES;
use ablaze_model::spec::{ModelSpec, TargetSpec};
use ablaze_report::system_error::reason;
use serde::{Deserialize, Serialize};

use super::Target;

/// What targets that are started here are to speak beside plain HTTP/1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Speaks {
    /// TLS, all of them.
    pub https: bool,
    /// HTTP/2.
    pub http2: bool,
}

impl Speaks {
    /// TLS as told, HTTP/2 if one of these loads asks for it.
    pub fn of<'a>(https: bool, loads: impl IntoIterator<Item = &'a LoadSpec>) -> Self {
        Self { https, http2: loads.into_iter().any(LoadSpec::is_http2) }
    }
}

/// This program, for what is started here.
#[derive(Debug, Clone)]
pub struct ThisProgram {
    /// Its file, whose `serve` runs the built-in models.
    pub file: PathBuf,
    /// Makes a certificate for the usual names of this machine.
    pub issue: Issue,
}

impl ThisProgram {
    /// For what is only looked at: it starts nothing.
    pub fn nowhere() -> Self {
        Self { file: PathBuf::new(), issue: || Err("no certificate is issued here".to_owned()) }
    }
}

/// Makes a certificate with its key, and an authority that signs it; the error is one sentence.
pub type Issue = fn() -> Result<IssuedPem, String>;

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
    pub fn files(&self, folder: &Path, issue: Issue) -> Result<&Files, String> {
        if self.0.get().is_none() {
            let files = made(folder, issue)?;
            // Nobody else has it: a cell is not shared between threads.
            let _ = self.0.set(files);
        }
        self.0.get().ok_or_else(|| "no certificate was generated".to_owned())
    }
}

fn made(folder: &Path, issue: Issue) -> Result<Files, String> {
    let pem = issue()?;
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

impl Target {
    /// Whether it speaks TLS, as far as its words tell. A control does what the others do.
    pub fn is_secure(&self, speaks: Speaks) -> bool {
        match &self.source {
            TargetSpec::Url { url, .. } => url.https,
            TargetSpec::Model(model) => speaks.https || model.tls,
            TargetSpec::Command(line) => speaks.https || shows_our_certificate(line),
            TargetSpec::Nginx { .. } => speaks.https,
            TargetSpec::Saved(_) => false,
        }
    }
}

/// What a control is to speak beside these: TLS if all of them do.
pub fn of_control(others: &[Target], speaks: Speaks) -> Speaks {
    let mut others = others
        .iter()
        .filter(|other| !matches!(other.source, TargetSpec::Nginx { .. } | TargetSpec::Saved(_)))
        .peekable();
    let https =
        speaks.https || (others.peek().is_some() && others.all(|other| other.is_secure(speaks)));
    Speaks { https, ..speaks }
}

/// The words behind `ablaze serve` of a model that is to speak so. Its certificate comes last.
pub fn model_words(model: &ModelSpec, speaks: Speaks) -> Vec<String> {
    let mut words = model.words();
    if speaks.https && !model.tls {
        words.push("--tls".to_owned());
    }
    if speaks.http2 && model.http.is_none() {
        words.extend(["--http", "2"].map(str::to_owned));
    }
    let says = |name: &str| model.options.iter().any(|option| option.name == name);
    if !says("threads") && !says("like") {
        words.extend(["--threads", "1"].map(str::to_owned));
    }
    words
}

/// Whether a model that is to speak so needs a certificate of ours.
pub fn needs_certificate(model: &ModelSpec, speaks: Speaks) -> bool {
    (model.tls || speaks.https) && !model.certificate
}

/// Whether a command is told where our certificate is.
pub fn shows_our_certificate(line: &str) -> bool {
    CERTIFICATE_PLACES.iter().any(|place| line.contains(place))
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
    use ablaze_model::spec::{HttpVersion, ModelOption, UrlSpec};

    fn model(options: &[(&str, Option<&str>)]) -> ModelSpec {
        let option = |(name, value): &(&str, Option<&str>)| ModelOption {
            name: (*name).to_owned(),
            value: value.map(str::to_owned),
        };
        let says = |wanted: &str| options.iter().any(|(name, _)| *name == wanted);
        ModelSpec {
            options: options.iter().map(option).collect(),
            tls: says("tls"),
            certificate: says("tls-cert"),
            http: says("http").then_some(HttpVersion::Http11),
            ..ModelSpec::default()
        }
    }

    fn target(source: TargetSpec) -> Target {
        Target::new("x", source)
    }

    fn serve(options: &[(&str, Option<&str>)]) -> Target {
        target(TargetSpec::Model(model(options)))
    }

    fn running(url: &str) -> Target {
        let (url, _) = UrlSpec::parse(url).unwrap();
        target(TargetSpec::Url { url, user: None })
    }

    const HTTPS: Speaks = Speaks { https: true, http2: false };
    const PLAIN: Speaks = Speaks { https: false, http2: false };

    #[test]
    fn a_target_speaks_tls_by_its_own_words_or_by_those_for_all() {
        assert!(!serve(&[]).is_secure(PLAIN));
        assert!(serve(&[]).is_secure(HTTPS));
        assert!(serve(&[("tls", None)]).is_secure(PLAIN));
        assert!(running("https://h/").is_secure(PLAIN));
        assert!(!running("http://h/").is_secure(HTTPS), "it runs already");
        let started = |line: &str| target(TargetSpec::Command(line.to_owned()));
        assert!(started("./server {port} {cert} {key}").is_secure(PLAIN));
        assert!(!started("./server {port}").is_secure(PLAIN));
    }

    #[test]
    fn http2_is_spoken_where_a_load_asks_for_it() {
        let of = |http| Speaks::of(false, [&LoadSpec { http, ..LoadSpec::default() }]).http2;
        assert!(of(Some(HttpVersion::Http2)));
        assert!(!of(Some(HttpVersion::Http11)) && !of(None));
    }

    #[test]
    fn a_control_speaks_tls_where_all_others_do() {
        let of = |mut targets: Vec<Target>| {
            targets.push(target(TargetSpec::Nginx { workers: 1 }));
            of_control(&targets, PLAIN).https
        };
        assert!(of(vec![serve(&[("tls", None)]), running("https://h/")]));
        assert!(!of(vec![serve(&[("tls", None)]), serve(&[])]));
        assert!(!of(Vec::new()));
    }

    #[test]
    fn a_model_is_told_what_it_does_not_say_itself() {
        let speaks = Speaks { https: true, http2: true };
        let told =
            |options: &[(&str, Option<&str>)]| model_words(&model(options), speaks).join(" ");
        let name = ("model", Some("async"));
        assert_eq!(told(&[name]), "--model async --tls --http 2 --threads 1");
        let own = [("tls", None), ("http", Some("1.1")), ("like", Some("muduo"))];
        assert_eq!(told(&own), "--tls --http 1.1 --like muduo");
        assert!(needs_certificate(&model(&[("tls", None)]), PLAIN));
        assert!(needs_certificate(&model(&[]), HTTPS));
        assert!(!needs_certificate(&model(&[("tls", None), ("tls-cert", Some("a"))]), PLAIN));
        assert!(!needs_certificate(&model(&[name]), PLAIN));
    }

    #[test]
    fn a_command_gets_the_files_as_words() {
        let file = |name: &str| PathBuf::from(format!("/it's/{name}"));
        let files = Files { certificate: file("c"), key: file("k"), authority: file("a") };
        let line = with_certificate("./server --cert={cert} {key}", &files);
        assert_eq!(line, r"./server --cert='/it'\''s/c' '/it'\''s/k'");
    }
}
