//! Opening events: the attributes of perf_event_open(2) as include/uapi/linux/perf_event.h lays them out,
//! as far as version 5 of them (Linux 4.8).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::refusal::refused_by;
use super::{Permitted, unwind};
use ablaze_model::profiling::Refused;

/// `struct perf_event_attr` up to PERF_ATTR_SIZE_VER5.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_frequency_hz: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == 112);

const TYPE_HARDWARE: u32 = 0;
const TYPE_SOFTWARE: u32 = 1;
const HARDWARE_CYCLES: u64 = 0;
const SOFTWARE_CPU_CLOCK: u64 = 0;

const SAMPLE_IP: u64 = 1 << 0;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_PERIOD: u64 = 1 << 8;
const SAMPLE_REGS_USER: u64 = 1 << 12;
const SAMPLE_STACK_USER: u64 = 1 << 13;

const FLAG_INHERIT: u64 = 1 << 1;
const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;
const FLAG_EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const FLAG_EXCLUDE_IDLE: u64 = 1 << 7;
const FLAG_MMAP: u64 = 1 << 8;
const FLAG_FREQUENCY: u64 = 1 << 10;
const FLAG_TASK: u64 = 1 << 13;
const FLAG_WATERMARK: u64 = 1 << 14;
const FLAG_EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
const FLAG_MMAP2: u64 = 1 << 23;
const FLAG_USE_CLOCK: u64 = 1 << 25;

const OPEN_CLOEXEC: libc::c_ulong = 1 << 3;
/// `_IO('$', 5)`
const SET_OUTPUT: libc::c_ulong = 0x2405;

/// What samples are taken by: processor cycles where the machine counts them, else a timer that runs
/// while a thread is on a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Cycles,
    CpuClock,
}

/// An event to open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub event: Event,
    /// Samples per second of CPU time.
    pub frequency_hz: u32,
    /// Whether samples are taken in the kernel, too.
    pub kernel: bool,
    /// Whether it is a processor that is watched, whoever runs on it, and not a thread. It needs more
    /// permission and costs less: an event of a thread sets its timer anew each time the thread gets a
    /// processor, which a server that sleeps after each request pays for with each request.
    pub whole_machine: bool,
}

impl Event {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::CpuClock => "cpu-clock",
        }
    }
}

impl Wanted {
    /// The best that this machine lets a process take of itself.
    ///
    /// # Errors
    /// When it permits none.
    pub(super) fn best(frequency_hz: u32, thread: i32) -> Result<Self, Refused> {
        let frequency_hz = frequency_hz.min(highest_frequency_hz()).max(1);
        let first = online_cpus().first().copied().unwrap_or(0);
        let ways = [(true, true), (true, false), (false, false)];
        let mut last = None;
        for event in [Event::Cycles, Event::CpuClock] {
            for (kernel, whole_machine) in ways {
                let wanted = Self { event, frequency_hz, kernel, whole_machine };
                let (thread, cpu) = if whole_machine { (-1, first) } else { (thread, -1) };
                match wanted.open(thread, cpu) {
                    Ok(_) => return Ok(wanted),
                    Err(error) => last = Some(error),
                }
            }
        }
        let error = last.unwrap_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS));
        Err(refused_by(&error))
    }

    /// Opens it on a thread, and on those that the thread makes later, while they run on this processor
    /// (-1: any); of the whole machine the thread is -1. It counts from now on.
    pub(super) fn open(self, thread: i32, cpu: i32) -> io::Result<OwnedFd> {
        let (kind, config) = match self.event {
            Event::Cycles => (TYPE_HARDWARE, HARDWARE_CYCLES),
            Event::CpuClock => (TYPE_SOFTWARE, SOFTWARE_CPU_CLOCK),
        };
        let kernel = if self.kernel { 0 } else { FLAG_EXCLUDE_KERNEL };
        let whose = if self.whole_machine { FLAG_EXCLUDE_IDLE } else { FLAG_INHERIT };
        let attributes = Attributes {
            kind,
            size: size_of::<Attributes>() as u32,
            config,
            sample_frequency_hz: self.frequency_hz.into(),
            sample_type: SAMPLE_IP
                | SAMPLE_TID
                | SAMPLE_TIME
                | SAMPLE_CALLCHAIN
                | SAMPLE_PERIOD
                | SAMPLE_REGS_USER
                | SAMPLE_STACK_USER,
            sample_regs_user: unwind::REGISTERS,
            sample_stack_user: ablaze_model::profiling::STACK_BYTES,
            flags: whose
                | FLAG_EXCLUDE_HYPERVISOR
                | FLAG_MMAP
                | FLAG_MMAP2
                | FLAG_EXCLUDE_CALLCHAIN_USER
                | FLAG_FREQUENCY
                | FLAG_TASK
                | FLAG_WATERMARK
                | FLAG_USE_CLOCK
                | kernel,
            // Nobody waits for a wake-up: the rings are looked at.
            wakeup: u32::MAX,
            clock: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        // SAFETY: `attributes` is a readable perf_event_attr of the size that it says, for the duration
        // of the call; the other arguments are plain numbers.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                thread,
                cpu,
                -1,
                OPEN_CLOEXEC,
            )
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor, and nobody else knows of it.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
    }
}

/// Has an event write into the ring of another.
pub(super) fn redirect(event: &OwnedFd, to: &OwnedFd) -> io::Result<()> {
    // SAFETY: both are open descriptors of events; the call takes numbers only.
    let response = unsafe { libc::ioctl(event.as_raw_fd(), SET_OUTPUT, to.as_raw_fd()) };
    if response < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(super) fn permitted() -> Result<Permitted, Refused> {
    let wanted = Wanted::best(99, 0)?;
    Ok(Permitted { event: wanted.event.name(), kernel: wanted.kernel })
}

/// What the kernel allows at most (kernel.perf_event_max_sample_rate).
fn highest_frequency_hz() -> u32 {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(1_000)
}

/// The processors that are switched on: `0-3,6`.
pub(super) fn online_cpus() -> Vec<i32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let cpus: Vec<i32> = text
        .trim()
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse().ok()?..=last.parse().ok()?)
        })
        .flatten()
        .collect();
    if cpus.is_empty() { vec![0] } else { cpus }
}
