//! What to do about what went wrong with TLS, in the options of the command that was used.

use ablaze_model::record::TlsAlert;
use ablaze_model::spec::FrontEnd;
use ablaze_model::{FailureKind, Run};

/// How a command line is told which certificates to trust, and which to send.
struct Options {
    /// How any certificate is accepted.
    accept_any: &'static str,
    /// How an issuer, or a self-signed certificate, is trusted; `None` where that cannot be said.
    trust: Option<&'static str>,
    /// Whether it can be told a name, a client certificate, and versions of TLS.
    has_others: bool,
    /// How it is told versions, cipher suites and groups.
    versions: &'static str,
    /// And a client certificate.
    certificate: &'static str,
}

impl Options {
    fn of(front_end: FrontEnd) -> Self {
        let native = Self {
            accept_any: "accept any with -k",
            trust: Some("--cacert FILE"),
            has_others: true,
            versions: "--tls-min, --tls-max, --tls-ciphers, --tls-groups",
            certificate: "--cert",
        };
        match front_end {
            FrontEnd::Gurl => Self { trust: None, has_others: false, ..native },
            // These tools verify nothing: --cacert, which is ours, made them do it. -k is something else in ab.
            FrontEnd::Ab => Self {
                accept_any: "accept any by leaving out --cacert",
                versions: "-f, -Z, --tls-groups",
                certificate: "-E",
                ..native
            },
            FrontEnd::Wrk | FrontEnd::Hey | FrontEnd::H2load => {
                Self { accept_any: "accept any by leaving out --cacert", ..native }
            }
            FrontEnd::Oha => Self { accept_any: "accept any with --insecure", ..native },
            FrontEnd::Vegeta => Self {
                accept_any: "accept any with -insecure",
                trust: Some("-root-certs FILE"),
                ..native
            },
            _ => native,
        }
    }

    /// The fix for a certificate that nobody vouches for.
    fn trusting(&self, what: &str) -> String {
        let any = self.accept_any;
        self.trust.map_or(any.to_owned(), |option| format!("trust {what} with {option}, or {any}"))
    }
}

/// What to do about it.
pub(super) fn fix(kind: FailureKind, to: &str, run: &Run) -> String {
    let facts = run.record.tls.as_ref();
    let detail = facts.and_then(|facts| facts.first_failure.as_ref());
    let detail = detail.filter(|(of, _)| *of == kind).map_or("", |(_, detail)| detail);
    let alert = facts.and_then(|facts| facts.alert_of(kind));
    let said = |what: String| match detail {
        "" => what,
        detail => format!("{what} ({detail})"),
    };
    let url = &run.plan.target.url;
    match kind {
        FailureKind::CertificateSelfSigned => of_certificate(kind, to, run, detail),
        kind if is_of_certificate(kind) => said(of_certificate(kind, to, run, detail)),
        FailureKind::ClientCertificate => {
            let is_given = run.plan.tls.as_ref().is_some_and(|tls| tls.identity.is_some());
            said(client_certificate(to, run.front_end(), is_given))
        }
        FailureKind::NoCommonTls => {
            // An address is no name, and none is sent (RFC 6066, 3); an alert of the version says what it is about.
            let of_version = alert.is_some_and(|alert| alert.number == TlsAlert::PROTOCOL_VERSION);
            said(no_common_tls(to, run.front_end(), is_named(run) && !of_version))
        }
        FailureKind::AnsweredInPlain if detail.contains("SETTINGS of HTTP/2") => format!(
            "{to} speaks HTTP/2 without TLS: use {} and {}",
            url.replacen("https:", "http:", 1),
            match run.front_end() {
                FrontEnd::Load => "--http 2",
                _ => "`ablaze load --http 2`",
            }
        ),
        FailureKind::AnsweredInPlain => {
            format!("{to} responds in plain HTTP: use {}", url.replacen("https:", "http:", 1))
        }
        FailureKind::AnsweredInTls => {
            format!("{to} responds in TLS: use {}", url.replacen("http:", "https:", 1))
        }
        FailureKind::TlsRefused => match alert {
            Some(alert) => of_alert(alert, to, run),
            None => said(format!("{to} ended TLS with an alert: see the server's log")),
        },
        FailureKind::TlsTruncated => format!(
            "{to} ends responses without close_notify, which TLS requires: they may be truncated"
        ),
        _ => said(format!("{to} violates the TLS protocol: is it the right port?")),
    }
}

/// What to do about the alert with which the server ended TLS.
fn of_alert(alert: TlsAlert, to: &str, run: &Run) -> String {
    let has_others = Options::of(run.front_end()).has_others;
    let named = alert.named();
    let facts = run.record.tls.as_ref();
    let ended = match facts.map_or(0, |facts| facts.handshakes()) {
        0 => format!("{to} ended the TLS handshake with the alert {named}"),
        _ if facts.is_some_and(|facts| facts.all_completed()) => {
            format!("{to} ended TLS after the handshake with the alert {named}")
        }
        // Some handshakes were completed: in which the alert came, or behind which, is not kept.
        _ => format!("{to} ended TLS with the alert {named}"),
    };
    match alert.number {
        // RFC 7301, 3.2: the server speaks none of the protocols that were offered, and HTTP/1.1 was the one.
        TlsAlert::NO_APPLICATION_PROTOCOL => {
            let fix = match has_others {
                true => ": use --http 2 if it speaks that alone",
                false => "",
            };
            format!("{to} does not speak HTTP/1.1 over TLS{fix} (it sent the alert {named})")
        }
        // RFC 6066, 3.
        TlsAlert::UNRECOGNIZED_NAME => {
            let what = match is_named(run) {
                _ if !sends_name(run) => "requires a name, and none was sent",
                true => "does not serve the name that it was asked for",
                false => "requires a name, and an address was given",
            };
            let fix = match has_others {
                true => "use one that it serves with --sni NAME",
                false => "use a name that it serves",
            };
            format!("{to} {what}: {fix} (it sent the alert {named})")
        }
        TlsAlert::HANDSHAKE_FAILURE
            if run.record.tls.as_ref().is_some_and(|facts| facts.handshakes() == 0) =>
        {
            let name = if is_named(run) { ", the name that it was asked for" } else { "" };
            let Options { versions, certificate, .. } = Options::of(run.front_end());
            let own = match (has_others, is_named(run)) {
                (true, true) => format!("{versions}, --sni and {certificate}"),
                (true, false) => format!("{versions} and {certificate}"),
                (false, _) => "what the server permits".to_owned(),
            };
            format!(
                "{ended}, which does not say why: the versions, cipher suites or groups that were offered{name}, a missing client \
                 certificate, or another reason: see its log, and check {own}"
            )
        }
        _ => format!("{ended}: see its log"),
    }
}

/// Whether the server is told a name.
fn is_named(run: &Run) -> bool {
    let name = run.plan.tls.as_ref().map_or("", |tls| &tls.server_name);
    name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_err()
}

fn sends_name(run: &Run) -> bool {
    run.plan.tls.as_ref().is_none_or(|tls| tls.send_server_name)
}

fn is_of_certificate(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::CertificateExpired
            | FailureKind::CertificateName
            | FailureKind::CertificateIssuer
            | FailureKind::CertificateInvalid
    )
}

/// What is wrong with the server's certificate. `detail` is what the verifier said of it.
fn of_certificate(kind: FailureKind, to: &str, run: &Run, detail: &str) -> String {
    let options = Options::of(run.front_end());
    let any = options.accept_any;
    let (wrong, fix) = match kind {
        FailureKind::CertificateExpired if detail.contains("not valid yet") => {
            ("is not valid yet", format!("check the clocks of both machines, wait, or {any}"))
        }
        FailureKind::CertificateExpired if detail.contains("expired") => {
            ("has expired", format!("renew it, or {any}"))
        }
        FailureKind::CertificateExpired => {
            ("has expired or is not yet valid", format!("renew it, or {any}"))
        }
        FailureKind::CertificateName => {
            let name = run.plan.tls.as_ref().map_or("", |tls| &tls.server_name);
            let option = if options.has_others { " with --sni NAME" } else { "" };
            let fix = format!("use the right name{option}, or {any}");
            return format!("the certificate of {to} is not valid for {name}: {fix}");
        }
        FailureKind::CertificateIssuer => {
            ("is from an unknown issuer", options.trusting("the issuer"))
        }
        FailureKind::CertificateSelfSigned => ("is self-signed", options.trusting("it")),
        _ => ("was rejected", format!("fix it, or {any}")),
    };
    format!("the certificate of {to} {wrong}: {fix}")
}

fn client_certificate(to: &str, front_end: FrontEnd, is_given: bool) -> String {
    if is_given {
        return format!(
            "{to} rejects the client certificate that was given: which issuers does it trust?"
        );
    }
    let fix = match front_end {
        FrontEnd::Gurl => ": `ablaze load` sends one with --cert FILE --key FILE",
        FrontEnd::Vegeta => ": use -cert FILE -key FILE",
        _ => ": use --cert FILE --key FILE",
    };
    format!("{to} requires a client certificate that it accepts{fix}")
}

fn no_common_tls(to: &str, front_end: FrontEnd, named: bool) -> String {
    let Options { has_others, versions, .. } = Options::of(front_end);
    let own = match (has_others, named) {
        (true, true) => format!("{versions} and --sni, and "),
        (true, false) => {
            let (others, last) = versions.rsplit_once(", ").unwrap_or(("", versions));
            format!("{others} and {last}, and ")
        }
        (false, _) => String::new(),
    };
    // Files of older versions have the alert `handshake_failure` as this, which some servers send for a name, too.
    let or = match named {
        true => ", or it refuses the name that it was asked for",
        false => "",
    };
    format!(
        "{to} and this client have no TLS version, cipher suite or group in common{or}: check {own}what the server permits"
    )
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::tls::Tls;
    use ablaze_model::record::TlsFacts;

    use super::*;

    #[test]
    fn every_command_is_told_its_own_options() {
        let trusting = |front_end| Options::of(front_end).trusting("it");
        assert_eq!(trusting(FrontEnd::Load), "trust it with --cacert FILE, or accept any with -k");
        assert_eq!(trusting(FrontEnd::Gurl), "accept any with -k");
        // `-k` asks for keep-alive there.
        assert_eq!(
            trusting(FrontEnd::Ab),
            "trust it with --cacert FILE, or accept any by leaving out --cacert"
        );
        assert_eq!(
            trusting(FrontEnd::Vegeta),
            "trust it with -root-certs FILE, or accept any with -insecure"
        );
        assert!(!no_common_tls("h", FrontEnd::Gurl, true).contains("--tls"));
        assert!(no_common_tls("h", FrontEnd::Load, true).contains("--sni"));
        let address = no_common_tls("127.0.0.1:1", FrontEnd::Load, false);
        assert!(!address.contains("name") && !address.contains("--sni"), "{address}");
        assert!(client_certificate("h", FrontEnd::Vegeta, false).contains(" -cert FILE"));
        assert!(client_certificate("h", FrontEnd::Load, true).contains("rejects the client"));
    }

    /// RFC 6066, 3: the alert is the same for a name that is not served and for none.
    #[test]
    fn a_server_that_asks_for_a_name_is_told_whether_one_was_sent() {
        let said = |server_name: &str, send_server_name| {
            let mut run = ablaze_model::by_hand::run();
            let kind = FailureKind::TlsRefused;
            let number = TlsAlert::UNRECOGNIZED_NAME;
            let facts = TlsFacts {
                first_failure: Some((kind, String::new())),
                first_alert: Some(TlsAlert { number, asked_certificate: false }),
                ..TlsFacts::default()
            };
            run.record.tls = Some(facts.into());
            run.plan.tls = Some(Tls { send_server_name, ..Tls::new(server_name) });
            fix(kind, "h", &run)
        };
        let none = said("example.com", false);
        assert!(none.starts_with("h requires a name, and none was sent: use one"), "{none}");
        let other = said("example.com", true);
        assert!(other.starts_with("h does not serve the name that it was asked for"), "{other}");
        let address = said("127.0.0.1", true);
        assert!(address.starts_with("h requires a name, and an address was given"), "{address}");
    }

    /// One handshake that is still open when the run ends makes no handshake of what followed the others.
    #[test]
    fn an_alert_is_told_of_the_handshake_only_where_none_was_completed() {
        let said = |connected, handshakes_full| {
            let mut run = ablaze_model::by_hand::run();
            let facts = TlsFacts { connected, handshakes_full, ..TlsFacts::default() };
            run.record.tls = Some(facts.into());
            of_alert(TlsAlert { number: 80, asked_certificate: false }, "h", &run)
        };
        assert!(said(10, 0).starts_with("h ended the TLS handshake with"), "{}", said(10, 0));
        assert!(said(10, 10).starts_with("h ended TLS after the handshake"), "{}", said(10, 10));
        assert!(said(10, 9).starts_with("h ended TLS with the alert"), "{}", said(10, 9));
    }
}
