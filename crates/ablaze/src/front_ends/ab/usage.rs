//! ab's usage text: its layout, in our words.

use std::ffi::OsStr;
use std::path::Path;

/// How this program was called: by the name of a link called `ab`, or as `ablaze ab`.
pub fn program_name() -> String {
    let called = std::env::args_os().next().unwrap_or_default();
    match Path::new(&called).file_name() {
        Some(name) if name == OsStr::new("ab") => called.to_string_lossy().into_owned(),
        _ => "ablaze ab".to_owned(),
    }
}

/// The usage text, which begins with the program's name.
pub fn text(program: &str) -> String {
    format!("Usage: {program} [options] [http[s]://]hostname[:port]/path\nOptions are:\n{OPTIONS}")
}

/// What the text says about an option in its first line: of a line about two options, the part of that one.
pub fn about(letter: char) -> Option<&'static str> {
    let (option, text) = line_of(letter)?;
    let letters: Vec<&str> = names(option).filter(|word| word.starts_with('-')).collect();
    match (&letters[..], text.split_once("; ")) {
        ([first, _], Some((of_first, of_second))) => {
            Some(if *first == format!("-{letter}") { of_first } else { of_second })
        }
        _ => Some(text),
    }
}

/// The same with the lines below it, as sentences.
pub fn about_at_length(letter: char) -> Option<String> {
    let name = format!("-{letter}");
    let mut lines = OPTIONS.lines().skip_while(|line| !names(line).any(|word| word == name));
    lines.next()?;
    let mut text = about(letter)?.to_owned();
    let below = lines.map_while(|line| line.strip_prefix(&" ".repeat(COLUMN)));
    for line in below {
        let goes_on = text.ends_with([':', ',']) || text.ends_with("such as");
        text += if goes_on || line.starts_with('(') { " " } else { ". " };
        text += line;
    }
    Some(text)
}

/// What stands for the value of an option.
pub fn value(letter: char) -> Option<&'static str> {
    let name = format!("-{letter}");
    let behind = names(line_of(letter)?.0).skip_while(|word| *word != name).nth(1)?;
    (!behind.starts_with('-')).then_some(behind)
}

/// Where the text about an option begins in its line.
const COLUMN: usize = 20;

/// The first line about an option: its names, and the text.
fn line_of(letter: char) -> Option<(&'static str, &'static str)> {
    let name = format!("-{letter}");
    let mut lines = OPTIONS.lines().filter_map(|line| line.split_at_checked(COLUMN));
    lines.find(|(own, _)| names(own).any(|word| word == name))
}

/// The words in front of the text of a line.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.get(..COLUMN).unwrap_or(line).split_whitespace()
}

const OPTIONS: &str = "    \
    -n requests     How many requests to send
    -c concurrency  How many of them at a time
    -t timelimit    Stop after this many seconds
                    This sets -n to 50000; a later -n overrides it
    -s timeout      Seconds each response may take, connecting included
                    30 if not given; below 0 for no limit
    -b windowsize   Socket buffers for sending and receiving, in bytes
    -B address      Local address to connect from
    -p postfile     POST the contents of this file; see -T
    -u putfile      PUT the contents of this file; see -T
    -T content-type What the body of -p or -u is, such as
                    'application/x-www-form-urlencoded'
                    'text/plain' if not given
    -v verbosity    Print more: 1 errors, 2 heads, 3 statuses, TLS messages
    -w              Report as HTML tables
    -i              Send HEAD requests
    -x attributes   Attributes of the HTML <table>
    -y attributes   Attributes of the HTML <tr>
    -z attributes   Attributes of the HTML <td> and <th>
    -C attribute    Send this cookie, such as 'Apache=1234'
                    (repeatable: cookies are joined in one line)
    -H attribute    Send this header line, such as 'Accept-Encoding: gzip'
                    (repeatable: lines are sent in this order)
    -A attribute    Basic authentication:
                    name and password with a colon between them
    -P attribute    Basic authentication at the proxy:
                    name and password with a colon between them
    -X proxy:port   Send the requests to this proxy
    -V              Print the version and exit
    -k              Keep connections open for more requests
    -d              Omit the table of percentiles
    -S              Omit standard deviations and medians
    -q              No progress lines with more than 150 requests
    -l              Bodies may differ in length (dynamic pages)
    -g filename     Write a line for each request, for gnuplot
    -e filename     Write the percentiles as CSV
    -r              Connection errors do not change the exit status
    -m method       Send this method
    -h              Print this text
    -I -E file      https: no server name (SNI); client certificate
    -f prot -Z list https: TLS1.2, TLS1.3 or ALL; cipher suites
    --name value    Any long option that `ablaze load --help` lists,
                    such as --warmup 1s, --cpus 0-3, --json
";

#[cfg(test)]
mod tests {
    /// The layout that wrappers reformat: 45 lines, option at column 4, text at column 20.
    #[test]
    fn the_layout_is_ab_s() {
        let text = super::text("ab");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Usage: ab [options] [http[s]://]hostname[:port]/path");
        assert_eq!(lines[1], "Options are:");
        assert_eq!(lines.len(), 45);
        for line in &lines[2..] {
            let (option, text) = line.split_at(20);
            assert!(option.starts_with("    -") || option.trim().is_empty(), "{line}");
            assert!(!text.starts_with(' ') && option.ends_with(' '), "{line}");
        }
    }

    #[test]
    fn every_letter_of_ab_s_is_explained() {
        let text = super::text("ab");
        for letter in "nctsbBpuTvwixyzCHAPXVkdSqlgermhIZfE".chars() {
            assert!(text.contains(&format!(" -{letter} ")), "{letter}");
        }
    }
}
