//! What the table of front ends holds together, and which module of the command may import which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::*;

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The front end that a path of a module leads to, for every such path in a text.
fn leads_to(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.split("crate::front_ends::").skip(1);
    behind.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
}

#[test]
fn no_front_end_imports_another_and_nothing_below_imports_any() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let own = source.join("front_ends");
    let mut front_ends = 0;
    for path in sources(&source) {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(&source).unwrap().display();
        let Ok(inside) = path.strip_prefix(&own) else {
            let above = ["main.rs", "help.rs"].iter().any(|f| path.ends_with(f));
            assert!(above || leads_to(&text).next().is_none(), "{shown} imports a front end");
            continue;
        };
        if inside == Path::new("mod.rs") || inside == Path::new("tests.rs") {
            continue;
        }
        front_ends += 1;
        let name = inside.iter().next().unwrap().to_string_lossy();
        let name = name.trim_end_matches(".rs");
        let other = leads_to(&text).find(|other| *other != name);
        assert_eq!(other, None, "{shown} imports another front end");
        // `super` of a front end's own first file is this module.
        let deep = inside.iter().count();
        let first = deep == 1 || (deep == 2 && inside.ends_with("mod.rs"));
        let code = text.split("#[cfg(test)]").next().unwrap();
        assert!(!first || !code.contains("super::"), "{shown} looks beyond its folder");
    }
    assert!(front_ends > 30, "{front_ends} files were read");
}

/// The first names of a text that begins behind `crate::`: one, or those of a group in braces.
fn first_names(text: &str) -> Vec<&str> {
    let Some(group) = text.strip_prefix('{') else { return vec![first_word(text)] };
    let (mut depth, mut names) = (0_u32, vec![first_word(group)]);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(first_word(&group[at + 1..])),
            _ => {}
        }
    }
    names
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap()
}

/// Which top-level module of the command names which others, tests included. `main` is above them all.
fn modules() -> BTreeMap<String, BTreeSet<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        let name = inside.iter().next().unwrap().to_string_lossy();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let named = modules.entry(name.trim_end_matches(".rs").to_owned()).or_default();
        // A text that only looks like a path, as in this file, stands in quotation marks.
        let paths = text.match_indices("crate::").filter(|(at, _)| !text[..*at].ends_with('"'));
        named.extend(paths.flat_map(|(at, word)| first_names(&text[at + word.len()..])).map(
            // What `main` hands on to all.
            |name| if name == "CommandError" { "error" } else { name }.to_owned(),
        ));
    }
    modules.remove("main");
    let known: BTreeSet<String> = modules.keys().cloned().collect();
    for (own, named) in &mut modules {
        named.retain(|name| name != own && known.contains(name));
    }
    modules
}

/// A way from the last module of `way` back to its first, if there is one.
fn circle(
    modules: &BTreeMap<String, BTreeSet<String>>,
    way: &mut Vec<String>,
    seen: &mut BTreeSet<String>,
) -> bool {
    for next in &modules[way.last().unwrap()] {
        let closed = *next == way[0];
        if closed || seen.insert(next.clone()) {
            way.push(next.clone());
            if closed || circle(modules, way, seen) {
                return true;
            }
            way.pop();
        }
    }
    false
}

#[test]
fn no_modules_of_the_command_import_each_other_in_a_circle() {
    let modules = modules();
    let edges: usize = modules.values().map(BTreeSet::len).sum();
    assert!(modules.len() > 25 && edges > 100, "{} modules, {edges} edges", modules.len());
    assert!(modules["native"].contains("fleet"), "a path is not found");
    assert!(modules["front_ends"].contains("error"), "a name in braces is not found");
    for module in modules.keys() {
        let mut way = vec![module.clone()];
        let found = circle(&modules, &mut way, &mut BTreeSet::new());
        assert!(!found, "a circle: {}", way.join(" → "));
    }
}

#[test]
fn every_command_describes_options_that_can_be_completed() {
    for command in ALL {
        (command.options)().debug_assert();
        let options = (command.options)();
        let named = options.get_arguments().any(|argument| argument.get_long().is_some());
        let takes_none = command.group == Own || command.name == "say";
        assert!(named || takes_none, "{} describes no option", command.name);
    }
    all_options().debug_assert();
}

#[test]
fn an_unknown_command_is_told_the_nearest_of_the_table() {
    assert!(unknown_command("swep").line.contains("did you mean `ablaze sweep`?"));
    assert!(unknown_command("kubernetes").line.contains("see `ablaze --help`"));
}
