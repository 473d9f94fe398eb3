//! `--connect-to`: "instead of this host and port, connect to that one".

use ablaze_model::spec::ConnectTo;

/// Reads `HOST:PORT`, `HOST` (h2load's forms: connect there) or `HOST:PORT:ADDR:PORT`
/// (curl's: for that host and port connect here; an empty part matches everything or stays).
/// IPv6 literals stand in brackets.
///
/// # Errors
/// A line that says what is wrong with it.
pub fn connect_to(text: &str) -> Result<ConnectTo, String> {
    let parts = split_outside_brackets(text);
    let host = |part: &str| {
        let bare = part.strip_prefix('[').and_then(|part| part.strip_suffix(']'));
        (!part.is_empty()).then(|| bare.unwrap_or(part).to_owned())
    };
    let port = |part: &str| match part {
        "" => Ok(None),
        _ => match part.parse::<u16>() {
            Ok(port) if port > 0 => Ok(Some(port)),
            _ => Err(format!("`{part}` is not a port (1 to 65535)")),
        },
    };
    match parts[..] {
        [to] if !to.is_empty() => Ok(ConnectTo { host: host(to), ..ConnectTo::default() }),
        [to, to_port] => {
            Ok(ConnectTo { host: host(to), port: port(to_port)?, ..ConnectTo::default() })
        }
        [from, from_port, to, to_port] => Ok(ConnectTo {
            from_host: host(from),
            from_port: port(from_port)?,
            host: host(to),
            port: port(to_port)?,
        }),
        _ => Err("expected ADDR:PORT, or HOST:PORT:ADDR:PORT as for curl, with IPv6 in \
            brackets"
            .into()),
    }
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut inside = false;
    text.split(|letter| {
        match letter {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        letter == ':' && !inside
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connect_to_reads_both_tools_forms() {
        let to = |from: Option<&str>, from_port, host: Option<&str>, port| ConnectTo {
            from_host: from.map(Into::into),
            from_port,
            host: host.map(Into::into),
            port,
        };
        let table = [
            ("10.0.0.1:8080", to(None, None, Some("10.0.0.1"), Some(8080))),
            ("[::1]:8080", to(None, None, Some("::1"), Some(8080))),
            ("backend", to(None, None, Some("backend"), None)),
            ("a.example:80:[::1]:8080", to(Some("a.example"), Some(80), Some("::1"), Some(8080))),
            ("::127.0.0.1:", to(None, None, Some("127.0.0.1"), None)),
            (":80::81", to(None, Some(80), None, Some(81))),
        ];
        for (text, expected) in table {
            assert_eq!(connect_to(text), Ok(expected), "{text}");
        }
        for text in ["", "a:b", "a:0", "a:1:2", "a:1:b:65536"] {
            assert!(connect_to(text).is_err(), "{text}");
        }
    }
}
