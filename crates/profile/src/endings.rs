//! Where stacks end that do not reach the beginning of their thread: what is known of the function in which unwinding ended.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ablaze_model::profiling::BrokenEnds;

use crate::recording::{Chain, Recorded, Tables, file_of};

/// So many files are named.
const MOST_FILES: usize = 3;

/// The function in which unwinding ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// In this file, which has no unwind table for it.
    WithoutTable(String),
    /// In memory that no file is mapped into.
    WithoutFile,
    /// Anything else: where there is a table, or nothing is known.
    Other,
}

/// Gathers them, and reads each file once.
#[derive(Default)]
pub(crate) struct Endings {
    tables: HashMap<PathBuf, Option<Tables>>,
    ends: HashMap<(u32, u64), End>,
    without_file: u64,
    without_table: HashMap<String, u64>,
}

impl Endings {
    /// Adds the samples of a stack.
    pub(crate) fn add(&mut self, recorded: &Recorded, chain: &Chain) {
        match self.end(recorded, chain) {
            End::WithoutTable(file) => {
                *self.without_table.entry(file).or_default() += chain.samples
            }
            End::WithoutFile => self.without_file += chain.samples,
            End::Other => {}
        }
    }

    /// What they come to.
    pub(crate) fn counted(self) -> BrokenEnds {
        let mut files: Vec<(String, u64)> = self.without_table.into_iter().collect();
        files.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let without_table = files.iter().map(|(_, samples)| samples).sum();
        let files = files.into_iter().take(MOST_FILES).map(|(file, _)| file).collect();
        BrokenEnds { without_table, files, without_file: self.without_file }
    }

    /// Behind a function that cannot be unwound comes an address that is none: the outermost that lies in code tells.
    fn end(&mut self, recorded: &Recorded, chain: &Chain) -> End {
        let Some(maps) = recorded.maps.get(&chain.pid) else { return End::Other };
        let addresses = chain.user.iter().enumerate().rev();
        // That of a caller is where the call returns to, behind the call.
        let mut addresses = addresses.map(|(depth, at)| at.saturating_sub(u64::from(depth > 0)));
        let Some((address, (path, offset))) = addresses.find_map(|at| Some((at, maps.find(at)?)))
        else {
            return End::Other;
        };
        let end = self.ends.entry((chain.pid, address));
        let tables = &mut self.tables;
        end.or_insert_with(|| match path {
            "" | "//anon" => End::WithoutFile,
            path if path.starts_with("/memfd:") || path.starts_with("/dev/") => End::WithoutFile,
            path if !path.starts_with('/') => End::Other,
            path => {
                let file = file_of(chain.pid, path);
                let read = tables.entry(file.clone()).or_insert_with(|| Tables::read(&file));
                match read {
                    Some(read) if !read.cover(offset) => End::WithoutTable(name_of(path)),
                    _ => End::Other,
                }
            }
        })
        .clone()
    }
}

fn name_of(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Mapping, Maps};

    #[test]
    fn where_a_stack_ends_tells_what_is_missing() {
        let pid = std::process::id();
        let mut maps = Maps::of(pid);
        let (begin, end) = (0x1000, 0x2000);
        maps.add(Mapping { begin, end, offset: 0, path: String::new() });
        // A place in this program's file behind all of its code: no entry is of it.
        let path = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
        maps.add(Mapping { begin: 0x4000, end: 0x5000, offset: 1 << 40, path });
        let recorded = Recorded { maps: [(pid, maps)].into(), ..Recorded::default() };
        let here = where_a_stack_ends_tells_what_is_missing as fn() as usize as u64;
        let counted = |user: Vec<u64>| {
            let (kernel, whole) = (Vec::new(), false);
            let chain = Chain { pid, kernel, user, whole, samples: 3, weight: 3 };
            let mut endings = Endings::default();
            endings.add(&recorded, &chain);
            endings.counted()
        };
        assert_eq!(counted(vec![here]), BrokenEnds::default(), "it has a table");
        assert_eq!(counted(vec![here, 0x1800]).without_file, 3);
        // The address behind it lies nowhere.
        let ends = counted(vec![here, 0x4010, 0x10]);
        assert_eq!((ends.without_table, ends.files.len(), ends.without_file), (3, 1, 0));
        assert!(ends.files[0].starts_with("ablaze_profile"), "{ends:?}");
    }
}
