//! From options to what rustls is told, once per server: all connections share it.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::server::{NoServerSessionStorage, UnbufferedServerConnection, WebPkiClientVerifier};
use rustls::{Error, InconsistentKeys, RootCertStore, ServerConfig, SupportedProtocolVersion};

use super::identity::read_certificates;
use super::{TlsOptions, TlsVersion};

impl TlsOptions {
    /// Puts the parts together, for servers that speak HTTP/2 or do not.
    ///
    /// # Errors
    /// One sentence about what does not go together, with the fix.
    pub fn configuration(&self, http2: bool) -> Result<Arc<ServerConfig>, String> {
        let spoken: &[&[u8]] = if http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        let config = Arc::new(self.put_together(&self.versions()?, spoken)?);
        // Whatever a connection could be refused for shows here, before any is accepted.
        UnbufferedServerConnection::new(config.clone())
            .map_err(|error| format!("TLS cannot be set up: {error}"))?;
        Ok(config)
    }

    /// Puts the parts together for HTTP/3, which is under TLS 1.3 alone (RFC 9001, 4.2).
    ///
    /// # Errors
    /// One sentence about what does not go together, with the fix.
    pub fn configuration_of_http3(&self) -> Result<Arc<ServerConfig>, String> {
        if self.max < TlsVersion::Tls13 {
            return Err("HTTP/3 needs TLS 1.3; permit it, or do not speak HTTP/3".into());
        }
        Ok(Arc::new(self.put_together(&[&rustls::version::TLS13], &[b"h3"])?))
    }

    fn put_together(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        spoken: &[&[u8]],
    ) -> Result<ServerConfig, String> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)
            .map_err(|error| format!("TLS cannot be set up: {error}"))?;
        let builder = match &self.client_authorities {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for certificate in read_certificates(pem).map_err(of_clients)? {
                    roots.add(certificate).map_err(of_clients)?;
                }
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                        .build()
                        .map_err(of_clients)?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let (chain, key) = (self.identity.chain(), self.identity.key());
        let mut config = builder.with_single_cert(chain, key).map_err(of_server)?;
        config.alpn_protocols = spoken.iter().map(|name| name.to_vec()).collect();
        if self.tickets {
            config.ticketer = aws_lc_rs::Ticketer::new()
                .map_err(|error| format!("cannot create a key for session tickets: {error}"))?;
        } else {
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(config)
    }

    fn versions(&self) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
        if self.min > self.max {
            return Err(format!(
                "the minimum TLS version {} is above the maximum {}; swap the two",
                self.min.name(),
                self.max.name()
            ));
        }
        let asked = TlsVersion::ALL.into_iter().filter(|one| (self.min..=self.max).contains(one));
        Ok(asked
            .map(|version| match version {
                TlsVersion::Tls12 => &rustls::version::TLS12,
                TlsVersion::Tls13 => &rustls::version::TLS13,
            })
            .collect())
    }
}

fn of_clients(error: impl std::fmt::Display) -> String {
    format!("the CA certificates for clients cannot be used: {error}")
}

fn of_server(error: Error) -> String {
    match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the private key does not match the certificate; use a pair that belongs together"
                .into()
        }
        error => format!("the certificate cannot be used: {error}"),
    }
}
