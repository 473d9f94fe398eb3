//! hey: its options, and what they ask for.

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;
use ablaze_report::vegeta::parse_duration;

use super::asked::last_of_each;
use super::known::long;
use super::{Asked, Grammar, Tool, Words};

/// hey 0.1.5.
pub const HEY: Tool = Tool {
    name: "hey",
    command: "",
    grammar: Grammar::GoFlags,
    known: &[
        long("n", "N", "requests in all (200)"),
        long("c", "N", "workers: connections, each with one request in flight (50)"),
        long("q", "RATE", "requests per second of each worker"),
        long("z", "TIME", "length of the run, such as 10s or 3m; -n is ignored then"),
        long("o", "csv", "print a line for each response instead of the summary"),
        long("m", "METHOD", "method (GET)"),
        long("H", "FIELD", "header field 'Name: value'; repeatable, the last of a name counts"),
        long("t", "SECONDS", "timeout of a request (20); 0: none"),
        long("A", "TYPES", "the field Accept"),
        long("d", "BODY", "body"),
        long("D", "FILE", "body from a file"),
        long("T", "TYPE", "the field Content-Type (text/html)"),
        long("U", "NAME", "the field User-Agent, before hey/0.0.1"),
        long("a", "NAME:PASSWORD", "basic authorization"),
        long("x", "HOST:PORT", "HTTP proxy"),
        long("h2", "", "HTTP/2 over https: one connection with -c streams"),
        long("host", "HOST", "the field Host"),
        long("disable-compression", "", "do not ask for gzip"),
        long("disable-keepalive", "", "a new connection for each request"),
        long("disable-redirects", "", "accepted: redirects are never followed"),
        long("cpus", "N", "threads (by the CPUs)"),
        long("h", "", "print this help"),
        long("help", "", "print this help"),
    ],
    asked,
    // Go's flag package ends with 2, hey's own checks with 1.
    unread_status: 2,
    usage_status: 1,
    front_end: FrontEnd::Hey,
    names: OptionNames { duration: "-z", threads: "-cpus", ..OptionNames::NATIVE },
};

fn asked(words: &Words) -> Result<Asked, String> {
    let Some(url) = words.operands.first() else {
        return Err("missing URL, for example `ablaze hey http://127.0.0.1:8080/`".to_owned());
    };
    let mut asked = Asked::of(url);
    match words.last("o") {
        None | Some("") => {}
        Some("csv") => asked.beyond_native.push(
            "-o csv: `ablaze hey` prints a line for each response, `ablaze load` does not"
                .to_owned(),
        ),
        Some(other) => {
            return Err(format!("-o {other}: expected csv; to save the report use --output FILE"));
        }
    }
    if let Some(word) = words.operands.get(1) {
        asked
            .note(format!("`{word}` behind the URL is not read, as in hey: put options before it"));
    }
    let is_https = url.starts_with("https://");
    load(words, is_https, &mut asked)?;
    request(words, &mut asked)?;
    asked.option_if("--proxy", words.last("x"));
    asked.switch("--insecure", is_https);
    asked.switch("--no-keepalive", words.is_on("disable-keepalive"));
    // Go takes 0 for as many as there are.
    asked.option_if("--threads", words.last("cpus").filter(|cpus| *cpus != "0"));
    asked.follows_redirects = !words.is_on("disable-redirects");
    Ok(asked)
}

fn load(words: &Words, is_https: bool, asked: &mut Asked) -> Result<(), String> {
    let workers: u32 = words.number("c")?.unwrap_or(50);
    let requests: u64 = words.number("n")?.unwrap_or(200);
    // hey takes -n where the time is 0, or below it.
    let duration = words.last("z").filter(|time| parse_duration(time).is_some_and(|ns| ns > 0));
    if workers == 0 {
        return Err("-c 0 sends nothing: use 1 or more".to_owned());
    }
    if duration.is_none() && requests < u64::from(workers) {
        return Err(format!(
            "-n {requests} cannot be less than -c {workers}: use -c {} or a higher -n",
            requests.max(1)
        ));
    }
    // Go sends all requests of a client as streams of one connection.
    if words.is_on("h2") && is_https {
        asked.option("--http", 2);
        asked.option("-c", 1);
        asked.option("--streams", workers);
    } else {
        asked.option("-c", workers);
        if words.is_on("h2") {
            asked.note(
                "-h2 has no effect on http, as in hey: for HTTP/2 use `ablaze load --http 2`",
            );
        }
    }
    match duration {
        Some(time) => asked.option("-d", time),
        None => asked.option("-n", requests),
    }
    if let Some(rate) = words.number::<f64>("q")?.filter(|rate| *rate > 0.0) {
        asked.option("--rate", rate * f64::from(workers));
    }
    match words.number::<u64>("t")? {
        Some(seconds) => asked.option("--timeout", seconds),
        None => asked.unsaid("--timeout", "20"),
    }
    Ok(())
}

fn request(words: &Words, asked: &mut Asked) -> Result<(), String> {
    let body = match (words.last("D"), words.last("d").filter(|body| !body.is_empty())) {
        (Some(file), _) => Some(format!("@{file}")),
        (None, Some(body)) if body.starts_with('@') => {
            return Err(format!("-d {body}: put a body that begins with @ into a file: -D FILE"));
        }
        (None, body) => body.map(str::to_owned),
    };
    match words.last("m") {
        Some(method) => asked.option("-m", method.to_ascii_uppercase()),
        // Also with a body.
        None if body.is_some() => asked.option("-m", "GET"),
        None => {}
    }
    asked.option_if("-b", body);
    let mut fields: Vec<String> = Vec::new();
    fields.extend(words.last("T").map(|value| format!("Content-Type: {value}")));
    for line in words.all("H") {
        let is_field = line.split_once(':').is_some_and(|(name, value)| {
            !name.is_empty() && !name.contains(char::is_whitespace) && !value.trim().is_empty()
        });
        if !is_field {
            return Err(format!("-H '{line}': expected 'Name: value'"));
        }
        fields.push(line.to_owned());
    }
    fields.extend(words.last("A").map(|value| format!("Accept: {value}")));
    fields.extend(words.last("host").map(|value| format!("Host: {value}")));
    fields.extend(words.last("U").map(|value| format!("User-Agent: {value}")));
    for line in last_of_each(fields.iter().map(String::as_str)) {
        let is_agent = line.to_ascii_lowercase().starts_with("user-agent:");
        asked.option("-H", if is_agent { format!("{line} {AGENT}") } else { line });
    }
    if let Some(user) = words.last("a") {
        if !user.contains(':') {
            return Err(format!("-a {user}: expected NAME:PASSWORD"));
        }
        asked.option("-u", user);
    }
    asked.unsaid_field(&format!("User-Agent: {AGENT}"));
    asked.unsaid_field("Content-Type: text/html");
    asked.unsaid_field("Accept:");
    if !words.is_on("disable-compression") {
        asked.unsaid_field("Accept-Encoding: gzip");
    }
    Ok(())
}

/// What hey calls itself.
const AGENT: &str = "hey/0.0.1";

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        asked(&HEY.words(&words).map_err(|error| error.line)?)
    }

    fn words(line: &str) -> String {
        of(line).unwrap().words.join(" ")
    }

    #[test]
    fn the_defaults_are_heys() {
        let asked = of("http://h/").unwrap();
        assert_eq!(asked.words.join(" "), "-c 50 -n 200");
        assert_eq!(
            asked.unsaid.join("|"),
            "--timeout|20|-H|User-Agent: hey/0.0.1|-H|Content-Type: text/html|-H|Accept:|-H|\
             Accept-Encoding: gzip"
        );
        assert!(asked.follows_redirects);
    }

    #[test]
    fn options_mean_what_they_mean_to_hey() {
        assert_eq!(words("-z|10s|-c|4|-q|2.5|http://h/"), "-c 4 -d 10s --rate 10");
        // A body alone does not make it a POST.
        assert_eq!(words("-c|1|-d|x|u"), "-c 1 -n 200 -m GET -b x");
        assert_eq!(
            words("-m|put|-D|f|-T|a/b|-H|content-type: c/d|-U|me|-a|n:p|u"),
            "-c 50 -n 200 -m PUT -b @f -H content-type: c/d -H User-Agent: me hey/0.0.1 -u n:p"
        );
        assert_eq!(
            words("-h2|-c|9|-cpus|1|https://h/"),
            "--http 2 -c 1 --streams 9 -n 200 --insecure --threads 1"
        );
        assert_eq!(words("-cpus|0|u"), "-c 50 -n 200");
        assert_eq!(words("-z|0s|u"), "-c 50 -n 200");
        assert_eq!(words("-z|1m30s|u"), "-c 50 -d 1m30s");
        assert_eq!(of("-h2|http://h/").unwrap().notes.len(), 1);
        assert_eq!(of("http://h/|-n|3").unwrap().notes.len(), 1);
    }

    #[test]
    fn what_hey_refuses_is_refused() {
        for (line, part) in [
            ("-n|3", "missing URL"),
            ("-n|3|u", "-n 3 cannot be less than -c 50"),
            ("-c|0|u", "-c 0"),
            ("-c|many|u", "-c many: expected a number"),
            ("-H|nothing|u", "-H 'nothing'"),
            ("-a|name|u", "-a name"),
            ("-d|@x|u", "-D FILE"),
            ("-Z|u", "unknown option -Z"),
            ("-z|5|u", "-z 5: a time requires a unit, such as 5s"),
        ] {
            let refused = of(line).unwrap_err();
            assert!(refused.contains(part), "{line}: {refused}");
        }
    }
}
