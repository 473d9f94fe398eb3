//! A jar as a file in Netscape's format, which curl reads with `-b` and writes with `-c`: seven fields between tabs in each
//! line (domain, whether hosts below it are meant, path, whether TLS is needed, expiry, name, value).

use super::{Cookie, Jar, Origin};

/// In front of the domain of a cookie that scripts of pages must not see.
const HTTP_ONLY: &str = "#HttpOnly_";

const HEAD: &str =
    "# Netscape HTTP Cookie File\n# Written by ablaze; curl reads it with -b FILE.\n\n";

impl Jar {
    /// Takes the cookies of a file. Those that have expired are left out; of two with one name, domain and path, the
    /// later one counts.
    ///
    /// # Errors
    /// The number of the first line that is none, and what was expected.
    pub fn read_netscape(&mut self, text: &str, now: i64) -> Result<(), (usize, &'static str)> {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_end_matches('\r');
            let is_http_only = line.starts_with(HTTP_ONLY);
            let line = line.strip_prefix(HTTP_ONLY).unwrap_or(line);
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let cookie = cookie(line, is_http_only).map_err(|why| (index + 1, why))?;
            if !self.insert(cookie, now) {
                return Err((index + 1, "expected at most 300 cookies"));
            }
        }
        Ok(())
    }

    /// The cookies as such a file.
    pub fn to_netscape(&self) -> String {
        let mut text = HEAD.to_owned();
        for cookie in &self.cookies {
            let Cookie { name, value, domain, path, is_host_only, is_secure, is_http_only, .. } =
                cookie;
            let (front, dot) =
                (if *is_http_only { HTTP_ONLY } else { "" }, if *is_host_only { "" } else { "." });
            let word = |is: bool| if is { "TRUE" } else { "FALSE" };
            let expires = cookie.expires.unwrap_or(0).max(0);
            text += &format!(
                "{front}{dot}{domain}\t{}\t{path}\t{}\t{expires}\t{name}\t{value}\n",
                word(!is_host_only),
                word(*is_secure)
            );
        }
        text
    }

    /// The value of `Cookie` for a request as curl writes it: longer paths first, then longer domains, then longer names,
    /// then newer cookies; `None` if there is none to send.
    pub fn field_like_curl(&self, origin: &Origin<'_>, now: i64) -> Option<String> {
        let mut sent: Vec<(usize, &Cookie)> =
            self.cookies.iter().enumerate().filter(|(_, own)| own.is_for(origin, now)).collect();
        sent.sort_by_key(|(age, own)| {
            let lengths = (own.path.len(), own.domain.len(), own.name.len(), *age);
            std::cmp::Reverse(lengths)
        });
        let pairs: Vec<String> =
            sent.iter().map(|(_, own)| format!("{}={}", own.name, own.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

fn cookie(line: &str, is_http_only: bool) -> Result<Cookie, &'static str> {
    let fields: Vec<&str> = line.split('\t').collect();
    // Without a value, its tab may be missing.
    let (fields, value) = match fields[..] {
        [a, b, c, d, e, f] => ([a, b, c, d, e, f], ""),
        [a, b, c, d, e, f, value] => ([a, b, c, d, e, f], value),
        _ => return Err("expected seven fields between tabs, as curl writes them"),
    };
    let [domain, is_for_below, path, is_secure, expires, name] = fields;
    let is = |word: &str| match word {
        word if word.eq_ignore_ascii_case("TRUE") => Ok(true),
        word if word.eq_ignore_ascii_case("FALSE") => Ok(false),
        _ => Err("expected TRUE or FALSE in the second and the fourth field"),
    };
    let seconds: i64 =
        expires.parse().map_err(|_| "expected seconds since 1970 in the fifth field")?;
    if !path.starts_with('/') {
        return Err("expected a path in the third field");
    }
    if domain.is_empty() || name.is_empty() {
        return Err("expected a domain in the first field and a name in the sixth");
    }
    if line.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 127) {
        return Err("expected no control characters");
    }
    Ok(Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain: domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase(),
        path: path.to_owned(),
        expires: (seconds != 0).then_some(seconds),
        is_host_only: !is(is_for_below)?,
        is_secure: is(is_secure)?,
        is_http_only,
    })
}
