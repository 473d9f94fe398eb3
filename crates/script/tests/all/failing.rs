//! Scripts that are wrong: one clear message, and none that goes on for ever.

use std::time::Duration;

use ablaze_script::{Distribution, Script, Summary};
use ablaze_testing::ScratchFile;

use super::{script, setting, thread};

#[test]
fn a_script_that_cannot_be_loaded_is_named_with_its_line() {
    for (text, part) in [
        ("function request(\n", "script.lua:2: "),
        ("\nnothing.here = 1", "script.lua:2: attempt to index global 'nothing'"),
        ("error('on purpose')", "script.lua:1: on purpose"),
    ] {
        let file = ScratchFile::with("script.lua", text.as_bytes());
        let refused = Script::load(setting(Some(file.path().to_owned()))).err().unwrap();
        assert!(refused.0.contains(part) && !refused.0.contains('\n'), "{text}: {refused}");
    }
    let refused = Script::load(setting(Some("/no/such/file.lua".into()))).err().unwrap();
    assert!(refused.0.contains("/no/such/file.lua"), "{refused}");
}

#[test]
fn an_error_in_a_function_is_named_with_its_line() {
    let (mut own, _file) = script("function setup(thread)\n  thread:set('f', print)\nend");
    let refused = own.thread().err().unwrap().0;
    assert!(refused.contains("cannot transfer 'function' to thread"), "{refused}");
    let (mut own, _file) = script("function init() error('no') end");
    assert!(own.thread().err().unwrap().0.contains("script.lua:1: no"));
    let worker = thread("function request()\n return nothing.here\nend");
    assert!(worker.request(&mut Vec::new()).err().unwrap().0.contains("script.lua:2: attempt to"));
    let worker = thread("function request() end");
    assert!(worker.request(&mut Vec::new()).err().unwrap().0.contains("returned a nil"));
    let (own, _file) = script("function done() error('late') end");
    let done = own.done(&Summary::default(), Distribution::default(), Distribution::default());
    assert!(done.err().unwrap().0.contains("late"));
}

#[test]
fn a_host_without_an_address_is_named() {
    let mut elsewhere = setting(None);
    elsewhere.host = "nowhere".into();
    let refused = Script::load(elsewhere).err().unwrap().0;
    assert!(refused.contains("unable to resolve nowhere:8001"), "{refused}");
}

#[test]
fn a_script_that_does_not_return_is_ended_from_another_thread() {
    // The first is compiled by LuaJIT before it is ended, the second catches what ends it once, the third never gets there, and
    // the others catch it again and again.
    for text in [
        "function request() while true do end end",
        "function request() pcall(function() while true do end end) while true do end end",
        "function request() local n = 0 repeat n = n + 1 until n < 0 end",
        "function request() while true do pcall(function() while true do end end) end end",
        "function request()
            local endless = function() xpcall(function() while true do end end, debug.traceback) end
            while true do coroutine.resume(coroutine.create(endless)) end
         end",
        "function request() require('socket').sleep(100000) end",
    ] {
        let worker = thread(text);
        let interrupt = worker.interrupt().unwrap();
        let running = std::thread::spawn(move || worker.request(&mut Vec::new()));
        let is_ended = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            interrupt.now();
            running.is_finished()
        });
        assert!(is_ended, "{text}");
        let refused = running.join().unwrap().err().unwrap().0;
        assert!(refused.contains("the script did not return"), "{refused}");
    }
}

#[test]
fn a_script_that_was_not_in_a_call_goes_on_after_its_interruption() {
    let worker = thread("function request() return wrk.format() end");
    worker.interrupt().unwrap().now();
    assert!(worker.request(&mut Vec::new()).is_err());
    worker.request(&mut Vec::new()).unwrap();
}
