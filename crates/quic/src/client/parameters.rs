//! Transport parameters as bytes (RFC 9000, 18): numbers with lengths, each followed by as many bytes. What this client sends of
//! quinn-proto's, and what is read of the server's.

use quinn_proto::transport_parameters::TransportParameters;

use ablaze_wire::http3::varint;

/// What a client sends: those that quinn-proto wants sent, without the reserved one among them.
///
/// Reserved parameters are there to see whether servers ignore what they do not know (RFC 9000, 18.1), and nobody has to send one.
/// nginx (1.26 and later, `ngx_quic_parse_transport_param`) looks at 16 bits of a number: in one of some thousand connections it takes
/// the reserved one for another, and closes the connection or serves it with another limit.
pub fn sent(parameters: &TransportParameters) -> Vec<u8> {
    let mut written = Vec::new();
    parameters.write(&mut written);
    let mut sent = Vec::with_capacity(written.len());
    let mut at = 0;
    while let Some(Parameter { number, from, to, .. }) = next(&written, &mut at) {
        if !is_reserved(number) {
            sent.extend_from_slice(&written[from..to]);
        }
    }
    sent
}

/// `initial_max_streams_bidi` among those of a server.
pub fn streams_permitted(parameters: &[u8]) -> u64 {
    const INITIAL_MAX_STREAMS_BIDI: u64 = 0x08;
    let mut at = 0;
    while let Some(Parameter { number, mut value_at, .. }) = next(parameters, &mut at) {
        if number == INITIAL_MAX_STREAMS_BIDI {
            return varint::read(parameters, &mut value_at).unwrap_or(0);
        }
    }
    0
}

/// Where a parameter is.
struct Parameter {
    number: u64,
    from: usize,
    value_at: usize,
    to: usize,
}

/// The one at `at`, which then is behind it; None at the end, or where one is cut.
fn next(bytes: &[u8], at: &mut usize) -> Option<Parameter> {
    let from = *at;
    let number = varint::read(bytes, at)?;
    let value_bytes = usize::try_from(varint::read(bytes, at)?).ok()?;
    let value_at = *at;
    let to = value_at.checked_add(value_bytes).filter(|&to| to <= bytes.len())?;
    *at = to;
    Some(Parameter { number, from, value_at, to })
}

/// RFC 9000, 18.1.
fn is_reserved(number: u64) -> bool {
    number % 31 == 27
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};
    use std::time::Instant;

    use quinn_proto::crypto::{ClientConfig, Session};
    use quinn_proto::{ConnectError, Endpoint, EndpointConfig};
    use rustls::crypto::aws_lc_rs;

    use super::*;
    use crate::client::tls::TlsConfig;

    /// Keeps what quinn-proto wants sent, and the ClientHello that it is sent in.
    struct Kept {
        tls: Arc<TlsConfig>,
        all: Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
    }

    impl ClientConfig for Kept {
        fn start_session(
            self: Arc<Self>,
            version: u32,
            server_name: &str,
            parameters: &TransportParameters,
        ) -> Result<Box<dyn Session>, ConnectError> {
            let mut session = self.tls.clone().start_session(version, server_name, parameters)?;
            let (mut written, mut hello) = (Vec::new(), Vec::new());
            parameters.write(&mut written);
            session.write_handshake(&mut hello);
            self.all.lock().unwrap().push((written, hello));
            Ok(session)
        }
    }

    /// The transport parameters in a ClientHello (RFC 8446, 4.1.2; RFC 9001, 8.2).
    fn in_hello(hello: &[u8]) -> &[u8] {
        const QUIC_TRANSPORT_PARAMETERS: u16 = 0x39;
        let long = |at: usize| u16::from_be_bytes([hello[at], hello[at + 1]]);
        // Type and length, version, random; then session, suites, compression methods, length of the extensions.
        let mut at = 4 + 2 + 32;
        at += 1 + usize::from(hello[at]);
        at += 2 + usize::from(long(at));
        at += 1 + usize::from(hello[at]);
        at += 2;
        while long(at) != QUIC_TRANSPORT_PARAMETERS {
            at += 4 + usize::from(long(at + 2));
        }
        &hello[at + 4..][..long(at + 2).into()]
    }

    /// A number as RFC 9000, 16, has it.
    fn number(bytes: &mut &[u8]) -> u64 {
        let (these, rest) = bytes.split_at(1 << (bytes[0] >> 6));
        *bytes = rest;
        these[1..].iter().fold((these[0] & 0x3f).into(), |all, &byte| all << 8 | u64::from(byte))
    }

    fn by_number(mut bytes: &[u8]) -> BTreeMap<u64, Vec<u8>> {
        let mut all = BTreeMap::new();
        while !bytes.is_empty() {
            let id = number(&mut bytes);
            let value_bytes = number(&mut bytes);
            let (value, rest) = bytes.split_at(value_bytes as usize);
            assert!(all.insert(id, value.to_vec()).is_none(), "{id} twice");
            bytes = rest;
        }
        all
    }

    #[test]
    fn all_are_sent_but_the_reserved_one() {
        let tls = rustls::ClientConfig::builder_with_provider(aws_lc_rs::default_provider().into())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let kept = Arc::new(Kept { tls: Arc::new(TlsConfig(tls.into())), all: Mutex::default() });
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, false, None);
        for _ in 0..200 {
            let config = quinn_proto::ClientConfig::new(kept.clone());
            let server = (std::net::Ipv4Addr::LOCALHOST, 443).into();
            endpoint.connect(Instant::now(), config, server, "localhost").unwrap();
        }
        let all = kept.all.lock().unwrap();
        assert_eq!(all.len(), 200);
        for (written, hello) in all.iter() {
            let mut wanted = by_number(written);
            let count = wanted.len();
            wanted.retain(|number, _| number % 31 != 27);
            // Once quinn-proto wants none there is nothing to leave out: then `sent` can go.
            assert_eq!(wanted.len(), count - 1, "{written:02x?}");
            assert_eq!(by_number(in_hello(hello)), wanted, "{written:02x?}");
        }
    }

    #[test]
    fn the_streams_that_a_server_permits_are_among_its_parameters() {
        // max_idle_timeout 30,000 ms in 4 bytes; initial_max_streams_bidi 128 in two.
        assert_eq!(streams_permitted(&[1, 4, 0x80, 0, 0x75, 0x30, 8, 2, 0x40, 0x80]), 128);
        for cut in [
            &[][..],
            &[1],
            &[1, 4, 0x80],
            &[8, 2, 0x40],
            &[0xc0, 0xff],
            &[1, 0xff, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert_eq!(streams_permitted(cut), 0, "{cut:?}");
        }
    }
}
