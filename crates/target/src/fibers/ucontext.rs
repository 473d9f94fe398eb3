//! Fibers over makecontext(3) and swapcontext(3) of glibc. Each switch saves and sets the signal
//! mask, as POSIX asked for: one rt_sigprocmask. That system call is what this way costs, and
//! why it is here.

use super::switch::Switch;

/// The switch.
#[derive(Debug)]
pub struct Ucontext;

/// Where libc (the crate) knows the functions and glibc has them.
#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod glibc;

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
impl Switch for Ucontext {
    type Fiber<In: Copy + 'static, Out: Copy + 'static> = glibc::UcontextFiber<In, Out>;
}

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
impl Switch for Ucontext {
    /// Never made: it is refused before.
    type Fiber<In: Copy + 'static, Out: Copy + 'static> = super::assembly::AssemblyFiber<In, Out>;

    fn refuses() -> Option<&'static str> {
        Some(
            "swapcontext is a function of glibc, and this program was built without glibc or for \
             a processor where it is not known; use fiber-asm",
        )
    }
}
