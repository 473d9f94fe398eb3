//! What the options of `gurl -bench` ask for in native words. `ablaze gurl` has its own parser, which knows all of gurl.

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;

use super::{Asked, Grammar, Known, Tool, Words};

const fn known(name: &'static str, value: &'static str) -> Known {
    Known::new(None, name, value, "")
}

/// gurl, as far as it loads.
pub const GURL: Tool = Tool {
    name: "gurl",
    command: "",
    grammar: Grammar::GoFlags,
    known: &[
        known("ac", "N"),
        known("an", "N"),
        known("bench", ""),
        known("duration", "TIME"),
        known("rate", "RATE"),
        known("connect-timeout", "TIME"),
        known("cpus", "N"),
        known("conns", "N"),
        known("k", ""),
        known("X", "METHOD"),
        known("H", "FIELD"),
        known("A", "NAME"),
        known("d", "BODY"),
        known("J", "MEMBER"),
        known("F", "FIELD"),
        known("form-string", "FIELD"),
        known("q", "PARAMETER"),
        known("url", "URL"),
    ],
    asked,
    unread_status: 2,
    usage_status: 2,
    front_end: FrontEnd::Gurl,
    names: OptionNames::GURL,
};

fn asked(words: &Words) -> Result<Asked, String> {
    let url = words.operands.first().map(String::as_str).or(words.last("url"));
    let mut asked = Asked::of(url.ok_or("missing URL: gurl's line ends with it")?);
    if !words.is_on("bench") {
        asked.note("without -bench gurl makes a request and no load: for that use `ablaze gurl`");
    }
    asked.option("-c", words.number::<u32>("ac")?.unwrap_or(1));
    match words.last("duration") {
        Some(time) => asked.option("-d", time),
        None => asked.option("-n", words.last("an").unwrap_or("1")),
    }
    asked.option_if("--rate", words.last("rate").filter(|rate| *rate != "0"));
    asked.option_if("--timeout", words.last("connect-timeout"));
    asked.option_if("-t", words.last("cpus").filter(|cpus| *cpus != "0"));
    asked.option_if("-m", words.last("X"));
    words.all("H").for_each(|line| asked.option("-H", line));
    asked.option_if("-H", words.last("A").map(|name| format!("User-Agent: {name}")));
    asked.option_if("-b", words.last("d"));
    words.all("J").for_each(|member| asked.option("--body-json", member));
    words.all("F").for_each(|field| asked.option("-F", field));
    words.all("form-string").for_each(|field| asked.option("--form-string", field));
    if words.last("q").is_some() {
        asked.note("-q: write the parameters into the URL: URL?name=value");
    }
    asked.switch("--insecure", words.is_on("k"));
    Ok(asked)
}
