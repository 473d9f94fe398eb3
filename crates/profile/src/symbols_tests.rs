//! Names of addresses, held against functions of this very program.

use super::*;
use crate::recording::Maps;

#[inline(never)]
fn a_function_of_this_test(x: u64) -> u64 {
    std::hint::black_box(x + 1)
}

#[inline(never)]
fn another_function(x: u64) -> u64 {
    std::hint::black_box(x * 2)
}

fn address_of(function: fn(u64) -> u64) -> u64 {
    function as usize as u64
}

fn chain(user: Vec<u64>, kernel: Vec<u64>, samples: u64) -> Chain {
    let whole = false;
    Chain { pid: std::process::id(), user, kernel, whole, samples, weight: samples * 1_000 }
}

fn recorded(chains: Vec<Chain>) -> Recorded {
    let pid = std::process::id();
    Recorded { chains, maps: [(pid, Maps::of(pid))].into(), ..Recorded::default() }
}

/// An address of the kernel with its name, where this user may see them.
fn of_the_kernel() -> Option<(u64, String)> {
    let table = std::fs::read_to_string("/proc/kallsyms").ok()?;
    let line = table.lines().find(|line| line.ends_with(" schedule"))?;
    let address = u64::from_str_radix(line.split(' ').next()?, 16).ok()?;
    (address != 0).then(|| (address, "schedule".to_owned()))
}

#[test]
fn addresses_of_this_program_have_its_functions_names_from_the_outermost_in() {
    // Of a caller the address is that of the return, behind the call.
    let inner = address_of(a_function_of_this_test);
    let outer = address_of(another_function) + 1;
    let named = named(&recorded(vec![chain(vec![inner, outer], vec![], 3)]));
    let frames: Vec<&str> = named.stacks[0].frames.split(';').collect();
    let at = |name: &str| frames.iter().position(|frame| frame.contains(name)).unwrap();
    assert!(at("another_function") < at("a_function_of_this_test"), "{frames:?}");
    assert_eq!((named.stacks[0].samples, named.stacks[0].weight), (3, 3_000));
    assert_eq!(named.broken, 3, "it begins nowhere");
}

#[test]
fn the_kernel_s_part_is_innermost_and_marked() {
    let Some((address, name)) = of_the_kernel() else {
        return ablaze_testing::skip::skip("this user may not see the kernel's symbols");
    };
    let user = address_of(a_function_of_this_test);
    let named = named(&recorded(vec![chain(vec![user], vec![address], 1)]));
    let frames = &named.stacks[0].frames;
    assert!(frames.ends_with(&format!(";{name}_[k]")), "{frames}");
    assert!(frames.contains("a_function_of_this_test"), "{frames}");
}

#[test]
fn what_lies_nowhere_is_called_unknown_and_the_most_frequent_comes_first() {
    let here = address_of(a_function_of_this_test);
    let named = named(&recorded(vec![chain(vec![16], vec![], 1), chain(vec![here], vec![], 2)]));
    assert_eq!(named.stacks.len(), 2);
    assert!(named.stacks[0].frames.contains("a_function_of_this_test"));
    assert_eq!(named.stacks[1].frames, "[unknown]");
}

#[test]
fn a_name_never_breaks_a_folded_line() {
    assert_eq!(clean("f::<[u8; 8]>"), "f::<[u8, 8]>");
}

#[test]
fn stacks_that_begin_where_threads_begin_are_whole() {
    let whole = |frames: &[&str]| {
        reaches_its_beginning(&frames.iter().map(|frame| (*frame).to_owned()).collect::<Vec<_>>())
    };
    assert!(whole(&["_start", "main", "f"]));
    assert!(whole(&["__libc_start_call_main", "main"]));
    assert!(whole(&["__clone3", "start_thread", "f"]));
    assert!(whole(&["entry_SYSCALL_64_[k]"]), "a thread without a program");
    assert!(!whole(&["send", "entry_SYSCALL_64_[k]"]));
    assert!(!whole(&[]));
}
