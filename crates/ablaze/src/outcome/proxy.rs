//! What to tell a person whose run went through a proxy and got no response, or none as expected.

use ablaze_model::plan::proxy::{Proxy, Way, authority};
use ablaze_model::record::FirstFailure;
use ablaze_model::{FailureKind, Run};
use ablaze_report::number::time_exact;

use super::stood;

/// Who is talked about: the proxy as long as no tunnel stood, the target behind it from then on, and both of them for what either
/// can have done to a tunnel; `None` without a proxy.
pub fn far_end(run: &Run) -> Option<String> {
    let proxy = run.plan.target.proxy.as_ref()?;
    let name = named(proxy, run);
    let either = run.record.first_failure.is_some_and(|first| {
        ends_there(first.kind)
            || matches!(first.kind, FailureKind::ShortHead | FailureKind::ShortBody)
    });
    Some(match tunnels(run) {
        0 => name,
        _ if either => format!("{} (or {name} in front of it)", target(run)),
        _ => format!("{} (through {name})", target(run)),
    })
}

/// What the responses of this status say about the proxy that forwarded them.
pub fn of_status(run: &Run, status: u16) -> Option<String> {
    let proxy = run.plan.target.proxy.as_ref().filter(|proxy| proxy.way == Way::Forward)?;
    let name = named(proxy, run);
    match status {
        407 => Some(format!("{name} responded with 407: {}", credentials(proxy))),
        502..=504 => {
            let count = run.record.statuses.get(&status).copied().unwrap_or(0);
            let which = super::of_all(count, run.record.responses, status);
            Some(format!("no expected response, {which}: can {name} reach {}?", target(run)))
        }
        _ => None,
    }
}

/// What to do about a failure that was the proxy's.
pub fn of_failure(failure: &FirstFailure, run: &Run) -> Option<String> {
    let proxy = run.plan.target.proxy.as_ref()?;
    let (name, to) = (named(proxy, run), target(run));
    let facts = run.record.proxy.as_ref();
    let detail = facts.and_then(|facts| facts.first_failure.as_ref());
    let detail = detail.filter(|(of, _)| *of == failure.kind).map_or("", |(_, detail)| detail);
    let silent = || facts.is_some_and(|facts| facts.connected > 0 && facts.tunnels == 0);
    Some(match failure.kind {
        FailureKind::ProxyAuthentication => {
            format!("{name} refused the tunnel to {to}: {detail}; {}", credentials(proxy))
        }
        FailureKind::ProxyRefused => {
            format!("{name} refused the tunnel to {to}: {detail}; {}", hint(detail))
        }
        FailureKind::ProxyClosed | FailureKind::ProxyMalformed => format!(
            "{name} did not open a tunnel to {to}: {detail}; is it an HTTP proxy, and is this its \
             port?"
        ),
        FailureKind::Timeout if failure.connecting && silent() && !detail.is_empty() => format!(
            "{name} did not complete its response to CONNECT {to} within {}: {detail}; see its log",
            time_exact(run.plan.limits.timeout_ns)
        ),
        FailureKind::Timeout if failure.connecting && silent() => format!(
            "{name} did not respond to CONNECT {to} within {}: can it reach the target?",
            time_exact(run.plan.limits.timeout_ns)
        ),
        FailureKind::Refused if failure.connecting => {
            format!("{name} refused the connection: is the proxy running, and on this port?")
        }
        FailureKind::Timeout | FailureKind::Reset | FailureKind::ClosedWithoutResponse
            if failure.connecting
                && tunnels(run) > 0
                && stood(run)
                && super::ended::handshakes(run) == 0 =>
        {
            let what = match failure.kind {
                FailureKind::Timeout => {
                    let limit = time_exact(run.plan.limits.timeout_ns);
                    format!("no TLS handshake was completed through it within {limit}")
                }
                FailureKind::Reset => "it was reset during the TLS handshake".to_owned(),
                _ => "it was closed during the TLS handshake".to_owned(),
            };
            of_tunnel(proxy, &what, run)
        }
        // `ab -X` with https: TLS is spoken to the proxy itself.
        kind if proxy.way == Way::Forward
            && run.plan.tls.is_some()
            && (kind.is_of_tls() || failure.connecting && stood(run) && ends_there(kind)) =>
        {
            format!(
                "{name} does not speak TLS: with https, -X uses TLS to the proxy itself, as ab \
                 does; for a tunnel through the proxy use --proxy http://{} instead",
                proxy.authority()
            )
        }
        _ => return None,
    })
}

/// What to do where no request was sent until the run ended, because the proxy or what is behind it did not go on.
pub fn until_the_end(run: &Run) -> Option<String> {
    let proxy = run.plan.target.proxy.as_ref()?;
    let facts = run.record.proxy.as_ref().filter(|facts| facts.connected > 0)?;
    if facts.tunnels == 0 {
        return Some(format!(
            "{} did not complete a response to CONNECT {} in time: can it reach the target?",
            named(proxy, run),
            target(run)
        ));
    }
    let is_tls = stood(run) && super::ended::handshakes(run) == 0;
    is_tls.then(|| of_tunnel(proxy, "no TLS handshake was completed through it in time", run))
}

/// A tunnel through which no TLS handshake was completed.
fn of_tunnel(proxy: &Proxy, what: &str, run: &Run) -> String {
    let to = target(run);
    format!(
        "{} opened a tunnel to {to}, and {what}; whether the proxy or the target is why does not show: see `openssl s_client \
         -proxy {} -connect {to}`",
        named(proxy, run),
        proxy.authority()
    )
}

/// Whether this is how a peer that does not speak TLS ends a handshake.
fn ends_there(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::ClosedWithoutResponse | FailureKind::Reset | FailureKind::Timeout)
}

fn tunnels(run: &Run) -> u64 {
    run.record.proxy.as_ref().map_or(0, |facts| facts.tunnels)
}

/// `the proxy localhost:3128 (127.0.0.1:3128)`
fn named(proxy: &Proxy, run: &Run) -> String {
    let asked = proxy.authority();
    match run.connected_to.as_str() {
        "" => format!("the proxy {asked}"),
        address if address == asked => format!("the proxy {asked}"),
        _ if super::addresses::one_of_several(run).is_some() => format!("the proxy {asked}"),
        address => format!("the proxy {asked} ({address})"),
    }
}

fn target(run: &Run) -> String {
    authority(&run.plan.target.host, run.plan.target.port)
}

/// What is to be done about 407.
fn credentials(proxy: &Proxy) -> String {
    match proxy.credentials {
        Some(_) => "check user and password of --proxy".to_owned(),
        None => format!("use --proxy http://user:password@{}", proxy.authority()),
    }
}

/// What a refusal most often means.
fn hint(detail: &str) -> &'static str {
    match detail.get(..3) {
        Some("400" | "404" | "405" | "501") => "is it a proxy, and not the server itself?",
        Some("403") => "does it permit CONNECT to this host and port?",
        Some("500" | "502" | "503" | "504") => "can it reach the target? See its log",
        _ => "see its log",
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::{FirstFailure, ProxyFacts, Record, TlsFacts};

    use super::*;
    use crate::outcome::explanation;

    fn through(tunnels: u64, handshakes_full: u64) -> Run {
        let mut run = ablaze_model::by_hand::run();
        run.record = Record::new();
        run.record.unfinished = 4;
        let facts = ProxyFacts { connected: 4, tunnels, ..ProxyFacts::default() };
        run.record.proxy = Some(facts.into());
        let facts = TlsFacts { connected: tunnels, handshakes_full, ..TlsFacts::default() };
        run.record.tls = Some(facts.into());
        let way = Way::Tunnel;
        let proxy = Proxy { host: "p".to_owned(), port: 3128, way, credentials: None };
        run.plan.target.proxy = Some(proxy);
        run.connected_to = "p:3128".to_owned();
        run
    }

    /// A run that its time ended has no failure.
    #[test]
    fn what_connections_waited_for_until_the_end_is_told() {
        let silent = explanation(&through(0, 0)).unwrap();
        assert!(
            silent.contains("the proxy p:3128 did not complete a response to CONNECT"),
            "{silent}"
        );
        let mute = explanation(&through(4, 0)).unwrap();
        assert!(mute.contains("whether the proxy or the target is why does not show"), "{mute}");
        let mut direct = through(4, 0);
        (direct.record.proxy, direct.plan.target.proxy) = (None, None);
        let direct = explanation(&direct).unwrap();
        assert!(direct.contains("no TLS handshake was completed in time"), "{direct}");
    }

    /// A target and a proxy in front of it reset a tunnel alike.
    #[test]
    fn the_end_of_a_tunnel_may_be_the_proxy_s() {
        let mut run = through(4, 4);
        run.record.failures[FailureKind::Reset as usize] = 4;
        let (kind, errno) = (FailureKind::Reset, libc::ECONNRESET);
        run.record.first_failure = Some(FirstFailure { at_ns: 0, kind, errno, connecting: false });
        let said = explanation(&run).unwrap();
        assert!(
            said.contains("(or the proxy p:3128 in front of it) reset the connection"),
            "{said}"
        );
    }
}
