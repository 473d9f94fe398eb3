//! What is refused before a server starts: one sentence each, with the fix.

use std::time::Duration;

use crate::accepting::AcceptMode;
use crate::conditions::{Delay, FaultShare, ResponseKind, Route};
use crate::options::{App, Http3Options, Options};
use crate::tls::TlsOptions;

/// An option out of its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(pub String);

const DELAY_MAX: Duration = Duration::from_secs(86_400);
const WORK_NS_MAX: u64 = 60_000_000_000;
const HEAD_BYTES_MAX: usize = 1 << 20;
/// Requests have to fit, and be refused in a readable way.
const REQUEST_HEAD_BYTES_MIN: usize = 256;
const IN_SERVICE_MAX: u32 = 1_000_000;
const EVENTS_MAX: usize = 65_536;
const STACK_BYTES: std::ops::RangeInclusive<usize> = 16 * 1024..=1 << 30;

impl Options {
    /// Checks every option.
    ///
    /// # Errors
    /// One sentence about the first that cannot be carried out.
    pub fn validate(&self) -> Result<(), OptionsError> {
        self.check().map_err(OptionsError)
    }

    /// Whether a handler of one's own can honour all of it.
    ///
    /// # Errors
    /// One sentence about the first option that is for the built-in responses only.
    pub(crate) fn validate_for_own_handler(&self) -> Result<(), OptionsError> {
        let of_routes = [
            ("status", self.status != Self::default().status),
            ("body_bytes", self.body_bytes.is_some()),
            ("routes", !self.routes.is_empty()),
            ("echo_everywhere", self.echo_everywhere),
            ("app", self.app.is_some()),
        ];
        match of_routes.iter().find(|(_, is_set)| *is_set) {
            None => Ok(()),
            Some((name, _)) => Err(OptionsError(format!(
                "`{name}` is about the responses of the built-in server (`Server::start`): a handler of one's \
                 own decides that itself"
            ))),
        }
    }

    fn check(&self) -> Result<(), String> {
        self.check_responses()?;
        self.check_connections()?;
        check_delay(&self.delay)?;
        self.check_service()?;
        check_faults(&self.faults)?;
        self.check_sockets()?;
        self.check_http2()?;
        self.check_http3()?;
        self.tls.as_ref().map_or(Ok(()), TlsOptions::check)?;
        self.model.check(self)
    }

    fn check_responses(&self) -> Result<(), String> {
        check_status(self.status)?;
        if !self.server_name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err("the server name must be printable ASCII".into());
        }
        if self.head_bytes.is_some_and(|bytes| bytes > HEAD_BYTES_MAX) {
            return Err(
                "heads can be padded to 1 MiB at most; use --size for long responses".into()
            );
        }
        for route in &self.routes {
            check_route(route)?;
        }
        self.check_app()?;
        let unused = [
            ("routes", !self.routes.is_empty()),
            ("a size", self.body_bytes.is_some()),
            ("a length of heads", self.head_bytes.is_some()),
            ("echo on every path", self.echo_everywhere),
            ("an application", self.app.is_some()),
        ];
        let kind = match self.response {
            ResponseKind::Http => return Ok(()),
            ResponseKind::Echo => "sends back what comes",
            ResponseKind::None => "never answers",
        };
        if let Some((what, _)) = unused.into_iter().find(|(_, asked)| *asked) {
            return Err(format!(
                "a server that {kind} does not speak HTTP, so {what} has no effect; leave it \
                 out, or let the server answer HTTP"
            ));
        }
        if self.response == ResponseKind::None && !self.faults.is_empty() {
            return Err("a server that never responds cannot have faults in its responses; leave \
                        the faults out, or let it answer HTTP or echo"
                .into());
        }
        Ok(())
    }

    fn check_app(&self) -> Result<(), String> {
        let Some(App::Shop(shop)) = self.app else { return Ok(()) };
        if self.echo_everywhere {
            return Err("with echo on every path, none is left for the application; use only one \
                        of the two"
                .into());
        }
        let shares = [shop.not_found, shop.failing];
        if !shares.iter().all(|share| (0.0..=1.0).contains(share))
            || shares.iter().sum::<f64>() > 1.0
        {
            return Err("the shares of 404 and 500 must be from 0 to 1, also together".into());
        }
        Ok(())
    }

    fn check_connections(&self) -> Result<(), String> {
        if self.threads > Self::THREADS_MAX {
            return Err(format!(
                "{} threads exceed the limit of {}; more than one per CPU does not help",
                self.threads,
                Self::THREADS_MAX
            ));
        }
        if self.max_requests == Some(0) {
            return Err("a connection must serve at least 1 request; use 1 or more".into());
        }
        if self.read_timeout == Some(Duration::ZERO) {
            return Err(
                "a read timeout of 0 closes every connection at once; use 1ms or more, or \
                        none for no timeout"
                    .into(),
            );
        }
        if self.max_head_bytes < REQUEST_HEAD_BYTES_MIN {
            return Err(format!(
                "a request head limit of {} bytes is too small for most requests; use \
                 {REQUEST_HEAD_BYTES_MIN} or more",
                self.max_head_bytes
            ));
        }
        Ok(())
    }

    fn check_http2(&self) -> Result<(), String> {
        if self.max_streams == 0 {
            return Err("an HTTP/2 connection needs at least 1 stream; use 1 or more".into());
        }
        match self.http2 && self.response != ResponseKind::Http {
            true => Err("a server that does not answer HTTP cannot speak HTTP/2; use only one \
                         of the two"
                .into()),
            false => Ok(()),
        }
    }

    fn check_http3(&self) -> Result<(), String> {
        let Some(Http3Options { loss, .. }) = self.http3 else { return Ok(()) };
        if self.response != ResponseKind::Http {
            return Err(
                "a server that does not answer HTTP cannot speak HTTP/3; use only one of the two"
                    .into(),
            );
        }
        if !(0.0..=1.0).contains(&loss) {
            return Err("the share of datagrams that are dropped must be from 0 to 1".into());
        }
        let Some(tls) = &self.tls else {
            return Err("HTTP/3 is always under TLS; add TLS".into());
        };
        tls.configuration_of_http3()?;
        if !self.model.speaks_http3() {
            return Err(format!(
                "{} does not speak HTTP/3; use epoll-et, epoll-lt, uring or async",
                self.model
            ));
        }
        match self.accept {
            AcceptMode::ReusePort => Ok(()),
            // One worker is the same under every mode.
            _ if self.threads_resolved() == 1 => Ok(()),
            accept => Err(format!(
                "HTTP/3 does not support accept mode {accept}: datagrams come to the worker that the kernel chooses; \
                 use reuseport"
            )),
        }
    }

    fn check_service(&self) -> Result<(), String> {
        if self.work_ns > WORK_NS_MAX {
            return Err("work per request is limited to one minute of CPU time; use less, or a \
                        delay"
                .into());
        }
        match self.in_service {
            Some(0) => Err("the limit of requests in service must be at least 1; use 1 or more, \
                            or none for no limit"
                .into()),
            Some(places) if places > IN_SERVICE_MAX => Err(format!(
                "{places} requests in service exceed the maximum of {IN_SERVICE_MAX}; leave the \
                 limit out"
            )),
            _ => Ok(()),
        }
    }

    fn check_sockets(&self) -> Result<(), String> {
        if !(1..=EVENTS_MAX).contains(&self.max_events) {
            return Err(format!(
                "events per wait must be 1 to {EVENTS_MAX}, not {}",
                self.max_events
            ));
        }
        if self.backlog < 0 {
            return Err(format!("invalid backlog {}; use 0 or more", self.backlog));
        }
        let buffers = [self.sockets.send_buffer_bytes, self.sockets.receive_buffer_bytes];
        // The kernel takes an int and doubles it (socket(7), SO_SNDBUF).
        if buffers.into_iter().flatten().any(|bytes| bytes > i32::MAX as u32 / 2) {
            return Err("a socket buffer is limited to 1 GiB; use less".into());
        }
        if !STACK_BYTES.contains(&self.fibers.stack_bytes) {
            return Err(format!(
                "invalid stack size of {} bytes; use 16KiB to 1GiB",
                self.fibers.stack_bytes
            ));
        }
        Ok(())
    }
}

fn check_status(status: u16) -> Result<(), String> {
    match status {
        200..=999 => Ok(()),
        _ => Err(format!("status {status} is not a final status; use 200 to 999")),
    }
}

fn check_route(route: &Route) -> Result<(), String> {
    let Route { path, status, .. } = route;
    check_status(*status).map_err(|why| format!("route {path}: {why}"))?;
    if !path.starts_with(['/', '*', '?']) {
        return Err(format!("route {path}: a path must begin with / or with the wildcard *"));
    }
    if !path.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
        return Err(format!(
            "route {path}: a path must be printable ASCII without spaces; percent-encode the \
             rest (a space is %20)"
        ));
    }
    if path.as_bytes().starts_with(crate::own_pages::PREFIX) {
        return Err(format!(
            "route {path}: paths below /_/ are reserved for the server's own pages; choose \
             another"
        ));
    }
    Ok(())
}

fn check_delay(delay: &Delay) -> Result<(), String> {
    let longest = match delay {
        Delay::Constant(only) | Delay::Exponential(only) => *only,
        Delay::Uniform(low, high) if low > high => {
            return Err("a uniform delay needs the shorter time first; swap the two".into());
        }
        Delay::Uniform(_, high) => *high,
        Delay::Bimodal(_, _, share) if !(0.0..=1.0).contains(share) => {
            return Err(format!("invalid share {share} for the second delay; use 0 to 1"));
        }
        Delay::Bimodal(first, second, _) => *first.max(second),
        Delay::Stall(length, period) if length >= period => {
            return Err("a server that stalls for the whole period never responds; make the \
                        stall shorter than the period"
                .into());
        }
        Delay::Stall(_, period) => *period,
    };
    match longest > DELAY_MAX {
        true => Err("a delay is limited to one day; use 24h or less".into()),
        false => Ok(()),
    }
}

fn check_faults(faults: &[FaultShare]) -> Result<(), String> {
    if let Some(fault) = faults.iter().find(|fault| !(0.0..=1.0).contains(&fault.share)) {
        return Err(format!("invalid fault share {}; use 0 to 1", fault.share));
    }
    let sum: f64 = faults.iter().map(|fault| fault.share).sum();
    // Shares that are written in decimals may add up to a little more than 1.
    match sum > 1.0 + 1e-9 {
        true => Err(format!(
            "the fault shares add up to {sum}; a response has at most one fault, so the sum \
             must not exceed 1"
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::{Fault, FiberOptions, SocketOptions};

    const MS: Duration = Duration::from_millis(1);

    fn route(path: &str, status: u16) -> Vec<Route> {
        vec![Route { path: path.into(), status, body: Vec::new() }]
    }

    fn faults(shares: &[f64]) -> Vec<FaultShare> {
        shares.iter().map(|share| FaultShare { fault: Fault::Garbage, share: *share }).collect()
    }

    #[test]
    fn what_cannot_be_carried_out_is_refused_with_a_fix() {
        let fine = Options::default();
        assert_eq!(fine.validate(), Ok(()));
        let bad = [
            Options { status: 100, ..fine.clone() },
            Options { status: 1000, ..fine.clone() },
            Options { threads: 5000, ..fine.clone() },
            Options { server_name: "a\r\nSet-Cookie: b".into(), ..fine.clone() },
            Options { head_bytes: Some(2 << 20), ..fine.clone() },
            Options { routes: route("hello", 200), ..fine.clone() },
            Options { routes: route("/a b", 200), ..fine.clone() },
            Options { routes: route("/_/status", 200), ..fine.clone() },
            Options { routes: route("/a", 100), ..fine.clone() },
            Options { response: ResponseKind::Echo, body_bytes: Some(3), ..fine.clone() },
            Options { response: ResponseKind::None, faults: faults(&[0.5]), ..fine.clone() },
            Options { max_requests: Some(0), ..fine.clone() },
            Options { read_timeout: Some(Duration::ZERO), ..fine.clone() },
            Options { max_head_bytes: 10, ..fine.clone() },
            Options { delay: Duration::from_secs(100_000).into(), ..fine.clone() },
            Options { delay: Delay::Uniform(2 * MS, MS), ..fine.clone() },
            Options { delay: Delay::Bimodal(MS, MS, 1.5), ..fine.clone() },
            Options { delay: Delay::Bimodal(MS, MS, f64::NAN), ..fine.clone() },
            Options { delay: Delay::Stall(MS, MS), ..fine.clone() },
            Options { work_ns: u64::MAX, ..fine.clone() },
            Options { max_streams: 0, ..fine.clone() },
            Options { http2: true, response: ResponseKind::Echo, ..fine.clone() },
            Options { in_service: Some(0), ..fine.clone() },
            Options { in_service: Some(u32::MAX), ..fine.clone() },
            Options { faults: faults(&[-0.1]), ..fine.clone() },
            Options { faults: faults(&[f64::NAN]), ..fine.clone() },
            Options { faults: faults(&[0.6, 0.6]), ..fine.clone() },
            Options { max_events: 0, ..fine.clone() },
            Options { backlog: -1, ..fine.clone() },
            Options {
                sockets: SocketOptions {
                    send_buffer_bytes: Some(u32::MAX),
                    ..SocketOptions::default()
                },
                ..fine.clone()
            },
            Options {
                fibers: FiberOptions { stack_bytes: 100, ..FiberOptions::default() },
                ..fine.clone()
            },
        ];
        for options in bad {
            let OptionsError(text) = options.validate().expect_err(&format!("{options:?}"));
            assert!(!text.contains('\n') && text.len() < 200, "{text}");
        }
        let fine = [
            Options { routes: route("*.html", 404), ..fine.clone() },
            Options { faults: faults(&[0.1; 10]), ..fine.clone() },
            Options {
                delay: Delay::Stall(MS, 2 * MS),
                response: ResponseKind::Echo,
                ..fine.clone()
            },
            Options { in_service: Some(1), work_ns: 1000, max_requests: Some(1), ..fine },
        ];
        for options in fine {
            assert_eq!(options.validate(), Ok(()), "{options:?}");
        }
    }
}
