//! The alert with which a server ended TLS, by its number and its name in the RFCs.

/// A fatal alert of the server, or its close_notify in the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsAlert {
    /// Its number (IANA's registry of TLS alerts).
    pub number: u8,
    /// Whether the server had asked for a client certificate (CertificateRequest) before.
    pub asked_certificate: bool,
}

impl TlsAlert {
    /// The server ends the connection in order.
    pub const CLOSE_NOTIFY: u8 = 0;
    /// No set of parameters was accepted; servers send it for other reasons, too.
    pub const HANDSHAKE_FAILURE: u8 = 40;
    /// The version is not spoken.
    pub const PROTOCOL_VERSION: u8 = 70;
    /// The name is not known (RFC 6066, section 3).
    pub const UNRECOGNIZED_NAME: u8 = 112;
    /// None of the application protocols is spoken (RFC 7301, section 3.2).
    pub const NO_APPLICATION_PROTOCOL: u8 = 120;

    /// `handshake_failure (40)`; `number 200` for one that has no name here.
    pub fn named(self) -> String {
        match name(self.number) {
            Some(name) => format!("{name} ({})", self.number),
            None => format!("number {}", self.number),
        }
    }
}

/// The name of RFC 8446, section 6, or of older versions.
fn name(number: u8) -> Option<&'static str> {
    Some(match number {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        30 => "decompression_failure",
        40 => "handshake_failure",
        41 => "no_certificate",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        60 => "export_restriction",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        111 => "certificate_unobtainable",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        114 => "bad_certificate_hash_value",
        115 => "unknown_psk_identity",
        116 => "certificate_required",
        120 => "no_application_protocol",
        121 => "ech_required",
        _ => return None,
    })
}
