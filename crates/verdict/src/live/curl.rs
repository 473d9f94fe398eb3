//! What stands behind `curl` in the fix of a finding: all that the run's own requests were, for a shell. The
//! command that is advised must get the response that was measured; secrets stand in it as placeholders.

mod fields;
mod form;
mod listed;

use std::net::{IpAddr, Ipv6Addr};

use ablaze_model::Run;
use ablaze_model::plan::proxy::Way;
use ablaze_model::plan::tls::{TlsVersion, Trust};
use ablaze_model::record::GroupRecord;
use ablaze_model::spec::{
    Bodies, Body, ConnectTo, Family, Feed, FrontEnd, Head, LoadSpec, TrustSpec,
};

use crate::words::for_shell;

/// Longer bodies that were given themselves are for a file.
const BODY_BYTES: usize = 200;
/// A body that is not shown.
const FILE: &str = "--data-binary @FILE";
/// Of a body whose type is not known: curl would say that it is a form.
const UNKNOWN_TYPE: &str = "-H 'Content-Type: TYPE'";

/// Options and URL: `-X DELETE --connect-to ::127.0.0.1:8080 http://shop.example/`.
pub(crate) fn arguments(run: &Run) -> String {
    // With a list of URLs that of the target need not be among them.
    let first = run.record.groups.first().map(|group| group.name.as_str());
    let listed = first.and_then(|name| Some((url_of(run, name)?, name)));
    match listed {
        Some((url, name)) => arguments_to(run, &url, listed::line(run, name)),
        None => match listed::only(run) {
            Some((path, line)) => {
                let url = url_of(run, &path).unwrap_or_else(|| run.plan.target.url.clone());
                arguments_to(run, &url, Some(line))
            }
            None => arguments_to(run, &run.plan.target.url, None),
        },
    }
}

/// As [`arguments`], for the one of the run's URLs of which `count` is highest.
pub(crate) fn arguments_where(run: &Run, count: impl Fn(&GroupRecord) -> u64) -> String {
    let groups = run.record.groups.iter().filter(|group| count(group) > 0);
    let most = groups.max_by_key(|group| count(group));
    match most.and_then(|group| Some((url_of(run, &group.name)?, &group.name))) {
        Some((url, name)) => arguments_to(run, &url, listed::line(run, name)),
        None => arguments(run),
    }
}

/// The URL of a group that is named by its path, or by itself.
fn url_of(run: &Run, name: &str) -> Option<String> {
    let url = &run.plan.target.url;
    let authority = url.find("://")? + 3;
    let path = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    let (_, name) = listed::method_and_path(run, name);
    if (name.starts_with("http://") || name.starts_with("https://")) && !name.contains(' ') {
        return Some(name.to_owned());
    }
    let is_path = name.starts_with('/') && !name.contains(' ');
    is_path.then(|| format!("{}{name}", &url[..path]))
}

/// `line` is what a line of a list sends.
fn arguments_to(run: &Run, typed: &str, line: Option<listed::Line<'_>>) -> String {
    let asked = run.asked.as_deref();
    let is_filled = fields::have_placeholders(asked);
    let url = if is_filled { fields::filled(typed) } else { typed.to_owned() };
    let is_fed = is_filled && asked.is_some_and(|asked| asked.requests.data.is_some());
    let url = if is_fed { fields::without_columns(&url) } else { url };
    // wrk sends none of the credentials of a URL, curl does.
    let url = if run.front_end() == FrontEnd::Wrk { without_credentials(&url) } else { url };
    let mut words = Vec::new();
    let name = line.as_ref().map_or(run.plan.requests.method.as_str(), |line| line.method);
    let has_body = line.as_ref().map_or(run.plan.requests.has_body, |line| line.has_body);
    let has_body = has_body && name != "HEAD";
    method(name, has_body, &mut words);
    version(run, &mut words);
    way(run, asked, &mut words);
    tls(run, asked, &mut words);
    let url = under_its_name(asked, &url, &mut words).unwrap_or(url);
    let sent = line.as_ref().and_then(|line| line.sent.as_ref());
    if let Some(sent) = sent {
        sent.words(run, authority(typed), &mut words);
    } else if let Some(asked) = asked {
        fields::of_head(&asked.requests, asked.front_end, &run.plan.target.host, &mut words);
        let composed = matches!(asked.requests.head, Head::Composed { .. });
        // ablaze says of these that they have no body, curl does not.
        let given = ["Content-Length", "Transfer-Encoding"].map(|name| asked.requests.given(name));
        let anticipates = matches!(name, "POST" | "PUT" | "PATCH");
        if composed && anticipates && !has_body && given.iter().all(Option::is_none) {
            words.push("-H 'Content-Length: 0'".to_owned());
        }
    }
    match line.filter(|line| line.is_own) {
        Some(listed::Line { sent: Some(sent), .. }) if has_body => words.push(sent.data()),
        Some(_) if has_body => unknown_body(&mut words),
        None if has_body => body(asked, &mut words),
        _ => {}
    }
    // curl reads these in a URL as a pattern, but for those of an address.
    let path = url.rsplit_once(']').filter(|(host, _)| host.contains("://["));
    if path.map_or(url.as_str(), |(_, path)| path).contains(['{', '}', '[', ']']) {
        words.push("-g".to_owned());
    }
    // And takes these parts out of a path.
    if url.split(['/', '?']).any(|part| matches!(part, "." | "..")) {
        words.push("--path-as-is".to_owned());
    }
    words.push(for_shell(&url));
    let command = words.join(" ");
    if is_fed { fields::without_columns(&command) } else { command }
}

fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.find('/').unwrap_or(rest.len());
    let host_at = rest[..authority].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[host_at..])
}

/// The URL with the name that the server is asked for in TLS (`--sni`), which curl takes from there, and how the connection and
/// the Host field stay what they were. `None` where the name is the URL's own.
fn under_its_name(asked: Option<&LoadSpec>, url: &str, words: &mut Vec<String>) -> Option<String> {
    // With connections that go elsewhere already both would have to be one option.
    let asked = asked.filter(|asked| asked.destination.connect_to.is_empty())?;
    let name = asked.tls.server_name.as_deref()?;
    let rest = url.strip_prefix("https://")?;
    let path_at = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(path_at);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (authority, "443"),
    };
    if host == name {
        return None;
    }
    words.push(format!("--connect-to {}", for_shell(&format!("{name}:{port}:{host}:{port}"))));
    words.push(format!("-H {}", for_shell(&format!("Host: {authority}"))));
    Some(match port {
        "443" => format!("https://{name}{path}"),
        port => format!("https://{name}:{port}{path}"),
    })
}

fn method(name: &str, has_body: bool, words: &mut Vec<String>) {
    match name {
        "GET" if !has_body => {}
        "HEAD" => words.push("--head".to_owned()),
        other => words.push(format!("-X {}", for_shell(other))),
    }
}

/// Without a word curl negotiates HTTP/2 under TLS.
fn version(run: &Run, words: &mut Vec<String>) {
    let word = match (run.plan.http2.is_some(), run.plan.tls.is_some()) {
        _ if run.plan.http3.is_some() => "--http3-only",
        (true, true) => "--http2",
        (true, false) => "--http2-prior-knowledge",
        (false, _) if run.plan.requests.minor_version == 0 => "--http1.0",
        (false, true) => "--http1.1",
        (false, false) => return,
    };
    words.push(word.to_owned());
}

/// Where the connections go, and from where.
fn way(run: &Run, asked: Option<&LoadSpec>, words: &mut Vec<String>) {
    let target = &run.plan.target;
    if let Some(proxy) = &target.proxy {
        words.push(format!("--proxy {}", for_shell(&format!("http://{}", proxy.authority()))));
        if proxy.way == Way::Tunnel {
            words.push("--proxytunnel".to_owned());
        }
        let theirs = asked.and_then(|asked| asked.destination.proxy.as_ref());
        if theirs.is_some_and(|proxy| proxy.credentials.is_some()) {
            words.push("--proxy-user NAME:PASSWORD".to_owned());
        }
    } else if let Some(socket) = &target.unix_socket {
        words.push(format!("--unix-socket {}", for_shell(&socket.to_string_lossy())));
    } else {
        match asked {
            Some(asked) if asked.destination.connect_to.is_empty() => {}
            Some(asked) => {
                let others = asked.destination.connect_to.iter();
                words.extend(
                    others.map(|other| format!("--connect-to {}", for_shell(&spelled(other)))),
                );
            }
            None => words.extend(elsewhere(run)),
        }
    }
    let Some(asked) = asked else { return };
    match asked.destination.family {
        Family::Any => {}
        Family::V4 => words.push("-4".to_owned()),
        Family::V6 => words.push("-6".to_owned()),
    }
    if let Some(address) = asked.connections.local_addresses.first() {
        words.push(format!("--interface {address}"));
    }
}

/// `HOST1:PORT1:HOST2:PORT2`
pub(crate) fn spelled(other: &ConnectTo) -> String {
    let host = |host: &Option<String>| match host.as_deref() {
        Some(host) if host.parse::<Ipv6Addr>().is_ok() => format!("[{host}]"),
        Some(host) => host.to_owned(),
        None => String::new(),
    };
    let port = |port: Option<u16>| port.map_or(String::new(), |port| port.to_string());
    let (from, to) = (host(&other.from_host), host(&other.host));
    format!("{from}:{}:{to}:{}", port(other.from_port), port(other.port))
}

/// Where the connections went, if that is not the host and port of the URL; for runs of which it is not known what was
/// asked.
fn elsewhere(run: &Run) -> Option<String> {
    let target = &run.plan.target;
    let address = target.addresses.first()?;
    let another_host = target.host.parse().is_ok_and(|host: IpAddr| host != address.ip());
    (another_host || address.port() != target.port)
        .then(|| format!("--connect-to {}", for_shell(&format!("::{address}"))))
}

fn tls(run: &Run, asked: Option<&LoadSpec>, words: &mut Vec<String>) {
    let Some(tls) = &run.plan.tls else { return };
    let asked = asked.map(|asked| &asked.tls);
    match &tls.trust {
        Trust::Issuers(_) => {
            let named = asked.and_then(|asked| match &asked.trust {
                TrustSpec::Issuers(file) => Some(file.name.as_str()),
                _ => None,
            });
            words.push(format!("--cacert {}", file(named)));
        }
        Trust::Anyone => words.push("-k".to_owned()),
        Trust::System => {}
    }
    let Some(asked) = asked else { return };
    if asked.identity.is_some() {
        words.push("--cert FILE --key FILE".to_owned());
    }
    let number = |version| if version == TlsVersion::V1_2 { "1.2" } else { "1.3" };
    words.extend(asked.oldest.map(|oldest| format!("--tlsv{}", number(oldest))));
    words.extend(asked.newest.map(|newest| format!("--tls-max {}", number(newest))));
}

/// A file's name, or what stands for it where it has none that a shell could open.
pub(crate) fn file(name: Option<&str>) -> String {
    let name = name.filter(|name| !name.is_empty() && *name != "-" && !name.ends_with("()"));
    name.map_or_else(|| "FILE".to_owned(), for_shell)
}

/// Of a saved run the line of a list is not known: its type is not curl's, whatever it is.
fn unknown_body(words: &mut Vec<String>) {
    let is_typed = |word: &String| word.to_ascii_lowercase().contains("content-type:");
    if !words.iter().any(is_typed) {
        words.push(UNKNOWN_TYPE.to_owned());
    }
    words.push(FILE.to_owned());
}

fn body(asked: Option<&LoadSpec>, words: &mut Vec<String>) {
    let bodies = asked.map_or(&Bodies::None, |asked| &asked.requests.bodies);
    words.push(match bodies {
        Bodies::Same(Body::Given(bytes)) => match std::str::from_utf8(&bytes.0) {
            Ok(text) if text.len() <= BODY_BYTES => match fields::have_placeholders(asked) {
                true => data_word(&fields::filled(text)),
                false => data_word(text),
            },
            _ => FILE.to_owned(),
        },
        Bodies::Same(Body::File(blob)) => format!("--data-binary @{}", file(Some(&blob.name))),
        Bodies::InTurn(Feed { file: lines, .. }) => {
            format!("--data-raw \"$(head -n 1 {})\"", file(Some(&lines.name)))
        }
        Bodies::Form(fields) => form::words(fields, fields::have_placeholders(asked)).join(" "),
        Bodies::None if asked.is_some() => return unknown_body(words),
        Bodies::None => FILE.to_owned(),
    });
}

/// A short body as curl's option, where a line of text can show it.
fn data_word(text: &str) -> String {
    match text.contains(|c: char| c.is_control() || c == '`') {
        true => FILE.to_owned(),
        false => format!("--data-raw {}", for_shell(text)),
    }
}

/// Host and port as a URL has them.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
