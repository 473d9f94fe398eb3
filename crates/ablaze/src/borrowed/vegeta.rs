//! `vegeta attack`: its options, and what they ask for. What is attacked comes from elsewhere: a list of targets.

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;
use ablaze_report::vegeta::parse_duration;

use super::known::long;
use super::{Asked, Grammar, Tool, Words};

/// vegeta 12.
pub const VEGETA: Tool = Tool {
    name: "vegeta",
    command: "attack",
    grammar: Grammar::GoFlags,
    known: &[
        long("targets", "FILE", "what to ask for (stdin)"),
        long("format", "http|json", "its form (http)"),
        long("rate", "N/TIME", "requests per time, such as 50, 50/1s or 1000/1m (50/1s)"),
        long("duration", "TIME", "length of the attack; 0: until Ctrl-C (0)"),
        long("max-workers", "N", "most connections; with -rate=0 as many, each with a request"),
        long("max-connections", "N", "the same"),
        long("workers", "N", "accepted: connections are opened when they are needed"),
        long("connections", "N", "accepted: idle connections are kept"),
        long("timeout", "TIME", "timeout of a request (30s)"),
        long("header", "FIELD", "header field of all targets; repeatable"),
        long("body", "FILE", "body of targets that have none"),
        long("name", "NAME", "name of the attack, in each result"),
        long("output", "FILE", "write the results there (stdout)"),
        long("keepalive", "", "keep connections (true)"),
        long("http2", "", "HTTP/2 over https, if it is given"),
        long("h2c", "", "HTTP/2 over http"),
        long("insecure", "", "accept any certificate"),
        long("root-certs", "FILE", "trust these certificates"),
        long("cert", "FILE", "client certificate"),
        long("key", "FILE", "its private key"),
        long("session-tickets", "", "resume TLS sessions"),
        long("connect-to", "WHERE", "HOST:PORT:HOST:PORT"),
        long("unix-socket", "PATH", "connect to this Unix socket"),
        long("laddr", "ADDRESS", "address to connect from"),
        long("redirects", "N", "accepted: redirects are never followed"),
        long("max-body", "SIZE", "accepted: bodies are counted and never kept"),
        long("lazy", "", "accepted: targets are read before the run"),
        long("dns-ttl", "TTL", "accepted: the name is looked up once, before the run"),
        long("prometheus-addr", "ADDRESS", "no effect"),
        long("chunked", "", "refused: the length of bodies is sent"),
        long("resolvers", "LIST", "refused: use -connect-to"),
        long("proxy-header", "FIELD", "refused: use --proxy http://NAME:PASSWORD@HOST:PORT"),
        long("h", "", "print this help"),
        long("help", "", "print this help"),
    ],
    asked,
    // As Go's flag package ends, and as vegeta does where it cannot go on.
    unread_status: 2,
    usage_status: 1,
    front_end: FrontEnd::Vegeta,
    names: OptionNames {
        connections: "-max-workers",
        requests: "-duration",
        duration: "-duration",
        threads: "--threads",
        ..OptionNames::NATIVE
    },
};

const REFUSED: [(&str, &str); 3] = [
    ("chunked", "bodies are sent with their length"),
    ("resolvers", "to reach another address use -connect-to HOST:PORT:ADDRESS:PORT"),
    ("proxy-header", "for credentials use --proxy http://NAME:PASSWORD@HOST:PORT"),
];

fn asked(words: &Words) -> Result<Asked, String> {
    let mut asked = Asked::default();
    for (name, instead) in REFUSED {
        if words.last(name).is_some_and(|value| value != "false") {
            return Err(format!("-{name} is not supported: {instead}"));
        }
    }
    if let Some(word) = words.operands.first() {
        return Err(format!(
            "unexpected argument `{word}`: targets are read from standard input or -targets FILE"
        ));
    }
    results(words, &mut asked)?;
    load(words, &mut asked)?;
    if words.is_on("h2c") || words.is_on("http2") {
        asked.option("--http", 2);
    }
    words.all("header").for_each(|line| asked.option("-H", line));
    asked.option_if("-b", words.last("body").map(|file| format!("@{file}")));
    connections(words, &mut asked)?;
    if words.last("prometheus-addr").is_some_and(|address| !address.is_empty()) {
        asked.note("-prometheus-addr has no effect");
    }
    asked.unsaid_field("User-Agent: Go-http-client/1.1");
    asked.unsaid_field("Accept:");
    asked.unsaid_field("Accept-Encoding: gzip");
    asked.follows_redirects = !matches!(words.last("redirects"), Some("0" | "-1"));
    Ok(asked)
}

/// What is attacked, and what becomes of the results.
fn results(words: &Words, asked: &mut Asked) -> Result<(), String> {
    let format = words.last("format").unwrap_or("http");
    if !matches!(format, "http" | "json") {
        return Err(format!("-format {format}: expected http or json"));
    }
    if let Some(file) = words.last("targets").filter(|file| *file != "stdin") {
        match format {
            "http" => asked.listed_in = Some(file.to_owned()),
            _ => asked.beyond_native.push(format!(
                "-targets {file}: `ablaze vegeta attack` reads targets as JSON, `--urls` lines of `METHOD URL`"
            )),
        }
    }
    for name in ["name", "output"] {
        if let Some(value) = words.last(name) {
            asked.beyond_native.push(format!(
                "-{name} {value}: results one by one are written by `ablaze vegeta attack`"
            ));
        }
    }
    Ok(())
}

fn load(words: &Words, asked: &mut Asked) -> Result<(), String> {
    let most = [words.number::<u64>("max-workers")?, words.number("max-connections")?];
    let most = most.into_iter().flatten().filter(|most| *most > 0).min();
    let duration_ns = match words.last("duration") {
        None => 0,
        Some(text) => parse_duration(text)
            .ok_or_else(|| format!("-duration {text}: expected a time such as 10s or 1m30s"))?,
    };
    let rate = Rate::read(words.last("rate").unwrap_or("50"))?;
    asked.option_if("-c", most);
    match rate {
        None if most.is_none() => {
            return Err("-rate=0 requires setting -max-workers".to_owned());
        }
        None if duration_ns > 0 => asked.option("-d", format!("{}ms", duration_ns / 1_000_000)),
        None => {}
        Some(rate) => {
            asked.option("--rate", rate.native());
            // vegeta sends as many requests as the rate has in that time, and waits for all of them.
            if duration_ns > 0 {
                asked.option("-n", rate.within(duration_ns).max(1));
            }
        }
    }
    if duration_ns == 0 {
        asked
            .beyond_native
            .push("-duration 0 ends with Ctrl-C: add -d TIME, or it is 10s".to_owned());
    }
    asked.option_if("--timeout", words.last("timeout"));
    Ok(())
}

fn connections(words: &Words, asked: &mut Asked) -> Result<(), String> {
    asked.switch("--no-keepalive", words.last("keepalive") == Some("false"));
    if let Some(files) = words.last("root-certs") {
        if files.contains(',') {
            return Err(format!("-root-certs {files}: put all certificates into one file"));
        }
        asked.option("--cacert", files);
    }
    for name in ["cert", "key", "connect-to", "unix-socket"] {
        words.all(name).for_each(|value| asked.option(&format!("--{name}"), value));
    }
    asked.switch("--insecure", words.is_on("insecure"));
    asked.switch("--tls-resume", words.is_on("session-tickets"));
    let address = words.last("laddr").filter(|address| *address != "0.0.0.0");
    asked.option_if("--local-address", address);
    Ok(())
}

/// So many requests per time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rate {
    requests: u64,
    per_ns: u64,
}

impl Rate {
    /// Reads `50`, `50/s`, `1000/1m`; `None` for `0` and `infinity`: as fast as possible.
    fn read(text: &str) -> Result<Option<Self>, String> {
        let wrong = || format!("-rate {text}: expected a rate such as 50, 50/1s or 1000/1m");
        if text == "infinity" {
            return Ok(None);
        }
        let (number, per) = text.split_once('/').unwrap_or((text, "1s"));
        let per = if per.starts_with(|c: char| c.is_ascii_digit()) {
            per.to_owned()
        } else {
            format!("1{per}")
        };
        let requests: u64 = number.parse().map_err(|_| wrong())?;
        let per_ns = parse_duration(&per).filter(|ns| *ns > 0).ok_or_else(wrong)?;
        Ok((requests > 0).then_some(Self { requests, per_ns }))
    }

    /// As `--rate` has it.
    fn native(self) -> String {
        let unit = [
            (1_000_000_000, "s"),
            (60_000_000_000, "m"),
            (3_600_000_000_000, "h"),
            (1_000_000, "ms"),
        ];
        match unit.iter().find(|(ns, _)| *ns == self.per_ns) {
            Some((_, unit)) => format!("{}/{unit}", self.requests),
            None => format!("{}", self.requests as f64 * 1e9 / self.per_ns as f64),
        }
    }

    /// How many requests a time has; of a time that is not whole, the one that begins in it, too.
    fn within(self, duration_ns: u64) -> u64 {
        let requests =
            (u128::from(self.requests) * u128::from(duration_ns)).div_ceil(u128::from(self.per_ns));
        u64::try_from(requests).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        asked(&VEGETA.words(&words).map_err(|error| error.line)?)
    }

    fn words(line: &str) -> String {
        of(line).unwrap().words.join(" ")
    }

    #[test]
    fn options_mean_what_they_mean_to_vegeta() {
        assert_eq!(words("attack"), "--rate 50/s");
        assert_eq!(words("attack|-rate=100/1s|-duration=5s"), "--rate 100/s -n 500");
        assert_eq!(
            words("attack|-rate|90/m|-duration|1m30s|-max-workers=4"),
            "-c 4 --rate 90/m -n 135"
        );
        assert_eq!(words("attack|-rate=5/2s|-duration=2s"), "--rate 2.5 -n 5");
        // 3/s for 1.1 s.
        assert_eq!(words("attack|-rate=3|-duration=1100ms"), "--rate 3/s -n 4");
        assert_eq!(words("attack|-rate=0|-max-workers=9|-duration=500ms"), "-c 9 -d 500ms");
        assert_eq!(
            words(
                "attack|-header=A: 1|-header|A: 2|-body=f|-keepalive=false|-timeout=1s|-insecure"
            ),
            "--rate 50/s --timeout 1s -H A: 1 -H A: 2 -b @f --no-keepalive --insecure"
        );
        assert_eq!(words("attack|-h2c|-workers=3|-lazy|-max-body=0"), "--rate 50/s --http 2");
    }

    #[test]
    fn what_vegeta_refuses_is_refused() {
        for (line, part) in [
            ("plot", "expected `vegeta attack"),
            ("attack|-rate=0", "-rate=0 requires setting -max-workers"),
            ("attack|-rate=fast", "-rate fast"),
            ("attack|-duration=5", "-duration 5: a time requires a unit"),
            ("attack|-timeout=5", "-timeout 5: a time requires a unit"),
            ("attack|-chunked", "-chunked is not supported"),
            ("attack|http://h/", "unexpected argument `http://h/`"),
            ("attack|-nosuch", "unknown option -nosuch"),
        ] {
            let refused = of(line).unwrap_err();
            assert!(refused.contains(part), "{line}: {refused}");
        }
    }
}
