//! How a program was built, read from files that a test writes.

use super::*;

const GNU: &str = "GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -fasynchronous-unwind-tables";

fn built(producers: &[&str]) -> Build {
    let producers: Vec<String> = producers.iter().map(|text| (*text).to_owned()).collect();
    of_units(&producers)
}

#[test]
fn the_last_level_counts_and_none_is_o0() {
    let level = |options: &str| built(&[&format!("{GNU} {options}")]).optimisation;
    assert_eq!(level("-O2").as_deref(), Some("-O2"));
    assert_eq!(level("-O2 -fPIC -O0").as_deref(), Some("-O0"));
    assert_eq!(level("-O").as_deref(), Some("-O1"));
    assert_eq!(level("").as_deref(), Some("-O0"));
    let build = built(&[&format!("{GNU} -O0")]);
    assert_eq!(build.compiler.as_deref(), Some("GNU C17 12.2.0"));
    assert_eq!((build.units, build.unoptimised_units), (1, 1));
    assert!(build.options.unwrap().starts_with("-mtune=generic"));
}

#[test]
fn who_does_not_say_how_is_not_told_of() {
    let rust = built(&["clang LLVM (rustc version 1.95.0 (59807616e 2026-04-14))"]);
    assert_eq!(rust.compiler.as_deref(), Some("rustc version 1.95.0"));
    assert_eq!((rust.optimisation, rust.options, rust.units), (None, None, 0));
    let clang = built(&["Debian clang version 14.0.6"]);
    assert_eq!(clang.compiler.as_deref(), Some("Debian clang version 14.0.6"));
    assert_eq!(clang.optimisation, None);
    assert_eq!(built(&["GNU AS 2.40"]), Build::default(), "what starts a program up");
}

#[test]
fn the_many_stand_for_the_program() {
    let (fast, slow) = (format!("{GNU} -O2"), format!("{GNU} -O0"));
    let build = built(&[&slow, &fast, &fast]);
    assert_eq!((build.optimisation.as_deref(), build.unoptimised_units), (Some("-O2"), 1));
    let build = built(&[&fast, &slow, &slow]);
    assert_eq!((build.optimisation.as_deref(), build.units), (Some("-O0"), 3));
}

#[test]
fn sanitizers_are_known_by_option_library_and_name() {
    let build = built(&[&format!("{GNU} -O2 -fsanitize=undefined,address -fsanitize=bounds")]);
    assert_eq!(build.sanitizers, ["address", "undefined"]);
    let maps = "7f00-7f01 r-xp 0 00:00 1 /usr/lib/libtsan.so.2.0.0\n\
        7f01-7f02 r-xp 0 00:00 1 /usr/lib/libtsan.so.2.0.0\n\
        7f02-7f03 r-xp 0 00:00 1 /usr/lib/libclang_rt.asan-x86_64.so\n\
        7f03-7f04 r-xp 0 00:00 1 /usr/lib/libasant.so\n7f04-7f05 rw-p 0 00:00 0 [heap]\n";
    assert_eq!(loaded_sanitizers(maps), ["thread", "address"]);
    let names = b"\0malloc\0__asan_poison_memory_region\0__msan_init\0";
    assert_eq!(linked_sanitizers(names), ["memory"]);
}

#[test]
fn go_says_it_in_its_own_way() {
    let mut build = Build::default();
    read_go(
        &mut build,
        "\u{fffd} Go buildinf:\u{8}\u{2}\0\0\u{8}go1.24.1\u{fffd}\u{1}0w\npath\tx\n\
        build\t-gcflags=\"all=-N -l\"\nbuild\t-race=true\nbuild\tGOARCH=amd64\n",
    );
    assert_eq!(build.compiler.as_deref(), Some("go1.24.1"));
    assert_eq!(build.optimisation.as_deref(), Some("-N"));
    assert_eq!((build.sanitizers, build.unoptimised_units), (vec!["race".to_owned()], 1));
    let mut build = Build::default();
    read_go(&mut build, "go1.24.1\0build\t-compiler=gc\n");
    assert_eq!((build.optimisation, build.units), (None, 0));
}

#[test]
fn comments_tell_the_compiler_where_debug_data_does_not() {
    let of = |text: &str| commented(text).unwrap();
    assert_eq!(of("GCC: (Debian 12.2.0-14) 12.2.0\0"), "GCC (Debian 12.2.0-14) 12.2.0");
    let both = "GCC: (Debian 12.2.0-14) 12.2.0\0rustc version 1.95.0 (5980 2026-04-14)\0";
    assert_eq!(of(both), "rustc version 1.95.0");
    assert_eq!(commented("\0"), None);
}

/// This test's own program is a real one, with rustc's debug data or without any.
#[test]
fn this_program_was_built_by_rustc() {
    let build = Program::of(std::process::id()).and_then(|program| program.build()).unwrap();
    assert!(build.compiler.unwrap().starts_with("rustc version 1."));
    assert_eq!((build.optimisation, build.unoptimised_units), (None, 0));
    assert!(Program::of(u32::MAX).is_none());
}

#[test]
fn broken_files_say_nothing() {
    let program = std::fs::read("/proc/self/exe").unwrap();
    for length in [0, 3, 64, 4096, program.len() / 2] {
        // Whatever it says, it must not fail.
        let _ = of_program(&program[..length]);
    }
    assert_eq!(of_program(b"#!/bin/sh\n"), None);
}
