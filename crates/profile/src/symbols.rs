//! Names for addresses: functions of the program and its libraries from their files, inlined ones from
//! their debug information, those of the kernel from /proc/kallsyms.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::endings::Endings;
use crate::names::{IN_KERNEL, INLINED};
use crate::recording::{Chain, Recorded, file_of};
use ablaze_model::profiling::{BrokenEnds, Stack};
use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

/// Stacks with names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// The different stacks, the most frequent first.
    pub stacks: Vec<Stack>,
    /// Samples whose stack does not reach the beginning of its thread: something in it cannot be unwound,
    /// or it is too long.
    pub broken: u64,
    /// Where these stacks end.
    pub broken_ends: BrokenEnds,
}

/// Gives a recording its names. To be called while the processes still run, if that can be had: their
/// files may be out of reach afterwards.
pub fn named(recorded: &Recorded) -> Named {
    let names = Names::of(recorded);
    let mut stacks: HashMap<String, (u64, u64)> = HashMap::new();
    let (mut broken, mut endings) = (0, Endings::default());
    for chain in &recorded.chains {
        let frames = names.frames(chain);
        if !chain.whole && !reaches_its_beginning(&frames) {
            broken += chain.samples;
            endings.add(recorded, chain);
        }
        let (samples, weight) = stacks.entry(frames.join(";")).or_default();
        *samples += chain.samples;
        *weight += chain.weight;
    }
    let stack = |(frames, (samples, weight))| Stack { frames, samples, weight };
    let mut stacks: Vec<Stack> = stacks.into_iter().map(stack).collect();
    stacks.sort_by(|one, other| {
        other.weight.cmp(&one.weight).then_with(|| one.frames.cmp(&other.frames))
    });
    Named { stacks, broken, broken_ends: endings.counted() }
}

/// Whether a stack of names, the outermost first, begins where threads begin, as far as names tell.
fn reaches_its_beginning(frames: &[String]) -> bool {
    const BEGINNINGS: [&str; 6] =
        ["_start", "__libc_start", "start_thread", "clone", "thread_start", "main"];
    let mut outermost = frames.iter().take(4);
    // A thread of the kernel, or one on its way back to the program, has no user part.
    frames.first().is_some_and(|name| name.ends_with(IN_KERNEL))
        || outermost.any(|name| BEGINNINGS.iter().any(|beginning| name.contains(beginning)))
}

/// A place in a file.
type Place = (PathBuf, u64);

/// Names by place, each the functions that are there, the outermost first.
#[derive(Default)]
struct Names {
    kernel: HashMap<u64, String>,
    places: HashMap<Place, Vec<String>>,
    /// The place of an address in a process; a name where there is no file.
    user: HashMap<(u32, u64), Result<Place, String>>,
}

impl Names {
    fn of(recorded: &Recorded) -> Self {
        let symbolizer = Symbolizer::new();
        let mut names = Self::default();
        let mut kernel = HashSet::new();
        let mut files: BTreeMap<PathBuf, Vec<u64>> = BTreeMap::new();
        for chain in &recorded.chains {
            kernel.extend(looked_up(&chain.kernel));
            for address in looked_up(&chain.user) {
                let found = names.user.entry((chain.pid, address));
                let place = found.or_insert_with(|| place(recorded, chain.pid, address));
                if let Ok((file, offset)) = place {
                    files.entry(file.clone()).or_default().push(*offset);
                }
            }
        }
        names.kernel = in_the_kernel(&symbolizer, kernel.into_iter().collect());
        for (file, mut offsets) in files {
            offsets.sort_unstable();
            offsets.dedup();
            let functions = in_a_file(&symbolizer, &file, &offsets);
            let places = offsets.into_iter().map(|offset| (file.clone(), offset));
            names.places.extend(places.zip(functions));
        }
        names
    }

    /// A stack by names, the outermost function first.
    fn frames(&self, chain: &Chain) -> Vec<String> {
        let mut frames = Vec::new();
        let user: Vec<u64> = looked_up(&chain.user).collect();
        for address in user.into_iter().rev() {
            match self.user.get(&(chain.pid, address)) {
                Some(Ok(place)) => {
                    frames.extend(self.places.get(place).into_iter().flatten().cloned());
                }
                Some(Err(name)) => frames.push(name.clone()),
                None => {}
            }
        }
        let kernel: Vec<u64> = looked_up(&chain.kernel).collect();
        frames.extend(
            kernel.into_iter().rev().filter_map(|address| self.kernel.get(&address)).cloned(),
        );
        frames
    }
}

/// The addresses to look up: of a caller it is that of the call, which lies before the place that is
/// returned to.
fn looked_up(chain: &[u64]) -> impl Iterator<Item = u64> + '_ {
    chain.iter().enumerate().map(|(depth, address)| address.saturating_sub(u64::from(depth > 0)))
}

/// The file that an address of a process lies in, and where; a name where there is no file.
fn place(recorded: &Recorded, pid: u32, address: u64) -> Result<Place, String> {
    let unknown = || "[unknown]".to_owned();
    let (path, offset) =
        recorded.maps.get(&pid).and_then(|maps| maps.find(address)).ok_or_else(unknown)?;
    match path {
        "" => Err(unknown()),
        path if path.starts_with('[') => Err(path.to_owned()),
        path => Ok((file_of(pid, path), offset)),
    }
}

fn in_the_kernel(symbolizer: &Symbolizer, addresses: Vec<u64>) -> HashMap<u64, String> {
    // A vmlinux with debug information takes seconds to read and would name the same functions.
    let source = Source::Kernel(Kernel { vmlinux: MaybeDefault::None, ..Kernel::default() });
    let found = symbolizer.symbolize(&source, Input::AbsAddr(&addresses)).unwrap_or_default();
    let name = |at: usize| found.get(at).and_then(|symbol| symbol.as_sym());
    addresses
        .iter()
        .enumerate()
        .map(|(at, address)| {
            let name = name(at).map_or("[kernel]", |symbol| &symbol.name);
            (*address, format!("{}{IN_KERNEL}", clean(name)))
        })
        .collect()
}

/// The functions at each of these places of a file, the outermost first: by their whole names from the
/// table of symbols, with those that are inlined there from the debug information, which has short names.
fn in_a_file(symbolizer: &Symbolizer, file: &Path, offsets: &[u64]) -> Vec<Vec<String>> {
    let look = |debug_syms: bool| {
        let source = Source::Elf(Elf { debug_syms, ..Elf::new(file) });
        symbolizer.symbolize(&source, Input::FileOffset(offsets)).unwrap_or_default()
    };
    let (table, debug) = (look(false), look(true));
    let unknown = format!("[{}]", short_name(file));
    let names = |at: usize| {
        let plain = table.get(at).and_then(Symbolized::as_sym);
        let detailed = debug.get(at).and_then(Symbolized::as_sym);
        let outer = plain.or(detailed).map(|symbol| clean(&symbol.name));
        let inlined = detailed.into_iter().flat_map(|symbol| &symbol.inlined);
        std::iter::once(outer.unwrap_or_else(|| unknown.clone()))
            .chain(inlined.map(|inner| format!("{}{INLINED}", clean(&inner.name))))
            .collect()
    };
    (0..offsets.len()).map(names).collect()
}

/// The name of a file; of /proc/PID/exe that of the program.
fn short_name(file: &Path) -> String {
    let program = file.ends_with("exe").then(|| std::fs::read_link(file).ok()).flatten();
    let file = program.as_deref().unwrap_or(file);
    file.file_name()
        .map_or_else(|| "unknown".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A name that can stand in a folded stack: `;` separates there, as in `[u8; 8]`, and a line ends.
fn clean(name: &str) -> String {
    name.replace([';', '\n'], ",")
}

#[cfg(test)]
#[path = "symbols_tests.rs"]
mod tests;
