//! h2load: its options, and what they ask for.

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;

use super::asked::last_of_each;
use super::known::{letter, long};
use super::{Asked, Grammar, Tool, Words};
use crate::values;

/// h2load of nghttp2 1.52 and later.
pub const H2LOAD: Tool = Tool {
    name: "h2load",
    command: "",
    grammar: Grammar::Getopt,
    known: &[
        letter('n', "requests", "N", "requests in all (1); ignored with -D"),
        letter('c', "clients", "N", "clients: connections (1)"),
        letter('t', "threads", "N", "threads (1)"),
        letter('i', "input-file", "FILE", "ask for the URIs of this file, a line each, in turn"),
        letter('m', "max-concurrent-streams", "N", "requests in flight on each connection (1)"),
        letter('H', "header", "FIELD", "header field; ':method: PUT' is the method"),
        letter('p', "no-tls-proto", "PROTOCOL", "of http URIs: h2c or http/1.1 (h2c)"),
        letter('d', "data", "FILE", "POST this file"),
        letter('r', "rate", "N", "open so many connections per --rate-period"),
        long("rate-period", "TIME", "see -r (1s)"),
        letter('D', "duration", "TIME", "length of the run"),
        long("warm-up-time", "TIME", "time before it that is not measured"),
        letter('T', "connection-active-timeout", "TIME", "end the run after this time"),
        letter('N', "connection-inactivity-timeout", "TIME", "timeout of a request (none)"),
        letter('B', "base-uri", "URI", "scheme, host and port of all URIs, or unix:PATH"),
        long("npn-list", "LIST", "the same as --alpn-list"),
        long("alpn-list", "LIST", "of https URIs: the first that is h2, h3 or http/1.1 (h2)"),
        long("h1", "", "HTTP/1.1"),
        long("ciphers", "LIST", "ciphers of TLS 1.2"),
        long("tls13-ciphers", "LIST", "ciphers of TLS 1.3"),
        long("groups", "LIST", "groups of TLS"),
        long("connect-to", "HOST[:PORT]", "connect there instead"),
        long("rps", "N", "requests per second of each client"),
        long("log-file", "FILE", "write a line for each request"),
        long("timing-script-file", "FILE", "refused: use --rps"),
        letter('f', "max-frame-size", "SIZE", "no effect: frames of up to 16 KiB are received"),
        letter('w', "window-bits", "N", "no effect: windows are always large"),
        letter('W', "connection-window-bits", "N", "no effect: windows are always large"),
        long("header-table-size", "SIZE", "no effect: HPACK's usual table"),
        long("encoder-header-table-size", "SIZE", "no effect: HPACK's usual table"),
        long("qlog-file-base", "FILE", "no effect: nothing is logged of QUIC"),
        long("no-udp-gso", "", "no effect: datagrams leave together where the kernel permits"),
        long("max-udp-payload-size", "SIZE", "size of the datagrams of HTTP/3"),
        long("ktls", "", "no effect: TLS is done in this program"),
        letter('v', "verbose", "", "no effect: findings are printed as it is"),
        long("version", "", "print the version"),
        letter('h', "help", "", "print this help"),
    ],
    asked,
    unread_status: 1,
    usage_status: 1,
    front_end: FrontEnd::H2load,
    names: OptionNames { duration: "-D", pipeline: "-m", ..OptionNames::NATIVE },
};

/// Options that change nothing here: a note says so.
const WITHOUT_EFFECT: [&str; 9] = [
    "max-frame-size",
    "window-bits",
    "connection-window-bits",
    "header-table-size",
    "encoder-header-table-size",
    "qlog-file-base",
    "no-udp-gso",
    "ktls",
    "verbose",
];

/// What h2load calls itself.
const AGENT: &str = "h2load nghttp2/1.52.0";

fn asked(words: &Words) -> Result<Asked, String> {
    let uris = uris(words)?;
    let mut asked = Asked::of(uris.first().cloned().unwrap_or_default());
    if let Some(path) = words.last("base-uri").and_then(|base| base.strip_prefix("unix:")) {
        asked.option("--unix-socket", path);
    }
    match words.last("input-file") {
        Some("-") => return Err("-i -: write the URIs into a file and use -i FILE".to_owned()),
        Some(file) => asked.option("--urls", file),
        None if uris.is_empty() => {
            return Err(
                "missing URI, for example `ablaze h2load http://127.0.0.1:8080/`".to_owned()
            );
        }
        None if uris.len() > 1 => {
            let text = "URIs: written into a file, a line each, they are --urls FILE";
            asked.beyond_native.push(format!("{} {text}", uris.len()));
        }
        None => {}
    }
    let version = version(words, &asked.url)?;
    if version != "1.1" {
        asked.option("--http", version);
    }
    load(words, version != "1.1", &mut asked)?;
    match words.last("max-udp-payload-size") {
        Some(bytes) if version == "3" => asked.option("--quic-datagram", bytes),
        Some(_) => asked.note("--max-udp-payload-size is for HTTP/3: use --alpn-list h3, too"),
        None => {}
    }
    request(words, &mut asked)?;
    connections(words, &mut asked)?;
    for name in WITHOUT_EFFECT {
        if words.last(name).is_some() {
            let known = H2LOAD.known.iter().find(|known| known.name == name);
            let about = known.map_or("", |known| known.about);
            asked.note(format!("--{name} has {about}"));
        }
    }
    if words.last("timing-script-file").is_some() {
        return Err("--timing-script-file is not supported: use --rps N, or a changing rate with \
                    `ablaze load --rate 100/s..1000/s`"
            .to_owned());
    }
    Ok(asked)
}

/// The URIs of the command line, all with the scheme, host and port of the first, or of `-B`.
///
/// # Errors
/// When `-B` is none.
pub fn uris(words: &Words) -> Result<Vec<String>, String> {
    let base = words.last("base-uri").filter(|base| !base.starts_with("unix:"));
    if let Some(base) = base.filter(|base| !base.contains("://")) {
        return Err(format!(
            "-B {base}: expected http://HOST:PORT, https://HOST:PORT or unix:PATH"
        ));
    }
    let Some(first) = base.or(words.operands.first().map(String::as_str)) else {
        return Ok(Vec::new());
    };
    let front = parts(first).0;
    let own = words.operands.iter().map(|uri| format!("{front}{}", parts(uri).1));
    Ok(own.collect())
}

/// Scheme and authority, and what stands behind them.
fn parts(uri: &str) -> (&str, &str) {
    let authority = uri.find("://").map_or(0, |at| at + 3);
    let end = uri[authority..].find(['/', '?', '#']).map_or(uri.len(), |at| authority + at);
    uri.split_at(end)
}

/// The version of HTTP that is spoken: over TLS what ALPN offers first, without what `-p` says.
fn version(words: &Words, url: &str) -> Result<&'static str, String> {
    if words.is_on("h1") {
        return Ok("1.1");
    }
    if url.starts_with("https://") {
        let list = words.last("alpn-list").or(words.last("npn-list")).unwrap_or("h2");
        let known = list.split(',').find_map(|name| match name {
            "h2" => Some("2"),
            "h3" => Some("3"),
            "http/1.1" => Some("1.1"),
            _ => None,
        });
        return known.ok_or_else(|| format!("--alpn-list {list}: expected h2, h3 or http/1.1"));
    }
    match words.last("no-tls-proto").unwrap_or("h2c") {
        "h2c" => Ok("2"),
        "http/1.1" => Ok("1.1"),
        other => Err(format!("-p {other}: expected h2c or http/1.1")),
    }
}

fn load(words: &Words, has_streams: bool, asked: &mut Asked) -> Result<(), String> {
    let clients: u32 = words.number("clients")?.unwrap_or(1);
    let threads: u32 = words.number("threads")?.unwrap_or(1);
    let requests: u64 = words.number("requests")?.unwrap_or(1);
    let duration = words.last("duration");
    if clients == 0 || threads == 0 {
        let option = if clients == 0 { "-c" } else { "-t" };
        return Err(format!("{option} 0: use 1 or more"));
    }
    if threads > clients {
        return Err(format!(
            "-t {threads} is more than -c {clients}: use a higher -c or a lower -t"
        ));
    }
    if duration.is_none() && requests < u64::from(clients) {
        return Err(format!(
            "-n {requests} is less than -c {clients}: use a higher -n or a lower -c"
        ));
    }
    asked.option("-c", clients);
    let active = words.last("connection-active-timeout");
    match (duration, active) {
        (Some(time), None) => asked.option("-d", time),
        (Some(time), Some(active)) => {
            let ns = |text: &str| values::duration_ns(text).unwrap_or(u64::MAX);
            asked.option("-d", if ns(active) < ns(time) { active } else { time });
        }
        (None, active) => {
            asked.option("-n", requests);
            asked.option_if("-d", active);
        }
    }
    asked.option_if("--warmup", words.last("warm-up-time"));
    match words.last("threads") {
        Some(_) => asked.option("-t", threads),
        None => asked.unsaid("--threads", "1"),
    }
    let in_flight: u32 = words.number("max-concurrent-streams")?.unwrap_or(1);
    // h2load never pipelines requests with a body.
    if in_flight > 1 && (has_streams || words.last("data").is_none()) {
        asked.option(if has_streams { "--streams" } else { "--pipeline" }, in_flight);
    }
    if let Some(rate) = words.number::<f64>("rps")? {
        asked.option("--rate", rate * f64::from(clients));
    }
    match words.last("connection-inactivity-timeout") {
        Some(time) => asked.option("--timeout", time),
        None => asked.unsaid("--timeout", "0"),
    }
    Ok(())
}

/// How many connections `-r` opens at a time, and how often, ns.
///
/// # Errors
/// When a number or a time is none.
pub fn connection_rate(words: &Words) -> Result<Option<(u32, u64)>, String> {
    let Some(rate) = words.number::<u32>("rate")?.filter(|rate| *rate > 0) else {
        return Ok(None);
    };
    if words.last("duration").is_some() {
        return Err("-r and -D cannot be used together: use only one".to_owned());
    }
    let period = words.last("rate-period").unwrap_or("1s");
    let period_ns =
        values::duration_ns(period).map_err(|why| format!("--rate-period {period}: {why}"))?;
    Ok(Some((rate, period_ns)))
}

fn request(words: &Words, asked: &mut Asked) -> Result<(), String> {
    let mut fields = Vec::new();
    for line in words.all("header") {
        match line.strip_prefix(':').map(|line| line.split_once(':').unwrap_or((line, ""))) {
            None => fields.push(line),
            Some(("method", method)) => asked.option("-m", method.trim()),
            Some((name, _)) => {
                return Err(format!("-H ':{name}: …' is not supported: the URI says it"));
            }
        }
    }
    for line in last_of_each(fields.into_iter()) {
        asked.option("-H", line);
    }
    asked.option_if("-b", words.last("data").map(|file| format!("@{file}")));
    asked.unsaid_field(&format!("User-Agent: {AGENT}"));
    asked.unsaid_field("Accept:");
    if words.last("data").is_some() {
        asked.unsaid_field("Content-Type:");
    }
    Ok(())
}

fn connections(words: &Words, asked: &mut Asked) -> Result<(), String> {
    if let Some((rate, period_ns)) = connection_rate(words)? {
        let clients: u32 = words.number("clients")?.unwrap_or(1);
        let ramp_ns = u128::from(period_ns) * u128::from(clients) / u128::from(rate);
        asked.option("--ramp", format!("{}ms", ramp_ns / 1_000_000));
    }
    if let Some(to) = words.last("connect-to") {
        let port = || if asked.url.starts_with("https://") { "443" } else { "80" };
        let authority = parts(&asked.url).0;
        let own = authority.rsplit_once(':').map(|(_, port)| port);
        let own = own.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        let has_port = to.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let to = if has_port { to.to_owned() } else { format!("{to}:{}", own.unwrap_or(port())) };
        asked.option("--connect-to", to);
    }
    let suites = [words.last("tls13-ciphers"), words.last("ciphers")];
    let suites: Vec<&str> = suites.into_iter().flatten().collect();
    if !suites.is_empty() {
        asked.option("--tls-ciphers", suites.join(":"));
    }
    asked.option_if("--tls-groups", words.last("groups"));
    asked.switch("--insecure", asked.url.starts_with("https://"));
    if words.last("log-file").is_some() {
        asked.beyond_native.push("--log-file: only `ablaze h2load` writes it".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        asked(&H2LOAD.words(&words).map_err(|error| error.line)?)
    }

    fn words(line: &str) -> String {
        of(line).unwrap().words.join(" ")
    }

    #[test]
    fn the_defaults_are_h2loads() {
        let asked = of("http://h/").unwrap();
        assert_eq!(asked.words.join(" "), "--http 2 -c 1 -n 1");
        let unsaid = "--threads|1|--timeout|0|-H|User-Agent: h2load nghttp2/1.52.0|-H|Accept:";
        assert_eq!(asked.unsaid.join("|"), unsaid);
        assert_eq!(words("--h1|http://h/"), "-c 1 -n 1");
        assert_eq!(words("https://h/"), "--http 2 -c 1 -n 1 --insecure");
        assert_eq!(words("--npn-list=http/1.1|https://h/"), "-c 1 -n 1 --insecure");
        assert_eq!(words("--alpn-list=h3,h2|https://h/"), "--http 3 -c 1 -n 1 --insecure");
        assert_eq!(
            words("--alpn-list=h3|-m9|--max-udp-payload-size=1350|https://h/"),
            "--http 3 -c 1 -n 1 --streams 9 --quic-datagram 1350 --insecure"
        );
    }

    #[test]
    fn options_mean_what_they_mean_to_h2load() {
        assert_eq!(words("-n100|-c10|-t2|-m5|http://h/"), "--http 2 -c 10 -n 100 -t 2 --streams 5");
        assert_eq!(words("--h1|-n9|-m5|http://h/"), "-c 1 -n 9 --pipeline 5");
        assert_eq!(words("--h1|-m5|-df|http://h/"), "-c 1 -n 1 -b @f");
        assert_eq!(
            words("-D10|-c2|--warm-up-time=2|--rps=50|-N|3s|http://h/"),
            "--http 2 -c 2 -d 10 --warmup 2 --rate 100 --timeout 3s"
        );
        assert_eq!(words("-n8|-c8|-r2|http://h/"), "--http 2 -c 8 -n 8 --ramp 4000ms");
        assert_eq!(words("-n8|-T5|http://h/"), "--http 2 -c 1 -n 8 -d 5");
        assert_eq!(
            words("-H:method: PUT|-HA: 1|-Ha: 2|--connect-to=127.0.0.1|http://h:81/"),
            "--http 2 -c 1 -n 1 -m PUT -H a: 2 --connect-to 127.0.0.1:81"
        );
        assert_eq!(words("-Bunix:/s|http://h/"), "--unix-socket /s --http 2 -c 1 -n 1");
        assert_eq!(of("-w20|-W20|-v|http://h/").unwrap().notes.len(), 3);
    }

    #[test]
    fn all_uris_have_the_server_of_the_first_or_of_the_base() {
        let uris = |line: &str| {
            let words: Vec<String> = line.split('|').map(str::to_owned).collect();
            uris(&H2LOAD.words(&words).unwrap()).unwrap().join(" ")
        };
        assert_eq!(
            uris("http://a:1/x?y|https://b/z|/w"),
            "http://a:1/x?y http://a:1/z http://a:1/w"
        );
        assert_eq!(uris("-B|https://c|http://a:1/x"), "https://c/x");
    }

    #[test]
    fn what_h2load_refuses_is_refused() {
        for (line, part) in [
            ("-n|3", "missing URI"),
            ("-c5|-n3|http://h/", "-n 3 is less than -c 5"),
            ("-t5|-c3|-n9|http://h/", "-t 5 is more than -c 3"),
            ("-c0|http://h/", "-c 0"),
            ("-r1|-D1|http://h/", "-r and -D"),
            ("-p|spdy|http://h/", "-p spdy"),
            ("-H:path: /x|http://h/", "':path: …' is not supported"),
            ("--timing-script-file=x|http://h/", "--rps N"),
        ] {
            let refused = of(line).unwrap_err();
            assert!(refused.contains(part), "{line}: {refused}");
        }
    }
}
