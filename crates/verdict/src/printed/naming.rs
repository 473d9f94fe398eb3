//! What stands beside a report and names nothing: what tools print and what was typed into a shell.

use super::command::program_name;
use super::peers::h2load::COULD_NOT_CONNECT;
use super::system::is_message;

/// No more of a line is kept as a name: two of them may differ in their last words.
const LABEL_CHARACTERS: usize = 200;
/// So much of a name is shown.
const SHOWN_CHARACTERS: usize = 40;
/// Of these so many from its end.
const LAST_CHARACTERS: usize = 14;

/// What tools print before a report and behind it; nothing to name one after.
pub fn is_progress(line: &str) -> bool {
    [
        "Benchmarking ",
        "Completed ",
        "Finished ",
        "..done",
        "Copyright 1996 ",
        "Licensed to The Apache",
        "Licensed under MIT or Apache",
        "[#/sec]",
        "WARNING: The median and mean for ",
        "deviation apart. These results are NOT reliable.",
        "An HTTP load tester in ab's place",
        "An HTTP load tester compatible with ab",
        " concurrent users for battle",
        "The server is now under siege",
        "Lifting the server siege",
        "siege aborted due to excessive socket failure",
        "can change the failure threshold in ",
        "You can disable this ",
        "the directive show-logfile to false",
        "the .siegerc file in your home directory",
        "LOG FILE: ",
        "FILE: /",
    ]
    .iter()
    .any(|start| line.contains(start))
        || is_message(line)
        || is_banner_of_siege(line)
        || is_of_h2load(line)
        || is_of_one_request(line)
        || is_bar_of_hey(line)
        || line.starts_with("ablaze: ")
        || is_of_time(line)
        || is_date(line)
        || line == "^C"
}

/// How lines begin that tools print many of: one for each thread, request, tenth of a run, or each run of a loop.
pub const LINE_BEGINNINGS: [&str; 16] = [
    "spawning",
    "Completed",
    "Finished",
    "Thread",
    "progress:",
    "Initialised",
    "HTTP/",
    "[error]",
    "[ERROR]",
    "Requests",
    "Transfer",
    "Latency",
    "Running",
    "finished",
    "starting",
    "warning:",
];

/// `200 / 200 ∎∎∎∎ 100.00%`: how far an old hey is.
fn is_bar_of_hey(line: &str) -> bool {
    line.contains('∎') && line.contains(" / ")
        || line.split_once(" / ").is_some_and(|(done, all)| {
            let is_number =
                |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
            is_number(done.trim())
                && line.ends_with('%')
                && is_number(all.split(' ').next().unwrap_or_default())
        })
}

/// `progress: 30% done`, and what h2load says on stderr.
fn is_of_h2load(line: &str) -> bool {
    line.starts_with("progress: ")
        && ["% done", "% of clients started"].iter().any(|end| line.ends_with(end))
        || line.starts_with(COULD_NOT_CONNECT)
}

/// `** SIEGE 4.0.4`, of which a list would have the stars; `..Siege 2.65 2006/05/11 23:42:16`.
fn is_banner_of_siege(line: &str) -> bool {
    let version = line.strip_prefix("SIEGE ").or_else(|| line.strip_prefix("..Siege "));
    let version = version.and_then(|rest| rest.chars().next());
    version.is_some_and(|first| first.is_ascii_digit())
}

/// What siege prints of each transaction (`HTTP/1.1 200     0.00 secs:     612 bytes ==> GET  /`), and tools of a failure.
fn is_of_one_request(line: &str) -> bool {
    let is_failure =
        ["[error] ", "[ERROR] ", "[alert] "].iter().any(|level| line.starts_with(level));
    is_failure || line.contains(" secs:") && line.contains("==>")
}

/// What `time` prints behind a command: `real    0m3.204s`.
fn is_of_time(line: &str) -> bool {
    let Some((what, time)) = line.split_once(char::is_whitespace) else { return false };
    let time = time.trim();
    ["real", "user", "sys"].contains(&what)
        && time.starts_with(|first: char| first.is_ascii_digit())
        && time.trim_end_matches('s').ends_with(|last: char| last.is_ascii_digit())
}

/// What `date` prints: `Mon Nov 21 10:00:01 UTC 2026`.
fn is_date(line: &str) -> bool {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let words: Vec<&str> = line.split_whitespace().collect();
    let has_time = words.iter().any(|word| word.len() == 8 && word.matches(':').count() == 2);
    words.len() <= 7 && has_time && words.first().is_some_and(|first| DAYS.contains(first))
}

/// A tag alone on its line, as `ab -w` has above its table.
pub fn is_markup(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>')
}

/// The words before a figure on its own line.
pub fn beside(before: &str) -> Option<String> {
    let name = before.trim_end_matches(|c: char| c.is_whitespace() || ":：,-*`".contains(c));
    shortened(name)
}

pub fn shortened(text: &str) -> Option<String> {
    let text = text.replace(['`', '*'], "");
    let text = text.trim().trim_matches([':', '：']).trim();
    let name = cut(text, LABEL_CHARACTERS);
    name.contains(char::is_alphanumeric).then_some(name)
}

/// What is shown of the name of a report. Two of them may differ in their last words.
pub fn shown(label: &str) -> String {
    let all = label.chars().count();
    if all <= SHOWN_CHARACTERS {
        return label.to_owned();
    }
    let first: String = label.chars().take(SHOWN_CHARACTERS - LAST_CHARACTERS).collect();
    let last: String = label.chars().skip(all - LAST_CHARACTERS).collect();
    format!("{first}…{last}")
}

fn cut(text: &str, characters: usize) -> String {
    let mut short: String = text.chars().take(characters).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// A line that was typed into a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// The first line of a loop; whether it is all of it.
    Loop { whole: bool },
    /// The last line of a loop.
    LoopEnds,
    /// Anything else.
    Other,
}

/// Programs whose lines, with a URL or a variable among their words, are commands also where `command` cannot read them.
pub const CLIENTS: [&str; 13] = [
    "ab",
    "ablaze",
    "autocannon",
    "bombardier",
    "curl",
    "gurl",
    "h2load",
    "hey",
    "k6",
    "oha",
    "siege",
    "wrk",
    "wrk2",
];

/// How commands begin that prepare a machine for a load test.
const BEGINNINGS: [&str; 7] =
    ["sudo ", "ulimit -", "export ", "taskset -", "numactl -", "systemctl ", "./"];

/// What a cleaned line is, if it was typed into a shell: it stands behind a prompt, or can be nothing else.
pub fn typed(line: &str) -> Option<Typed> {
    let prompted = behind_prompt(line);
    let is_comment = line.starts_with('#');
    let text = prompted.unwrap_or_else(|| line.trim_start_matches('#')).trim();
    let mut parts = text.split(';').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let has = |word: &str| {
        let mut others = parts.clone();
        others.any(|part| part.split_whitespace().next() == Some(word))
    };
    let loops = ["for ", "while ", "until "].iter().any(|start| first.starts_with(start));
    if loops && (has("do") || prompted.is_some()) {
        return Some(Typed::Loop { whole: has("done") });
    }
    let behind_done = first.strip_prefix("done").map(str::trim_start);
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['<', '>', '|', '&']);
    if behind_done.is_some_and(ends) && !is_comment {
        return Some(Typed::LoopEnds);
    }
    let words = || first.split_whitespace();
    let program = words().find(|word| *word != "do" && *word != "time" && !word.contains('='));
    let program = program.map(program_name).unwrap_or_default();
    let is_command = CLIENTS.contains(&program)
        && words().any(|word| word.contains("://") || word.contains('$'))
        || BEGINNINGS.iter().any(|start| first.starts_with(start))
        || first.contains(" && ")
        || first == "do";
    // Behind the prompt of root; no heading begins so.
    let is_script = first.starts_with("./");
    (prompted.is_some() || is_command && (!is_comment || is_script)).then_some(Typed::Other)
}

/// What stands behind a prompt: `$ `, `user@host:~$ `, `[root@host ~]# `, `PS C:\> `.
pub fn behind_prompt(line: &str) -> Option<&str> {
    let simple = ["$", "❯", "➜", "λ"].iter().find_map(|sign| line.strip_prefix(sign));
    // `$ab -n 1 …`, and no variable.
    let is_client = |rest: &str| {
        rest.split_once(' ').is_some_and(|(first, _)| CLIENTS.contains(&program_name(first)))
    };
    if let Some(rest) =
        simple.filter(|rest| rest.is_empty() || rest.starts_with(' ') || is_client(rest))
    {
        return Some(rest);
    }
    let of_windows = line.strip_prefix("PS ").unwrap_or(line);
    if of_windows.get(1..3) == Some(":\\") {
        return of_windows.split_once('>').map(|(_, rest)| rest);
    }
    let is_sign = |(at, sign): &(usize, char)| {
        let rest = &line[at + sign.len_utf8()..];
        matches!(sign, '$' | '#' | '%') && (rest.is_empty() || rest.starts_with(' '))
    };
    let (at, sign) = line.char_indices().find(is_sign)?;
    let before = &line[..at];
    // `me@home: 50 % faster` is none.
    let is_prompt = before.contains('@')
        && before.split_whitespace().count() <= PROMPT_WORDS
        && !before.trim_end().ends_with(|c: char| c.is_ascii_digit());
    is_prompt.then(|| &line[at + sign.len_utf8()..])
}

/// A prompt has no more words: `(venv) user@host ~`.
const PROMPT_WORDS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_into_a_shell_is_told_from_titles() {
        let whole = |whole| Some(Typed::Loop { whole });
        for (line, expected) in [
            ("$ for i in 1 2 3; do ab -n 100 -c 10 http://h/; done", whole(true)),
            ("for c in 10 50; do wrk -c $c http://h/; done | tee log", whole(true)),
            ("# while true; do ab -c 10 http://h/; done", whole(true)),
            ("$ for i in 1 2 3", whole(false)),
            ("for i in `seq 3`; do", whole(false)),
            ("done", Some(Typed::LoopEnds)),
            ("done < urls.txt", Some(Typed::LoopEnds)),
            ("$", Some(Typed::Other)),
            ("$ ./bench.sh", Some(Typed::Other)),
            ("me@bench-1:~/x$ ./bench.sh", Some(Typed::Other)),
            ("[root@web ~]# nginx -s reload", Some(Typed::Other)),
            ("me@mac ~ % hey http://h/", Some(Typed::Other)),
            (r"PS C:\Users\me> ab http://h/", Some(Typed::Other)),
            ("hey http://h/", Some(Typed::Other)),
            ("ab -c $c -n $n $URL", Some(Typed::Other)),
            ("ulimit -n 65535", Some(Typed::Other)),
            ("cd x && make", Some(Typed::Other)),
            ("ab", None),
            ("ab -k, two threads", None),
            ("wrk against http.server", None),
            ("for 3 users in Europe", None),
            ("done with epoll", None),
            ("while the cache was cold; then warm", None),
            ("me@home: 50 % faster", None),
            ("$5 a month", None),
            ("# sudo", None),
            ("# ./restart.sh", Some(Typed::Other)),
        ] {
            assert_eq!(typed(line), expected, "{line}");
        }
    }
}
