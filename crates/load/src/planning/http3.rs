//! What HTTP/3 does not go together with: it is spoken over UDP, straight to the server, and has TLS 1.3 in it.

use std::borrow::Cow;

use ablaze_model::plan::Http3;
use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::spec::{HttpVersion, LoadSpec, TlsSpec, UrlSpec};

use crate::Error;

/// Rejects what cannot be used with HTTP/3, if this URL is loaded with it.
///
/// # Errors
/// When the URL is not `https`, something else in the spec is for TCP, or a number is out of its range.
pub fn check(spec: &LoadSpec, url: &UrlSpec) -> Result<(), Error> {
    if spec.http != Some(HttpVersion::Http3) {
        return Ok(());
    }
    if !url.https {
        return Err(without_tls(spec, url));
    }
    let destination = &spec.destination;
    let exclusive = [
        ("--unix-socket", destination.unix_socket.is_some(), "QUIC goes over UDP"),
        ("--proxy", destination.proxy.is_some(), "proxies are reached over TCP"),
        ("--tls-max 1.2", spec.tls.newest == Some(TlsVersion::V1_2), "QUIC has TLS 1.3 in it"),
        (
            "--tls-resume",
            spec.tls.resume,
            "sessions of QUIC are not resumed in this version, every handshake is a full one",
        ),
    ];
    if let Some((option, _, why)) = exclusive.into_iter().find(|(_, is_given, _)| *is_given) {
        return Err(Error::usage(format!(
            "--http 3 and {option} cannot be used together: {why}; use only one"
        )));
    }
    check_numbers(spec)
}

/// Where else requests go must speak TLS, too.
///
/// # Errors
/// For the first URL that is not `https`.
pub fn check_others(spec: &LoadSpec, others: &[UrlSpec]) -> Result<(), Error> {
    let plain = others.iter().find(|url| !url.https).filter(|_| spec.is_http3());
    plain.map_or(Ok(()), |url| Err(without_tls(spec, url)))
}

/// What is asked of TLS, where QUIC permits version 1.3 alone (RFC 9001, 4.2).
pub fn tls_of(spec: &LoadSpec) -> Cow<'_, TlsSpec> {
    match spec.is_http3() {
        true => Cow::Owned(TlsSpec {
            oldest: Some(TlsVersion::V1_3),
            offer_protocol: true,
            ..spec.tls.clone()
        }),
        false => Cow::Borrowed(&spec.tls),
    }
}

fn without_tls(spec: &LoadSpec, url: &UrlSpec) -> Error {
    let secure = UrlSpec { https: true, ..url.clone() };
    let (option, instead) = match spec.quic.follows_alt_svc {
        true => ("--alt-svc", "remove --alt-svc"),
        false => ("--http 3", "--http 2"),
    };
    Error::usage(format!(
        "{option} needs TLS, and {} has none: use {}, or {instead}",
        url.shown,
        secure.to_url()
    ))
}

fn check_numbers(spec: &LoadSpec) -> Result<(), Error> {
    let http3 = spec.quic.with_streams(spec.in_flight);
    let windows = [
        ("--quic-stream-window", http3.stream_window_bytes),
        ("--quic-window", http3.connection_window_bytes),
    ];
    for (option, bytes) in windows {
        if !Http3::WINDOW_BYTES.contains(&bytes) {
            return Err(Error::usage(format!(
                "{option} {bytes} bytes: use a size from 1KiB to 4GiB"
            )));
        }
    }
    if let Some(bytes) = http3.datagram_bytes.filter(|bytes| !Http3::DATAGRAM_BYTES.contains(bytes))
    {
        return Err(Error::usage(format!(
            "--quic-datagram {bytes} bytes: use a size from {} to {} bytes",
            Http3::DATAGRAM_BYTES.start(),
            Http3::DATAGRAM_BYTES.end()
        )));
    }
    if http3.qpack_table_bytes > Http3::QPACK_TABLE_BYTES_MAX {
        return Err(Error::usage(format!(
            "--qpack-table {} bytes: use a size up to 1MiB",
            http3.qpack_table_bytes
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::proxy::Way;
    use ablaze_model::spec::{ProxySpec, Secrets};

    use super::*;
    use crate::planning::compose;

    fn spec(url: &str) -> LoadSpec {
        let mut spec = LoadSpec { http: Some(HttpVersion::Http3), ..LoadSpec::default() };
        spec.destination.url = Some(UrlSpec::parse(url).expect("a URL").0);
        spec.tls.trust = ablaze_model::spec::TrustSpec::Anyone;
        spec
    }

    fn refused(spec: &LoadSpec) -> String {
        compose(spec, &Secrets::default()).expect_err("cannot be carried out").to_string()
    }

    #[test]
    fn it_is_composed_with_its_settings_and_tls_1_3() {
        let mut spec = spec("https://h:1/x");
        spec.in_flight = 7;
        spec.quic.stream_window_bytes = Some(1 << 20);
        let composed = compose(&spec, &Secrets::default()).expect("can be carried out");
        let http3 = composed.http3.expect("is asked for");
        assert_eq!((http3.streams, http3.stream_window_bytes), (7, 1 << 20));
        assert_eq!(http3, Http3 { stream_window_bytes: 1 << 20, ..Http3::with_streams(7) });
        let tls = composed.tls.expect("https");
        assert_eq!((tls.oldest, tls.newest), (TlsVersion::V1_3, TlsVersion::V1_3));
        assert_eq!(tls.protocols, ["h3"]);
        assert!(composed.http2.is_none());
    }

    #[test]
    fn what_needs_tcp_is_refused() {
        let plain = refused(&spec("http://h:8443/x"));
        assert!(plain.contains("http://h:8443/x has none: use https://h:8443/x"), "{plain}");
        let with = |change: fn(&mut LoadSpec)| {
            let mut spec = spec("https://h:1/x");
            change(&mut spec);
            refused(&spec)
        };
        let proxy = with(|spec| {
            spec.destination.proxy = Some(ProxySpec {
                host: "p".to_owned(),
                port: 1,
                way: Some(Way::Tunnel),
                credentials: None,
            });
        });
        assert!(proxy.contains("--http 3 and --proxy"), "{proxy}");
        let socket = with(|spec| spec.destination.unix_socket = Some("/s".into()));
        assert!(socket.contains("--unix-socket"), "{socket}");
        let old = with(|spec| spec.tls.newest = Some(TlsVersion::V1_2));
        assert!(old.contains("--tls-max 1.2"), "{old}");
        let datagram = with(|spec| spec.quic.datagram_bytes = Some(1199));
        assert!(datagram.contains("--quic-datagram 1199 bytes"), "{datagram}");
        let window = with(|spec| spec.quic.connection_window_bytes = Some(9));
        assert!(window.contains("--quic-window 9 bytes"), "{window}");
    }
}
