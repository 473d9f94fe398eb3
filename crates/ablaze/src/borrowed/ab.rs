//! ab's options, and what they ask for in native words. `ablaze ab` has its own parser, which is exact.

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;

use super::{Asked, Grammar, Known, Tool, Words};

const fn letter(letter: char, name: &'static str, value: &'static str) -> Known {
    Known::new(Some(letter), name, value, "")
}

/// ab 2.4; names of options are their letters.
pub const AB: Tool = Tool {
    name: "ab",
    command: "",
    grammar: Grammar::Getopt,
    known: &[
        letter('n', "n", "N"),
        letter('c', "c", "N"),
        letter('t', "t", "SECONDS"),
        letter('s', "s", "SECONDS"),
        letter('b', "b", "BYTES"),
        letter('B', "B", "ADDRESS"),
        letter('p', "p", "FILE"),
        letter('u', "u", "FILE"),
        letter('T', "T", "TYPE"),
        letter('v', "v", "N"),
        letter('w', "w", ""),
        letter('i', "i", ""),
        letter('x', "x", "TEXT"),
        letter('y', "y", "TEXT"),
        letter('z', "z", "TEXT"),
        letter('C', "C", "COOKIE"),
        letter('H', "H", "FIELD"),
        letter('A', "A", "NAME:PASSWORD"),
        letter('P', "P", "NAME:PASSWORD"),
        letter('X', "X", "HOST:PORT"),
        letter('V', "V", ""),
        letter('k', "k", ""),
        letter('d', "d", ""),
        letter('S', "S", ""),
        letter('q', "q", ""),
        letter('l', "l", ""),
        letter('g', "g", "FILE"),
        letter('e', "e", "FILE"),
        letter('r', "r", ""),
        letter('m', "m", "METHOD"),
        letter('h', "h", ""),
        letter('I', "I", ""),
        letter('Z', "Z", "SUITES"),
        letter('f', "f", "VERSION"),
        letter('E', "E", "FILE"),
    ],
    asked,
    unread_status: 2,
    usage_status: 2,
    front_end: FrontEnd::Ab,
    names: OptionNames::AB,
};

/// Options of the report alone, and where its parts are found.
const OF_REPORT: [(&str, &str); 9] = [
    ("w", "for a page with charts use -o FILE.html"),
    ("x", "for a page with charts use -o FILE.html"),
    ("y", "for a page with charts use -o FILE.html"),
    ("z", "for a page with charts use -o FILE.html"),
    ("d", "the report has no such table to leave out"),
    ("S", "the report has no such lines to leave out"),
    ("g", "for the whole distribution use -o FILE.hlog; ab's file is `ablaze ab -g FILE`"),
    ("v", "for requests and responses use `ablaze run FILE.hurl`, or `ablaze ab -v`"),
    ("b", "buffers of the socket are `ablaze ab -b`"),
];

fn asked(words: &Words) -> Result<Asked, String> {
    let url = words.operands.first().ok_or("missing URL: ab's line ends with it")?;
    let mut asked = Asked::of(url);
    let requests: Option<u64> = words.number("n")?;
    asked.option("--http", "1.0");
    asked.switch("--no-keepalive", !words.is_on("k"));
    asked.option("-c", words.number::<u32>("c")?.unwrap_or(1));
    match (words.last("t"), requests) {
        (Some(seconds), requests) => {
            asked.option("-d", seconds);
            // ab: -t implies -n 50000, which -n behind it changes.
            asked.option("-n", requests.unwrap_or(50_000));
        }
        (None, requests) => asked.option("-n", requests.unwrap_or(1)),
    }
    asked.option_if("--timeout", words.last("s"));
    asked.option_if("--local-address", words.last("B"));
    request(words, &mut asked)?;
    proxy(words, &mut asked)?;
    tls(words, &mut asked);
    asked.option_if("-o", words.last("e").map(csv));
    asked.switch("--quiet", words.is_on("q"));
    for (name, instead) in OF_REPORT {
        if words.last(name).is_some() {
            asked.note(format!("-{name}: {instead}"));
        }
    }
    Ok(asked)
}

/// `-o` chooses the format by the name.
fn csv(file: &str) -> String {
    if file.ends_with(".csv") { file.to_owned() } else { format!("{file}.csv") }
}

fn request(words: &Words, asked: &mut Asked) -> Result<(), String> {
    let method = match (words.last("m"), words.is_on("i"), words.last("u")) {
        (Some(method), ..) => Some(method),
        (None, true, _) => Some("HEAD"),
        (None, false, Some(_)) => Some("PUT"),
        _ => None,
    };
    asked.option_if("-m", method);
    asked.option_if("-b", words.last("p").or(words.last("u")).map(|file| format!("@{file}")));
    asked.option_if("--content-type", words.last("T"));
    words.all("C").for_each(|cookie| asked.option("--cookie", cookie));
    words.all("H").for_each(|line| asked.option("-H", line));
    asked.option_if("-u", words.last("A"));
    Ok(())
}

fn proxy(words: &Words, asked: &mut Asked) -> Result<(), String> {
    match (words.last("X"), words.last("P")) {
        (Some(proxy), Some(user)) => asked.option("--proxy", format!("http://{user}@{proxy}")),
        (Some(proxy), None) => asked.option("--proxy", proxy),
        (None, Some(_)) => return Err("-P is for a proxy: give -X HOST:PORT, too".to_owned()),
        (None, None) => {}
    }
    Ok(())
}

fn tls(words: &Words, asked: &mut Asked) {
    if asked.url.starts_with("https://") {
        asked.switch("--insecure", true);
    }
    if words.is_on("I") {
        asked.option("--sni", "none");
    }
    asked.option_if("--tls-ciphers", words.last("Z"));
    asked.option_if("--cert", words.last("E"));
    match words.last("f").map(str::to_ascii_uppercase).as_deref() {
        None | Some("ALL") => {}
        Some("TLS1.2") => asked.option("--tls-max", "1.2"),
        Some("TLS1.3") => asked.option("--tls-min", "1.3"),
        Some(other) => asked.note(format!("-f {other}: only TLS 1.2 and 1.3 are supported")),
    }
}
