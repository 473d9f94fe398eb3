//! wrk's options, and what they ask for in native words. `ablaze wrk` has its own parser, which knows scripts.

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;

use super::asked::last_of_each;
use super::{Asked, Grammar, Known, Tool, Words};

const fn known(letter: char, name: &'static str, value: &'static str) -> Known {
    Known::new(Some(letter), name, value, "")
}

/// wrk 4.2.
pub const WRK: Tool = Tool {
    name: "wrk",
    command: "",
    grammar: Grammar::Getopt,
    known: &[
        known('c', "connections", "N"),
        known('d', "duration", "TIME"),
        known('t', "threads", "N"),
        known('s', "script", "FILE"),
        known('H', "header", "FIELD"),
        known('L', "latency", ""),
        known('T', "timeout", "TIME"),
        known('R', "rate", "RATE"),
        known('v', "version", ""),
    ],
    asked,
    unread_status: 1,
    usage_status: 1,
    front_end: FrontEnd::Wrk,
    names: OptionNames::WRK,
};

fn asked(words: &Words) -> Result<Asked, String> {
    let url = words.operands.first().ok_or("missing URL: wrk's line has it behind its options")?;
    let mut asked = Asked::of(url);
    asked.option_if("-t", words.last("threads"));
    asked.option("-c", words.last("connections").unwrap_or("10"));
    asked.option("-d", words.last("duration").unwrap_or("10s"));
    // wrk2's.
    asked.option_if("--rate", words.last("rate"));
    match words.last("timeout") {
        Some(time) => asked.option("--timeout", time),
        None => asked.note("wrk gives up on a request after 2 s: add --timeout 2s for the same"),
    }
    for line in last_of_each(words.all("header")) {
        asked.option("-H", line);
    }
    asked.switch("--insecure", url.starts_with("https://"));
    if let Some(script) = words.last("script") {
        asked.note(format!(
            "-s {script}: scripts are `ablaze wrk`'s: write `ablaze` before the line"
        ));
    }
    Ok(asked)
}
