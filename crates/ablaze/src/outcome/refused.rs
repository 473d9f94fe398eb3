//! Why a server may have refused every request with 400 or 401, or without a word: what the requests were, and whether
//! the port speaks TLS, which is tried before it is said.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use ablaze_engine::transport::tls::Shared;
use ablaze_model::plan::tls::{Tls, Trust};
use ablaze_model::spec::{FrontEnd, Given, LoadSpec};
use ablaze_model::{FailureKind, Run};

/// One handshake may take so long.
const TIMEOUT: Duration = Duration::from_secs(1);

/// What to change where every response was 400.
pub fn bad_request(run: &Run) -> Option<String> {
    let record = &run.record;
    let all = record.statuses.keys().all(|status| *status == 400) && record.responses > 0;
    if !all {
        return None;
    }
    run.asked.as_deref().and_then(|asked| of_request(run, asked)).or_else(|| perhaps_tls(run))
}

/// What to change where not a byte came back and every connection was ended: so do many servers that speak TLS.
pub fn ended_in_plain(run: &Run) -> Option<String> {
    let record = &run.record;
    let ended = [FailureKind::Reset, FailureKind::ClosedWithoutResponse];
    let ended: u64 = ended.into_iter().map(|kind| record.failures_of(kind)).sum();
    let all = ended > 0 && ended == record.failures_total();
    let nothing = record.responses == 0 && record.received_bytes == 0;
    (all && nothing).then(|| perhaps_tls(run)).flatten()
}

/// Whether a response's head is a 401 whose challenges are all of other schemes than Basic (RFC 9110, section 11.6.1), which
/// is the scheme of a name and a password on the command line.
pub fn asks_for_another_scheme(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let mut lines = head.lines();
    let is_401 = lines.next().and_then(|line| line.split_whitespace().nth(1)) == Some("401");
    let mut challenges = lines.filter_map(|line| line.strip_prefix("www-authenticate:")).peekable();
    is_401 && challenges.peek().is_some() && challenges.all(|value| !value.contains("basic"))
}

/// What of the request itself no server can take.
fn of_request(run: &Run, asked: &LoadSpec) -> Option<String> {
    let url = asked.destination.url.as_ref();
    if asked.requests.urls.is_none() && url.is_some_and(|url| url.path.contains(' ')) {
        return Some("the URL has a space, which is sent as it is: write %20".to_owned());
    }
    if let Some(Given::Value(host)) = asked.requests.given("Host")
        && host.is_empty()
    {
        return Some("the requests have no field Host, which -H 'Host:' leaves out".to_owned());
    }
    let method = &run.plan.requests.method;
    let upper = method.to_ascii_uppercase();
    (*method != upper).then(|| {
        let option = if asked.front_end == FrontEnd::Gurl { "-X" } else { "-m" };
        format!("methods are in capitals: use {option} {upper}, not {method}")
    })
}

/// Whether plain HTTP was refused as a server refuses it that speaks TLS: nginx's response to it is a 400, and a
/// close.
fn perhaps_tls(run: &Run) -> Option<String> {
    let target = &run.plan.target;
    let direct = target.proxy.is_none() && target.unix_socket.is_none();
    let may_be = run.plan.tls.is_none() && run.record.reused == 0 && direct;
    let address = may_be.then(|| run.connected_to.parse().ok()).flatten()?;
    speaks_tls(address, &target.host).then(|| {
        let https = target.url.replacen("http:", "https:", 1);
        format!("the server speaks TLS on this port: use {https}")
    })
}

/// Whether a TLS handshake gets an answer in TLS, be it an alert.
fn speaks_tls(address: SocketAddr, host: &str) -> bool {
    let tls = Tls { trust: Trust::Anyone, ..Tls::new(host) };
    let connected = || {
        let Shared { config, server_name } = Shared::new(&tls).ok()?;
        let connection = rustls::ClientConnection::new(config, server_name).ok()?;
        let stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.set_write_timeout(Some(TIMEOUT)).ok()?;
        Some((connection, stream))
    };
    let Some((mut connection, mut stream)) = connected() else { return false };
    match connection.complete_io(&mut stream) {
        Ok(_) => !connection.is_handshaking(),
        Err(error) => {
            let why = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            matches!(why, Some(rustls::Error::AlertReceived(_)))
        }
    }
}

/// How HTTP/2 is not asked for.
pub(super) fn without_http2(run: &Run) -> &'static str {
    match run.front_end() {
        FrontEnd::H2load => "use --h1",
        FrontEnd::Hey => "remove -h2",
        FrontEnd::Oha => "remove --http2",
        FrontEnd::Vegeta => "remove -http2 or -h2c",
        _ => "remove --http 2",
    }
}

/// Whether nothing but interim responses came to all that failed.
pub(super) fn only_interim(run: &Run) -> bool {
    let only = run.record.circumstances.interim_only;
    only > 0 && only == run.record.failures_total()
}

/// What may be why an address is reported as unreachable.
pub(super) fn on_the_way(run: &Run) -> &'static str {
    match ablaze_verdict::live::over_loopback(run) {
        true => "check the firewall of this machine and its loopback device",
        false => "check address, route and firewalls",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_challenge_of_another_scheme_is_told_from_basic() {
        let other = |lines: &str| asks_for_another_scheme(lines.replace('|', "\r\n").as_bytes());
        assert!(other("HTTP/1.1 401 Unauthorized|WWW-Authenticate: Bearer realm=\"a\"||"));
        assert!(other(
            "HTTP/2 401|www-authenticate: Digest realm=\"a\"|www-authenticate: Negotiate||"
        ));
        assert!(!other(
            "HTTP/1.1 401 No|WWW-Authenticate: Bearer|WWW-Authenticate: Basic realm=\"a\"||"
        ));
        assert!(!other("HTTP/1.1 401 No|WWW-Authenticate: Bearer, BASIC realm=\"a\"||"));
        assert!(!other("HTTP/1.1 401 No|Content-Length: 0||"), "nothing is asked for");
        assert!(!other("HTTP/1.1 200 OK|WWW-Authenticate: Bearer||"), "another response's head");
        assert!(!other(""));
    }

    #[test]
    fn a_port_that_answers_in_plain_http_speaks_no_tls() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let _ = stream.read(&mut [0; 512]);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
            }
        });
        assert!(!speaks_tls(address, "127.0.0.1"));
    }
}
