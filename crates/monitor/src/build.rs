//! How a program was built: its compiler and options as its debug data tells them, and the
//! sanitizers in it. The file is mapped and only a few pages of it are read, so that a program of
//! 100 MB takes no longer than a small one. What a file does not tell stays unknown: rustc and
//! clang do not write down how they optimised.

use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use ablaze_model::monitor::Build;
use gimli::{DebugAbbrev, DebugInfo, DebugLineStr, DebugStr, EndianSlice, NativeEndian};
use object::elf::{FileHeader32, FileHeader64, SHF_COMPRESSED};
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, FileKind};

use crate::mapping::Mapping;

/// At most this many compile units are looked at: a program's own are linked before its libraries'.
const MOST_UNITS: usize = 32;
/// Or for so long, where each page has to come from a disk.
const LONGEST: Duration = Duration::from_millis(5);
/// So much of a list of mappings is read.
const MAPS_BYTES: u64 = 1 << 20;
/// So much of a section of text is looked through.
const TEXT_BYTES: usize = 1 << 20;

/// The program of a running process, to be read when there is time: by then the process may be gone.
#[derive(Debug)]
pub(crate) struct Program {
    file: File,
    loaded_sanitizers: Vec<String>,
}

impl Program {
    /// `None` when it may not be read.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let file = File::open(format!("/proc/{pid}/exe")).ok()?;
        Some(Self { file, loaded_sanitizers: loaded_sanitizers(&maps(pid)) })
    }

    /// How it was built; `None` when it says nothing.
    pub(crate) fn build(&self) -> Option<Build> {
        let mapping = Mapping::of(&self.file).ok();
        let told = mapping.as_ref().and_then(|mapping| of_program(mapping.bytes()));
        let mut build = told.unwrap_or_default();
        add_sanitizers(&mut build, self.loaded_sanitizers.clone());
        (build != Build::default()).then_some(build)
    }
}

fn of_program(bytes: &[u8]) -> Option<Build> {
    let sections = Sections::of(bytes)?;
    let mut build = sections.units().map(|units| of_units(&units)).unwrap_or_default();
    if let Some(info) = sections.named(".go.buildinfo") {
        read_go(&mut build, &text(info));
    }
    if build.compiler.is_none() {
        build.compiler = sections.named(".comment").and_then(|data| commented(&text(data)));
    }
    if let Some(names) = sections.named(".dynstr") {
        add_sanitizers(&mut build, linked_sanitizers(names));
    }
    Some(build)
}

/// From the texts with which compilers describe themselves and what they were told.
fn of_units(producers: &[String]) -> Build {
    let mut build = Build::default();
    // Assembled files say nothing on the program.
    for producer in producers.iter().filter(|producer| !producer.starts_with("GNU AS")) {
        let Producer { compiler, options, optimisation } = Producer::parse(producer);
        let unoptimised = optimisation.as_deref().is_some_and(is_none);
        if optimisation.is_some() {
            build.units += 1;
            build.unoptimised_units += u64::from(unoptimised);
        }
        add_sanitizers(&mut build, asked_sanitizers(&options));
        // The first stands for all, unless the others are of another mind.
        let most_are = build.unoptimised_units * 2 > build.units;
        if build.compiler.is_none() || build.optimisation.is_none() || unoptimised == most_are {
            build.compiler = Some(compiler);
            build.options = Some(options).filter(|options| !options.is_empty());
            build.optimisation = optimisation;
        }
    }
    build
}

/// Go writes its version and the settings of the build into a section of its own.
fn read_go(build: &mut Build, info: &str) {
    let version = info.find("go1.").map(|at| &info[at..]);
    build.compiler = version
        .and_then(|text| text.split(|c: char| !c.is_ascii_graphic()).next())
        .map(str::to_owned)
        .or(build.compiler.take());
    let setting = |name: &str| {
        let (_, behind) = info.split_once(&format!("build\t{name}="))?;
        Some(behind.lines().next()?.trim_matches('"').to_owned())
    };
    if let Some(options) = setting("-gcflags") {
        let off = options.split([' ', '=']).any(|option| option == "-N");
        build.optimisation = off.then(|| "-N".to_owned());
        build.options = Some(options);
    }
    if setting("-race").as_deref() == Some("true") {
        add_sanitizers(build, vec!["race".to_owned()]);
    }
    build.units = u64::from(build.optimisation.is_some());
    build.unoptimised_units = build.units;
}

fn add_sanitizers(build: &mut Build, names: Vec<String>) {
    build.sanitizers.extend(names);
    build.sanitizers.sort();
    build.sanitizers.dedup();
}

/// Whether this option leaves optimisation out.
fn is_none(option: &str) -> bool {
    matches!(option, "-O0" | "-N")
}

/// A compiler's description of itself, DW_AT_producer.
struct Producer {
    compiler: String,
    options: String,
    optimisation: Option<String>,
}

impl Producer {
    /// `GNU C17 12.2.0 -mtune=generic -O0 -g`, `clang LLVM (rustc version 1.95.0 (… 2026-03-21))`.
    fn parse(text: &str) -> Self {
        let begin = text.find(" -").unwrap_or(text.len());
        let (compiler, options) = text.split_at(begin);
        let options: Vec<&str> = options.split_whitespace().collect();
        let compiler = match compiler.split_once("(rustc") {
            Some((_, version)) => format!("rustc{}", version.split(" (").next().unwrap_or(version)),
            None => compiler.trim().to_owned(),
        };
        // The last one counts; without any of them a compiler does not optimise.
        let level = options.iter().rev().find(|option| option.starts_with("-O"));
        let unsaid = (!options.is_empty()).then_some("-O0");
        let optimisation = level.copied().or(unsaid).map(|level| match level {
            "-O" => "-O1".to_owned(),
            level => level.to_owned(),
        });
        Self {
            compiler: compiler.trim_end_matches(')').to_owned(),
            options: options.join(" "),
            optimisation,
        }
    }
}

/// The section that compilers leave a line in, also where there is no debug data.
fn commented(text: &str) -> Option<String> {
    let lines = || text.split('\0').map(str::trim).filter(|line| !line.is_empty());
    // What starts a program up comes from the C compiler, whatever the program is written in.
    let telling = |name: &&str| name.starts_with("rustc") || name.contains("clang version");
    let line = lines().find(telling).or_else(|| lines().next())?;
    let version = line.strip_prefix("GCC: ").map(|version| format!("GCC {version}"));
    let line = version.unwrap_or_else(|| line.to_owned());
    Some(line.split(" (").next().filter(|_| line.starts_with("rustc")).unwrap_or(&line).to_owned())
}

/// Sanitizers that the options ask for.
fn asked_sanitizers(options: &str) -> Vec<String> {
    let asked = options.split_whitespace().filter_map(|option| option.strip_prefix("-fsanitize="));
    let names = asked.flat_map(|names| names.split(','));
    names.filter(|name| KNOWN.iter().any(|known| known.0 == *name)).map(str::to_owned).collect()
}

/// A sanitizer, a part of its library's name, and the name by which a program calls it.
const KNOWN: [(&str, &str, &str); 6] = [
    ("address", "asan", "__asan_init"),
    ("hwaddress", "hwasan", "__hwasan_init"),
    ("leak", "lsan", "__lsan_init"),
    ("memory", "msan", "__msan_init"),
    ("thread", "tsan", "__tsan_init"),
    ("undefined", "ubsan", "__ubsan_handle_type_mismatch_v1"),
];

/// Those whose libraries are loaded: `libasan.so.8`, `libclang_rt.asan-x86_64.so`.
fn loaded_sanitizers(maps: &str) -> Vec<String> {
    let files = maps.lines().filter_map(|line| line.rsplit_once('/').map(|(_, file)| file));
    let mut names: Vec<&str> = files
        .filter(|file| file.starts_with("lib"))
        .filter_map(|file| {
            let library = file.strip_prefix("libclang_rt.").or(file.strip_prefix("lib"))?;
            let name = library.split(['.', '-', '_']).next()?;
            KNOWN.iter().find(|known| known.1 == name).map(|known| known.0)
        })
        .collect();
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}

/// Those that are linked into the program and exported from it, as clang does.
fn linked_sanitizers(names: &[u8]) -> Vec<String> {
    let names = &names[..names.len().min(TEXT_BYTES)];
    let called = names.split(|byte| *byte == 0).filter(|name| name.starts_with(b"__"));
    let found = called.filter_map(|name| KNOWN.iter().find(|known| known.2.as_bytes() == name));
    found.map(|known| known.0.to_owned()).collect()
}

fn maps(pid: u32) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{pid}/maps")) {
        // What was read before an error is as good.
        let _ = file.take(MAPS_BYTES).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(&data[..data.len().min(TEXT_BYTES)]).into_owned()
}

/// The sections of an executable file by name; compressed ones are left out.
struct Sections<'a> {
    found: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> Sections<'a> {
    fn of(file: &'a [u8]) -> Option<Self> {
        match FileKind::parse(file).ok()? {
            FileKind::Elf64 => Self::of_elf::<FileHeader64<Endianness>>(file),
            FileKind::Elf32 => Self::of_elf::<FileHeader32<Endianness>>(file),
            _ => None,
        }
    }

    fn of_elf<Header: FileHeader<Endian = Endianness>>(file: &'a [u8]) -> Option<Self> {
        let header = Header::parse(file).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, file).ok()?;
        let plain =
            sections.iter().filter(|section| !section.sh_flags(endian).contains(SHF_COMPRESSED));
        let found = plain
            .filter_map(|section| {
                let name = sections.section_name(endian, section).ok()?;
                Some((name, section.data(endian, file).ok()?))
            })
            .collect();
        Some(Self { found })
    }

    fn named(&self, name: &str) -> Option<&'a [u8]> {
        self.found.iter().find(|(found, _)| *found == name.as_bytes()).map(|(_, data)| *data)
    }

    /// DW_AT_producer of the first compile units; `None` without debug data.
    fn units(&self) -> Option<Vec<String>> {
        let begun = Instant::now();
        let slice = |name| EndianSlice::new(self.named(name).unwrap_or_default(), NativeEndian);
        let info = DebugInfo::new(self.named(".debug_info")?, NativeEndian);
        let abbreviations = DebugAbbrev::from(slice(".debug_abbrev"));
        let strings = DebugStr::from(slice(".debug_str"));
        let line_strings = DebugLineStr::from(slice(".debug_line_str"));
        let mut producers = Vec::new();
        let mut units = info.units();
        for _ in 0..MOST_UNITS {
            // Where the data is broken, what was read before is as good.
            let Ok(Some(unit)) = units.next() else { break };
            let producer = unit.abbreviations(&abbreviations).ok().and_then(|abbreviations| {
                let mut entries = unit.entries(&abbreviations);
                let root = entries.next_dfs().ok()??;
                match root.attr_value(gimli::DW_AT_producer)? {
                    gimli::AttributeValue::String(text) => Some(text),
                    gimli::AttributeValue::DebugStrRef(at) => strings.get_str(at).ok(),
                    gimli::AttributeValue::DebugLineStrRef(at) => line_strings.get_str(at).ok(),
                    _ => None,
                }
            });
            producers.extend(producer.map(|text| text.to_string_lossy().into_owned()));
            if begun.elapsed() > LONGEST {
                break;
            }
        }
        Some(producers)
    }
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
