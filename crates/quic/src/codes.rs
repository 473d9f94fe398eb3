//! Names of the codes that QUIC itself closes connections with (RFC 9000, 20.1). Those of HTTP/3 are
//! [`ablaze_wire::http3::error::ErrorCode`]'s.

/// A code of the transport, as CONNECTION_CLOSE of type 0x1c carries it. Unknown ones are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransportCode(pub u64);

impl TransportCode {
    /// Its name in the registry, if it has one.
    pub fn name(self) -> Option<&'static str> {
        const NAMES: [&str; 18] = [
            "NO_ERROR",
            "INTERNAL_ERROR",
            "CONNECTION_REFUSED",
            "FLOW_CONTROL_ERROR",
            "STREAM_LIMIT_ERROR",
            "STREAM_STATE_ERROR",
            "FINAL_SIZE_ERROR",
            "FRAME_ENCODING_ERROR",
            "TRANSPORT_PARAMETER_ERROR",
            "CONNECTION_ID_LIMIT_ERROR",
            "PROTOCOL_VIOLATION",
            "INVALID_TOKEN",
            "APPLICATION_ERROR",
            "CRYPTO_BUFFER_EXCEEDED",
            "KEY_UPDATE_ERROR",
            "AEAD_LIMIT_REACHED",
            "NO_VIABLE_PATH",
            "VERSION_NEGOTIATION_ERROR",
        ];
        usize::try_from(self.0).ok().and_then(|at| NAMES.get(at)).copied()
    }

    /// The TLS alert that it stands for (RFC 9001, 4.8).
    pub fn alert(self) -> Option<u8> {
        u8::try_from(self.0.checked_sub(0x100)?).ok()
    }
}

impl std::fmt::Display for TransportCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.name(), self.alert()) {
            (Some(name), _) => f.write_str(name),
            (None, Some(alert)) => write!(f, "CRYPTO_ERROR with alert {alert}"),
            (None, None) => write!(f, "error code {:#x}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_the_registry() {
        let shown = |code| TransportCode(code).to_string();
        assert_eq!(
            (shown(0x2), shown(0xe)),
            ("CONNECTION_REFUSED".into(), "KEY_UPDATE_ERROR".into())
        );
        assert_eq!(
            (shown(0x10), shown(0x11)),
            ("NO_VIABLE_PATH".into(), "VERSION_NEGOTIATION_ERROR".into())
        );
        // no_application_protocol is alert 120 (RFC 7301).
        assert_eq!(
            (shown(0x178), TransportCode(0x178).alert()),
            ("CRYPTO_ERROR with alert 120".into(), Some(120))
        );
        assert_eq!(
            (shown(0x12), shown(0x200)),
            ("error code 0x12".into(), "error code 0x200".into())
        );
    }
}
