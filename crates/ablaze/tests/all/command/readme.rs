//! The two READMEs: the Chinese one has every command and every block of the English one, and the
//! files that both point to exist.

use std::path::Path;
use std::sync::LazyLock;

use ablaze_testing::repository;

static ENGLISH: LazyLock<String> = LazyLock::new(|| repository::file("README.md"));
static CHINESE: LazyLock<String> = LazyLock::new(|| repository::file("README.zh-CN.md"));

/// What stands between fences, and what stands between backticks outside of them.
fn code(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut blocks, mut spans) = (Vec::new(), Vec::new());
    for (index, piece) in text.split("```").enumerate() {
        if index % 2 == 1 {
            blocks.push(piece.to_owned());
            continue;
        }
        let inline = piece.split('`').enumerate().filter(|(index, _)| index % 2 == 1);
        spans.extend(inline.map(|(_, span)| span.replace('\n', " ")));
    }
    spans.sort();
    (blocks, spans)
}

#[test]
fn both_name_the_same_commands() {
    let ((blocks, spans), (theirs, their_spans)) = (code(&ENGLISH), code(&CHINESE));
    assert!(blocks.len() > 4 && spans.len() > 20, "{blocks:?} {spans:?}");
    for (block, other) in blocks.iter().zip(&theirs) {
        assert_eq!(block, other);
    }
    assert_eq!(blocks.len(), theirs.len());
    let commands = |spans: Vec<String>| -> Vec<String> {
        spans.into_iter().filter(|span| span.starts_with("ablaze") || span.contains("--")).collect()
    };
    assert_eq!(commands(spans), commands(their_spans));
}

#[test]
fn what_they_point_to_is_there() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let links = |text: &'static str| -> Vec<&str> {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.filter(|target| !target.contains("://")).collect()
    };
    for text in [&**ENGLISH, &**CHINESE] {
        for link in links(text) {
            assert!(root.join(link).exists(), "{link}");
        }
    }
    let mut both = [links(&ENGLISH), links(&CHINESE)];
    both.iter_mut().for_each(|links| links.sort_unstable());
    let without_twin = |links: &[&str]| -> Vec<String> {
        links.iter().filter(|link| !link.starts_with("README")).map(|l| (*l).to_owned()).collect()
    };
    assert_eq!(without_twin(&both[0]), without_twin(&both[1]));
    assert!(both[0].contains(&"README.zh-CN.md") && both[1].contains(&"README.md"));
    let picture = std::fs::metadata(root.join("docs/pictures/page.png")).unwrap();
    assert!(picture.len() < 150_000, "{} bytes", picture.len());
}
