//! From the registers and the stack of a program to the addresses that called each other: by the tables
//! that compilers write for exceptions (`.eh_frame`), which programs have that have no frame pointers;
//! by frame pointers where there is no table.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framehop::{
    CacheNative, ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, UnwindRegsNative,
    Unwinder, UnwinderNative,
};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::read::{ReadCache, ReadRef};
use object::{Endianness, elf};

use super::maps::{Mapping, Maps, file_of};
use super::record::User;
use ablaze_model::profiling::MOST_FRAMES;

/// The registers that are wanted, by their numbers in arch/ARCH/include/uapi/asm/perf_regs.h.
#[cfg(target_arch = "x86_64")]
mod registers {
    use super::UnwindRegsNative;

    /// BP, SP and IP.
    pub const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
    pub const REGISTER_COUNT: usize = 3;

    pub fn of([frame, stack, instruction]: [u64; REGISTER_COUNT]) -> (u64, u64, UnwindRegsNative) {
        (instruction, stack, UnwindRegsNative::new(instruction, stack, frame))
    }
}

/// The registers to sample, on aarch64.
#[cfg(target_arch = "aarch64")]
mod registers {
    use super::UnwindRegsNative;

    /// X29, the link register, SP and PC.
    pub const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;
    pub const REGISTER_COUNT: usize = 4;

    pub fn of(
        [frame, link, stack, instruction]: [u64; REGISTER_COUNT],
    ) -> (u64, u64, UnwindRegsNative) {
        (instruction, stack, UnwindRegsNative::new(link, stack, frame))
    }
}

pub(super) use registers::{REGISTER_COUNT, REGISTERS};

type Bytes = Arc<[u8]>;
type OfProcess = UnwinderNative<Bytes, MayAllocateDuringUnwind>;

/// What is known of programs, by file and by process.
#[derive(Default)]
pub(super) struct Unwinding {
    files: HashMap<PathBuf, Option<Tables>>,
    processes: HashMap<u32, OfProcess>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

impl std::fmt::Debug for Unwinding {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "Unwinding of {} processes", self.processes.len())
    }
}

impl Unwinding {
    /// The addresses of a program's stack, innermost first, and whether that is all of it.
    pub(super) fn unwound(&mut self, pid: u32, maps: &Maps, user: &User) -> (Vec<u64>, bool) {
        let unwinder = match self.processes.entry(pid) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                new.insert(of_process(&mut self.files, pid, maps))
            }
        };
        let (instruction, stack_pointer, registers) = registers::of(user.registers);
        let mut read = |address: u64| {
            let at = usize::try_from(address.wrapping_sub(stack_pointer)).map_err(drop)?;
            let word = user.stack.get(at..).and_then(|rest| rest.first_chunk());
            word.map(|word| u64::from_ne_bytes(*word)).ok_or(())
        };
        let mut frames = Vec::new();
        let mut callers = unwinder.iter_frames(instruction, registers, &mut self.cache, &mut read);
        loop {
            match callers.next() {
                Ok(Some(frame)) if frames.len() < MOST_FRAMES => frames.push(frame.address()),
                Ok(None) => return (frames, true),
                Ok(Some(_)) | Err(_) => return (frames, false),
            }
        }
    }

    /// The mappings of a process have changed.
    pub(super) fn forget(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }
}

fn of_process(files: &mut HashMap<PathBuf, Option<Tables>>, pid: u32, maps: &Maps) -> OfProcess {
    let mut unwinder = OfProcess::new();
    for mapping in maps.all().iter().filter(|mapping| mapping.path.starts_with('/')) {
        let file = file_of(pid, &mapping.path);
        let tables = files.entry(file.clone()).or_insert_with(|| Tables::read(&file));
        if let Some(module) = tables.as_ref().and_then(|tables| tables.module(mapping)) {
            unwinder.add_module(module);
        }
    }
    unwinder
}

/// The parts of an ELF file that unwinding needs.
pub(crate) struct Tables {
    /// Place in the file, length, and address of each part that is loaded to be run.
    loaded: Vec<(u64, u64, u64)>,
    text: Option<Range<u64>>,
    got: Option<Range<u64>>,
    frames: Option<(Range<u64>, Bytes)>,
    index: Option<(Range<u64>, Bytes)>,
}

impl Tables {
    /// Of a program or library of this machine's own word size and byte order.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let data = ReadCache::new(File::open(path).ok()?);
        let header = elf::FileHeader64::<Endianness>::parse(&data).ok()?;
        let endian = header.endian().ok()?;
        let programs = header.program_headers(endian, &data).ok()?;
        let loaded = programs
            .iter()
            // What is sampled runs: other parts may share a page of the file with the code, and were
            // linked for other addresses.
            .filter(|program| program.p_type(endian) == elf::PT_LOAD)
            .filter(|program| program.p_flags(endian).contains(elf::PF_X))
            .map(|program| {
                (program.p_offset(endian), program.p_filesz(endian), program.p_vaddr(endian))
            })
            .collect();
        let sections = header.sections(endian, &data).ok()?;
        let find = |name: &[u8]| sections.section_by_name(endian, name).map(|(_, section)| section);
        let range = |name: &[u8]| {
            let section = find(name)?;
            let begin = section.sh_addr(endian);
            Some(begin..begin + section.sh_size(endian))
        };
        let contents = |name: &[u8]| {
            let (offset, size) = find(name)?.file_range(endian)?;
            let bytes = (&data).read_bytes_at(offset, size).ok()?;
            Some((range(name)?, Bytes::from(bytes)))
        };
        Some(Self {
            loaded,
            text: range(b".text"),
            got: range(b".got"),
            frames: contents(b".eh_frame"),
            index: contents(b".eh_frame_hdr"),
        })
    }

    fn module(&self, mapping: &Mapping) -> Option<Module<Bytes>> {
        let base = mapping.begin.wrapping_sub(self.address_of(mapping.offset)?);
        let information = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: self.text.clone(),
            got_svma: self.got.clone(),
            eh_frame_svma: self.frames.as_ref().map(|(range, _)| range.clone()),
            eh_frame: self.frames.as_ref().map(|(_, bytes)| Arc::clone(bytes)),
            eh_frame_hdr_svma: self.index.as_ref().map(|(range, _)| range.clone()),
            eh_frame_hdr: self.index.as_ref().map(|(_, bytes)| Arc::clone(bytes)),
            ..ExplicitModuleSectionInfo::default()
        };
        let addresses = mapping.begin..mapping.end;
        Some(Module::new(mapping.path.clone(), addresses, base, information))
    }

    /// Whether they have an entry for the function at this place in the file. A file may have a table and no entry for most of its
    /// functions: the few lines of code that the linker adds have their own.
    pub(crate) fn cover(&self, offset: u64) -> bool {
        use gimli::UnwindSection as _;
        let (Some((frames, bytes)), Some(address)) = (&self.frames, self.address_of(offset)) else {
            return false;
        };
        let text = self.text.as_ref().map_or(0, |text| text.start);
        let got = self.got.as_ref().map_or(0, |got| got.start);
        let bases = gimli::BaseAddresses::default().set_eh_frame(frames.start);
        let bases = bases.set_text(text).set_got(got);
        let section = gimli::EhFrame::new(bytes, gimli::NativeEndian);
        let cie = gimli::EhFrame::cie_from_offset;
        let sorted = self.index.as_ref().and_then(|(index, bytes)| {
            let bases = bases.clone().set_eh_frame_hdr(index.start);
            let parsed =
                gimli::EhFrameHdr::new(bytes, gimli::NativeEndian).parse(&bases, 8).ok()?;
            let found = parsed.table()?.fde_for_address(&section, &bases, address, cie);
            Some(found.is_ok())
        });
        sorted.unwrap_or_else(|| section.fde_for_address(&bases, address, cie).is_ok())
    }

    /// The address that a place in the file was linked for. A mapping begins on a page, and so may lie
    /// before the part that it is there for.
    fn address_of(&self, offset: u64) -> Option<u64> {
        let page = rustix::param::page_size() as u64 - 1;
        let here = |(place, length, _): &&(u64, u64, u64)| {
            (place & !page..place + length).contains(&offset)
        };
        // Of two that share a page, the later one begins there.
        let (place, _, address) = self.loaded.iter().rev().find(here)?;
        Some(address.wrapping_sub(*place).wrapping_add(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_file_has_the_address_it_was_linked_for() {
        // As a linker lays out a program: behind read-only data, code, shifted by a page.
        let loaded = vec![(0x10_0440, 0x20_0000, 0x10_1440)];
        let tables = Tables { loaded, text: None, got: None, frames: None, index: None };
        assert_eq!(
            tables.address_of(0x10_0000),
            Some(0x10_1000),
            "the page that the code begins in"
        );
        assert_eq!(tables.address_of(0x20), None, "data");
        assert_eq!(tables.address_of(0x100_0000), None);
    }

    #[test]
    fn this_test_has_tables() {
        let tables = Tables::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(tables.frames.as_ref().is_some_and(|(_, bytes)| !bytes.is_empty()));
        let here = this_test_has_tables as fn() as usize as u64;
        let (path, offset) = Maps::of(std::process::id())
            .find(here)
            .map(|(path, offset)| (path.to_owned(), offset))
            .unwrap();
        let mut tables = Tables::read(Path::new(&path)).unwrap();
        assert!(tables.cover(offset));
        assert!(!tables.cover(1 << 40), "no code is there");
        // Without the sorted index the table itself says so, and without an entry there is none.
        tables.index = None;
        assert!(tables.cover(offset));
        tables.frames = tables.frames.map(|(range, _)| (range, Bytes::from(Vec::new())));
        assert!(!tables.cover(offset));
        assert!(Tables::read(Path::new("/proc/self/status")).is_none());
    }
}
