//! What stands below the options in `ablaze serve --help`: the models and the accept modes with
//! what each does, the pairs of them that are refused, and how values are written.

use ablaze_model::spec::server::values::Fault;
use ablaze_target::Model;
use ablaze_target::accepting::AcceptMode;

const COLUMNS: usize = 96;

/// The text.
pub fn text() -> String {
    let mut text = String::from("Models (--model):\n");
    for model in Model::ALL {
        entry(&mut text, model.name(), model.about());
    }
    text.push_str("\nHow connections come to the workers (--accept):\n");
    for mode in AcceptMode::ALL {
        entry(&mut text, mode.name(), about(mode));
    }
    let refused = refused_pairs();
    if !refused.is_empty() {
        text.push_str("\nUnsupported combinations:\n");
        for (pair, why) in refused {
            wrap(&mut text, 2, 4, &format!("{pair}: {why}"));
        }
    }
    text.push_str("\nDelays: 10ms, uniform:1ms-20ms, exp:10ms (its mean), bimodal:1ms/100ms/1% (the share of the\n\
         second), stall:1s/10s (no responses for 1 s of every 10)\n");
    let faults: Vec<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
    wrap(&mut text, 0, 0, &format!("Faults: {}", faults.join(", ")));
    text.push_str(VALUES);
    text
}

const VALUES: &str = "\
Values: times 500ms, 10s (a bare number is seconds); sizes 64KB (1000), 64KiB (1024).
Paths: / /hello /bytes/N /status/N /delay/MS /echo /chunked/N /stream /_/status /_/config

--app shop: POST /login user=ann password=nna, then /items /items/ID /basket; see docs/targets.md

The server prints its address when it is ready. Ctrl-C and SIGTERM stop it: responses under way get
one second, then the counters are printed. docs/targets.md explains models and counters.
Exit status: 0 stopped; 1 could not listen; 2 usage.";

fn about(mode: AcceptMode) -> &'static str {
    match mode {
        AcceptMode::Single => "one thread accepts and hands them to the workers in turn",
        AcceptMode::Shared => "one listener in every worker's epoll: all wake for each (the herd)",
        AcceptMode::Exclusive => "the same with EPOLLEXCLUSIVE: one or a few wake",
        AcceptMode::ReusePort => "a listener per worker; the kernel spreads them by a hash",
    }
}

/// The pairs that cannot be, those with one reason together: `raw × single, shared`.
fn refused_pairs() -> Vec<(String, &'static str)> {
    let mut refused: Vec<(String, &'static str)> = Vec::new();
    for model in Model::ALL {
        let mut last = None;
        for mode in AcceptMode::ALL {
            let Some(why) = model.refuses(mode) else { continue };
            match refused.last_mut() {
                Some((pair, _)) if last == Some(why) => {
                    pair.push_str(", ");
                    pair.push_str(mode.name());
                }
                _ => refused.push((format!("{model} with {mode}"), why)),
            }
            last = Some(why);
        }
    }
    refused
}

fn entry(text: &mut String, name: &str, about: &str) {
    wrap(text, 2, 18, &format!("{name:<15} {about}"));
}

/// Appends a paragraph, its first line indented by the one number, the others by the other.
fn wrap(text: &mut String, first: usize, others: usize, paragraph: &str) {
    let mut line = " ".repeat(first);
    let mut empty = true;
    for word in paragraph.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(others);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_and_every_pair_that_is_refused_is_told() {
        let text = text();
        for model in Model::ALL {
            assert!(text.contains(&format!("\n  {} ", model.name())), "{model}");
            for mode in AcceptMode::ALL {
                let told = refused_pairs().iter().any(|(pair, _)| {
                    let (name, modes) = pair.split_once(" with ").unwrap();
                    name == model.name() && modes.split(", ").any(|word| word == mode.name())
                });
                assert_eq!(told, model.refuses(mode).is_some(), "{model} {mode}");
            }
        }
        assert!(text.lines().all(|line| line.chars().count() < 100), "{text}");
    }

    #[test]
    fn long_paragraphs_are_broken_and_indented() {
        let mut text = String::new();
        wrap(&mut text, 1, 3, &"word ".repeat(30));
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with(" word") && text.contains("\n   word"));
    }
}
