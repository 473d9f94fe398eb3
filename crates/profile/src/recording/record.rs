//! Records as the kernel writes them, taken apart: perf_event_open(2), "MMAP layout". Nothing in them is
//! trusted to be whole.

use super::maps::Mapping;
use super::unwind;

const LOST: u32 = 2;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const LOST_SAMPLES: u32 = 13;

/// Numbers from here on are no addresses; they say what follows in a chain.
const CONTEXT: u64 = -4095_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;

/// What one record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    Sample(Sample),
    /// Number of records that found no space in the ring.
    Lost(u64),
    Mapped {
        pid: u32,
        mapping: Mapping,
    },
    /// A process or a thread was made.
    Forked {
        pid: u32,
        parent: u32,
    },
    Other,
}

/// One look at a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sample {
    pub pid: u32,
    pub thread: u32,
    pub at_ns: u64,
    pub period: u64,
    /// Addresses in the kernel, innermost first.
    pub kernel: Vec<u64>,
    /// What the program's part can be found by.
    pub user: Option<User>,
}

/// The state of a program at a sample: its registers and the upper end of its stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct User {
    /// In the order of their numbers.
    pub registers: [u64; unwind::REGISTER_COUNT],
    /// From the stack pointer on.
    pub stack: Vec<u8>,
}

impl Record {
    /// Takes apart a record of the events that `event.rs` opens.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = Bytes(bytes);
        let kind = rest.u32()?;
        // `misc` and the record's size.
        rest.u32()?;
        match kind {
            SAMPLE => Sample::read(rest).map(Self::Sample),
            LOST => {
                rest.u64()?;
                rest.u64().map(Self::Lost)
            }
            LOST_SAMPLES => rest.u64().map(Self::Lost),
            MMAP2 => {
                let (pid, _thread) = (rest.u32()?, rest.u32()?);
                let (begin, length, offset) = (rest.u64()?, rest.u64()?, rest.u64()?);
                // Device, inode and its generation; protection and flags.
                (0..4).try_for_each(|_| rest.u64().map(drop))?;
                let path = rest.0.split(|byte| *byte == 0).next()?;
                let path = String::from_utf8_lossy(path).into_owned();
                let mapping = Mapping { begin, end: begin.checked_add(length)?, offset, path };
                Some(Self::Mapped { pid, mapping })
            }
            FORK => Some(Self::Forked { pid: rest.u32()?, parent: rest.u32()? }),
            _ => Some(Self::Other),
        }
    }
}

impl Sample {
    fn read(mut rest: Bytes<'_>) -> Option<Self> {
        let _address = rest.u64()?;
        let (pid, thread) = (rest.u32()?, rest.u32()?);
        let (at_ns, period) = (rest.u64()?, rest.u64()?);
        let count = rest.u64()?;
        let mut kernel = Vec::new();
        let mut context = 0;
        for _ in 0..count {
            match (rest.u64()?, context) {
                (number, _) if number >= CONTEXT => context = number,
                (address, CONTEXT_KERNEL) => kernel.push(address),
                _ => {}
            }
        }
        Some(Self { pid, thread, at_ns, period, kernel, user: User::read(rest)? })
    }
}

impl User {
    /// `abi, registers, size, stack, size of what was copied of it`; without a program there is an abi of
    /// 0, no register and a size of 0.
    #[allow(clippy::option_option, reason = "cut off is not the same as without a program")]
    fn read(mut rest: Bytes<'_>) -> Option<Option<Self>> {
        let abi = rest.u64()?;
        let mut registers = [0; unwind::REGISTER_COUNT];
        for register in registers.iter_mut().filter(|_| abi != 0) {
            *register = rest.u64()?;
        }
        let size = usize::try_from(rest.u64()?).ok()?;
        let (stack, mut behind) = (rest.0.get(..size)?, Bytes(rest.0.get(size..)?));
        let copied = if size == 0 { 0 } else { usize::try_from(behind.u64()?).ok()?.min(size) };
        Some((abi != 0).then(|| Self { registers, stack: stack[..copied].to_vec() }))
    }
}

/// What is left of a record.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_ne_bytes(*number))
    }

    fn u64(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, words: &[u64]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(0u16.to_ne_bytes());
        bytes.extend((8 + 8 * words.len() as u16).to_ne_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    /// Two numbers of 32 bits as they lie beside each other.
    fn two(first: u32, second: u32) -> u64 {
        let [a, b, c, d] = first.to_ne_bytes();
        let [e, f, g, h] = second.to_ne_bytes();
        u64::from_ne_bytes([a, b, c, d, e, f, g, h])
    }

    #[test]
    fn a_sample_has_the_kernel_s_part_and_the_state_of_the_program() {
        let mut words = vec![9, two(7, 8), 1_000, 999, 3, CONTEXT_KERNEL, 0xffff_8000, 0xffff_9000];
        let registers: Vec<u64> = (1..=unwind::REGISTER_COUNT as u64).collect();
        words.push(2);
        words.extend(&registers);
        // Of 24 bytes of the stack 16 could be copied.
        words.extend([24, 0x11, 0x22, 0, 16]);
        let whole = record(SAMPLE, &words);
        let stack = [0x11u64.to_ne_bytes(), 0x22u64.to_ne_bytes()].concat();
        let user = Some(User { registers: registers.try_into().unwrap(), stack });
        let kernel = vec![0xffff_8000, 0xffff_9000];
        let sample = Sample { pid: 7, thread: 8, at_ns: 1_000, period: 999, kernel, user };
        assert_eq!(Record::read(&whole), Some(Record::Sample(sample)));
        for cut in 0..whole.len() {
            assert_eq!(Record::read(&whole[..cut]), None, "{cut} bytes");
        }
        let alone = record(SAMPLE, &[9, two(7, 8), 1_000, 999, 0, 0, 0]);
        assert!(matches!(Record::read(&alone), Some(Record::Sample(Sample { user: None, .. }))));
    }

    #[test]
    fn losses_mappings_and_forks_are_understood_and_others_passed_over() {
        assert_eq!(Record::read(&record(LOST, &[1, 42])), Some(Record::Lost(42)));
        assert_eq!(Record::read(&record(LOST_SAMPLES, &[3])), Some(Record::Lost(3)));
        let forked = Record::Forked { pid: 9, parent: 7 };
        assert_eq!(Record::read(&record(FORK, &[two(9, 7), two(9, 7), 5])), Some(forked));
        let name = u64::from_ne_bytes(*b"/bin/x\0\0");
        let words = [two(7, 7), 0x1000, 0x500, 0x2000, 0, 0, 0, 0, name];
        let path = "/bin/x".to_owned();
        let mapping = Mapping { begin: 0x1000, end: 0x1500, offset: 0x2000, path };
        assert_eq!(Record::read(&record(MMAP2, &words)), Some(Record::Mapped { pid: 7, mapping }));
        assert_eq!(Record::read(&record(5, &[0, 0, 0])), Some(Record::Other));
    }
}
