//! The URL in a command line: what can be one, and its parts.

/// Something with a slash, a port or a dot in it, and no option.
pub(super) fn is_url_like(word: &str) -> bool {
    word.is_ascii()
        && word.contains(['/', ':', '.'])
        && word.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '['))
        && !is_version(word)
        && split_url(word).is_some()
}

/// `0.1.0,` in a sentence: numbers with points that are no address.
fn is_version(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':', '.', ')']);
    let numbers = word.split('.');
    let digits = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
    numbers.clone().all(digits) && numbers.count() != 4 && !word.is_empty()
}

/// Host, port and path, with gurl's and ablaze's shorthands.
pub(super) fn split_url(url: &str) -> Option<(String, u16, String)> {
    let (rest, default_port) = match url.strip_prefix("https://") {
        Some(rest) => (rest, 443),
        None => (url.strip_prefix("http://").unwrap_or(url), 80),
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.find(['/', '?']).map_or((rest, "/"), |at| rest.split_at(at));
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let path = if path.starts_with('?') { format!("/{path}") } else { path.to_owned() };
    let colon = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
    let (host, port) = match colon {
        Some(at) => (&authority[..at], authority[at + 1..].parse().ok().filter(|port| *port > 0)?),
        None => (authority, default_port),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    Some((host.to_owned(), port, path))
}
