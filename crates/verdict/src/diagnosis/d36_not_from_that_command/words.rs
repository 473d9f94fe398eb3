//! The words of the command that a saved run names, held against the load that was asked for by the same file.

use ablaze_model::Run;
use ablaze_model::spec::{LoadSpec, Shape};

use crate::printed::{Command, Program, read};
use crate::words::grouped;

/// What the words ask for, where the load that was asked for is another. Only what they say in full is looked at: a whole
/// URL, and a number of connections.
pub(super) fn other_than_asked(run: &Run, asked: &LoadSpec) -> Vec<String> {
    let Some(command) = command(run) else { return Vec::new() };
    let mut found = Vec::new();
    let mut differ = |what: &str, words: String, asked: String| {
        if words != asked {
            found.push(format!("{what} {asked}, its command line {words}"));
        }
    };
    let is_whole = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let is_one_url = command.words().filter(is_whole).count() == 1 && !command.has_more_urls;
    if let Some(url) = asked.destination.url.as_ref().filter(|_| is_one_url) {
        differ("host", command.host.to_lowercase(), url.host.to_lowercase());
        differ("port", command.port.to_string(), url.port.to_string());
        let path = url.path.split('#').next().unwrap_or_default();
        differ("path", command.path.clone(), path.to_owned());
    }
    // In a fleet each worker is asked for its part.
    let alone = run.fleet.is_none() && command.program == Program::Ablaze;
    let connections = command.value_of('c', "connections").and_then(|value| value.parse().ok());
    if let (Shape::Closed { connections: Some(asked) }, Some(words), true) =
        (&asked.shape, connections, alone)
    {
        differ("a concurrency of", grouped(words), grouped(u64::from(*asked)));
    }
    found
}

/// The words as a shell reads them, where they are a command line with a URL.
fn command(run: &Run) -> Option<Command> {
    let quoted = |word: &String| match word.contains(' ') {
        true => format!("'{word}'"),
        false => word.clone(),
    };
    let is_plain =
        |word: &String| !word.contains(['\n', '\'', '"', '\\', '`', '$', '<', '>', '|', ';']);
    if !run.command_line.iter().all(is_plain) {
        return None;
    }
    let words: Vec<String> = run.command_line.iter().map(quoted).collect();
    let command = read(&format!("$ {}\n", words.join(" "))).commands.into_iter().next()?;
    (!command.is_guessed && !command.is_pattern && command.list.is_none()).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::super::on_saved_run;
    use crate::live::sample;

    fn under(command: &str) -> String {
        let mut run = sample::run();
        sample::asked(&mut run, &[]);
        run.command_line = command.split(' ').map(str::to_owned).collect();
        on_saved_run(&run).map_or_else(String::new, |finding| finding.evidence)
    }

    #[test]
    fn the_command_line_of_a_saved_run_is_held_against_what_was_asked() {
        for own in [
            "ablaze -c 100 http://127.0.0.1:8080/",
            "ablaze -d 5 http://127.0.0.1:8080",
            "ablaze compare a=http://h/ b=http://127.0.0.1:8080/",
            "ablaze sweep -c 1,10 http://127.0.0.1:8080/",
            "ablaze run plan.toml",
            ":8080/",
        ] {
            assert_eq!(under(own), "", "{own}");
        }
        let other = under("ablaze -c 100 http://10.0.0.1:8080/other");
        assert!(other.contains("host 127.0.0.1, its command line 10.0.0.1"), "{other}");
        assert!(other.contains("path /, its command line /other"), "{other}");
        let load = under("ablaze -c 500 http://127.0.0.1:8080/");
        assert!(load.contains("a concurrency of 100, its command line 500"), "{load}");
    }
}
