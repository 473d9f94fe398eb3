//! What `ablaze replay` says to words that it does not know.

use crate::replay::support::{ablaze, scratch};

const NUMBERS: [&str; 5] = ["000", "001", "002", "003", "004"];

#[test]
fn without_a_number_the_five_are_listed() {
    let listed = ablaze(&scratch("listed"), &["replay"]);
    assert_eq!(listed.status, 0, "{listed:?}");
    let lines: Vec<&str> = listed.stdout.lines().skip(1).collect();
    assert_eq!(lines.len(), 5, "{}", listed.stdout);
    for (line, number) in lines.iter().zip(NUMBERS) {
        assert!(line.starts_with(&format!("  {number}  ")), "{line}");
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn an_unknown_number_is_answered_with_the_five() {
    let folder = scratch("unknown");
    for word in ["005", "gurl", "0"] {
        let refused = ablaze(&folder, &["replay", word]);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(refused.stderr.starts_with(&format!("ablaze: unknown benchmark `{word}`")));
        for number in NUMBERS {
            assert!(refused.stderr.contains(&format!("  {number}  ")), "{}", refused.stderr);
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing was begun");
}

#[test]
fn a_folder_keeps_to_its_replay() {
    let folder = scratch("another");
    std::fs::create_dir(folder.join("kept")).unwrap();
    let kind = "{\"replay\": \"004\", \"quick\": true}";
    std::fs::write(folder.join("kept/replay.json"), kind).unwrap();
    let refused = ablaze(&folder, &["replay", "000", "--quick", "--output", "kept"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert_eq!(refused.stderr, "ablaze: kept: holds replay 004 --quick; use a new folder\n");
}

#[test]
fn a_part_of_a_file_is_checked_before_anything_starts() {
    let folder = scratch("parts-checked");
    let text = "[parts.a]\nthreads = 1\n[parts.b]\nthreads = \"many\"\n\
                [targets.x]\nserve = \"epoll-et,threads={threads}\"\n";
    std::fs::write(folder.join("x.toml"), text).unwrap();
    let refused = ablaze(&folder, &["run", "x.toml"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.starts_with("ablaze: x.toml, line 6: "), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing was begun");
}

#[test]
fn ab_is_not_asked_for_what_it_cannot_do() {
    let folder = scratch("ab-cannot");
    let text = "[targets.x]\nserve = \"epoll-et\"\ntester = \"ab\"\n[load]\nrate = 100\n";
    std::fs::write(folder.join("x.toml"), text).unwrap();
    let refused = ablaze(&folder, &["run", "x.toml"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(
        refused.stderr.contains("line 1: target x: --rate: ab has no equivalent"),
        "{refused:?}"
    );
}
