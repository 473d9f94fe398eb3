//! Why a handshake or a connection failed, as one of the kinds that reports know, and in
//! one sentence for the first of them.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

use super::protection::Damage;
use super::verifier::SelfSigned;
use ablaze_model::failure::FailureKind;
use ablaze_model::printable::printable;
use ablaze_model::record::{Record, TlsAlert};

/// rustls reads no handshake message longer than this; behind the ServerHello, only one with very many
/// certificates is.
const TOO_LONG: &str = "a handshake message of the server exceeds the limit of 65,535 bytes: \
                        its certificate chain is too long";
const HELLO_TOO_LONG: &str =
    "the first handshake message of the server exceeds the limit of 65,535 bytes";

/// Of what the peer or its certificate says at most so much is shown.
const SHOWN_CHARACTERS: usize = 200;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The kind it is counted as.
    pub kind: FailureKind,
    /// What rustls or the peer said, in words.
    pub detail: String,
    /// The alert that it was, if the peer sent one.
    pub alert: Option<TlsAlert>,
}

/// What the server asked for in the handshake, and what it got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CertificateRequest {
    /// It did not ask for a certificate.
    #[default]
    None,
    /// It asked and got none.
    InVain,
    /// It asked and got one.
    Met,
}

impl Trouble {
    /// Of this kind, and no alert.
    pub fn new(kind: FailureKind, detail: String) -> Self {
        Self { kind, detail, alert: None }
    }

    /// Of a handshake.
    pub fn of(error: &Error) -> Self {
        let kind = match error {
            Error::InvalidCertificate(reason) => of_certificate(reason),
            Error::AlertReceived(alert) => return Self::of_alert(*alert),
            Error::PeerIncompatible(_) | Error::NoApplicationProtocol => FailureKind::NoCommonTls,
            Error::NoCertificatesPresented => FailureKind::CertificateInvalid,
            _ => FailureKind::TlsBroken,
        };
        let detail = match error {
            Error::InvalidMessage(
                InvalidMessage::HandshakePayloadTooLarge
                | InvalidMessage::CertificatePayloadTooLarge,
            ) => TOO_LONG.to_owned(),
            error => shown(&error.to_string()),
        };
        Self::new(kind, detail)
    }

    /// The peer sent a fatal alert, and had asked for no certificate. `handshake_failure` is all that many servers say, of
    /// whatever they do not like: only those of the version and of too weak parameters name what is not in common.
    pub fn of_alert(alert: AlertDescription) -> Self {
        use AlertDescription as Alert;
        let kind = match alert {
            Alert::ProtocolVersion | Alert::InsufficientSecurity => FailureKind::NoCommonTls,
            _ => FailureKind::TlsRefused,
        };
        let number = u8::from(alert);
        let detail = format!("the server sent the alert {alert:?} ({number})");
        Self { kind, detail, alert: Some(TlsAlert { number, asked_certificate: false }) }
    }

    /// What it is where the server had asked for a certificate before its alert: about that one, if the alert can be.
    pub fn after(self, request: CertificateRequest) -> Self {
        let Some(alert) = self.alert.filter(|_| request != CertificateRequest::None) else {
            return self;
        };
        let is_of_certificate = match alert.number {
            // RFC 5246, 7.4.6: what a server of TLS 1.2 sends that gets none.
            TlsAlert::HANDSHAKE_FAILURE => request == CertificateRequest::InVain,
            number => is_of_certificate(number.into()),
        };
        let detail = match request {
            CertificateRequest::InVain => {
                format!("it asked for a client certificate and got none; {}", self.detail)
            }
            _ => self.detail,
        };
        let kind = if is_of_certificate { FailureKind::ClientCertificate } else { self.kind };
        Self { kind, detail, alert: Some(TlsAlert { asked_certificate: true, ..alert }) }
    }

    /// What it is behind the ServerHello, in which the server had chosen version and suite.
    pub fn behind_the_hello(self, request: CertificateRequest) -> Self {
        let about = self.after(request);
        match about.kind {
            FailureKind::NoCommonTls => Self { kind: FailureKind::TlsRefused, ..about },
            _ => about,
        }
    }

    /// The peer sent a fatal alert when both sides had agreed on everything: what it says of versions and suites is not
    /// what is missing.
    pub fn of_late_alert(alert: AlertDescription, request: CertificateRequest) -> Self {
        let late = Self::of_alert(alert).behind_the_hello(request);
        Self { detail: format!("{} after the handshake", late.detail), ..late }
    }

    /// The same trouble, where it is with the server's first message.
    pub fn of_hello(self) -> Self {
        match self.detail == TOO_LONG {
            true => Self { detail: HELLO_TOO_LONG.to_owned(), ..self },
            false => self,
        }
    }

    /// The peer sent close_notify during the handshake.
    pub fn of_close_notify() -> Self {
        let detail = "the server closed the connection during the handshake".to_owned();
        let alert = TlsAlert { number: TlsAlert::CLOSE_NOTIFY, asked_certificate: false };
        Self { kind: FailureKind::TlsRefused, detail, alert: Some(alert) }
    }

    /// The handshake ended without HTTP/2, and nothing else was offered.
    pub fn of_no_http2() -> Self {
        let detail = "the server did not choose HTTP/2 in the handshake".to_owned();
        Self::new(FailureKind::NoHttp2, detail)
    }

    /// What it is where only HTTP/2 was offered: no protocol in common is no HTTP/2 then.
    pub fn with_http2_alone(self) -> Self {
        match self.alert {
            Some(TlsAlert { number: TlsAlert::NO_APPLICATION_PROTOCOL, .. }) => {
                Self { kind: FailureKind::NoHttp2, ..self }
            }
            _ => self,
        }
    }

    /// A record that cannot be read.
    pub fn of_record(damage: Damage) -> Self {
        let detail = match damage {
            Damage::TooLong => "a record is longer than TLS permits",
            Damage::NotARecord => "received data is not a TLS record",
            Damage::NotAuthentic => "a record failed authentication",
            Damage::Unexpected => "a record of an unexpected type",
        };
        Self::new(FailureKind::TlsBroken, detail.to_owned())
    }

    /// The first bytes of the peer are no TLS record.
    pub fn of_first_bytes(bytes: &[u8]) -> Self {
        if Record::is_http2(bytes) {
            let detail = "it begins with SETTINGS of HTTP/2, without TLS".to_owned();
            return Self::new(FailureKind::AnsweredInPlain, detail);
        }
        let text: String = bytes.iter().take(40).map(|byte| char::from(*byte)).collect();
        let line = printable(text.lines().next().unwrap_or_default());
        let is_http = bytes.starts_with(b"HTTP/") || bytes.starts_with(b"<");
        let kind = if is_http { FailureKind::AnsweredInPlain } else { FailureKind::TlsBroken };
        Self::new(kind, format!("it begins with `{line}`"))
    }
}

/// Whether an alert is about the peer's certificate, which is the client's where a server sends it.
fn is_of_certificate(alert: AlertDescription) -> bool {
    use AlertDescription as Alert;
    matches!(
        alert,
        Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::NoCertificate
    )
}

/// Names in a certificate are the peer's words: no terminal obeys them, and they have an end.
fn shown(text: &str) -> String {
    let kept: String = text.chars().take(SHOWN_CHARACTERS).collect();
    let mut shown = printable(&kept).into_owned();
    if text.chars().nth(SHOWN_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

/// What kind of failure it is that rustls ends a handshake with.
pub fn kind_of(error: &Error) -> FailureKind {
    Trouble::of(error).kind
}

fn of_certificate(reason: &CertificateError) -> FailureKind {
    match reason {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => FailureKind::CertificateExpired,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            FailureKind::CertificateName
        }
        CertificateError::UnknownIssuer => FailureKind::CertificateIssuer,
        CertificateError::Other(reason) if reason.0.is::<SelfSigned>() => {
            FailureKind::CertificateSelfSigned
        }
        _ => FailureKind::CertificateInvalid,
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::ServerName;

    use super::*;

    /// RFC 7301, 3.2: version and suite may well be in common.
    #[test]
    fn no_protocol_in_common_is_no_version_in_common() {
        let alert = Trouble::of_alert(AlertDescription::NoApplicationProtocol);
        assert_eq!(alert.kind, FailureKind::TlsRefused);
        assert_eq!(alert.with_http2_alone().kind, FailureKind::NoHttp2);
    }

    /// RFC 9113, 3.4: the first frame of a server that speaks it without TLS.
    #[test]
    fn plain_http2_is_no_broken_tls() {
        let trouble = Trouble::of_first_bytes(&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);
        assert_eq!(trouble.kind, FailureKind::AnsweredInPlain);
        assert!(trouble.detail.contains("SETTINGS of HTTP/2"), "{}", trouble.detail);
        // An acknowledgement, and a length that no settings have.
        for other in [[0, 0, 0, 4, 1, 0, 0, 0, 0], [0, 0, 5, 4, 0, 0, 0, 0, 0]] {
            assert_eq!(Trouble::of_first_bytes(&other).kind, FailureKind::TlsBroken);
        }
    }

    #[test]
    fn behind_the_handshake_no_alert_is_about_versions() {
        let (late, none) = (Trouble::of_late_alert, CertificateRequest::None);
        let version = AlertDescription::ProtocolVersion;
        assert_eq!(Trouble::of_alert(version).kind, FailureKind::NoCommonTls);
        for alert in [AlertDescription::HandshakeFailure, version] {
            assert_eq!(late(alert, none).kind, FailureKind::TlsRefused);
        }
        // With TLS 1.3 a server judges the client's certificate only then.
        let late = late(AlertDescription::CertificateRequired, CertificateRequest::InVain);
        assert_eq!(late.kind, FailureKind::ClientCertificate);
        assert_eq!(
            late.detail,
            "it asked for a client certificate and got none; the server sent the alert CertificateRequired (116) after the \
             handshake"
        );
    }

    #[test]
    fn behind_the_server_hello_no_alert_is_about_versions() {
        let alert = || Trouble::of_alert(AlertDescription::HandshakeFailure);
        let placed = |request| alert().behind_the_hello(request);
        assert_eq!(placed(CertificateRequest::None).kind, FailureKind::TlsRefused);
        assert_eq!(placed(CertificateRequest::Met).kind, FailureKind::TlsRefused);
        let asked = placed(CertificateRequest::InVain);
        assert_eq!(asked.kind, FailureKind::ClientCertificate);
        assert!(asked.detail.starts_with("it asked for a client certificate and got none; "));
    }

    /// Servers send it for a name, too, and for a client certificate that they never asked for in words.
    #[test]
    fn handshake_failure_alone_names_nothing() {
        let alert = Trouble::of_alert(AlertDescription::HandshakeFailure);
        assert_eq!(alert.kind, FailureKind::TlsRefused);
        assert_eq!(alert.alert, Some(TlsAlert { number: 40, asked_certificate: false }));
    }

    #[test]
    fn who_asks_for_no_certificate_rejects_none() {
        for alert in [AlertDescription::CertificateUnknown, AlertDescription::UnknownCA] {
            let kind = |request| Trouble::of_alert(alert).behind_the_hello(request).kind;
            assert_eq!(kind(CertificateRequest::None), FailureKind::TlsRefused);
            for request in [CertificateRequest::InVain, CertificateRequest::Met] {
                assert_eq!(kind(request), FailureKind::ClientCertificate);
            }
        }
    }

    #[test]
    fn names_in_a_certificate_command_no_terminal_and_have_an_end() {
        let presented = |names: Vec<String>| {
            let expected = ServerName::try_from("there").unwrap();
            Error::InvalidCertificate(CertificateError::NotValidForNameContext {
                expected,
                presented: names,
            })
        };
        let raw = presented(vec!["\u{1b}]0;x\u{7}\u{9b}31m\n\u{202e}".to_owned()]);
        let trouble = Trouble::of(&raw);
        assert_eq!(trouble.kind, FailureKind::CertificateName);
        let hostile = |c: char| c.is_control() || c == '\u{202e}';
        assert!(!trouble.detail.contains(hostile), "{:?}", trouble.detail);
        let many = presented((0..2_500).map(|n| format!("host-{n}.example")).collect());
        let detail = Trouble::of(&many).detail;
        assert!(detail.chars().count() <= 201 && detail.ends_with('…'), "{detail}");
        assert!(detail.contains("there"), "{detail}");
    }
}
