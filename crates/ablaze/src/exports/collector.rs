//! A collector of OpenTelemetry, as far as one message at a time is posted to it over HTTP/1.1, plain or with TLS: blocking,
//! with a bound on its time, on a connection of its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use ablaze_engine::transport::tls::{Shared, kind_of};
use ablaze_load::planning;
use ablaze_model::FailureKind;
use ablaze_model::printable::printable;
use ablaze_model::spec::{Secrets, TlsSpec, TrustSpec};
use ablaze_report::system_error::reason;
use ablaze_wire::url::{Scheme, Url};
use rustls::{ClientConnection, StreamOwned};

use crate::CommandError;

/// What a message has, from connecting to the response.
const EXCHANGE_MAX: Duration = Duration::from_secs(5);
/// What is read of a response behind its first line.
const REST_BYTES_MAX: u64 = 64 * 1024;
/// Where messages go when the URL names no path (OTLP specification, "Endpoint URLs for OTLP/HTTP").
const PATH: &str = "/v1/metrics";
/// The variable with more fields of the head (OpenTelemetry's "Protocol Exporter").
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Where messages are posted to.
pub struct Collector {
    url: Url,
    addresses: Vec<SocketAddr>,
    tls: Option<Shared>,
    /// Lines of the head beside those that every message has.
    fields: String,
}

impl Collector {
    /// The collector at this URL.
    ///
    /// # Errors
    /// When there is none that could be posted to.
    pub fn of(text: &str) -> Result<Self, CommandError> {
        let refused = |why: String| CommandError::usage(format!("--otlp: {why}"));
        let mut url = Url::parse(text).map_err(|error| refused(error.to_string()))?;
        if url.userinfo.is_some() {
            return Err(refused(format!("put credentials into {HEADERS}, not into the URL")));
        }
        if url.path_and_query == "/" {
            PATH.clone_into(&mut url.path_and_query);
        }
        let addresses = (url.host.as_str(), url.port).to_socket_addrs();
        let addresses = addresses
            .map_err(|error| refused(format!("no address for {}: {}", url.host, reason(&error))))?;
        let tls = match url.scheme {
            Scheme::Http => None,
            Scheme::Https => {
                let asked = TlsSpec { trust: TrustSpec::System, ..TlsSpec::default() };
                let secrets = Secrets::default();
                let tls = planning::tls::resolve(&asked, &url.host, Some("http/1.1"), &secrets)?;
                Some(Shared::new(&tls).map_err(|error| refused(error.to_string()))?)
            }
        };
        let fields = std::env::var(HEADERS).unwrap_or_default();
        let fields = head_fields(&fields).map_err(|why| refused(format!("{HEADERS}: {why}")))?;
        Ok(Self { addresses: addresses.collect(), tls, fields, url })
    }

    /// Its URL as messages show it.
    pub fn shown(&self) -> String {
        let Url { scheme, path_and_query, .. } = &self.url;
        format!("{}://{}{path_and_query}", scheme.name(), self.url.host_header())
    }

    /// Posts a message.
    ///
    /// # Errors
    /// Why it was not taken.
    pub fn post(&self, body: &[u8]) -> Result<(), String> {
        let until = Instant::now() + EXCHANGE_MAX;
        let tcp = self.connected(until)?;
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                format!("no response within {} s", EXCHANGE_MAX.as_secs())
            }
            _ => untrusted(&error).unwrap_or_else(|| reason(&error)),
        };
        let mut tcp = Within { tcp, until };
        let status = match &self.tls {
            None => self.exchange(&mut tcp, body).map_err(failed)?,
            Some(shared) => {
                let config = std::sync::Arc::clone(&shared.config);
                let tls = ClientConnection::new(config, shared.server_name.clone())
                    .map_err(|error| format!("TLS: {error}"))?;
                self.exchange(&mut StreamOwned::new(tls, tcp), body).map_err(failed)?
            }
        };
        // `HTTP/1.1 200 OK`
        match status.split(' ').nth(1).is_some_and(|code| code.len() == 3 && code.starts_with('2'))
        {
            true => Ok(()),
            false => Err(format!("it responds `{}`", printable(&status))),
        }
    }

    fn connected(&self, until: Instant) -> Result<TcpStream, String> {
        let mut why = "it has no address".to_owned();
        for address in &self.addresses {
            let left = until.saturating_duration_since(Instant::now());
            match TcpStream::connect_timeout(address, left.max(Duration::from_millis(1))) {
                Ok(tcp) => return Ok(tcp),
                Err(error) => why = format!("cannot connect to {address}: {}", reason(&error)),
            }
        }
        Err(why)
    }

    /// Sends the message and gives the first line of the response.
    fn exchange(&self, stream: &mut (impl Read + Write), body: &[u8]) -> std::io::Result<String> {
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n{}\r\n",
            self.url.path_and_query,
            self.url.host_header(),
            body.len(),
            self.fields
        );
        stream.write_all(&[head.as_bytes(), body].concat())?;
        stream.flush()?;
        let mut line = Vec::new();
        let mut byte = [0];
        while line.len() < 1024 && stream.read(&mut byte)? == 1 && byte[0] != b'\n' {
            line.push(byte[0]);
        }
        // Closing on bytes not read would reset the connection, of which a collector complains.
        let _ = std::io::copy(&mut stream.take(REST_BYTES_MAX), &mut std::io::sink());
        match line.is_empty() {
            true => Err(std::io::ErrorKind::UnexpectedEof.into()),
            false => Ok(String::from_utf8_lossy(&line).trim_end().to_owned()),
        }
    }
}

/// A socket whose calls end when its time is over.
struct Within {
    tcp: TcpStream,
    until: Instant,
}

impl Within {
    fn left(&self) -> std::io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(std::io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Within {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.tcp.set_read_timeout(self.left()?)?;
        self.tcp.read(to)
    }
}

impl Write for Within {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.tcp.set_write_timeout(self.left()?)?;
        self.tcp.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What is wrong with the collector's certificate, if that is what the error is.
fn untrusted(error: &std::io::Error) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    let trusted = "this system trusts others (SSL_CERT_FILE names a file of those to trust)";
    Some(match kind_of(error) {
        FailureKind::CertificateIssuer => {
            format!("its certificate is from an unknown issuer: {trusted}")
        }
        FailureKind::CertificateSelfSigned => {
            format!("its certificate is self-signed: {trusted}")
        }
        FailureKind::CertificateName => "its certificate is for another name".to_owned(),
        FailureKind::CertificateExpired => {
            "its certificate has expired or is not yet valid".to_owned()
        }
        _ => return None,
    })
}

/// `name=value,name=value`, values percent-encoded (the specification's form of W3C Baggage), as lines of a head.
fn head_fields(text: &str) -> Result<String, String> {
    let mut lines = String::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        // Values are secrets: a message shows none.
        let (name, value) = pair.split_once('=').ok_or("write NAME=VALUE, separated by commas")?;
        let (name, value) = (name.trim(), decoded(value.trim()));
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!("`{}` is no name of a header", printable(name)));
        }
        if value.chars().any(char::is_control) {
            return Err(format!("the value of {name} has control characters"));
        }
        lines.push_str(&format!("{name}: {value}\r\n"));
    }
    Ok(lines)
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        // A sign would be read, too.
        let hex = hex.filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_decoded_and_cannot_break_out() {
        let lines = head_fields("api-key=a%20b, x=y=z,,");
        assert_eq!(lines.as_deref(), Ok("api-key: a b\r\nx: y=z\r\n"));
        assert_eq!(head_fields("x=%+5%zz%").as_deref(), Ok("x: %+5%zz%\r\n"));
        assert!(head_fields("x=a%0D%0AHost: b").is_err());
        assert!(head_fields("a b=c").is_err() && head_fields("secret").is_err());
    }
}
