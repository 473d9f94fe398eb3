//! A load, set up step by step: a builder over [`LoadSpec`].

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ablaze_engine::Control;
use ablaze_model::plan::{Arrivals, Http2, RateProfile};
use ablaze_model::spec::secrets::secret_field;
use ablaze_model::spec::{
    Blob, Bodies, Body, Bytes, ConnectTo, FrontEnd, Head, HttpVersion, Line, LoadSpec, Secrets,
    Shape, TrustSpec, UrlSpec, Words,
};

use crate::carry_out::{Silent, carry_out};
use crate::planning::{self, OptionNames};
use crate::{Error, Run, Stop};

/// Longer times are this long.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// A load of one URL: what is sent, over how many connections, for how long. Nothing happens before
/// [`run`](Self::run), which can be called again for another run of the same.
///
/// ```
/// use std::time::Duration;
///
/// use ablaze_load::{HttpVersion, Load};
///
/// let load = Load::url("http://127.0.0.1:8080/orders")
///     .method("PUT")
///     .header("Authorization", "Bearer s3cret")
///     .body(r#"{"id": "{seq}"}"#)
///     .http(HttpVersion::Http11)
///     .rate_per_s(1000.0)
///     .duration(Duration::from_secs(10))
///     .expect(201..=201);
/// // Credentials are shown neither here nor in reports.
/// assert!(!format!("{load:?}").contains("s3cret"));
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before `run()`"]
pub struct Load {
    spec: LoadSpec,
    secrets: Secrets,
    stop: Stop,
    /// Whether the time was asked for: the default gives way to a number of requests.
    timed: bool,
    /// The first thing that was wrong; `run` gives it.
    wrong: Option<Error>,
}

impl Load {
    /// A load of this URL: `http` or `https`, with `:8080/x` for `http://127.0.0.1:8080/x`. By default 50 connections,
    /// each used for many requests, send GET for 10 s. A URL that cannot be read is an error of [`run`](Self::run).
    pub fn url(url: impl AsRef<str>) -> Self {
        let spec = LoadSpec::default();
        let mut load = Self { timed: false, ..Self::of_spec(spec, Secrets::default()) };
        match UrlSpec::parse(url.as_ref()) {
            Ok((url, user)) => {
                load.spec.destination.url = Some(url);
                if let Some(user) = user {
                    load = load.user(user);
                }
            }
            Err(error) => load.wrong = Some(Error::Usage(error.to_string())),
        }
        load
    }

    /// A load that was made or read elsewhere, with the secrets that it refers to.
    pub fn of_spec(spec: LoadSpec, secrets: Secrets) -> Self {
        let spec = LoadSpec { front_end: FrontEnd::Library, ..spec };
        Self { spec, secrets, stop: Stop::default(), timed: true, wrong: None }
    }

    /// The load as data. Secrets are not in it.
    pub fn spec(&self) -> &LoadSpec {
        &self.spec
    }

    /// The method; GET unless this is called, or POST with a body.
    pub fn method(mut self, method: &str) -> Self {
        self.spec.requests.method = Some(Bytes::from(method));
        self
    }

    /// A field of the head. It replaces the one of the same name that would be sent by itself (Host, User-Agent,
    /// Accept, Content-Type); with an empty value that one is left out. `{seq}` is the number of the request as ten
    /// digits (`0000000042`: every request has the same length) and `{rand:8}` are eight random digits, here, in the body and
    /// in the URL; any other `{…}` stays as it is.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let line = match value {
            "" => format!("{name}:"),
            value => format!("{name}: {value}"),
        };
        let line = match secret_field(line.as_bytes()) {
            Some(field) => Line::Secret(self.secrets.keep_text(&format!("header {field}"), line)),
            None => Line::Text(line.as_str().into()),
        };
        self.composed(|lines, _, _| lines.push(line))
    }

    /// The body of every request; `{seq}` and `{rand:8}` are replaced as in [`header`](Self::header). In JSON `{seq}` belongs
    /// in quotes: a number must not begin with zeros (RFC 8259, 6). Its Content-Type is guessed, JSON or plain text, unless
    /// [`header`](Self::header) gives it.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.spec.requests.bodies = Bodies::Same(Body::Given(Bytes(body.into())));
        self
    }

    /// Basic credentials, `name:password`.
    pub fn user(mut self, name_and_password: impl Into<String>) -> Self {
        let kept = self.secrets.keep_text("user", name_and_password);
        self.composed(|_, user, _| *user = Some(kept))
    }

    /// The value of User-Agent.
    pub fn user_agent(self, value: &str) -> Self {
        self.composed(|_, _, agent| *agent = Some(value.to_owned()))
    }

    /// Seed of `{rand:N}`: the same seed gives the same digits. 1 unless this is called.
    pub fn seed(mut self, seed: u64) -> Self {
        self.spec.requests.seed = seed;
        self
    }

    /// Connections. In a closed loop, 50 unless this is called, each always with a request in flight; with
    /// [`rate_per_s`](Self::rate_per_s) the most there may be, by default as many as it takes.
    pub fn connections(mut self, count: u32) -> Self {
        match &mut self.spec.shape {
            Shape::Closed { connections } | Shape::Open { connections, .. } => {
                *connections = Some(count);
            }
        }
        self
    }

    /// Requests in flight on each connection: the streams of HTTP/2 and HTTP/3, the depth of the pipeline of HTTP/1. 1 unless
    /// this is called.
    pub fn in_flight_per_connection(mut self, count: u32) -> Self {
        self.spec.in_flight = count;
        self
    }

    /// Sends requests on a schedule at this rate per second, whether or not responses come (an open loop).
    pub fn rate_per_s(mut self, per_s: f64) -> Self {
        self.spec.shape = Shape::Open {
            rate: RateProfile::constant(per_s),
            arrivals: Arrivals::Constant,
            connections: self.spec.shape.connections(),
        };
        self
    }

    /// Ends after this many requests, and not after 10 s unless [`duration`](Self::duration) says so, too.
    pub fn requests(mut self, count: u64) -> Self {
        if !self.timed {
            self.spec.limits.duration_ns = None;
        }
        self.spec.limits.requests = Some(count);
        self
    }

    /// Ends after this time; 10 s unless this or [`requests`](Self::requests) is called.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.spec.limits.duration_ns = Some(nanoseconds(duration));
        self.timed = true;
        self
    }

    /// Sends load for this time before the measurement begins, and does not count it.
    pub fn warmup(mut self, warmup: Duration) -> Self {
        self.spec.limits.warmup_ns = nanoseconds(warmup);
        self
    }

    /// The longest that a request may take, from when it was due to the last byte of the response, with connecting; 30 s
    /// unless this is called, and without limit for [`Duration::ZERO`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.spec.limits.timeout_ns = nanoseconds(timeout);
        self
    }

    /// Threads. Unless this is called, as many as there are CPUs or connections, whichever is less, and on half of
    /// the CPUs when the target is on this host.
    pub fn threads(mut self, count: u32) -> Self {
        self.spec.workers.threads = Some(count);
        self
    }

    /// The version of HTTP; 1.1 unless this is called. HTTP/2 begins with prior knowledge on `http`, by ALPN on `https`;
    /// HTTP/3 is for `https` alone.
    pub fn http(mut self, version: HttpVersion) -> Self {
        self.spec.http = Some(version);
        self
    }

    /// Whether a connection is used for more than one request; `true` unless this is called.
    pub fn keep_alive(mut self, keep: bool) -> Self {
        self.spec.connections.keep_alive = keep;
        self
    }

    /// Accepts certificates issued by those in this PEM, and these themselves, instead of those that the system trusts:
    /// `ablaze_target::tls::Identity::authority` gives the one of a server in the same test. A PEM without a
    /// certificate is an error of [`run`](Self::run).
    pub fn trusting(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.spec.tls.trust = TrustSpec::Issuers(Blob::new("trusting()", pem.into()));
        self
    }

    /// Accepts any certificate, including self-signed and expired ones.
    pub fn insecure(mut self) -> Self {
        self.spec.tls.trust = TrustSpec::Anyone;
        self
    }

    /// Connects to this address, whatever the URL says; Host and TLS still go by the URL.
    pub fn connect_to(mut self, address: SocketAddr) -> Self {
        let host = Some(address.ip().to_string());
        let to = ConnectTo { host, port: Some(address.port()), ..ConnectTo::default() };
        self.spec.destination.connect_to = vec![to];
        self
    }

    /// Connects to this Unix socket, whatever the URL says.
    pub fn unix_socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.spec.destination.unix_socket = Some(path.into());
        self
    }

    /// The statuses that are expected; 200 to 399 unless this is called. Further calls add to them.
    pub fn expect(mut self, statuses: RangeInclusive<u16>) -> Self {
        if !std::mem::replace(&mut self.spec.expect_asked, true) {
            self.spec.expect.clear();
        }
        self.spec.expect.push(statuses);
        self
    }

    /// Checks every response: `status==200`, `json $.id > 0`, `body contains ok`; further calls add to it. The checks only count
    /// ([`Run::checks`]): a response that fails one is a response all the same. One that cannot be read is an error of
    /// [`run`](Self::run), and so are checks over HTTP/2.
    ///
    /// ```
    /// use ablaze_load::Load;
    /// use ablaze_target::{Options, Server};
    ///
    /// let address = "127.0.0.1:0".parse()?;
    /// let server = Server::start(Options { address, threads: 1, ..Options::default() })?;
    /// let run = Load::url(format!("http://{}/hello", server.address()))
    ///     .requests(20)
    ///     .connections(2)
    ///     .assert("status==200")
    ///     .assert("body contains nowhere")
    ///     .run()?;
    /// let passed: Vec<u64> = run.checks().iter().map(|check| check.passed).collect();
    /// assert_eq!(passed, [20, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn assert(mut self, check: impl Into<String>) -> Self {
        self.spec.checks.push(check.into());
        self
    }

    /// Whether the kernel, the process of the target and the connections are watched beside the run; `true` unless this
    /// is called. Without it there is no CPU time of the server, and the verdict cannot say that the server was the limit.
    pub fn monitored(mut self, monitored: bool) -> Self {
        self.spec.monitored = monitored;
        self
    }

    /// What reports show in place of a command line, without secrets; nothing unless this is called.
    pub fn shown_as(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.spec.words = Words(words.into_iter().collect());
        self
    }

    /// Lets another thread end the run early.
    pub fn stop(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// Runs the load. The calling thread waits until it has ended.
    ///
    /// # Errors
    /// When the load was not run: it makes no sense as specified ([`Error::Usage`]), the host has no address
    /// ([`Error::UnknownHost`]), or this machine refuses what it needs ([`Error::Machine`]). A target that refuses
    /// every connection is not such an error: that is a [`Run`] with errors.
    pub fn run(&self) -> Result<Run, Error> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        self.check()?;
        let planned = planning::resolve(&self.spec, &self.secrets, &OptionNames::SETTERS)?;
        let control = Arc::new(Control::new());
        let _watched = self.stop.watch(&control);
        let spec = &self.spec;
        let (run, _) = carry_out(planned.plan, spec, &control, &mut Silent)?;
        Ok(Run::new(run, planned.notes))
    }

    /// Rejects settings that cannot be combined.
    fn check(&self) -> Result<(), Error> {
        let spec = &self.spec;
        let in_flight = spec.in_flight;
        let usage = |text: String| Err(Error::Usage(text));
        match spec.has_streams() {
            true if !(1..=Http2::STREAMS_MAX).contains(&in_flight) => usage(format!(
                "in_flight_per_connection({in_flight}): HTTP/2 and HTTP/3 take 1 to {} streams",
                Http2::STREAMS_MAX
            )),
            true if in_flight > 1 && !spec.connections.keep_alive => usage(format!(
                "in_flight_per_connection({in_flight}) cannot be used with a connection per \
                 request: raise connections(), or use keep_alive(true)"
            )),
            false if in_flight > 1 && spec.shape.is_open() => usage(
                "in_flight_per_connection() and rate_per_s() cannot be used together with HTTP/1: \
                 a scheduled request must not wait for another's response; use only one"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    /// Changes the head that requests are composed from. A verbatim one, of another tool, has nothing added to it.
    fn composed(
        mut self,
        change: impl FnOnce(
            &mut Vec<Line>,
            &mut Option<ablaze_model::spec::SecretRef>,
            &mut Option<String>,
        ),
    ) -> Self {
        match &mut self.spec.requests.head {
            Head::Composed { lines, user, user_agent, .. } => change(lines, user, user_agent),
            Head::Verbatim { .. } => {
                let text = "the requests of this load are verbatim: their head cannot be changed";
                self.wrong.get_or_insert_with(|| Error::Usage(text.to_owned()));
            }
        }
        self
    }
}

fn nanoseconds(time: Duration) -> u64 {
    time.min(LONGEST).as_nanos() as u64
}
