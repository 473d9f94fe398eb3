//! The command line of a measured server as reports keep it: the program and its first words. Reports are mailed and
//! committed, and what follows may be anything, also `--db-password=…`.

/// Stands in place of the words that are left out.
const REST: &str = "…";
/// At most so many words behind the program.
const MOST: usize = 3;
/// Options whose value is what is run: `python3 -m http.server`, `java -jar app.jar`.
const RUNS: [&str; 2] = ["-m", "-jar"];

/// The program and its first words, up to the first option, with [`REST`] behind them if there were more. `ablaze serve`
/// takes no secrets, and how it was told to wait explains results: its words stay.
pub(crate) fn first_words(words: Vec<String>) -> Vec<String> {
    if is_our_server(&words) {
        return words;
    }
    // A process that wrote a title into its command line has one word.
    if let [title] = &words[..] {
        let (program, behind) = title.split_once(' ').unwrap_or((title, ""));
        let begin = [program].into_iter().chain(behind.split(' ').filter(|word| !word.is_empty()));
        let kept = first_words_of(begin.map(str::to_owned).collect());
        return vec![kept.join(" ")];
    }
    first_words_of(words)
}

fn is_our_server(words: &[String]) -> bool {
    let [program, first, ..] = words else { return false };
    program.rsplit('/').next() == Some("ablaze") && first == "serve"
}

fn first_words_of(mut words: Vec<String>) -> Vec<String> {
    let mut kept = 1;
    while kept < words.len() && kept <= MOST {
        let tells = |word: &String| word.contains(['=', '@', ':']);
        if RUNS.contains(&words[kept].as_str()) && words.get(kept + 1).is_some_and(|of| !tells(of))
        {
            kept += 2;
        } else if words[kept].starts_with('-') || tells(&words[kept]) {
            break;
        } else {
            kept += 1;
        }
    }
    if kept < words.len() {
        words.truncate(kept);
        words.push(REST.to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_is_left_out_and_what_is_run_is_kept() {
        let table = [
            ("./server", "./server"),
            ("./server|--db-password=x|8080", "./server|…"),
            ("./server|8080|-p|x", "./server|8080|…"),
            ("python3|-m|http.server|18081", "python3|-m|http.server|18081"),
            ("java|-jar|app.jar|--token|x", "java|-jar|app.jar|…"),
            ("java|-Dpassword=x|-jar|app.jar", "java|…"),
            ("app|postgres://me:x@h/db", "app|…"),
            ("app|password=x", "app|…"),
            ("a|b|c|d|e", "a|b|c|d|…"),
            ("nginx: worker process", "nginx: worker process"),
            ("app --token x", "app …"),
            (
                "/usr/bin/ablaze|serve|--model|epoll-lt|:80",
                "/usr/bin/ablaze|serve|--model|epoll-lt|:80",
            ),
            ("", ""),
        ];
        for (line, expected) in table {
            let words = line.split('|').map(str::to_owned).collect();
            assert_eq!(first_words(words).join("|"), expected);
        }
        assert!(first_words(Vec::new()).is_empty());
    }
}
