//! The runs of an experiment: each is what `ablaze load` would do.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use ablaze_engine::transport::tls::Shared;
use ablaze_lab::experiment::{Failure, PrintedRun, Runner};
use ablaze_lab::target::Response;
use ablaze_load::planning::{self, OptionNames};
use ablaze_model::experiment::{ByFleet, Tool};
use ablaze_model::plan::tls::{Tls, Trust};
use ablaze_model::profiling::Whom;
use ablaze_model::run::Ended;
use ablaze_model::spec::Secrets;
use ablaze_model::{LoadSpec, Run};
use ablaze_wire::url::{Scheme, Url};

use super::{ab_client, fleet};
use crate::CommandError;
use crate::carry_out::{Silent, carry_out, interrupted};
use crate::error::INTERRUPTED;
use crate::fleet::Session;
use crate::profile;
use crate::web::plan::PlanPage;

/// The longest body that a control is given.
const MOST_BYTES: u64 = 256 << 20;
/// One request may take so long.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Performs runs in this process, with the secrets that their loads refer to.
pub struct Native<'a> {
    secrets: &'a Secrets,
    page: Option<PlanPage>,
    fleet: Option<Session>,
}

impl<'a> Native<'a> {
    /// A client that knows these secrets.
    pub fn new(secrets: &'a Secrets) -> Self {
        Self { secrets, page: None, fleet: None }
    }

    /// The same, with each run on this page while it lasts.
    #[must_use]
    pub fn shown_on(self, page: Option<&PlanPage>) -> Self {
        Self { page: page.cloned(), ..self }
    }

    /// The same, with each run carried out by these machines, if it is not this one.
    ///
    /// # Errors
    /// When nothing says where they are.
    pub fn by(self, fleet: Option<&ByFleet>) -> Result<Self, CommandError> {
        let fleet = fleet.map(fleet::session).transpose()?;
        Ok(Self { fleet, ..self })
    }

    /// One run by this process.
    fn run_here(&mut self, load: &LoadSpec, profiled: bool) -> Result<Run, CommandError> {
        let planned = planning::resolve(load, self.secrets, &OptionNames::NATIVE)?;
        let plan = planned.plan.clone();
        let mut watcher = PlanPage::watcher(self.page.as_ref(), &plan);
        let mut run = carry_out(plan, load, watcher.as_mut())?;
        if profiled {
            let sides = profile::Sides(vec![Whom::Target]);
            profile::add(&mut run, planned.plan, &sides, &mut Silent)?;
        }
        Ok(run)
    }

    /// One run by the fleet. One of which a worker was lost is no sample, unless that was asked for.
    fn run_by_fleet(&mut self, load: &LoadSpec) -> Option<Result<Run, CommandError>> {
        // An experiment's own loads are for all workers; one that is not is a single request, to see how a target is.
        let session = self.fleet.as_mut().filter(|session| session.can_share(load))?;
        let planned = match crate::fleet::here(load, self.secrets) {
            Ok(planned) => planned,
            Err(error) => return Some(Err(error)),
        };
        let mut watcher = PlanPage::watcher(self.page.as_ref(), &planned.plan);
        let run = session.carry_out(load, self.secrets, watcher.as_mut());
        let lost = |run: &Run| {
            let mut workers = run.fleet.iter().flat_map(|fleet| &fleet.workers);
            let lost = workers.find_map(|worker| Some((&worker.name, worker.lost.as_ref()?)));
            lost.map(|(name, why)| format!("worker {name} was lost: {why}"))
        };
        Some(run.and_then(
            |run| match lost(&run).filter(|_| !session.goes_on() && !interrupted()) {
                Some(why) => Err(CommandError::machine(why)),
                None => Ok(run),
            },
        ))
    }
}

impl Runner for Native<'_> {
    fn run(&mut self, load: &LoadSpec, profiled: bool) -> Result<Run, Failure> {
        if interrupted() {
            return Err(Failure::Interrupted);
        }
        let impossible = |line: String| Failure::Impossible(line);
        let run = match self.run_by_fleet(load) {
            Some(run) => run.map_err(|error| match error.status {
                INTERRUPTED => Failure::Interrupted,
                _ => impossible(error.line),
            })?,
            None => self.run_here(load, profiled).map_err(|error| impossible(error.line))?,
        };
        // Half a run is none to compare with.
        if run.ended == Ended::Failed {
            let text = crate::outcome::explanation(&run);
            return Err(impossible(text.unwrap_or_else(|| "a thread failed".to_owned())));
        }
        // A run without a response has no figures: in an experiment it counts as failed.
        match run.record.responses {
            0 if interrupted() => Err(Failure::Interrupted),
            0 => Err(impossible(
                crate::outcome::explanation(&run)
                    .unwrap_or_else(|| format!("{}: no response", run.plan.target.url)),
            )),
            _ => Ok(run),
        }
    }

    fn run_by(
        &mut self,
        tool: Tool,
        load: &LoadSpec,
        server: &dyn Fn() -> Option<u64>,
    ) -> Result<PrintedRun, Failure> {
        if interrupted() {
            return Err(Failure::Interrupted);
        }
        match tool {
            Tool::Ab => ab_client::run(load, self.secrets, server),
            Tool::Ablaze => Err(Failure::Impossible("ablaze runs in this process".to_owned())),
        }
    }

    fn response_of(&mut self, load: &LoadSpec) -> Option<Response> {
        let mut response = fetched(load.destination.url.as_ref()?.to_url())?;
        response.keep_alive = load.connections.keep_alive;
        Some(response)
    }
}

/// One response, whole. `None` when it cannot be had or is not plain: chunked, or too long.
fn fetched(url: Url) -> Option<Response> {
    let address = (url.host.trim_matches(['[', ']']), url.port).to_socket_addrs().ok()?.next()?;
    let stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    match url.scheme {
        Scheme::Http => asked(stream, &url),
        // Who it is does not matter here; that is for the runs.
        Scheme::Https => {
            let tls = Tls { trust: Trust::Anyone, ..Tls::new(&url.host) };
            let Shared { config, server_name } = Shared::new(&tls).ok()?;
            let connection = rustls::ClientConnection::new(config, server_name).ok()?;
            asked(rustls::StreamOwned::new(connection, stream), &url)
        }
    }
}

fn asked(mut stream: impl Read + Write, url: &Url) -> Option<Response> {
    let (host, path) = (url.host_header(), &url.path_and_query);
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n").ok()?;
    let until = Instant::now() + TIMEOUT;
    let (mut bytes, mut room) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        // A server may keep the connection open anyway: the length says where the response ends.
        if let Some(whole) = whole_bytes(&bytes).filter(|whole| bytes.len() >= *whole) {
            return response(&bytes[..whole]);
        }
        if Instant::now() > until || interrupted() || bytes.len() as u64 > MOST_BYTES {
            return None;
        }
        match stream.read(&mut room) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&room[..read]),
            // A server may end TLS without close_notify.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    // One whose head says more than came was cut short.
    if whole_bytes(&bytes).is_some() { None } else { response(&bytes) }
}

/// Bytes of the whole response, where its head says how long the body is.
fn whole_bytes(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let length: usize = field(head, "content-length")?.parse().ok()?;
    end.checked_add(4)?.checked_add(length)
}

/// The value of a field.
fn field(head: &str, name: &str) -> Option<String> {
    let named = |line: &str| {
        let (field, value) = line.split_once(':')?;
        field.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    };
    head.split("\r\n").skip(1).find_map(named)
}

fn response(bytes: &[u8]) -> Option<Response> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let field = |name: &str| field(head, name);
    if field("transfer-encoding").is_some() {
        return None;
    }
    Some(Response {
        status,
        body: bytes[end + 4..].to_vec(),
        content_type: field("content-type").unwrap_or_default(),
        keep_alive: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_taken_apart() {
        let bytes = b"HTTP/1.1 404 Not Found\r\ncontent-TYPE: text/html\r\n\r\ngone\r\n\r\n";
        let response = response(bytes).unwrap();
        assert_eq!((response.status, response.content_type.as_str()), (404, "text/html"));
        assert_eq!(response.body, b"gone\r\n\r\n");
        assert_eq!(
            super::response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0"),
            None
        );
        assert_eq!(super::response(b"SSH-2.0"), None);
    }

    /// What a server says to whoever asks.
    struct Says(&'static [u8]);

    impl Read for Says {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                // It keeps the connection, and says no more.
                return Err(ErrorKind::WouldBlock.into());
            };
            self.0 = rest;
            room[0] = *first;
            Ok(1)
        }
    }

    impl Write for Says {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_server_that_keeps_the_connection_has_answered_when_the_body_is_whole() {
        let url = Url::parse("http://h/").unwrap();
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(asked(Says(whole), &url).unwrap().body, b"abc");
        assert_eq!(asked(Says(&whole[..whole.len() - 1]), &url), None);
    }
}
