//! A load tester's command line in a text: what it asked for. It needs no prompt and no code block
//! around it, but it must be one: options that the program knows, and a URL.

mod ab;
mod container;
mod continued;
mod grammars;
mod native;
mod options;
mod passing;
mod peers;
mod program;
mod sequence;
mod split;
mod url;

pub use continued::continued;
pub use passing::is_in_passing;
pub use program::name as program_name;
pub use sequence::all;

use super::naming::{self, Typed, behind_prompt};
use ab::{ab, gurl};
use url::{is_url_like, split_url};

/// Which program's options these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// ab, or `ablaze ab`.
    Ab,
    /// gurl, or `ablaze gurl`.
    Gurl,
    /// ablaze's own options.
    Ablaze,
    /// wrk, and wrk2, which has one option more.
    Wrk,
    /// h2load.
    H2load,
    /// hey.
    Hey,
    /// oha.
    Oha,
    /// bombardier.
    Bombardier,
    /// vegeta: the attack, whose report another command prints.
    Vegeta,
    /// siege.
    Siege,
}

/// A command line, as far as it can be held against a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Line of the text, from 1.
    pub line: usize,
    /// As typed, in words that a shell takes for the same.
    pub text: String,
    /// The tool that it is a command of.
    pub program: Program,
    /// Requests asked for; the tool's default where nothing else is said.
    pub requests: Option<u64>,
    /// Connections asked for: the lowest and the highest, as documents write `-c[1-100]`.
    pub concurrency: (u64, u64),
    /// A limit of time was given.
    pub timed: bool,
    /// That limit in seconds, of the tools whose reports are held against it.
    pub duration_s: Option<f64>,
    /// Requests per second that were asked for, at most: over all connections.
    pub rate_per_s: Option<f64>,
    /// The client's threads.
    pub threads: Option<u64>,
    /// Requests that each connection has in flight.
    pub streams: u64,
    /// Requests are to be sent on a schedule; the concurrency is then a bound at most.
    pub open_loop: bool,
    /// Connections are to be opened at a rate: they do not all stand from the start.
    pub ramps: bool,
    /// Requests are to go through a proxy.
    pub proxied: bool,
    /// Connections are to be kept. `None`: the program's report does not say either way.
    pub keep_alive: Option<bool>,
    /// The bytes of the request are the tool's own: no method, field or body was given.
    pub plain_request: bool,
    /// What says so, but for the host that is asked for.
    pub request_options: Vec<String>,
    /// A method, a field or a body was given.
    pub asks_otherwise: bool,
    /// Where connections go that is not the URL's own host: by the name of ablaze's option for it.
    pub elsewhere: Option<&'static str>,
    /// The file that the URLs come from.
    pub list: Option<String>,
    /// An option of it is none that is known: what its words ask for may be another thing.
    pub is_guessed: bool,
    /// The URL is a pattern, of which each request has another.
    pub is_pattern: bool,
    /// Other URLs stand beside it, of which the requests are in turn (h2load).
    pub has_more_urls: bool,
    /// The URL begins with `https://`.
    pub tls: bool,
    /// HTTP/2 is asked for.
    pub http2: bool,
    /// Host of the URL; empty where the URLs come from a file.
    pub host: String,
    /// Port of the URL.
    pub port: u16,
    /// Path of the URL.
    pub path: String,
}

/// The command line in a cleaned line of text.
pub fn find(line: &str, number: usize) -> Option<Command> {
    // What it attacks is often piped into it.
    let line = line.find("vegeta attack ").map_or(line, |at| &line[at..]);
    let line = behind_prompt(line).unwrap_or(line);
    // The lines of a loop are another's to read.
    let is_loop = matches!(naming::typed(line), Some(Typed::Loop { .. }));
    let mut rest = line;
    loop {
        let (words, typed, behind) = split::shell_words(rest);
        let found = in_words(&words, &typed, number, false).or_else(|| passed_on(&words, number));
        if found.is_some() || is_loop || behind.is_empty() {
            return found.or_else(|| with_url_alone(line, number));
        }
        rest = behind;
    }
}

/// The command that another one carries out, in quotes: `ssh host "wrk …"`, `bash -c "ulimit -n 9999; wrk …"`.
fn passed_on(words: &[String], number: usize) -> Option<Command> {
    const CARRIERS: [&str; 8] = ["ssh", "bash", "sh", "zsh", "su", "eval", "watch", "vagrant"];
    let carrier = words.iter().position(|word| CARRIERS.contains(&program::name(word)))?;
    words[carrier + 1..]
        .iter()
        .filter(|word| word.contains(' '))
        .find_map(|word| find(word, number))
}

/// `hey http://h/`, with nothing but a URL: words of a sentence may look the same, but for a scheme and an end.
fn with_url_alone(line: &str, number: usize) -> Option<Command> {
    let (words, typed, _) = split::shell_words(line);
    let first = match words.first().map(String::as_str) {
        Some("time" | "sudo") => 1,
        _ => 0,
    };
    let (words, typed) = (&words[first..], &typed[first..]);
    let url = words.last().filter(|_| words.len() == 2)?;
    let has_scheme = url.starts_with("http://") || url.starts_with("https://");
    if has_scheme { in_words(words, typed, number, true) } else { None }
}

/// The command line among words that a shell has split already; whether it may have no options.
fn in_words(words: &[String], typed: &[String], number: usize, bare: bool) -> Option<Command> {
    for (index, word) in words.iter().enumerate() {
        if container::is_value(words, index) {
            continue;
        }
        let name = program::name(word);
        let rest = &words[index + 1..];
        let (skipped, parse): (usize, Parse) = match (name, rest.first().map(String::as_str)) {
            ("ab", _) => (0, ab),
            ("gurl", _) => (0, gurl),
            ("ablaze", Some("ab")) => (1, ab),
            ("ablaze", Some("gurl")) => (1, gurl),
            ("ablaze", Some(other @ ("wrk" | "hey" | "h2load" | "oha"))) => {
                match peers::of(other) {
                    Some(parse) => (1, parse),
                    None => continue,
                }
            }
            ("ablaze", Some("vegeta")) => (1, peers::vegeta),
            ("ablaze", Some("load")) => (1, native::read),
            ("ablaze", _) => (0, native::read),
            ("vegeta", _) => (0, peers::vegeta),
            (name, _) => match peers::of(name) {
                Some(parse) => (0, parse),
                None => continue,
            },
        };
        let found = parse(&rest[skipped..]);
        // These read sentences too, unless an option is among the words.
        let has_options = |asked: &Words| match asked.program {
            Program::Ablaze | Program::Gurl => true,
            _ => asked.options > 0,
        };
        // `docker run --entrypoint wrk skandyla/wrk -t2 …`: the URL is an image, and the program comes once more.
        let of_image = |asked: &Words| asked.url.as_deref().is_some_and(container::is_image);
        let again = || in_words(&words[index + 1..], &typed[index + 1..], number, bare);
        if let Some((asked, used)) = found.filter(|(asked, _)| bare || has_options(asked)) {
            if let Some(command) =
                Some(&asked).filter(|asked| of_image(asked)).and_then(|_| again())
            {
                return Some(command);
            }
            let text = typed[index..index + 1 + skipped + used].join(" ");
            return asked.command(number, text);
        }
    }
    None
}

/// Reads a program's words: what is asked for, and how many words that took.
type Parse = fn(&[String]) -> Option<(Words, usize)>;

/// What a command asks for, with the tool's defaults.
struct Words {
    program: Program,
    requests: Option<u64>,
    concurrency: (u64, u64),
    without_pauses: bool,
    timed: bool,
    duration_s: Option<f64>,
    rate_per_s: Option<f64>,
    rate_each: Option<f64>,
    threads: Option<u64>,
    streams: u64,
    open_loop: bool,
    ramps: bool,
    proxied: bool,
    keep_alive: Option<bool>,
    plain_request: bool,
    request_options: Vec<String>,
    asks_otherwise: bool,
    elsewhere: Option<&'static str>,
    list: Option<String>,
    is_listed: bool,
    is_pattern: bool,
    has_more_urls: bool,
    is_guessed: bool,
    base: Option<String>,
    burst: (Option<f64>, Option<f64>),
    http2: bool,
    url: Option<String>,
    options: usize,
}

impl Words {
    fn new(program: Program, requests: Option<u64>, concurrency: u64) -> Self {
        Self {
            program,
            requests,
            concurrency: (concurrency, concurrency),
            without_pauses: false,
            timed: false,
            duration_s: None,
            rate_per_s: None,
            rate_each: None,
            threads: None,
            streams: 1,
            open_loop: false,
            ramps: false,
            proxied: false,
            keep_alive: None,
            plain_request: true,
            request_options: Vec::new(),
            asks_otherwise: false,
            elsewhere: None,
            list: None,
            is_listed: false,
            is_pattern: false,
            has_more_urls: false,
            is_guessed: false,
            base: None,
            burst: (None, None),
            http2: false,
            url: None,
            options: 0,
        }
    }

    /// Takes a method, a field or a body. Another host is another target, and the same request.
    fn request(&mut self, value: &str) {
        (self.plain_request, self.asks_otherwise) = (false, true);
        if !value.to_lowercase().starts_with("host:") {
            self.request_options.push(value.to_owned());
        }
    }

    fn command(self, line: usize, text: String) -> Option<Command> {
        let (mut host, mut port, path) = match self.url.as_deref() {
            Some(url) => split_url(url)?,
            None if self.program == Program::Vegeta || self.list.is_some() => Default::default(),
            None => return None,
        };
        // What is loaded is under its address, whatever stands in the URL.
        if let Some(base) = &self.base {
            (host, port, _) = split_url(base)?;
        }
        Some(Command {
            line,
            text,
            program: self.program,
            requests: self.requests,
            concurrency: self.concurrency,
            timed: self.timed,
            duration_s: self.duration_s,
            rate_per_s: self.rate_per_s,
            threads: self.threads,
            streams: self.streams.max(1),
            open_loop: self.open_loop,
            ramps: self.ramps,
            proxied: self.proxied,
            keep_alive: self.keep_alive,
            plain_request: self.plain_request,
            request_options: self.request_options,
            asks_otherwise: self.asks_otherwise,
            elsewhere: self.elsewhere,
            list: self.list,
            is_pattern: self.is_pattern,
            has_more_urls: self.has_more_urls,
            is_guessed: self.is_guessed,
            tls: self.base.or(self.url).is_some_and(|url| url.starts_with("https://")),
            http2: self.http2,
            host,
            port,
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Command {
        find(line, 1).unwrap_or_else(|| panic!("no command in {line:?}"))
    }

    #[test]
    fn commands_are_found_as_people_write_them() {
        let found = command("(base) ➜  ~ ab -n 100000 -c 1000 http://localhost:12345/");
        assert_eq!(found.text, "ab -n 100000 -c 1000 http://localhost:12345/");
        assert_eq!((found.requests, found.concurrency), (Some(100_000), (1000, 1000)));
        assert_eq!(
            (found.host.as_str(), found.port, found.path.as_str()),
            ("localhost", 12345, "/")
        );
        assert_eq!(found.keep_alive, Some(false));

        let found = command("$ ab -n 1000 -k 127.0.0.1/ # over the loopback");
        assert_eq!(found.text, "ab -n 1000 -k 127.0.0.1/");
        assert_eq!((found.concurrency, found.keep_alive), ((1, 1), Some(true)));

        let found = command("run `ab -kc[1-10000] -n100000 http://127.0.0.1:8921/hello`");
        assert_eq!((found.requests, found.concurrency), (Some(100_000), (1, 10_000)));
        assert_eq!(found.path, "/hello");

        let found = command("gurl -ac 21 -an 1000000 -bench :12345");
        assert_eq!((found.program, found.port), (Program::Gurl, 12345));
        assert_eq!((found.requests, found.concurrency), (Some(1_000_000), (21, 21)));
        assert_eq!(found.text, "gurl -ac 21 -an 1000000 -bench :12345");

        let found = command("$ ablaze ab -kc 100 -n 100000 http://h/");
        assert_eq!((found.program, found.concurrency), (Program::Ab, (100, 100)));
        assert_eq!(found.text, "ablaze ab -kc 100 -n 100000 http://h/");
        let found = command("$ ablaze -c 64 -n 1M :8080/");
        assert_eq!((found.program, found.requests), (Program::Ablaze, Some(1_000_000)));
        assert_eq!(found.text, "ablaze -c 64 -n 1M :8080/");
    }

    #[test]
    fn the_order_of_t_and_n_matters_as_in_ab() {
        assert_eq!(command("ab -t 1 -n 10 h/").requests, Some(10));
        assert_eq!(command("ab -n 10 -t 1 h/").requests, Some(50_000));
    }

    #[test]
    fn running_text_is_no_command() {
        for line in [
            "a page about ab",
            "use ab: it is simple",
            "ab testing of h/",
            "gurl -echo :12345",
            "ab -n many http://h/",
            "ab",
            "-c is the concurrency of ab",
            "measured on 2026-11-23 by ablaze 0.1.0, on 2 CPUs",
        ] {
            assert_eq!(find(line, 1), None, "{line}");
        }
    }

    #[test]
    fn a_field_makes_the_request_other_than_plain() {
        assert!(command("ab -k -n 5 h/").plain_request);
        assert!(!command("ab -H 'Accept-Encoding: gzip' -n 5 h/").plain_request);
    }
}
