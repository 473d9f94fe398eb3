//! Proxies as people type them: `http://user:password@host:port`.

use ablaze_model::plan::proxy::Credentials;
use ablaze_model::spec::{ProxySpec, Secrets};
use ablaze_wire::url::Url;

/// A proxy as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyAsked {
    /// Host name or address, IPv6 without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// User and password, with a colon between them.
    pub user: Option<String>,
}

/// Reads `[http://][USER:PASSWORD@]HOST:PORT`; `:3128` is this machine.
///
/// # Errors
/// When it is none, or one of another kind.
pub fn proxy(text: &str) -> Result<ProxyAsked, String> {
    let text = text.trim();
    let rest = match text.split_once("://") {
        None => text,
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => {
            return Err(format!(
                "TLS to the proxy itself is not supported, TLS goes through it: use http://{}",
                without_user(rest)
            ));
        }
        Some((scheme, _)) => {
            return Err(format!(
                "{scheme}:// is not supported: use an HTTP proxy, such as http://proxy:3128"
            ));
        }
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains(['/', '?', '#']) {
        return Err("a proxy has no path: use http://HOST:PORT".to_owned());
    }
    let place = without_user(rest);
    let behind_address = place.rsplit_once(']').map_or(place, |(_, behind)| behind);
    if !behind_address.contains(':') || behind_address.ends_with(':') {
        let host = if place.is_empty() { "HOST" } else { place.trim_end_matches(':') };
        return Err(format!("missing port, for example http://{host}:3128"));
    }
    let here =
        place.starts_with(':').then(|| rest.replacen(place, &format!("127.0.0.1{place}"), 1));
    let url = Url::parse(&format!("http://{}/", here.as_deref().unwrap_or(rest)))
        .map_err(|error| error.to_string())?;
    let user = url.userinfo.map(|user| if user.contains(':') { user } else { format!("{user}:") });
    Ok(ProxyAsked { host: url.host, port: url.port, user })
}

fn without_user(rest: &str) -> &str {
    rest.rsplit_once('@').map_or(rest, |(_, place)| place)
}

impl ProxyAsked {
    /// The proxy of a spec; who it is asked as is kept among the secrets.
    pub fn spec(&self, secrets: &mut Secrets) -> ProxySpec {
        let credentials = self.user.as_deref().map(Credentials::basic);
        ProxySpec {
            host: self.host.clone(),
            port: self.port,
            way: None,
            credentials: credentials.map(|own| secrets.keep_text("proxy", own.field)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_as_people_type_them() {
        let read = |text: &str| {
            let ProxyAsked { host, port, user } = proxy(text).unwrap();
            (host, port, user)
        };
        let at = |host: &str, port| (host.to_owned(), port, None::<String>);
        for text in ["http://proxy:3128", "proxy:3128", "HTTP://proxy:3128/", " proxy:3128 "] {
            assert_eq!(read(text), at("proxy", 3128), "{text}");
        }
        assert_eq!(read("http://10.0.0.1:80"), at("10.0.0.1", 80));
        assert_eq!(read("[::1]:3128"), at("::1", 3128));
        assert_eq!(read(":3128"), at("127.0.0.1", 3128));
        let with = |user: &str| ("proxy".to_owned(), 1, Some(user.to_owned()));
        assert_eq!(read("http://me:secret@proxy:1"), with("me:secret"));
        assert_eq!(read("me:a%40b%3Ac@proxy:1"), with("me:a@b:c"));
        assert_eq!(read("me:a@b@proxy:1"), with("me:a@b"));
        assert_eq!(read("me@proxy:1"), with("me:"));
    }

    #[test]
    fn what_is_no_such_proxy_is_answered_with_what_to_write() {
        for (text, part) in [
            ("https://proxy:3128", "TLS goes through it: use http://proxy:3128"),
            ("https://me:secret@proxy:3128", "use http://proxy:3128"),
            ("socks5://proxy:1080", "socks5:// is not supported"),
            ("proxy", "missing port, for example http://proxy:3128"),
            ("http://proxy", "missing port, for example http://proxy:3128"),
            ("http://proxy:", "missing port, for example http://proxy:3128"),
            ("[::1]", "missing port, for example http://[::1]:3128"),
            ("", "missing port, for example http://HOST:3128"),
            ("me:secret@proxy", "missing port, for example http://proxy:3128"),
            ("proxy:0", "port"),
            ("proxy:99999", "1 to 65535"),
            ("proxy:web", "1 to 65535"),
            ("http://proxy:3128/x", "a proxy has no path"),
            ("pro xy:3128", "pro xy"),
        ] {
            let said = proxy(text).unwrap_err();
            assert!(said.contains(part), "{text}: {said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
