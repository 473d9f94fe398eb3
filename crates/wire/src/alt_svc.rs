//! The field Alt-Svc (RFC 7838, 3): where else, and in which protocol, the resources of an origin are.

/// What the values of the field say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AltSvc {
    /// `clear`: what was said before is no longer true, and there is nowhere else.
    Clear,
    /// The alternatives, the one that the server prefers first.
    Alternatives(Vec<Alternative>),
}

/// One alternative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// Name of the protocol as in ALPN, percent-encoded where it is no token: `h3`.
    pub protocol: String,
    /// Host, without the brackets of an IPv6 address; empty for that of the origin.
    pub host: String,
    /// Port.
    pub port: u16,
    /// For so long it is true, s (`ma`); a day unless the server says something else.
    pub max_age_s: u64,
}

/// `ma` where it is absent (RFC 7838, 3.1).
const MAX_AGE_S: u64 = 86_400;

impl AltSvc {
    /// Reads a value; several fields are one value with commas between them.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(value: &str) -> Result<Self, String> {
        // It is case-sensitive (RFC 7838, 3).
        if value.trim() == "clear" {
            return Ok(Self::Clear);
        }
        let mut reader = Reader { rest: value };
        let mut alternatives = Vec::new();
        loop {
            // Empty elements of a list are permitted (RFC 9110, 5.6.1.2).
            reader.skip_space();
            while reader.take(',') {
                reader.skip_space();
            }
            if reader.rest.is_empty() {
                break;
            }
            alternatives.push(reader.alternative()?);
            if !reader.rest.is_empty() && !reader.rest.starts_with(',') {
                return Err(reader.unexpected("a comma"));
            }
        }
        match alternatives.is_empty() {
            true => Err("the value is empty".to_owned()),
            false => Ok(Self::Alternatives(alternatives)),
        }
    }

    /// The first alternative in this protocol that is true now.
    pub fn first(&self, protocol: &str) -> Option<&Alternative> {
        match self {
            Self::Clear => None,
            Self::Alternatives(all) => {
                all.iter().find(|one| one.protocol == protocol && one.max_age_s > 0)
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn alternative(&mut self) -> Result<Alternative, String> {
        let protocol = self.token()?;
        if !self.take('=') {
            return Err(self.unexpected("`=`"));
        }
        if !self.rest.starts_with('"') {
            return Err(self.unexpected("a host and port in double quotes"));
        }
        let authority = self.quoted()?;
        let (host, port) =
            host_and_port(&authority).ok_or_else(|| format!("`{authority}` is not [HOST]:PORT"))?;
        let mut max_age_s = MAX_AGE_S;
        loop {
            self.skip_space();
            if !self.take(';') {
                return Ok(Alternative { protocol, host, port, max_age_s });
            }
            self.skip_space();
            let name = self.token()?;
            if !self.take('=') {
                return Err(self.unexpected("`=`"));
            }
            let value = if self.rest.starts_with('"') { self.quoted()? } else { self.token()? };
            // Other parameters are to be ignored (RFC 7838, 3).
            if name.eq_ignore_ascii_case("ma") {
                max_age_s = seconds(&value).ok_or_else(|| format!("ma={value} is no number"))?;
            }
        }
    }

    fn token(&mut self) -> Result<String, String> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let end = self.rest.find(|c| !is_token(c)).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.unexpected("a name"));
        }
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(token.to_owned())
    }

    fn quoted(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => text.push(character),
            }
        }
        Err(format!("the quotes of {} are not closed", self.rest))
    }

    fn take(&mut self, character: char) -> bool {
        let rest = self.rest.strip_prefix(character);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn unexpected(&self, expected: &str) -> String {
        match self.rest {
            "" => format!("expected {expected} at its end"),
            rest => format!("expected {expected} before `{rest}`"),
        }
    }
}

fn host_and_port(authority: &str) -> Option<(String, u16)> {
    let (host, port) = authority.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(literal) => literal.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    let port = port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok())??;
    (port > 0).then(|| (host.to_owned(), port))
}

/// Delta-seconds; a number that is too large stands for the largest (RFC 9111, 1.2.2).
fn seconds(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(protocol: &str, host: &str, port: u16, max_age_s: u64) -> Alternative {
        Alternative { protocol: protocol.into(), host: host.into(), port, max_age_s }
    }

    #[test]
    fn the_values_of_the_rfc_are_read() {
        // RFC 7838, 3 and 3.1, and what servers send.
        let cases = [
            (r#"h2=":8000""#, vec![one("h2", "", 8000, 86_400)]),
            (r#"h2="new.example.org:80""#, vec![one("h2", "new.example.org", 80, 86_400)]),
            (r#"h2=":443"; ma=3600"#, vec![one("h2", "", 443, 3600)]),
            (r#"h2=":443"; ma=2592000; persist=1"#, vec![one("h2", "", 443, 2_592_000)]),
            (
                r#"h2="alt.example.com:8000", h2=":443""#,
                vec![one("h2", "alt.example.com", 8000, 86_400), one("h2", "", 443, 86_400)],
            ),
            (r#"w%3D%3Ax%25="[::1]:1""#, vec![one("w%3D%3Ax%25", "::1", 1, 86_400)]),
            (
                r#"h3=":443"; ma=86400; v="46,43", , h3-29=":443";MA="7""#,
                vec![one("h3", "", 443, 86_400), one("h3-29", "", 443, 7)],
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(AltSvc::parse(value), Ok(AltSvc::Alternatives(expected)), "{value}");
        }
        assert_eq!(AltSvc::parse(" clear "), Ok(AltSvc::Clear));
    }

    #[test]
    fn what_is_none_is_refused() {
        for value in [
            "",
            ",",
            "Clear",
            "h3",
            "h3=",
            "h3=:443",
            r#"h3=":""#,
            r#"h3=":443"#,
            r#"h3="443""#,
            r#"h3=":0""#,
            r#"h3=":65536""#,
            r#"h3="::1:443""#,
            r#"h3=":443" ma=1"#,
            r#"h3=":443"; ma=-1"#,
            r#"h3=":443"; ma"#,
            r#"clear, h3=":443""#,
        ] {
            assert!(AltSvc::parse(value).is_err(), "{value}");
        }
    }

    #[test]
    fn one_that_is_stale_at_once_is_passed_over() {
        let of = |value: &str| AltSvc::parse(value).expect("can be read").first("h3").cloned();
        assert_eq!(of(r#"h3=":1"; ma=0, h3=":2""#), Some(one("h3", "", 2, 86_400)));
        assert_eq!(of(r#"h2=":1", h3-29=":2""#), None);
        assert_eq!(of("clear"), None);
    }
}
