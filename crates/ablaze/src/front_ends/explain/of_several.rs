//! Reports of ablaze itself on several runs: what they are, and what to explain instead. They have their verdict in them, and
//! not the figures of any one run.

const SEARCH: &str = "it is what `ablaze find` printed, and has its verdict in it; to have a stage explained pass its run \
                      (`runs/*.json` in the folder of the search), and for the whole search use `ablaze report FOLDER`";
const EXPERIMENT: &str = "it is what `ablaze compare`, `sweep` or `run` printed, and has its verdict in it; to have a run \
                          explained pass it (`runs/*.json` in the folder of the experiment), and for all of it use \
                          `ablaze report FOLDER`";
const PAGE: &str = "it is a page of ablaze without a run in it; pass a run (`runs/*.json` in the folder of the experiment), or \
                    use `ablaze report FOLDER`";

/// What to say of the report of a search, as text, Markdown or page.
pub fn search(content: &str) -> Option<&'static str> {
    let is_head = |line: &str| {
        line.find(" · stages of ").is_some_and(|at| line[at..].contains(" to confirm · "))
            && line.contains("open loop, ")
    };
    content.lines().any(is_head).then_some(SEARCH)
}

/// The same of an experiment, of which nothing else could be read.
pub fn experiment(content: &str) -> Option<&'static str> {
    if content.lines().any(is_of_targets) {
        return Some(EXPERIMENT);
    }
    content.contains("<meta name=\"generator\" content=\"ablaze ").then_some(PAGE)
}

/// `2 targets · c=4 · 10 runs of each, interleaved · …`, `1 target × 2 loads × 1 run · …`.
fn is_of_targets(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
    let is_counted = rest.len() < line.len();
    let separated = |rest: &str| rest.starts_with(" · ") || rest.starts_with(" × ");
    let targets = rest.strip_prefix(" targets").or_else(|| rest.strip_prefix(" target"));
    is_counted && targets.is_some_and(|rest| separated(rest) && rest.contains(" run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_on_several_runs_are_told_by_their_heads() {
        let head = "SUSPECT · http://h/ · p99<200ms · open loop, constant arrivals · stages of 0.5 s, 1.5 s to confirm · \
                    client and target on the same CPUs";
        assert_eq!(search(&format!("no answer\n{head}\n")), Some(SEARCH));
        for head in [
            "2 targets · c=4 · 10 runs of each, interleaved · client and target on the same CPUs",
            "1 target × 2 loads × 1 run · client and target on the same CPUs",
        ] {
            assert_eq!((search(head), experiment(head)), (None, Some(EXPERIMENT)));
        }
        let page = "<meta name=\"generator\" content=\"ablaze 0.1.0\" />";
        assert_eq!(experiment(page), Some(PAGE));
        for other in ["10 targets were tried", "target · run", "Complete requests:      1000"] {
            assert_eq!((search(other), experiment(other)), (None, None), "{other}");
        }
    }
}
