//! The kinds of error an exchange can end with. Never lumped: each has its own cause and fix.

use serde::{Deserialize, Serialize};

/// Why an exchange got no valid response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The connection was refused (ECONNREFUSED).
    Refused,
    /// The connection was reset (ECONNRESET, EPIPE).
    Reset,
    /// No complete response within the timeout.
    Timeout,
    /// The server closed without sending a byte of a response.
    ClosedWithoutResponse,
    /// The server closed in the middle of a body.
    ShortBody,
    /// The server closed before the head of the response was complete.
    ShortHead,
    /// The response is not HTTP/1, or contradicts itself.
    Malformed,
    /// The head of the response is longer than allowed.
    TooLarge,
    /// The connection could not be made for another reason (no route, network unreachable, …).
    Unreachable,
    /// This machine had no port or address left (EADDRNOTAVAIL, EADDRINUSE).
    LocalPorts,
    /// This process or machine had no descriptor left (EMFILE, ENFILE), or no memory for one.
    LocalDescriptors,
    /// Any other error of a system call.
    Other,
    /// The server's certificate is past its time, or before it.
    CertificateExpired,
    /// The server's certificate is for another name.
    CertificateName,
    /// The server's certificate was issued by nobody who is trusted here.
    CertificateIssuer,
    /// The server's certificate was issued by itself.
    CertificateSelfSigned,
    /// The server's certificate is not accepted for another reason.
    CertificateInvalid,
    /// The server wants a certificate of the client, or another one.
    ClientCertificate,
    /// Server and client have no version, suite, group or application protocol in common.
    NoCommonTls,
    /// The server answered in plain HTTP instead of TLS.
    AnsweredInPlain,
    /// The server answered in TLS to plain HTTP.
    AnsweredInTls,
    /// The server ended TLS with an alert of another kind.
    TlsRefused,
    /// What the server sent is not TLS, or was damaged.
    TlsBroken,
    /// The connection ended in the middle of a response without the end that TLS requires
    /// (`close_notify`): it may have been cut off.
    TlsTruncated,
    /// The server speaks no HTTP/2: it answered in HTTP/1, or did not agree to HTTP/2 under TLS.
    NoHttp2,
    /// The server reset the stream (RST_STREAM).
    StreamReset,
    /// The server gave the connection up with an error (GOAWAY), or took a request on neither of two.
    GoAway,
    /// The server broke the rules of HTTP/2: on one stream, or on the connection.
    Http2Violated,
    /// The server speaks no HTTP/3: it did not agree to it, or to no version of QUIC that is spoken here.
    NoHttp3,
    /// The server closed the QUIC connection with an error (CONNECTION_CLOSE).
    QuicClosed,
    /// The server broke the rules of HTTP/3, or of QUIC.
    Http3Violated,
    /// The proxy requires credentials, or other ones (407).
    ProxyAuthentication,
    /// The proxy refused the tunnel with another status.
    ProxyRefused,
    /// The proxy ended the connection before its response to CONNECT was complete.
    ProxyClosed,
    /// The proxy answered CONNECT with something that is no HTTP/1.
    ProxyMalformed,
    /// The request was not sent: its header fields are larger than the server accepts (SETTINGS_MAX_FIELD_SECTION_SIZE;
    /// RFC 9114, 4.2.2).
    RequestTooLarge,
}

impl FailureKind {
    /// All kinds, in the order reports list them.
    pub const ALL: [Self; 36] = [
        Self::Refused,
        Self::Reset,
        Self::Timeout,
        Self::ClosedWithoutResponse,
        Self::ShortBody,
        Self::ShortHead,
        Self::Malformed,
        Self::TooLarge,
        Self::Unreachable,
        Self::LocalPorts,
        Self::LocalDescriptors,
        Self::Other,
        Self::CertificateExpired,
        Self::CertificateName,
        Self::CertificateIssuer,
        Self::CertificateSelfSigned,
        Self::CertificateInvalid,
        Self::ClientCertificate,
        Self::NoCommonTls,
        Self::AnsweredInPlain,
        Self::AnsweredInTls,
        Self::TlsRefused,
        Self::TlsBroken,
        Self::TlsTruncated,
        Self::NoHttp2,
        Self::StreamReset,
        Self::GoAway,
        Self::Http2Violated,
        Self::NoHttp3,
        Self::QuicClosed,
        Self::Http3Violated,
        Self::ProxyAuthentication,
        Self::ProxyRefused,
        Self::ProxyClosed,
        Self::ProxyMalformed,
        Self::RequestTooLarge,
    ];

    /// How reports call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::ClosedWithoutResponse => "closed without a response",
            Self::ShortBody => "short body",
            Self::ShortHead => "short head",
            Self::Malformed => "malformed",
            Self::TooLarge => "head too large",
            Self::Unreachable => "unreachable",
            Self::LocalPorts => "no local port",
            Self::LocalDescriptors => "no descriptor",
            Self::Other => "other",
            Self::CertificateExpired => "certificate expired or not yet valid",
            Self::CertificateName => "certificate for another name",
            Self::CertificateIssuer => "certificate of unknown issuer",
            Self::CertificateSelfSigned => "self-signed certificate",
            Self::CertificateInvalid => "invalid certificate",
            Self::ClientCertificate => "client certificate required or rejected",
            Self::NoCommonTls => "no common TLS version or cipher",
            Self::AnsweredInPlain => "plain HTTP, not TLS",
            Self::AnsweredInTls => "TLS, not plain HTTP",
            Self::TlsRefused => "TLS alert",
            Self::TlsBroken => "TLS broken",
            Self::TlsTruncated => "cut off",
            Self::NoHttp2 => "HTTP/2 not supported",
            Self::StreamReset => "stream reset",
            Self::GoAway => "GOAWAY",
            Self::Http2Violated => "HTTP/2 protocol error",
            Self::NoHttp3 => "HTTP/3 not supported",
            Self::QuicClosed => "CONNECTION_CLOSE",
            Self::Http3Violated => "HTTP/3 protocol error",
            Self::ProxyAuthentication => "proxy requires credentials",
            Self::ProxyRefused => "refused by the proxy",
            Self::ProxyClosed => "closed by the proxy",
            Self::ProxyMalformed => "proxy's response malformed",
            Self::RequestTooLarge => "request fields too large",
        }
    }

    /// How a sentence calls it behind the number of requests: `10 timed out`, `3 with a short body`.
    pub fn of_a_count(self) -> &'static str {
        match self {
            Self::Timeout => "timed out",
            Self::ShortBody => "with a short body",
            Self::ShortHead => "closed within the head of the response",
            Self::TooLarge => "with too large a head",
            Self::LocalPorts => "without a local port",
            Self::LocalDescriptors => "without a descriptor",
            Self::Other => "failed otherwise",
            Self::CertificateExpired => "rejected as the certificate is expired or not yet valid",
            Self::CertificateName => "rejected as the certificate is for another name",
            Self::CertificateIssuer => "rejected as the certificate's issuer is unknown",
            Self::CertificateSelfSigned => "rejected as the certificate is self-signed",
            Self::CertificateInvalid => "rejected as the certificate is invalid",
            Self::ClientCertificate => "without a client certificate that the server accepts",
            Self::NoCommonTls => "without a common TLS version or cipher",
            Self::AnsweredInPlain => "answered in plain HTTP, not TLS",
            Self::AnsweredInTls => "answered in TLS, not plain HTTP",
            Self::TlsRefused => "ended by a TLS alert",
            Self::TlsBroken => "with broken TLS",
            Self::NoHttp2 => "without HTTP/2",
            Self::StreamReset => "with a stream that the server reset",
            Self::GoAway => "ended by GOAWAY",
            Self::Http2Violated => "with an HTTP/2 protocol error",
            Self::NoHttp3 => "without HTTP/3",
            Self::QuicClosed => "ended by CONNECTION_CLOSE",
            Self::Http3Violated => "with an HTTP/3 protocol error",
            Self::ProxyAuthentication => "without the credentials that the proxy requires",
            Self::ProxyMalformed => "with a malformed response of the proxy",
            Self::RequestTooLarge => "not sent as their header fields are too large for the server",
            other => other.label(),
        }
    }

    /// Its name in machine-readable reports.
    pub fn key(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::ClosedWithoutResponse => "closed-without-response",
            Self::ShortBody => "short-body",
            Self::ShortHead => "short-head",
            Self::Malformed => "malformed",
            Self::TooLarge => "too-large",
            Self::Unreachable => "unreachable",
            Self::LocalPorts => "local-ports",
            Self::LocalDescriptors => "local-descriptors",
            Self::Other => "other",
            Self::CertificateExpired => "certificate-expired",
            Self::CertificateName => "certificate-name",
            Self::CertificateIssuer => "certificate-issuer",
            Self::CertificateSelfSigned => "certificate-self-signed",
            Self::CertificateInvalid => "certificate-invalid",
            Self::ClientCertificate => "client-certificate",
            Self::NoCommonTls => "no-common-tls",
            Self::AnsweredInPlain => "plain-http-not-tls",
            Self::AnsweredInTls => "tls-not-plain-http",
            Self::TlsRefused => "tls-refused",
            Self::TlsBroken => "tls-broken",
            Self::TlsTruncated => "tls-truncated",
            Self::NoHttp2 => "no-http2",
            Self::StreamReset => "stream-reset",
            Self::GoAway => "goaway",
            Self::Http2Violated => "http2-violated",
            Self::NoHttp3 => "no-http3",
            Self::QuicClosed => "quic-closed",
            Self::Http3Violated => "http3-violated",
            Self::ProxyAuthentication => "proxy-authentication",
            Self::ProxyRefused => "proxy-refused",
            Self::ProxyClosed => "proxy-closed",
            Self::ProxyMalformed => "proxy-malformed",
            Self::RequestTooLarge => "request-too-large",
        }
    }

    /// Whether it is about TLS: the connection stood, and still nobody could be talked to.
    pub fn is_of_tls(self) -> bool {
        (Self::CertificateExpired as usize..=Self::TlsTruncated as usize).contains(&(self as usize))
    }

    /// Whether it is about the tunnel through a proxy: the proxy was there, and made none.
    pub fn is_of_proxy(self) -> bool {
        matches!(
            self,
            Self::ProxyAuthentication
                | Self::ProxyRefused
                | Self::ProxyClosed
                | Self::ProxyMalformed
        )
    }

    /// Whether a connection can fail for it before the first request: somebody was there,
    /// and whoever it was could not be talked to.
    pub fn is_of_setup(self) -> bool {
        self.is_of_tls() || self.is_of_proxy() || matches!(self, Self::NoHttp2 | Self::NoHttp3)
    }

    /// The kind that an errno of connecting or transferring belongs to.
    pub fn from_errno(errno: i32) -> Self {
        match errno {
            libc::ECONNREFUSED => Self::Refused,
            libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED => Self::Reset,
            libc::ETIMEDOUT => Self::Timeout,
            libc::EADDRNOTAVAIL | libc::EADDRINUSE => Self::LocalPorts,
            libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS => Self::LocalDescriptors,
            libc::ENETUNREACH
            | libc::EHOSTUNREACH
            | libc::EACCES
            | libc::EPERM
            | libc::ENETDOWN
            | libc::EHOSTDOWN
            | libc::ENOENT => Self::Unreachable,
            _ => Self::Other,
        }
    }
}
