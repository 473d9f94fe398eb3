//! What stands behind `curl` in the fix of a finding: the URL, and what makes curl connect where the run
//! did. The command that is advised must reach the server that was measured.

use std::net::IpAddr;

use ablaze_model::Run;
use ablaze_model::plan::proxy::Way;

/// Options and URL: `-X DELETE --connect-to ::127.0.0.1:8080 http://shop.example/`.
pub(crate) fn arguments(run: &Run) -> String {
    let target = &run.plan.target;
    let way = if let Some(proxy) = &target.proxy {
        let tunnels = if proxy.way == Way::Tunnel { "--proxytunnel " } else { "" };
        format!("--proxy http://{} {tunnels}", proxy.authority())
    } else if let Some(socket) = &target.unix_socket {
        format!("--unix-socket {} ", socket.display())
    } else {
        elsewhere(run).unwrap_or_default()
    };
    let method = match run.plan.requests.method.as_str() {
        "GET" => String::new(),
        "HEAD" => "--head ".to_owned(),
        other => format!("-X {other} "),
    };
    format!("{method}{way}{}", target.url)
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
