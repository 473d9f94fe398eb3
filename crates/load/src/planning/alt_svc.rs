//! Where a server has HTTP/3, asked before the run: one request over TCP, whose response has the field Alt-Svc
//! (RFC 7838) or not.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use ablaze_model::plan::Target;
use ablaze_model::plan::alternative::Alternative;
use ablaze_model::plan::tls::Tls;
use ablaze_model::printable::printable;
use ablaze_model::spec::{Destination, LoadSpec, Secrets, UrlSpec};
use ablaze_wire::alt_svc::AltSvc;

use super::{Composed, OptionNames, addresses, tls};
use crate::Error;

mod asking;

/// The name of HTTP/3 in ALPN, and so in the field.
const HTTP3: &str = "h3";

/// Longer than this nobody waits for a run to begin.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Asks for the alternative, if that is to be followed, and puts its addresses in the place of the origin's.
///
/// # Errors
/// When the server cannot be asked, or names none.
pub fn follow(
    spec: &LoadSpec,
    composed: &Composed,
    addresses: &mut Vec<SocketAddr>,
    secrets: &Secrets,
    names: &OptionNames,
) -> Result<Option<Alternative>, Error> {
    if !spec.quic.follows_alt_svc {
        return Ok(None);
    }
    if let Some(other) = composed.others.first() {
        return Err(Error::usage(format!(
            "--alt-svc and several hosts cannot be used together: requests also go to {}",
            other.url.host_field()
        )));
    }
    let url = &composed.url;
    let asked = tls::resolve(&spec.tls, &url.host, Some("http/1.1"), secrets)?;
    let limit = match spec.limits.timeout_ns {
        0 => TIMEOUT,
        timeout_ns => Duration::from_nanos(timeout_ns).min(TIMEOUT),
    };
    let request = asking::request(&url.path, &url.host_field());
    let answer =
        asking::ask(addresses, &asked, &request, Instant::now() + limit).map_err(|why| {
            Error::usage(format!("--alt-svc: {} cannot be asked over TCP: {why}", url.shown))
        })?;
    let found = read(&answer).map_err(|why| Error::usage(format!("--alt-svc: {why}")))?;
    *addresses = addresses_of(&found, url, &spec.destination, addresses, names)?;
    let host = if found.host.is_empty() { url.host.clone() } else { found.host };
    Ok(Some(Alternative { host, ..found }))
}

/// Where a server that was not reached over UDP says that it has HTTP/3: the value of its field, if it has one that names
/// another place than the one that was tried.
pub fn elsewhere(target: &Target, tls: &Tls) -> Option<String> {
    let mut tls = tls.clone();
    tls.oldest = ablaze_model::plan::tls::TlsVersion::V1_2;
    tls.protocols = vec!["http/1.1".to_owned()];
    let host = UrlSpec::parse(&target.url).ok()?.0.host_field();
    let request = asking::request(&target.path, &host);
    let deadline = Instant::now() + Duration::from_secs(2);
    let answer = asking::ask(&target.addresses, &tls, &request, deadline).ok()?;
    let found = read(&answer).ok()?;
    let is_elsewhere = found.port != target.port
        || !(found.host.is_empty() || found.host.eq_ignore_ascii_case(&target.host));
    is_elsewhere.then_some(found.field)
}

/// The alternative of an answer. Its host is empty where that is the origin's.
fn read(answer: &asking::Answer) -> Result<Alternative, String> {
    let status = answer.status;
    let Some(field) = &answer.field else {
        return Err(format!(
            "the server names no HTTP/3: its response over TCP ({status}) has no field Alt-Svc; use --http 3 to try the \
             same port, or remove --alt-svc"
        ));
    };
    let shown = printable(field);
    let read = AltSvc::parse(field).map_err(|why| {
        format!("the server's Alt-Svc `{shown}` cannot be read: {}", printable(&why))
    })?;
    let Some(found) = read.first(HTTP3) else {
        return Err(format!(
            "the server names no HTTP/3: its Alt-Svc is `{shown}`; remove --alt-svc"
        ));
    };
    Ok(Alternative {
        host: found.host.clone(),
        port: found.port,
        max_age_s: found.max_age_s,
        field: field.clone(),
    })
}

/// The same host has the same addresses, whatever was said about them; `--connect-to` can name the alternative, too.
fn addresses_of(
    found: &Alternative,
    origin: &UrlSpec,
    destination: &Destination,
    known: &[SocketAddr],
    names: &OptionNames,
) -> Result<Vec<SocketAddr>, Error> {
    if found.host.is_empty() || found.host.eq_ignore_ascii_case(&origin.host) {
        return Ok(known.iter().map(|address| SocketAddr::new(address.ip(), found.port)).collect());
    }
    let place = UrlSpec { host: found.host.clone(), port: found.port, ..origin.clone() };
    addresses::resolve(&place, destination, names)
}

#[cfg(test)]
mod tests {
    use ablaze_model::spec::ConnectTo;

    use super::*;

    fn answer(field: Option<&str>) -> asking::Answer {
        asking::Answer { status: 200, field: field.map(str::to_owned) }
    }

    #[test]
    fn what_names_no_http_3_is_said_with_what_was_found() {
        let refused = |field| read(&answer(field)).unwrap_err();
        assert!(refused(None).contains("(200) has no field Alt-Svc"), "{}", refused(None));
        let other = refused(Some("h2=\":443\"\u{1b}[2J, \u{1b}"));
        assert!(!other.contains('\u{1b}'), "{other}");
        assert!(refused(Some("h2=\":443\"")).contains("is `h2=\":443\"`; remove"));
        assert!(refused(Some("clear")).contains("is `clear`"));
    }

    #[test]
    fn an_alternative_has_the_addresses_of_its_host() {
        let (origin, _) = UrlSpec::parse("https://a.example:8443/x").unwrap();
        let known: Vec<SocketAddr> = vec!["192.0.2.1:8443".parse().unwrap()];
        let destination = Destination {
            connect_to: vec![ConnectTo {
                from_host: Some("b.example".to_owned()),
                host: Some("192.0.2.9".to_owned()),
                ..ConnectTo::default()
            }],
            ..Destination::default()
        };
        let of = |field| {
            let found = read(&answer(Some(field))).unwrap();
            addresses_of(&found, &origin, &destination, &known, &OptionNames::NATIVE).unwrap()
        };
        assert_eq!(of("h3=\":444\""), ["192.0.2.1:444".parse().unwrap()]);
        assert_eq!(of("h3=\"A.example:445\""), ["192.0.2.1:445".parse().unwrap()]);
        assert_eq!(of("h3=\"b.example:446\""), ["192.0.2.9:446".parse().unwrap()]);
    }
}
