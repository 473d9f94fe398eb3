//! ab's options, taken from left to right with the effects and messages they have there.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use ablaze_report::ab::{HtmlAttributes, Layout};

use super::error::AbError;
use super::getopt::{Found, Words, atoi};
use super::native;
use super::request::{self, Method};
use super::tls::TlsOptions;

/// What ab's `-t` sets the number of requests to.
const REQUESTS_WITH_TIME_LIMIT: u64 = 50_000;
/// Longest name and password that ab's buffer of 1024 bytes takes in Base64.
const CREDENTIALS_BYTES: usize = 765;

/// A command line of ab's, before its numbers are checked against each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `-n`, or what `-t` makes of it; `None` if neither was given.
    pub requests: Option<u64>,
    /// `-c`
    pub concurrency: i64,
    /// `-t`, seconds, unless it is 0.
    pub time_limit_s: Option<i64>,
    /// `-s`, seconds; none if negative.
    pub timeout_s: i64,
    /// `-b`, unless it is 0.
    pub window_bytes: Option<u32>,
    /// `-B`
    pub bind: Option<String>,
    /// `-X`: host and port.
    pub proxy: Option<(String, i64)>,
    /// `-k`
    pub keep_alive: bool,
    /// `-r`
    pub tolerate_receive_errors: bool,
    /// `-q`
    pub quiet: bool,
    /// `-v`
    pub verbosity: i64,
    /// `-f -Z -E -I`
    pub tls: TlsOptions,
    /// What is sent.
    pub request: request::RequestSpec,
    /// How the report looks.
    pub layout: Layout,
    /// `-e`
    pub csv: Option<PathBuf>,
    /// `-g`
    pub gnuplot: Option<PathBuf>,
    /// The words of native options.
    pub native: Vec<OsString>,
    /// What ab takes another way than it looks: lines for stderr.
    pub remarks: Vec<String>,
    /// The operand.
    pub url: Vec<u8>,
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// A run.
    Run(Box<Options>),
    /// `-V`: the banner, in HTML if so.
    Version {
        /// Whether an option before it asked for HTML.
        html: bool,
    },
    /// `--help`
    NativeHelp,
    /// `-h`
    Help,
}

impl Options {
    fn new() -> Self {
        Self {
            requests: None,
            concurrency: 1,
            time_limit_s: None,
            timeout_s: 30,
            window_bytes: None,
            bind: None,
            proxy: None,
            keep_alive: false,
            tolerate_receive_errors: false,
            quiet: false,
            verbosity: 0,
            tls: TlsOptions::default(),
            request: request::RequestSpec::default(),
            layout: Layout::default(),
            csv: None,
            gnuplot: None,
            native: Vec::new(),
            remarks: Vec::new(),
            url: Vec::new(),
        }
    }

    /// Reads a command line.
    ///
    /// # Errors
    /// As ab has them, with its messages and exit statuses.
    pub fn parse(words: &[OsString]) -> Result<Parsed, AbError> {
        if words.is_empty() {
            return Err(AbError::no_words());
        }
        let mut options = Self::new();
        let mut words = Words::new(words);
        while let Some(found) = words.next(&crate::native::takes_value) {
            match found {
                Found::Flag(b'V') => {
                    return Ok(Parsed::Version { html: options.layout.html.is_some() });
                }
                Found::Flag(b'h') => return Ok(Parsed::Help),
                Found::Flag(letter) => options.flag(letter)?,
                Found::Valued(letter, value) => options.valued(letter, value)?,
                Found::Native(words) => options.native.extend(words),
                Found::UnknownNative(word) => return Err(native::unknown(word)),
                Found::Unknown(letter) => return Err(AbError::unknown_option(letter)),
                Found::MissingValue(letter) => return Err(AbError::missing_value(letter)),
            }
        }
        if options.native.iter().any(|word| word == "--help") {
            return Ok(Parsed::NativeHelp);
        }
        let operands = words.operands();
        let [url] = &operands[..] else {
            return Err(AbError::wrong_number_of_arguments(&operands));
        };
        options.url = url.clone().into_vec();
        Ok(Parsed::Run(Box::new(options)))
    }

    fn flag(&mut self, letter: u8) -> Result<(), AbError> {
        match letter {
            b'k' => self.keep_alive = true,
            b'q' => self.quiet = true,
            b'r' => self.tolerate_receive_errors = true,
            b'l' => self.layout.variable_length = true,
            b'd' => self.layout.percentiles = false,
            b'S' => self.layout.confidence = false,
            b'w' => drop(self.html()),
            b'i' => self.request.choose(Method::Head)?,
            b'I' => self.tls.no_server_name = true,
            _ => return Err(AbError::unknown_option(letter)),
        }
        Ok(())
    }

    fn valued(&mut self, letter: u8, value: Vec<u8>) -> Result<(), AbError> {
        if b"nctsbv".contains(&letter) {
            self.remarks.extend(cut_short(letter, &value));
        }
        match letter {
            b'n' => match atoi(&value) {
                ..=0 => {
                    return Err(AbError::text("Invalid number of requests")
                        .with_fix(format!("-n {}: use -n 1 or more", text(value))));
                }
                requests => self.requests = Some(requests as u64),
            },
            b'c' => self.concurrency = atoi(&value),
            b't' => {
                self.time_limit_s = Some(atoi(&value)).filter(|seconds| *seconds != 0);
                self.requests = Some(REQUESTS_WITH_TIME_LIMIT);
            }
            b's' => self.timeout_s = atoi(&value),
            // The kernel takes an int and clamps it; -1 asks for the most, as with ab.
            b'b' => self.window_bytes = Some(atoi(&value) as u32).filter(|bytes| *bytes != 0),
            b'B' => self.bind = Some(text(value)),
            b'X' => self.proxy = Some(host_and_port(&value)),
            b'v' => self.verbosity = atoi(&value),
            b'f' => self.tls.protocol = Some(text(value)),
            b'Z' => self.tls.suites = Some(text(value)),
            b'E' => self.tls.certificate = Some(OsString::from_vec(value).into()),
            b'g' => self.gnuplot = Some(OsString::from_vec(value).into()),
            b'e' => self.csv = Some(OsString::from_vec(value).into()),
            b'x' => self.html().table = text(value),
            b'y' => self.html().row = text(value),
            b'z' => self.html().cell = text(value),
            _ => return self.of_request(letter, value),
        }
        Ok(())
    }

    fn of_request(&mut self, letter: u8, value: Vec<u8>) -> Result<(), AbError> {
        match letter {
            b'p' => {
                self.request.send_file(Method::Post, &PathBuf::from(OsString::from_vec(value)))?
            }
            b'u' => {
                self.request.send_file(Method::Put, &PathBuf::from(OsString::from_vec(value)))?
            }
            b'T' => self.request.content_type = value,
            b'm' => self.request.method = Some(Method::Custom(value)),
            b'C' => self.request.cookies.push(value),
            b'H' => self.request.headers.push(value),
            b'A' => {
                credentials(&mut self.request, "Authorization", "Authentication", &value)?;
            }
            b'P' => credentials(&mut self.request, request::PROXY_AUTHORIZATION, "Proxy", &value)?,
            _ => return Err(AbError::unknown_option(letter)),
        }
        Ok(())
    }

    fn html(&mut self) -> &mut HtmlAttributes {
        self.layout.html.get_or_insert_default()
    }
}

fn credentials(
    request: &mut request::RequestSpec,
    field: &str,
    name: &str,
    value: &[u8],
) -> Result<(), AbError> {
    let value = value.trim_ascii_start();
    if value.len() > CREDENTIALS_BYTES {
        return Err(AbError::text(format!("{name} credentials too long")).with_fix(format!(
            "{} bytes are more than the {CREDENTIALS_BYTES} that ab accepts: send them with -H \
             '{field}: Basic …'",
            value.len()
        )));
    }
    request.add_credentials(field, value);
    Ok(())
}

fn host_and_port(value: &[u8]) -> (String, i64) {
    let (host, port) = match value.iter().position(|b| *b == b':') {
        Some(colon) => (&value[..colon], atoi(&value[colon + 1..])),
        None => (value, 0),
    };
    (text(host.to_vec()), port)
}

fn text(value: Vec<u8>) -> String {
    String::from_utf8(value)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// `-n 10k`: ab reads the digits, and nothing behind them.
fn cut_short(letter: u8, value: &[u8]) -> Option<String> {
    let typed = String::from_utf8_lossy(value).trim().to_owned();
    let number = typed.strip_prefix(['-', '+']).unwrap_or(&typed);
    let read = atoi(value);
    let is_whole = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (!is_whole).then(|| {
        let letter = char::from(letter);
        format!("-{letter} {typed} is {read}: ab reads digits up to the first other character")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Parsed, AbError> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        Options::parse(&words)
    }

    fn options(words: &str) -> Options {
        match parse(words) {
            Ok(Parsed::Run(options)) => *options,
            other => panic!("{words}: {other:?}"),
        }
    }

    #[test]
    fn what_is_cut_off_a_number_is_told() {
        let remarks = |words: &str| options(words).remarks;
        assert_eq!(remarks("-n 10 -c 5 -s -1 u"), [""; 0]);
        let said = remarks("-n 10k u");
        assert!(said.len() == 1 && said[0].starts_with("-n 10k is 10: "), "{said:?}");
        assert_eq!(remarks("-n 10 -t 5s -c 1e2 u").len(), 2);
    }

    #[test]
    fn options_take_effect_from_left_to_right() {
        assert_eq!((options("u").requests, options("u").concurrency), (None, 1));
        assert_eq!(options("-n 7 -n 9 u").requests, Some(9));
        let limited = options("-n 7 -t 5 u");
        assert_eq!((limited.requests, limited.time_limit_s), (Some(50_000), Some(5)));
        assert_eq!(options("-t 5 -n 7 u").requests, Some(7));
        let unlimited = options("-t 0 u");
        assert_eq!((unlimited.requests, unlimited.time_limit_s), (Some(50_000), None));
        assert_eq!(options("-t -1 u").time_limit_s, Some(-1));
        assert_eq!(parse("-w -V u"), Ok(Parsed::Version { html: true }));
        assert_eq!(parse("-V -w u"), Ok(Parsed::Version { html: false }));
        assert_eq!(parse("-h -n 0"), Ok(Parsed::Help));
        assert_eq!(parse("-n 0 -h").unwrap_err().status, 1);
        assert_eq!(parse("--help"), Ok(Parsed::NativeHelp));
        assert_eq!(parse("-n 5 --help u"), Ok(Parsed::NativeHelp));
    }

    #[test]
    fn flags_and_files_land_where_they_belong() {
        let all = options("-kqrldS -e e.csv -g g.tsv -v 3 -b 4096 -s 5 -B ::1 u");
        assert!(all.keep_alive && all.quiet && all.tolerate_receive_errors);
        let layout = &all.layout;
        assert!(layout.variable_length && !layout.percentiles && !layout.confidence);
        assert_eq!(all.csv, Some("e.csv".into()));
        assert_eq!(all.gnuplot, Some("g.tsv".into()));
        assert_eq!((all.verbosity, all.window_bytes, all.timeout_s), (3, Some(4096), 5));
        assert_eq!(all.bind.as_deref(), Some("::1"));
        assert_eq!(options("-b 0 u").window_bytes, None);
        assert_eq!(options("-X proxy:3128 u").proxy, Some(("proxy".into(), 3128)));
        assert_eq!(options("-X proxy u").proxy, Some(("proxy".into(), 0)));
        let tls = options("-I -f TLS1.3 -Z HIGH -E c.pem u").tls;
        assert!(tls.no_server_name && tls.certificate == Some("c.pem".into()));
        assert_eq!(
            (tls.protocol.as_deref(), tls.suites.as_deref()),
            (Some("TLS1.3"), Some("HIGH"))
        );
    }

    #[test]
    fn any_html_attribute_asks_for_html() {
        assert_eq!(options("u").layout.html, None);
        assert_eq!(options("-w u").layout.html.unwrap().cell, "bgcolor=white");
        let html = options("-x a -y b -z c u").layout.html.unwrap();
        assert_eq!((&html.table[..], &html.row[..], &html.cell[..]), ("a", "b", "c"));
    }

    #[test]
    fn what_ab_refuses_is_refused_with_its_numbers() {
        let table = [
            ("-n 0 u", "Invalid number of requests", 1),
            ("-n x u", "Invalid number of requests", 1),
            ("-i -p /dev/null u", "Cannot mix POST with other methods", 1),
            ("-p /dev/null -u /dev/null u", "Cannot mix PUT with other methods", 1),
            ("-m GET -i u", "Cannot mix HEAD with other methods", 1),
            ("-k", "wrong number of arguments", 22),
            ("u -n 5", "wrong number of arguments", 22),
            ("-K u", "illegal option -- K", 22),
            ("-n", "option requires an argument -- n", 22),
            ("-p /nonexistent u", "(/nonexistent): No such file or directory", 1),
            ("-u / u", "Could not read POST data file: Is a directory", 1),
        ];
        for (words, message, status) in table {
            let refused = parse(words).expect_err(words);
            assert!(refused.to_string().contains(message), "{words}: {refused}");
            assert_eq!(refused.status, status, "{words}");
        }
        assert_eq!(options("-i -m PUT u").request.method, Some(Method::Custom("PUT".into())));
    }

    #[test]
    fn credentials_have_ab_s_limit() {
        let long = |bytes| vec![OsString::from("-A"), "x".repeat(bytes).into(), "u".into()];
        assert!(Options::parse(&long(765)).is_ok());
        let refused = Options::parse(&long(766)).unwrap_err();
        let text = refused.to_string();
        assert!(text.starts_with("Authentication credentials too long\n\nablaze: 766 bytes"));
    }
}
