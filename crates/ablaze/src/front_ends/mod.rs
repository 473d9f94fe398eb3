//! The front ends: each turns the words behind its command into what is asked for and, in the end, into
//! an exit status. They stand on planning, the native options, built-in servers and experiments, and
//! none of them on another one: what two of them share lies below. The table of commands
//! ([`crate::commands`]) is the only place that knows them.

pub mod ab;
pub mod compare;
pub mod completions;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod find;
pub mod fleet;
pub mod gurl;
pub mod h2load;
pub mod hey;
pub mod import;
pub mod load;
pub mod man;
pub mod oha;
pub mod replay;
pub mod report;
pub mod run;
pub mod say;
pub mod serve;
pub mod sweep;
pub mod vegeta;
pub mod worker;
pub mod wrk;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

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
                let above = ["commands.rs", "main.rs", "help.rs"].iter().any(|f| path.ends_with(f));
                assert!(above || leads_to(&text).next().is_none(), "{shown} imports a front end");
                continue;
            };
            if inside == Path::new("mod.rs") {
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
            assert!(!text.contains("crate::commands"), "{shown} imports the table of commands");
        }
        assert!(front_ends > 30, "{front_ends} files were read");
    }
}
