//! Labels that number the runs of one target, as `run 2` does, and the words beside such a number.

use std::path::Path;

use super::headings::BELOW;

/// `run 2`, `第3次`, `3.`: words that number runs of the same, and name no target.
pub fn counts_runs(label: &str) -> bool {
    let counts = label.contains(|c: char| c.is_ascii_digit())
        || ORDINALS.iter().any(|word| label.to_lowercase().contains(word));
    counts && words_of_target(label).is_empty()
}

const ORDINALS: [&str; 4] = ["first", "second", "third", "again"];

/// Words of which a number is one of a run.
const RUNS: [&str; 10] =
    ["run", "round", "trial", "attempt", "try", "repeat", "iteration", "pass", "第次", "次"];

/// What stands before the number of a run in one word, as files are named: `nginx` of `nginx-run-1` and `nginx_run1`. A number
/// without such a word may be one of a server.
fn before_run(word: &str) -> Option<&str> {
    const SIGNS: [char; 3] = ['-', '_', '.'];
    let rest = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = word.len() - rest.len();
    let rest = rest.trim_end_matches(SIGNS);
    let at = rest.rfind(SIGNS)?;
    let is_run = RUNS.contains(&&*rest[at + 1..].to_lowercase());
    // Ports and dates are longer.
    let before = rest[..at].trim_end_matches(SIGNS);
    ((1..=3).contains(&digits) && is_run && !before.is_empty()).then_some(before)
}

/// What of a file's name tells its target from others: nothing of `run-1.txt`, the same of `nginx-run-1.txt` and
/// `nginx-run-2.txt`.
pub fn target_of_file(name: &str) -> String {
    let path = Path::new(name.trim_matches('`'));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match before_run(&stem) {
        _ if counts_runs(&stem) => String::new(),
        Some(before) => path.with_file_name(before).to_string_lossy().into_owned(),
        None => name.to_owned(),
    }
}

/// What stands before a number in the name of a file, where no word says what it counts: `nginx` of `nginx_1.log` and
/// `nginx.2.out`. They may be runs, or servers of the same kind.
pub fn before_number(name: &str) -> Option<String> {
    let path = Path::new(name.trim_matches('`'));
    let stem = path.file_stem()?.to_string_lossy();
    let rest = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = stem.len() - rest.len();
    let before = rest.trim_end_matches(['-', '_', '.']);
    let is_apart = before.len() < rest.len() && before.contains(char::is_alphabetic);
    // Ports, dates and concurrencies are longer, or have a letter before them.
    ((1..=2).contains(&digits) && is_apart)
        .then(|| path.with_file_name(before).to_string_lossy().into_owned())
}

/// The same file's name without the concurrency of its report: `nginx/` of `nginx/c100.txt`, `nginx` of `nginx-c100.txt`.
pub fn without_load_of_file(name: &str, concurrency: u64) -> Option<String> {
    let path = Path::new(name.trim_matches('`'));
    let stem = path.file_stem()?.to_string_lossy();
    let rest = stem.strip_suffix(&*concurrency.to_string())?;
    let signs = ['-', '_', '.', '='];
    let word = rest.trim_end_matches(signs).rsplit(signs).next()?;
    let before = &rest[..rest.trim_end_matches(signs).len() - word.len()];
    LOADS
        .contains(&&*word.to_lowercase())
        .then(|| path.with_file_name(before.trim_end_matches(signs)).to_string_lossy().into_owned())
}

/// The words of a label that name a target: `nginx` of `nginx, run 1`. A number is one of a run beside such a word, or alone.
pub fn words_of_target(label: &str) -> String {
    // `C` and `C++` are two: signs within words stay.
    let label = label.to_lowercase();
    let words = label.split(|c: char| c.is_whitespace() || "()[],:;/|›".contains(c));
    let words = words.map(|word| word.trim_start_matches('#').trim_end_matches('.'));
    let words = words.map(|word| before_run(word).unwrap_or(word));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let letters = |word: &str| {
        let letters = word.replace(|c: char| c.is_ascii_digit(), "");
        letters.trim_matches(['-', '_']).to_owned()
    };
    let is_run = |at: usize| words.get(at).is_some_and(|word| RUNS.contains(&&*letters(word)));
    let is_number = |word: &str| {
        let has_digit = word.starts_with(|first: char| first.is_ascii_digit());
        let ends = ["", "st", "nd", "rd", "th"].contains(&&*letters(word));
        has_digit && ends || ORDINALS.contains(&word)
    };
    // Ports are longer.
    let is_short = |word: &str| word.bytes().filter(u8::is_ascii_digit).count() <= 2;
    let all_numbers = words.iter().all(|word| is_number(word) && is_short(word));
    let mut named: Vec<&str> = Vec::new();
    let mut after_run = false;
    for (at, word) in words.iter().enumerate() {
        let numbers = is_number(word) && (after_run || is_run(at + 1) || all_numbers);
        let continues = after_run && (numbers || *word == "of");
        if !is_run(at) && !numbers && !continues {
            named.push(word);
        }
        after_run = is_run(at) || continues;
    }
    named.join(" ")
}

/// The same without what says the concurrency: nothing of `c=100`, `nginx` of `nginx 100 connections`.
pub fn without_load(words: &str, concurrency: u64) -> String {
    let number = concurrency.to_string();
    let words: Vec<&str> = words.split_whitespace().collect();
    let names = |word: &str| LOADS.contains(&word.trim_matches(['-', '=']));
    let is_load = |at: usize| {
        let word = words[at];
        let is_named = word.strip_suffix(&*number).is_some_and(names);
        let has_name =
            |at: Option<usize>| at.and_then(|at| words.get(at)).is_some_and(|word| names(word));
        let is_number = |at: Option<usize>| at.and_then(|at| words.get(at)) == Some(&&*number);
        let beside = || [at.checked_sub(1), Some(at + 1)];
        is_named
            || word == number && beside().into_iter().any(has_name)
            || names(word) && beside().into_iter().any(is_number)
    };
    let others = (0..words.len()).filter(|at| !is_load(*at)).map(|at| words[at]);
    others.collect::<Vec<&str>>().join(" ")
}

/// Whether a label says that what is below it only warmed the target up, and was not to be measured.
pub fn is_warm_up(label: &str) -> bool {
    const NAMES: [&str; 5] = ["warm-up", "warmup", "warm up", "warming up", "预热"];
    // `after warm-up`, `warm-up and measurement`.
    const OTHERS: [&str; 10] =
        ["after", "with", "without", "no", "post", "following", "excluding", "and", "then", "vs"];
    let label = label.to_lowercase();
    label.split(", ").flat_map(|part| part.split(BELOW)).any(|part| {
        let mut words = part.split(|c: char| !c.is_alphanumeric());
        let is_other = words.any(|word| OTHERS.contains(&word) || word.starts_with("measure"));
        !is_other && NAMES.iter().any(|name| part.contains(name)) && !part.contains("预热后")
    })
}

/// What the concurrency is called.
const LOADS: [&str; 11] = [
    "c",
    "concurrency",
    "concurrent",
    "connections",
    "connection",
    "conns",
    "clients",
    "client",
    "users",
    "并发",
    "并发数",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_warms_up_is_told_from_what_comes_behind_it() {
        for label in ["Warm-up", "nginx › Warmup", "nginx, warm-up run (discarded)", "预热"] {
            assert!(is_warm_up(label), "{label}");
        }
        for label in
            ["nginx", "after warm-up", "Warm-up and measurement", "no warmup", "warm cache"]
        {
            assert!(!is_warm_up(label), "{label}");
        }
    }

    #[test]
    fn numbers_of_runs_name_no_target() {
        for label in [
            "Run 1",
            "run1",
            "第3次",
            "1.",
            "#2",
            "1st try",
            "Second run",
            "Iteration 1/3",
            "Again:",
            "run-2",
        ] {
            assert!(counts_runs(label), "{label}");
        }
        for label in ["nginx", "server 1", "Before", "h2", "run", "8080"] {
            assert!(!counts_runs(label), "{label}");
        }
        assert_eq!(words_of_target("nginx, run 1"), "nginx");
        assert_eq!(words_of_target("Before (run 2 of 3)"), "before");
        assert_eq!(words_of_target("2nd run of nginx 2"), "nginx 2");
        assert_eq!(words_of_target("server 1"), "server 1");
        for named in ["nginx-run-1", "nginx_run1", "nginx-run-02", "nginx.try-3"] {
            assert_eq!(before_run(named), Some("nginx"), "{named}");
            assert_eq!(words_of_target(named), "nginx");
        }
        for other in ["nginx-1", "run-1", "dry-run", "nginx-run-8080", "prune1"] {
            assert_eq!(before_run(other), None, "{other}");
        }
        let files =
            ["rp/nginx-run-1.txt", "rp/nginx-run-2.txt", "rp/caddy-run-1.txt", "rp/run-3.txt"];
        assert_eq!(files.map(target_of_file), ["rp/nginx", "rp/nginx", "rp/caddy", ""]);
        for (name, before) in [
            ("mf/nginx_1.log", Some("mf/nginx")),
            ("nginx.2.out", Some("nginx")),
            ("nginx-c10.txt", None),
            ("nginx-8080.txt", None),
            ("h2.txt", None),
            ("1.txt", None),
        ] {
            assert_eq!(before_number(name).as_deref(), before, "{name}");
        }
        for (name, c, before) in [
            ("mf/nginx/c100.txt", 100, Some("mf/nginx/")),
            ("nginx-c100.txt", 100, Some("nginx")),
            ("nginx_c=100.txt", 100, Some("nginx")),
            ("nginx-c100.txt", 10, None),
            ("nginx-100.txt", 100, None),
            ("abc100.txt", 100, None),
        ] {
            assert_eq!(without_load_of_file(name, c).as_deref(), before, "{name}");
        }
        assert_eq!(target_of_file("`a b/nginx-1.txt`"), "`a b/nginx-1.txt`");
        for (one, other) in [("C++, run 1", "C, run 1"), ("C#", "C"), ("v1.2 run 1", "v1.3 run 1")]
        {
            assert_ne!(words_of_target(one), words_of_target(other), "{one}");
        }
    }
}
