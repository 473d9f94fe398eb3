//! What stands behind `curl` in the fix of a finding: the URL, and what makes curl connect where the run
//! did. The command that is advised must reach the server that was measured.

use std::borrow::Cow;
use std::net::IpAddr;

use ablaze_model::Run;
use ablaze_model::plan::proxy::Way;
use ablaze_model::plan::tls::Trust;
use ablaze_model::record::GroupRecord;

/// Options and URL: `-X DELETE --connect-to ::127.0.0.1:8080 http://shop.example/`.
pub(crate) fn arguments(run: &Run) -> String {
    arguments_to(run, &run.plan.target.url)
}

/// As [`arguments`], for the one of the run's URLs of which `count` is highest.
pub(crate) fn arguments_where(run: &Run, count: impl Fn(&GroupRecord) -> u64) -> String {
    let groups = run.record.groups.iter().filter(|group| count(group) > 0);
    let most = groups.max_by_key(|group| count(group));
    match most.and_then(|group| url_of(run, &group.name)) {
        Some(url) => arguments_to(run, &url),
        None => arguments(run),
    }
}

/// The URL of a group that is named by its path.
fn url_of(run: &Run, name: &str) -> Option<String> {
    let url = &run.plan.target.url;
    let authority = url.find("://")? + 3;
    let path = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    let is_path = name.starts_with('/') && !name.contains([' ', '\'', '{']);
    is_path.then(|| format!("{}{name}", &url[..path]))
}

/// A URL as a shell takes it for one word.
fn quoted(url: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/@%+,=".contains(&byte);
    match url.bytes().all(plain) {
        true => Cow::Borrowed(url),
        false => Cow::Owned(format!("'{}'", url.replace('\'', "'\\''"))),
    }
}

fn arguments_to(run: &Run, url: &str) -> String {
    let target = &run.plan.target;
    let way = if let Some(proxy) = &target.proxy {
        let tunnels = if proxy.way == Way::Tunnel { "--proxytunnel " } else { "" };
        format!("--proxy http://{} {tunnels}", proxy.authority())
    } else if let Some(socket) = &target.unix_socket {
        format!("--unix-socket {} ", socket.display())
    } else {
        elsewhere(run).unwrap_or_default()
    };
    let trust = match run.plan.tls.as_ref().map(|tls| &tls.trust) {
        // Its file's name is not part of the run.
        Some(Trust::Issuers(_)) => "--cacert FILE ",
        Some(Trust::Anyone) => "-k ",
        Some(Trust::System) | None => "",
    };
    let method = match run.plan.requests.method.as_str() {
        "GET" => String::new(),
        "HEAD" => "--head ".to_owned(),
        other => format!("-X {other} "),
    };
    let version = match (run.plan.http2.is_some(), run.plan.tls.is_some()) {
        (true, true) => "--http2 ",
        (true, false) => "--http2-prior-knowledge ",
        _ => "",
    };
    let body = if run.plan.requests.has_body { "--data-binary @FILE " } else { "" };
    format!("{method}{version}{way}{trust}{body}{}", quoted(url))
}

/// Where the connections went, if that is not the host and port of the URL.
fn elsewhere(run: &Run) -> Option<String> {
    let target = &run.plan.target;
    let address = target.addresses.first()?;
    let another_host = target.host.parse().is_ok_and(|host: IpAddr| host != address.ip());
    // The address of a name may be the resolver's, or what was given instead.
    let asked = run.command_line.iter().any(|word| word.starts_with("--connect-to"));
    (another_host || asked || address.port() != target.port)
        .then(|| format!("--connect-to ::{address} "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn curl_is_told_the_url_that_failed_and_to_do_what_the_run_did() {
        let mut run = sample::run();
        run.plan.target.url = "http://127.0.0.1:8080/fast?x=1".into();
        run.plan.target.host = "127.0.0.1".into();
        run.plan.target.port = 8080;
        run.plan.target.addresses = vec!["127.0.0.1:8080".parse().unwrap()];
        for (name, unexpected) in [("/fast", 0), ("/err", 7), ("/slow", 2)] {
            let mut group = GroupRecord::new(name, false);
            group.unexpected = unexpected;
            run.record.groups.push(group);
        }
        let worst = arguments_where(&run, |group| group.unexpected);
        assert_eq!(worst, "http://127.0.0.1:8080/err");
        assert_eq!(arguments_where(&run, |_| 0), "'http://127.0.0.1:8080/fast?x=1'");
        run.plan.http2 = Some(ablaze_model::plan::Http2 { streams: 4 });
        run.plan.requests.has_body = true;
        run.plan.requests.method = "POST".into();
        assert_eq!(
            arguments(&run),
            "-X POST --http2-prior-knowledge --data-binary @FILE 'http://127.0.0.1:8080/fast?x=1'"
        );
    }

    #[test]
    fn curl_is_told_to_connect_where_the_run_did() {
        let mut run = sample::run();
        let target = &mut run.plan.target;
        (target.host, target.port) = ("shop.example".into(), 80);
        target.url = "http://shop.example/".into();
        let at = |run: &mut Run, address: &str| {
            run.plan.target.addresses = vec![address.parse().unwrap()];
            arguments(run)
        };
        assert_eq!(at(&mut run, "127.0.0.1:80"), "http://shop.example/");
        let port = at(&mut run, "[::1]:8080");
        assert_eq!(port, "--connect-to ::[::1]:8080 http://shop.example/");
        run.command_line = vec!["ablaze".into(), "--connect-to=127.0.0.1".into()];
        let host = at(&mut run, "127.0.0.1:80");
        assert_eq!(host, "--connect-to ::127.0.0.1:80 http://shop.example/");
        run.plan.requests.method = "DELETE".into();
        assert!(arguments(&run).starts_with("-X DELETE --connect-to"));
        run.plan.requests.method = "GET".into();
        run.plan.target.unix_socket = Some("/run/shop".into());
        assert_eq!(arguments(&run), "--unix-socket /run/shop http://shop.example/");
    }
}
