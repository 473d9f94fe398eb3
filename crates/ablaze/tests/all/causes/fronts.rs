//! The front ends, each with the words that make it load one URL, and what was found by its output.

use std::collections::BTreeSet;

use ablaze_testing::scratch::Scratch;
use serde_json::Value;

use crate::command::support::{Said, ablaze};

/// What the machine, or the shortness of the runs, may add to any condition: two of a few milliseconds had other numbers in
/// flight (D05). The server is of this process, in which other tests work beside it (D26).
pub const OF_THE_MACHINE: [&str; 12] =
    ["D05", "D07", "D11", "D13", "D14", "D15", "D16", "D17", "D23", "D26", "D30", "D34"];

/// A way to load a URL.
pub struct Front {
    pub name: &'static str,
    /// Its words, of which `URL` is replaced.
    words: &'static [&'static str],
    /// What prints findings: JSON, or lines on stderr.
    prints_json: bool,
    /// Of an experiment a run without any response is a failed one, which has no findings.
    pub is_experiment: bool,
    /// Whether long options of `load` are its own.
    takes_options: bool,
    /// Whether what it prints has findings of a run in which nothing came as expected.
    pub tells_of_failure: bool,
}

const fn front(name: &'static str, words: &'static [&'static str]) -> Front {
    Front {
        name,
        words,
        prints_json: true,
        is_experiment: false,
        takes_options: true,
        tells_of_failure: true,
    }
}

const fn experiment(name: &'static str, words: &'static [&'static str]) -> Front {
    Front { is_experiment: true, ..front(name, words) }
}

/// One that takes another tool's options, and says below its report what was found; where nothing came, a line with the
/// cause.
const fn lines(name: &'static str, words: &'static [&'static str]) -> Front {
    Front {
        prints_json: false,
        takes_options: false,
        tells_of_failure: false,
        ..front(name, words)
    }
}

/// What `run` is told, with a line for each option behind it.
const EXPERIMENT: &str = "\
repeats = 1
[targets.a]
url = \"URL\"
[targets.b]
url = \"URL\"
[load]
connections = 4
requests = 40
";

pub const FRONTS: [Front; 14] = [
    front("load", &["load", "URL", "-n", "40", "-c", "4", "--json"]),
    front("explain", &["load", "URL", "-n", "40", "-c", "4", "-o", "FILE"]),
    Front { prints_json: false, ..front("ab", &["ab", "-k", "-n", "40", "-c", "4", "URL"]) },
    Front {
        prints_json: false,
        takes_options: false,
        // gurl's report is one line of cause then, as gurl's own.
        tells_of_failure: false,
        ..front("gurl", &["gurl", "-bench", "-an", "40", "-ac", "4", "URL"])
    },
    lines("wrk", &["wrk", "-d", "1s", "-c", "4", "-t", "1", "URL"]),
    lines("hey", &["hey", "-n", "40", "-c", "4", "URL"]),
    lines("h2load", &["h2load", "--h1", "-n", "40", "-c", "4", "URL"]),
    lines("oha", &["oha", "-n", "40", "-c", "4", "--no-tui", "URL"]),
    lines("vegeta", &["vegeta", "attack", "-rate=80", "-duration=500ms", "-targets=TARGETS"]),
    front("open loop", &["load", "URL", "-r", "80/s", "-d", "500ms", "-c", "4", "--json"]),
    experiment(
        "compare",
        &[
            "compare", "a=URL", "b=URL", "-n", "40", "-c", "4", "--repeat", "1", "--json",
            "--folder", "DIR",
        ],
    ),
    experiment(
        "sweep",
        &["sweep", "URL", "-c", "3,4", "-n", "40", "--repeat", "1", "--json", "--folder", "DIR"],
    ),
    experiment("run", &["run", "EXPERIMENT", "--json", "--folder", "DIR"]),
    experiment(
        "find",
        &[
            "find",
            "URL",
            "--slo",
            "p99<20s",
            "-d",
            "500ms",
            "--confirm",
            "500ms",
            "--from",
            "40",
            "--to",
            "50",
            "-c",
            "4",
            "--json",
            "--folder",
            "DIR",
        ],
    ),
];

/// What a front end said, and the findings in it.
pub struct Told {
    pub said: Said,
    /// Root findings graver than a note, without those of the machine.
    pub found: BTreeSet<String>,
}

impl Front {
    pub fn takes(&self, options: &[&str]) -> bool {
        options.is_empty() || self.takes_options
    }

    /// Loads the URL.
    pub fn of(&self, url: &str, mut options: &[&str]) -> Told {
        let scratch = Scratch::new(self.name);
        let file = scratch.file("run.json");
        let folder = scratch.file("kept");
        let words = self
            .words
            .iter()
            .map(|word| word.replace("URL", url).replace("FILE", &file).replace("DIR", &folder));
        let asked = scratch.file("experiment.toml");
        let targets = scratch.write("targets", format!("GET {url}\n"));
        let words =
            words.map(|word| word.replace("EXPERIMENT", &asked).replace("TARGETS", &targets));
        if self.name == "run" {
            let lines = options.chunks_exact(2).map(line_of);
            let text = EXPERIMENT.replace("URL", url) + &lines.collect::<String>();
            std::fs::write(&asked, text).expect("the scratch folder can be written");
            options = &[];
        }
        let (mut words, url) = words.partition::<Vec<String>, _>(|word| !word.contains(url));
        words.extend(options.iter().map(|option| (*option).to_owned()));
        words.extend(url);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut said = ablaze(&words);
        if self.name == "explain" {
            said = ablaze(&["explain", "--json", &file]);
        }
        let found = if self.prints_json { of_json(&said.stdout) } else { of_lines(&said.stderr) };
        let ours = |id: &String| !OF_THE_MACHINE.contains(&id.as_str());
        Told { found: found.into_iter().filter(ours).collect(), said }
    }
}

/// `--timeout 300ms` as a line of a file.
fn line_of(option: &[&str]) -> String {
    format!("{} = \"{}\"\n", option[0].trim_start_matches("--"), option[1])
}

/// `ablaze: D02 INVALID no response: …`
fn of_lines(stderr: &str) -> BTreeSet<String> {
    let lines = stderr.lines().filter_map(|line| line.strip_prefix("ablaze: D"));
    let finding = |line: &str| {
        let (number, rest) = line.split_once(' ')?;
        (!rest.starts_with("note ")).then(|| format!("D{number}"))
    };
    lines.filter_map(finding).collect()
}

/// Every object that is a finding, wherever it is.
pub fn of_json(stdout: &str) -> BTreeSet<String> {
    let json: Value = serde_json::from_str(stdout).unwrap_or(Value::Null);
    let mut found = BTreeSet::new();
    collect(&json, &mut found);
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if let (Some(id), Some(severity)) = (object.get("id"), object.get("severity")) {
                let is_root = object.get("explained_by").is_none_or(Value::is_null);
                if is_root && severity != "note" {
                    found.extend(id.as_str().map(str::to_owned));
                }
            }
            object.values().for_each(|value| collect(value, found));
        }
        Value::Array(array) => array.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}
