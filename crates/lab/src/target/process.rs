//! A target's process: started on processors of its own, waited for until it answers, watched, and
//! stopped with everything it started.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ablaze_model::experiment::{Speaks, Target, file_name};
use ablaze_model::spec::target::names_certificate;
use ablaze_model::spec::{ModelSpec, SecretRef, TargetSpec, UrlSpec};
use ablaze_report::system_error::reason;

use super::control::Listens;
use super::group::Process;
use super::secure::{self, Certificate, Files, ThisProgram};
use super::start_error::StartError;
use super::{Response, nginx_configuration, ready};

/// Where and how targets are started.
#[derive(Debug, Clone)]
pub struct Site {
    /// This program, whose `serve` runs the built-in models.
    pub program: ThisProgram,
    /// What is asked for of a target that is given without a URL: `/hello`.
    pub path: String,
    /// Processors for it; empty for any.
    pub cpus: Vec<u32>,
    /// A folder for what targets print, and for nginx.
    pub folder: PathBuf,
    /// A target that does not answer by then has failed.
    pub ready_within: Duration,
    /// What the control is to answer.
    pub response: Response,
    /// What it speaks.
    pub speaks: Speaks,
    /// The address of this machine at which they listen.
    pub address: IpAddr,
    /// Where commands are started; `None` for where this program runs.
    pub directory: Option<PathBuf>,
    /// What the control speaks.
    pub control_speaks: Speaks,
    /// What it shows if that is TLS.
    pub certificate: Certificate,
}

impl Site {
    fn files(&self, target: &Target) -> Result<&Files, StartError> {
        let files = self.certificate.files(&self.folder, self.program.issue, self.address);
        files.map_err(|why| StartError::NotStarted {
            what: target.name.clone(),
            why: format!("cannot make its certificate: {why}"),
        })
    }
}

/// A target that answers. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Serving {
    /// What to load.
    pub url: UrlSpec,
    /// Who asks, `name:password`, where the target says so.
    pub user: Option<SecretRef>,
    /// Who signed the certificate that it shows, as PEM, where that was made for it.
    pub authority: Option<PathBuf>,
    process: Option<Process>,
    /// Where a built-in server writes what it counted, as it ends.
    counters: Option<PathBuf>,
}

impl Serving {
    /// Starts the target, if it has to be started, and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be started, ends or stays silent.
    pub fn start(target: &Target, site: &Site) -> Result<Self, StartError> {
        match &target.source {
            TargetSpec::Url { url, user } => {
                let (url, user) = (url.clone(), user.clone());
                Ok(Self { url, user, authority: None, process: None, counters: None })
            }
            TargetSpec::Saved(_) => Err(StartError::NotStarted {
                what: target.name.clone(),
                why: "it is a saved run, not a server".to_owned(),
            }),
            TargetSpec::Model(of) => model(target, of, site),
            TargetSpec::Command(line) => command(target, line, site),
            TargetSpec::Nginx { workers } => nginx(target, *workers, site),
        }
    }

    /// One that runs already, for tests.
    #[cfg(test)]
    pub(crate) fn elsewhere(url: UrlSpec, authority: Option<&std::path::Path>) -> Self {
        let authority = authority.map(ToOwned::to_owned);
        Self { url, user: None, authority, process: None, counters: None }
    }

    /// CPU time of its process and of those that it started, so far, ns; `None` where it was not
    /// started here.
    pub fn cpu_ns(&self) -> Option<u64> {
        let pid = self.process.as_ref()?.child.id();
        let children = format!("/proc/{pid}/task/{pid}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        children.chain([pid]).map(cpu_ns_of).sum()
    }

    /// How its process ended, if it was started here and has ended by itself.
    pub fn ended(&mut self) -> Option<String> {
        self.process.as_mut()?.ended()
    }

    /// Stops it, if it was started here; gives what it counted, as JSON, if it is a built-in server.
    pub fn stopped(self) -> Option<String> {
        drop(self.process);
        std::fs::read_to_string(self.counters?).ok()
    }
}

/// A line for the shell, which gives way to the server: that gets the signals.
fn command(target: &Target, line: &str, site: &Site) -> Result<Serving, StartError> {
    let files = match names_certificate(line) {
        true => Some(site.files(target)?),
        false => None,
    };
    let port = free_port(&target.name, site.address)?;
    let line = line.replace("{address}", &site.address.to_string());
    let line = line.replace("{port}", &port.to_string());
    let line = files.map_or(line.clone(), |files| secure::with_certificate(&line, files));
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).envs(&target.environment);
    if let Some(directory) = &site.directory {
        command.current_dir(directory);
    }
    let secure = target.is_secure(site.speaks);
    let serving = answering(target, command, port, secure, site)?;
    Ok(Serving { authority: files.map(|files| files.authority.clone()), ..serving })
}

/// nginx, with a configuration of its own.
fn nginx(target: &Target, workers: u32, site: &Site) -> Result<Serving, StartError> {
    let port = free_port(&target.name, site.address)?;
    let folder = site.folder.join("nginx");
    let failed = |error: std::io::Error| StartError::NotStarted {
        what: "nginx".to_owned(),
        why: format!("{}: {}", folder.display(), reason(&error)),
    };
    // Its HTTP/3, where it has one, is no control of ours.
    let Speaks { https, http2, http3: _ } = site.control_speaks;
    let files = if https { Some(site.files(target)?) } else { None };
    let listens = Listens { at: SocketAddr::new(site.address, port), files, http2 };
    nginx_configuration(&folder, listens, workers, &site.path, &site.response).map_err(failed)?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(&folder).arg("-c").arg(folder.join("nginx.conf"));
    command.arg("-e").arg(folder.join("error.log"));
    let serving = answering(target, command, port, https, site)?;
    Ok(Serving { authority: files.map(|files| files.authority.clone()), ..serving })
}

/// A built-in server prints where it listens as soon as it does.
fn model(target: &Target, of: &ModelSpec, site: &Site) -> Result<Serving, StartError> {
    let files = match secure::needs_certificate(of, site.speaks) {
        true => Some(site.files(target)?),
        false => None,
    };
    let mut command = Command::new(&site.program.file);
    command.arg("serve").arg(SocketAddr::new(site.address, 0).to_string());
    command.args(["--quiet", "--stop-with-stdin"]);
    let mut of = of.speaking(site.speaks);
    hand_over_files(&mut of, &site.folder)
        .map_err(|why| StartError::NotStarted { what: target.name.clone(), why })?;
    command.args(of.words());
    let counters = site.folder.join(format!("{}.counters.json", file_name(&target.name)));
    let _ = std::fs::remove_file(&counters);
    command.arg("--stats").arg(&counters);
    if let Some(files) = files {
        command.arg("--tls-cert").arg(&files.certificate).arg("--tls-key").arg(&files.key);
    }
    command.stdout(Stdio::piped()).envs(&target.environment);
    let mut process = Process::start(&target.name, command, site)?;
    let mut line = String::new();
    if let Some(stdout) = process.child.stdout.take() {
        // Fails as an end of the stream does: with no address.
        let _ = BufReader::new(stdout).read_line(&mut line);
    }
    let is_url = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let Some(url) = line.split_whitespace().find(is_url) else {
        let status = process.child.wait().map_or("no status".to_owned(), |s| s.to_string());
        return Err(process.ended_early(status));
    };
    let url = url_of(&target.name, &format!("{}{}", url.trim_end_matches('/'), site.path))?;
    let authority = files.map(|files| files.authority.clone());
    Ok(Serving { url, user: None, authority, process: Some(process), counters: Some(counters) })
}

/// Puts the files of a server where it can read them: what it sends is what they were when it was asked for.
fn hand_over_files(of: &mut ModelSpec, folder: &Path) -> Result<(), String> {
    for file in of.blobs_mut() {
        // Of a spec that was only read back there are no bytes: the file itself, then.
        let Ok(bytes) = file.bytes() else { continue };
        let path = folder.join(&file.sha256);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, bytes))
            .map_err(|error| format!("{}: {}", path.display(), reason(&error)))?;
        file.name = path.display().to_string();
    }
    Ok(())
}

/// A URL that was put together here.
fn url_of(what: &str, text: &str) -> Result<UrlSpec, StartError> {
    UrlSpec::parse(text)
        .map(|(url, _)| url)
        .map_err(|error| StartError::NotStarted { what: what.to_owned(), why: error.to_string() })
}

/// Any other server is asked until it answers.
fn answering(
    target: &Target,
    mut command: Command,
    port: u16,
    is_secure: bool,
    site: &Site,
) -> Result<Serving, StartError> {
    command.stdout(Stdio::null()).env("PORT", port.to_string());
    let mut process = Process::start(&target.name, command, site)?;
    let scheme = if is_secure { "https" } else { "http" };
    let at = SocketAddr::new(site.address, port);
    let url = url_of(&target.name, &format!("{scheme}://{at}{}", site.path))?;
    let until = Instant::now() + site.ready_within;
    loop {
        if let Some(status) = process.ended() {
            return Err(process.ended_early(status));
        }
        if ready::responses(at, &site.path, is_secure) {
            return Ok(Serving {
                url,
                user: None,
                authority: None,
                process: Some(process),
                counters: None,
            });
        }
        if Instant::now() > until {
            let (what, said) = (process.what.clone(), process.said());
            return Err(StartError::Silent {
                what,
                url: url.shown,
                seconds: site.ready_within.as_secs(),
                said,
            });
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// CPU time of the threads of a process, ns: proc(5), the first figure of schedstat.
fn cpu_ns_of(pid: u32) -> Option<u64> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    threads.map(of_thread).sum()
}

/// A port that was free a moment ago.
fn free_port(what: &str, address: IpAddr) -> Result<u16, StartError> {
    TcpListener::bind((address, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| StartError::NotStarted {
            what: what.to_owned(),
            why: format!("no free port of {address}: {}", reason(&error)),
        })
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
