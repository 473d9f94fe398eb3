//! How a text writes its headings and its blocks of code: Markdown, AsciiDoc, HTML, Org.

/// The summary of a block that can be folded is below all headings.
const FOLDED: usize = 7;

/// The signs of one text.
#[derive(Default)]
pub struct Titles {
    /// Org's keywords are in it: stars begin headings, and no items of a list.
    is_org: bool,
}

impl Titles {
    /// Those of the text with these lines.
    pub fn of(lines: &[&str]) -> Self {
        Self { is_org: lines.iter().any(|line| keyword(line.trim()).is_some()) }
    }

    /// Whether a block of code begins or ends in a cleaned line.
    pub fn is_fence(&self, line: &str) -> bool {
        let of_org =
            |word: &str| ["begin_src", "begin_example", "end_src", "end_example"].contains(&word);
        line.starts_with("```")
            || line.starts_with("~~~")
            || self.is_org && keyword(line).is_some_and(|word| of_org(&word))
    }

    /// The level of a heading, 1 being the highest, and its words.
    pub fn heading(&self, line: &str) -> Option<(usize, String)> {
        if keyword(line).is_some() || line.starts_with("#!") {
            return None;
        }
        let of_sign = |sign: char| {
            let words = line.trim_start_matches(sign);
            (words.len() < line.len()).then_some((line.len() - words.len(), words))
        };
        if let Some((level, words)) = of_sign('#') {
            return Some((level, words.to_owned()));
        }
        let apart = |(_, words): &(usize, &str)| words.starts_with(' ') && !words.trim().is_empty();
        // Three signs and more frame titles in other texts.
        let of_asciidoc = of_sign('=').filter(apart);
        let of_asciidoc = of_asciidoc.filter(|(level, words)| *level == 2 && !words.ends_with('='));
        let of_org = of_sign('*').filter(apart).filter(|_| self.is_org);
        let found = of_asciidoc.or(of_org);
        found.map(|(level, words)| (level, words.trim().to_owned())).or_else(|| of_html(line))
    }
}

/// Whether below one heading stands a command, and below the next what it printed.
pub fn is_output_of(above: &str, heading: &str) -> bool {
    const COMMANDS: [&str; 5] = ["command", "commands", "command line", "run", "命令"];
    const OUTPUTS: [&str; 7] = ["output", "outputs", "result", "results", "report", "输出", "结果"];
    let is_of = |list: &[&str], words: &str| {
        let words = words.trim().trim_end_matches([':', '：']).to_lowercase();
        list.contains(&&*words)
    };
    is_of(&COMMANDS, above) && is_of(&OUTPUTS, heading)
}

/// `begin_src` of `#+BEGIN_SRC sh`.
fn keyword(line: &str) -> Option<String> {
    let word = line.strip_prefix("#+")?.split([' ', ':']).next()?.to_ascii_lowercase();
    let known = ["begin_", "end_", "title", "author", "date", "options", "startup", "results"];
    known.iter().any(|start| word.starts_with(start)).then_some(word)
}

/// `<h2>nginx</h2>`, `<details><summary>nginx</summary>`.
fn of_html(line: &str) -> Option<(usize, String)> {
    if line.trim() == "</details>" {
        return Some((FOLDED, String::new()));
    }
    let levels =
        [("h1", 1), ("h2", 2), ("h3", 3), ("h4", 4), ("h5", 5), ("h6", 6), ("summary", FOLDED)];
    levels.iter().find_map(|(tag, level)| {
        let from = line.find(&format!("<{tag}"))?;
        let (attributes, inner) = line[from + 1 + tag.len()..].split_once('>')?;
        let is_tag = attributes.is_empty() || attributes.starts_with(' ');
        let (words, _) = inner.split_once(&format!("</{tag}>"))?;
        is_tag.then(|| (*level, without_tags(words)))
    })
}

fn without_tags(text: &str) -> String {
    let parts = text.split('<').enumerate();
    let words = parts.map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('>').map_or("", |(_, behind)| behind),
    });
    words.collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    const REPORT: &str = "Running 30s test @ http://h/\n  4 threads and 100 connections\n\
        \x20 1501500 requests in 30.03s, 214.79MB read\nRequests/sec:  50000.00\nTransfer/sec:      7.15MB\n";

    fn labels(text: &str) -> Vec<String> {
        let reports = read(&text.replace("R\n", REPORT)).reports.into_iter();
        reports.map(|report| report.label.unwrap_or_default()).collect()
    }

    #[test]
    fn headings_are_known_in_other_texts_than_markdown() {
        for text in [
            "<details><summary>nginx</summary>\n\n```\nR\nR\n```\n</details>\n\n\
             <details>\n<summary><b>caddy</b></summary>\n\n```\nR\n```\n</details>\n",
            "<h2>nginx</h2>\n<pre>\nR\n</pre>\n<p>again</p>\n<pre>\nR\n</pre>\n<h2 id=\"b\">caddy</h2>\n<pre>\nR\n</pre>\n",
            "nginx\n~~~~~\n\n::\n\n    R\n\n    R\n\ncaddy\n~~~~~\n\n::\n\n    R\n",
            "* nginx\n#+begin_example\nR\nR\n#+end_example\n* caddy\n#+begin_example\nR\n#+end_example\n",
            "== nginx\n----\nR\nR\n----\n\n== caddy\n----\nR\n----\n",
        ] {
            assert_eq!(labels(text), ["nginx", "nginx", "caddy"], "{text}");
        }
        // What is folded ends, and headings are nested in all of them.
        let folded = "## A\n<details><summary>run</summary>\n```\nR\n```\n</details>\n\n```\nR\n```\n## B\n```\nR\n```\n";
        assert_eq!(labels(folded), ["A › run", "A", "B"]);
        let org = "#+TITLE: x\n* nginx\n** c=10\nR\n** c=100\nR\n* caddy\n** c=10\nR\n";
        assert_eq!(labels(org), ["nginx › c=10", "nginx › c=100", "caddy › c=10"]);
        // A fence of tildes, and the stars of a list.
        assert_eq!(
            labels("Output:\n~~~\nR\n~~~\n* nginx\nR\n* caddy\nR\n"),
            ["Output", "nginx", "caddy"]
        );
    }
}
