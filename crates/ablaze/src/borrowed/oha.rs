//! oha: its options, and what they ask for.

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;

use super::asked::last_of_each;
use super::known::{letter, long};
use super::{Asked, Grammar, Tool, Words};

/// oha 1.10 and those before it; an option of one letter has it as its name.
pub const OHA: Tool = Tool {
    name: "oha",
    command: "",
    grammar: Grammar::Getopt,
    known: &[
        letter('n', "n", "N", "requests in all (200)"),
        letter('c', "c", "N", "connections (50)"),
        letter('p', "p", "N", "HTTP/2: requests in flight on each connection (1)"),
        letter('z', "z", "TIME", "length of the run; -n is ignored then"),
        letter('q', "q", "RATE", "requests per second of all connections"),
        long("latency-correction", "", "with -q: times from when a request was due"),
        letter('m', "method", "METHOD", "method (GET)"),
        letter('H', "H", "FIELD", "header field 'Name: value'; repeatable"),
        letter('t', "t", "TIME", "timeout of a request (none)"),
        letter('A', "A", "TYPES", "the field Accept"),
        letter('d', "d", "BODY", "body"),
        letter('D', "D", "FILE", "body from a file"),
        letter('Z', "Z", "FILE", "bodies: each line of a file, in turn"),
        letter('F', "form", "NAME=VALUE", "field of a form, as curl -F; repeatable"),
        letter('T', "T", "TYPE", "the field Content-Type"),
        letter('a', "a", "NAME:PASSWORD", "basic authorization"),
        letter('x', "x", "PROXY", "HTTP proxy"),
        long("http-version", "VERSION", "1.0, 1.1, 2 or 3 (1.1)"),
        long("http2", "", "HTTP/2"),
        long("host", "HOST", "the field Host"),
        long("disable-compression", "", "do not ask for a compressed response"),
        long("disable-keepalive", "", "a new connection for each request"),
        letter('r', "redirect", "N", "accepted: redirects are never followed"),
        long("urls-from-file", "", "the URL is a file with a URL in each line"),
        long("rand-regex-url", "", "refused: use {rand:N} in the URL, with `ablaze load`"),
        letter('o', "output", "FILE", "write the report there"),
        long("output-format", "FORMAT", "text, json, csv or quiet (text)"),
        letter('j', "json", "", "the same as --output-format json"),
        letter(
            'u',
            "time-unit",
            "UNIT",
            "of the text: ns, us, ms, s, m or h (by the longest time)",
        ),
        long("insecure", "", "accept any certificate"),
        long("cacert", "FILE", "trust these certificates"),
        long("cert", "FILE", "client certificate"),
        long("key", "FILE", "its private key"),
        long("connect-to", "WHERE", "HOST:PORT:HOST:PORT"),
        long("unix-socket", "PATH", "connect to this Unix socket"),
        long("ipv4", "", "IPv4 only"),
        long("ipv6", "", "IPv6 only"),
        long("connect-timeout", "TIME", "no effect: -t counts from connecting"),
        letter(
            'w',
            "wait-ongoing-requests-after-deadline",
            "",
            "no effect: they are not waited for",
        ),
        long("burst-delay", "TIME", "refused: use --rate with --arrivals poisson"),
        long("burst-rate", "N", "refused: use --rate with --arrivals poisson"),
        long("no-tui", "", "accepted: there is none"),
        long("fps", "N", "accepted: there is no live view"),
        long("no-color", "", "accepted: the report has no colours"),
        long("disable-color", "", "accepted: the report has no colours"),
        long("no-pre-lookup", "", "accepted: the name is looked up before the run"),
        letter('V', "version", "", "print the version"),
        letter('h', "help", "", "print this help"),
    ],
    asked,
    unread_status: 2,
    usage_status: 2,
    front_end: FrontEnd::Oha,
    names: OptionNames {
        duration: "-z",
        pipeline: "-p",
        threads: "--threads",
        ..OptionNames::NATIVE
    },
};

fn asked(words: &Words) -> Result<Asked, String> {
    let Some(url) = words.operands.first() else {
        return Err("missing URL, for example `ablaze oha http://127.0.0.1:8080/`".to_owned());
    };
    if let Some(word) = words.operands.get(1) {
        return Err(format!("unexpected argument `{word}`: the URL is already `{url}`"));
    }
    for (name, instead) in REFUSED {
        if words.last(name).is_some() {
            return Err(format!("--{name} is not supported: {instead}"));
        }
    }
    let mut asked = Asked::of(url);
    report(words, &mut asked)?;
    if words.is_on("urls-from-file") {
        asked.option("--urls", url);
        asked.url.clear();
    }
    load(words, &mut asked)?;
    request(words, &mut asked)?;
    connections(words, &mut asked)?;
    for name in ["connect-timeout", "wait-ongoing-requests-after-deadline"] {
        if words.last(name).is_some() {
            let known = OHA.known.iter().find(|known| known.name == name);
            asked.note(format!("--{name} has {}", known.map_or("", |known| known.about)));
        }
    }
    asked.follows_redirects = words.last("redirect") != Some("0");
    Ok(asked)
}

const REFUSED: [(&str, &str); 3] = [
    ("rand-regex-url", "for random digits write {rand:N} into the URL of `ablaze load`"),
    (
        "burst-delay",
        "for requests that come in bursts use `ablaze load --rate N --arrivals poisson`",
    ),
    (
        "burst-rate",
        "for requests that come in bursts use `ablaze load --rate N --arrivals poisson`",
    ),
];

/// oha's report is its front end's.
fn report(words: &Words, asked: &mut Asked) -> Result<(), String> {
    for (name, shown, permitted) in [
        ("output-format", "--output-format", FORMATS),
        ("time-unit", "-u", &["ns", "us", "ms", "s", "m", "h"]),
    ] {
        let Some(value) = words.last(name) else { continue };
        if !permitted.contains(&value) {
            let (last, others) = permitted.split_last().unwrap_or((&"", &[]));
            return Err(format!("{shown} {value}: expected {} or {last}", others.join(", ")));
        }
        asked.beyond_native.push(format!("{shown} {value}: {OWN_REPORT}"));
    }
    if words.is_on("json") {
        asked.beyond_native.push(format!("-j: {OWN_REPORT}; --json is that of `ablaze load`"));
    }
    if let Some(file) = words.last("output") {
        asked.beyond_native.push(format!("-o {file}: {OWN_REPORT}; `ablaze load` has -o, too"));
    }
    Ok(())
}

/// The forms of oha's report.
const FORMATS: &[&str] = &["text", "json", "csv", "quiet"];
const OWN_REPORT: &str = "oha's report is printed by `ablaze oha`";

fn load(words: &Words, asked: &mut Asked) -> Result<(), String> {
    let version = match (words.is_on("http2"), words.last("http-version")) {
        (true, _) => "2",
        (false, Some(version @ ("1.0" | "1.1" | "2" | "3"))) => version,
        (false, Some(other)) => {
            return Err(format!("--http-version {other}: expected 1.0, 1.1, 2 or 3"));
        }
        (false, None) => "1.1",
    };
    if version != "1.1" {
        asked.option("--http", version);
    }
    asked.option("-c", words.number::<u32>("c")?.unwrap_or(50));
    match (words.number::<u32>("p")?, version) {
        (Some(streams), "2" | "3") => asked.option("--streams", streams),
        (Some(_), _) => {
            asked.note("-p is for HTTP/2 and HTTP/3: use --http2 or --http-version 3, too")
        }
        (None, _) => {}
    }
    for name in ["z", "t"] {
        // oha reads times with the crate humantime, to which a bare number is none; 0 is.
        let bare = words.last(name).filter(|time| time.parse::<f64>().is_ok_and(|n| n != 0.0));
        if let Some(time) = bare {
            return Err(format!("-{name} {time}: a time requires a unit, such as {time}s"));
        }
    }
    match words.last("z") {
        Some(time) => asked.option("-d", time),
        None => asked.option("-n", words.last("n").unwrap_or("200")),
    }
    if let Some(rate) = words.number::<f64>("q")?.filter(|rate| *rate > 0.0) {
        asked.option("--rate", rate);
    }
    match words.last("t") {
        Some(time) => asked.option("--timeout", time),
        None => asked.unsaid("--timeout", "0"),
    }
    Ok(())
}

fn request(words: &Words, asked: &mut Asked) -> Result<(), String> {
    let body = match (words.last("D"), words.last("d")) {
        (Some(file), _) => Some(format!("@{file}")),
        (None, Some(body)) if body.starts_with('@') => {
            return Err(format!("-d {body}: put a body that begins with @ into a file: -D FILE"));
        }
        (None, body) => body.map(str::to_owned),
    };
    let has_form = words.last("form").is_some();
    match words.last("method") {
        Some(method) => asked.option("-m", method),
        // Also with a body; only a form makes it a POST.
        None if !has_form && (body.is_some() || words.last("Z").is_some()) => {
            asked.option("-m", "GET");
        }
        None => {}
    }
    asked.option_if("-b", body);
    asked.option_if("--body-lines", words.last("Z"));
    words.all("form").for_each(|field| asked.option("-F", field));
    let mut fields: Vec<String> = words.all("H").map(str::to_owned).collect();
    fields.extend(words.last("T").map(|value| format!("Content-Type: {value}")));
    fields.extend(words.last("A").map(|value| format!("Accept: {value}")));
    fields.extend(words.last("host").map(|value| format!("Host: {value}")));
    for line in last_of_each(fields.iter().map(String::as_str)) {
        asked.option("-H", line);
    }
    asked.option_if("-u", words.last("a"));
    asked.unsaid_field("User-Agent: oha");
    if ["d", "D", "Z"].iter().any(|name| words.last(name).is_some()) {
        asked.unsaid_field("Content-Type:");
    }
    if !words.is_on("disable-compression") {
        asked.unsaid_field("Accept-Encoding: gzip, compress, deflate, br");
    }
    Ok(())
}

fn connections(words: &Words, asked: &mut Asked) -> Result<(), String> {
    asked.switch("--no-keepalive", words.is_on("disable-keepalive"));
    asked.option_if("--proxy", words.last("x"));
    for name in ["cacert", "cert", "key", "connect-to", "unix-socket"] {
        asked.option_if(&format!("--{name}"), words.last(name));
    }
    for name in ["insecure", "ipv4", "ipv6"] {
        asked.switch(&format!("--{name}"), words.is_on(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        asked(&OHA.words(&words).map_err(|error| error.line)?)
    }

    fn words(line: &str) -> String {
        of(line).unwrap().words.join(" ")
    }

    #[test]
    fn options_mean_what_they_mean_to_oha() {
        assert_eq!(words("http://h/"), "-c 50 -n 200");
        assert_eq!(words("-z10s|-c|4|-q|2.5|http://h/"), "-c 4 -d 10s --rate 2.5");
        assert_eq!(words("--http2|-p|9|-c2|-n|5|http://h/"), "--http 2 -c 2 --streams 9 -n 5");
        assert_eq!(words("--http-version|3|-p|9|-c2|-n|5|u"), "--http 3 -c 2 --streams 9 -n 5");
        assert_eq!(
            words("--no-tui|-d|x|-T|a/b|u"),
            "-c 50 -n 200 -m GET -b x -H Content-Type: a/b"
        );
        assert_eq!(words("-m|POST|-D|f|-t|3s|u"), "-c 50 -n 200 --timeout 3s -m POST -b @f");
        assert_eq!(words("-Ff=1|--insecure|-a|n:p|u"), "-c 50 -n 200 -F f=1 -u n:p --insecure");
        let listed = of("--urls-from-file|f").unwrap();
        assert_eq!(
            (listed.words.join(" ").as_str(), listed.url.as_str()),
            ("--urls f -c 50 -n 200", "")
        );
        assert!(!of("-r0|u").unwrap().follows_redirects);
    }

    #[test]
    fn what_cannot_be_done_is_refused_or_noted() {
        for (line, part) in [
            ("-n|3", "missing URL"),
            ("--rand-regex-url|http://h/[a-z]", "{rand:N}"),
            ("--http-version|0.9|u", "--http-version 0.9"),
            ("-q|fast|u", "-q fast"),
            ("-z|5|u", "-z 5: a time requires a unit, such as 5s"),
            ("-t|5|u", "-t 5: a time requires a unit"),
            ("u|v", "unexpected argument `v`"),
        ] {
            let refused = of(line).unwrap_err();
            assert!(refused.contains(part), "{line}: {refused}");
        }
        assert_eq!(of("-p3|-w|u").unwrap().notes.len(), 2);
    }
}
