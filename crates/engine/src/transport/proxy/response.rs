//! What a proxy says to CONNECT: read byte by byte up to the end of its head, because what comes
//! behind a 2xx is not the proxy's any more (RFC 9110, 9.3.6).

use std::io::Error;

use ablaze_net::CloseReason;

use ablaze_model::failure::FailureKind;
use ablaze_model::printable::printable;

/// Every response begins so (RFC 9112, 4). Another minor version is read as HTTP/1.1 is.
const BEGIN: &[u8] = b"HTTP/1.";
/// `HTTP/1.1 200`: where the status ends.
const STATUS_END: usize = 12;
/// The first bytes of TLS: an alert, or the server's part of a handshake (RFC 8446, 5.1).
const TLS_RECORDS: [u8; 2] = [21, 22];
/// How much of what a proxy says is repeated to people.
const SHOWN_CHARACTERS: usize = 100;

/// A proxy's response so far.
#[derive(Debug, Default)]
pub struct Response {
    head: Vec<u8>,
    /// The status of the interim response that came last.
    interim: Option<u16>,
}

/// How far a response got with what came.
#[derive(Debug, PartialEq, Eq)]
pub enum Got {
    /// More has to come.
    Further,
    /// The tunnel stands; this many of the bytes belonged to the response.
    Through {
        /// Bytes of the response among those that came last.
        head_bytes: usize,
    },
    /// There will be no tunnel.
    Nowhere(Trouble),
}

/// Why there is no tunnel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The kind it is counted as.
    pub kind: FailureKind,
    /// What went wrong, in words.
    pub detail: String,
}

impl Response {
    /// Reads what came, up to the end of the head.
    pub fn read(&mut self, bytes: &[u8], max_head_bytes: usize) -> Got {
        for (index, byte) in bytes.iter().enumerate() {
            self.head.push(*byte);
            if self.head.len() <= BEGIN.len() && !BEGIN.starts_with(&self.head) {
                // The rest of the line says more to people than its first byte.
                self.head.extend_from_slice(&bytes[index + 1..]);
                return Got::Nowhere(self.not_http());
            }
            if self.ends_here() {
                match self.status() {
                    // Interim responses come before the response (RFC 9110, 15.2).
                    Some(status @ 100..=199) if status != 101 => {
                        self.interim = Some(status);
                        self.head.clear();
                    }
                    Some(200..=299) => {
                        self.head = Vec::new();
                        return Got::Through { head_bytes: index + 1 };
                    }
                    Some(status) => return Got::Nowhere(self.refusal(status)),
                    None => return Got::Nowhere(self.not_http()),
                }
            } else if self.head.len() >= max_head_bytes {
                let detail = format!("its response head is longer than {max_head_bytes} bytes");
                return Got::Nowhere(Trouble { kind: FailureKind::ProxyMalformed, detail });
            }
        }
        Got::Further
    }

    /// The connection ended before the response did; `None` where that was not the proxy's doing.
    pub fn cut_off(&self, why: CloseReason) -> Option<Trouble> {
        let how = match why {
            CloseReason::Eof => "closed the connection".to_owned(),
            CloseReason::Transfer(errno) => {
                let reason = Error::from_raw_os_error(errno).to_string();
                let reason = reason.split(" (os error").next().unwrap_or_default().to_owned();
                format!("broke the connection ({reason})")
            }
            CloseReason::Local | CloseReason::Connect(_) | CloseReason::Here(..) => return None,
        };
        let when = match (self.head.len(), self.interim) {
            (0, Some(status)) => {
                format!("behind an interim response to CONNECT ({status}), without a final one")
            }
            (0, None) => "without a response to CONNECT".to_owned(),
            _ => format!("in the middle of its response to CONNECT, `{}`", shown(&self.head)),
        };
        Some(Trouble { kind: FailureKind::ProxyClosed, detail: format!("it {how} {when}") })
    }

    /// It had begun and was not complete when the connection was closed here.
    pub fn unfinished(&self, why: CloseReason) -> Option<Trouble> {
        let begun = why == CloseReason::Local && (!self.head.is_empty() || self.interim.is_some());
        let detail = || match self.interim.filter(|_| self.head.is_empty()) {
            Some(status) => format!("it had sent no more than an interim response ({status})"),
            None => format!("it had sent no more than `{}`", shown(&self.head)),
        };
        begun.then(|| Trouble { kind: FailureKind::Timeout, detail: detail() })
    }

    /// Whether the last byte is the end of the head. Lines may end without a CR (RFC 9112, 2.2).
    fn ends_here(&self) -> bool {
        self.head.ends_with(b"\n\r\n") || self.head.ends_with(b"\n\n")
    }

    /// The status, where the first line has one in its place.
    fn status(&self) -> Option<u16> {
        let [.., _minor, b' ', high, middle, low] = self.head.get(..STATUS_END)? else {
            return None;
        };
        let ends = matches!(self.head.get(STATUS_END), Some(b' ' | b'\r' | b'\n'));
        let digits = [high, middle, low];
        (ends && digits.iter().all(|digit| digit.is_ascii_digit()))
            .then(|| digits.iter().fold(0, |number, digit| number * 10 + u16::from(*digit - b'0')))
    }

    fn refusal(&self, status: u16) -> Trouble {
        let line = shown(&self.head["HTTP/1.1 ".len()..]);
        let kind = match status {
            407 => FailureKind::ProxyAuthentication,
            101 => FailureKind::ProxyMalformed,
            _ => FailureKind::ProxyRefused,
        };
        let schemes = self.schemes();
        let takes_basic = schemes.iter().any(|scheme| scheme.eq_ignore_ascii_case("basic"));
        let detail = if status == 407 && !schemes.is_empty() && !takes_basic {
            format!("{line}; it accepts {}, but only Basic is supported", schemes.join(", "))
        } else {
            line
        };
        Trouble { kind, detail }
    }

    /// The schemes of authentication that the proxy offers (RFC 9110, 11.7.1).
    fn schemes(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.head);
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .filter(|(name, _)| name.eq_ignore_ascii_case("proxy-authenticate"))
            .filter_map(|(_, value)| value.split_whitespace().next())
            .map(|scheme| shown(scheme.trim_end_matches(',').as_bytes()))
            .collect()
    }

    fn not_http(&self) -> Trouble {
        let detail = match self.head.first() {
            Some(first) if TLS_RECORDS.contains(first) => {
                "it expects TLS, but TLS to the proxy is not supported here".to_owned()
            }
            _ => format!("it begins with `{}`", shown(&self.head)),
        };
        Trouble { kind: FailureKind::ProxyMalformed, detail }
    }
}

impl Trouble {
    /// Credentials that were sent and were not enough are another matter than none.
    pub fn if_credentials_were_sent(self, has_credentials: bool) -> Self {
        match self.kind {
            FailureKind::ProxyAuthentication if has_credentials => {
                Self { detail: format!("{}; it rejected the credentials", self.detail), ..self }
            }
            _ => self,
        }
    }
}

/// The first line of these bytes, fit for a terminal.
fn shown(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let text: String = String::from_utf8_lossy(line).chars().take(SHOWN_CHARACTERS).collect();
    printable(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interim response is one, and no final one.
    #[test]
    fn what_came_before_the_proxy_closed_is_told() {
        let said = |bytes: &[u8], why| {
            let mut response = Response::default();
            assert_eq!(response.read(bytes, 1_000), Got::Further);
            response.cut_off(why).or_else(|| response.unfinished(why)).map(|trouble| trouble.detail)
        };
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
        assert_eq!(
            said(interim, CloseReason::Eof).unwrap(),
            "it closed the connection behind an interim response to CONNECT (100), without a final one"
        );
        assert_eq!(
            said(interim, CloseReason::Local).unwrap(),
            "it had sent no more than an interim response (100)"
        );
        let nothing = said(b"", CloseReason::Eof).unwrap();
        assert_eq!(nothing, "it closed the connection without a response to CONNECT");
        assert_eq!(said(b"", CloseReason::Local), None);
        let begun = said(b"HTTP/1.1 2", CloseReason::Eof).unwrap();
        assert!(begun.contains("in the middle of its response to CONNECT"), "{begun}");
    }
}
