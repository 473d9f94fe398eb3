//! What a process has mapped where: /proc/PID/maps at the beginning, and what was mapped since. By it
//! an address becomes a place in a file.

use std::fs;
use std::path::PathBuf;

/// A part of a file mapped into a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Its first address.
    pub begin: u64,
    /// The address behind its last.
    pub end: u64,
    /// The place in the file that is at `begin`.
    pub offset: u64,
    /// The file, or a name in brackets: `[vdso]`; empty for memory that has none.
    pub path: String,
}

/// The mappings of one process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Maps(Vec<Mapping>);

impl Maps {
    /// What a process can execute now; nothing when it cannot be seen.
    pub fn of(pid: u32) -> Self {
        fs::read_to_string(format!("/proc/{pid}/maps"))
            .map(|text| Self::read(&text))
            .unwrap_or_default()
    }

    /// proc_pid_maps(5): `address perms offset dev inode pathname`.
    fn read(text: &str) -> Self {
        let mut maps = Self::default();
        for line in text.lines() {
            maps.0.extend(mapping(line));
        }
        maps
    }

    /// Adds what was mapped later: it lies over what was there.
    pub fn add(&mut self, mapping: Mapping) {
        self.0.push(mapping);
    }

    /// All of them; a later one lies over an earlier one.
    pub(super) fn all(&self) -> &[Mapping] {
        &self.0
    }

    /// The file that this address lies in, and the place in it.
    pub fn find(&self, address: u64) -> Option<(&str, u64)> {
        let holds = |mapping: &&Mapping| (mapping.begin..mapping.end).contains(&address);
        let mapping = self.0.iter().rev().find(holds)?;
        Some((&mapping.path, address - mapping.begin + mapping.offset))
    }
}

/// Where a file that a process has mapped can be read: it may have been replaced since, or lie in
/// another mount namespace.
pub fn file_of(pid: u32, path: &str) -> PathBuf {
    let program = PathBuf::from(format!("/proc/{pid}/exe"));
    let link = fs::read_link(&program).ok();
    let is_program = link.is_some_and(|link| {
        let link = link.to_string_lossy();
        link.strip_suffix(" (deleted)").unwrap_or(&link) == path
    });
    if is_program {
        return program;
    }
    let within = PathBuf::from(format!("/proc/{pid}/root{path}"));
    let same = fs::exists(path).unwrap_or(false);
    if !same && fs::exists(&within).unwrap_or(false) { within } else { path.into() }
}

fn mapping(line: &str) -> Option<Mapping> {
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let mut fields = line.splitn(6, ' ');
    let (begin, end) = fields.next()?.split_once('-')?;
    let executable = fields.next()?.contains('x');
    let offset = hexadecimal(fields.next()?)?;
    let path = fields.nth(2).unwrap_or_default().trim();
    let path = path.strip_suffix(" (deleted)").unwrap_or(path).to_owned();
    let mapping = Mapping { begin: hexadecimal(begin)?, end: hexadecimal(end)?, offset, path };
    executable.then_some(mapping)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
5581e3400000-5581e3500000 r--p 00000000 fe:00 1234                       /usr/bin/my server
5581e3500000-5581e3600000 r-xp 00100000 fe:00 1234                       /usr/bin/my server
7f0000000000-7f0000001000 rwxp 00000000 00:00 0
7ffd5a5d2000-7ffd5a5d4000 r-xp 00000000 00:00 0                          [vdso]
broken
";

    #[test]
    fn an_address_is_a_place_in_a_file() {
        let mut maps = Maps::read(TEXT);
        assert_eq!(maps.find(0x5581_e350_0010), Some(("/usr/bin/my server", 0x10_0010)));
        assert_eq!(maps.find(0x5581_e340_0010), None, "nothing executes there");
        assert_eq!(maps.find(0x5581_e360_0000), None, "behind its end");
        assert_eq!(maps.find(0x7f00_0000_0004), Some(("", 4)));
        assert_eq!(maps.find(0x7ffd_5a5d_2004), Some(("[vdso]", 4)));
        let path = "/lib/later.so".to_owned();
        maps.add(Mapping { begin: 0x7f00_0000_0000, end: 0x7f00_0000_1000, offset: 0x3000, path });
        assert_eq!(maps.find(0x7f00_0000_0004), Some(("/lib/later.so", 0x3004)));
    }

    #[test]
    fn this_test_finds_itself() {
        let here = this_test_finds_itself as fn() as usize as u64;
        let program = std::env::current_exe().unwrap();
        let maps = Maps::of(std::process::id());
        assert_eq!(maps.find(here).unwrap().0, program.to_str().unwrap());
    }
}
