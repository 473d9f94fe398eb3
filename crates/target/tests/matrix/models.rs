//! The models under test, and running something for each of them: bounded, side by side, with
//! every failure told and not only the first.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ablaze_target::accepting::AcceptMode;
use ablaze_target::{Model, Options, Running, Server};
pub use ablaze_testing::skip::long_tests;
use ablaze_testing::skip::skip_outside_ci;

/// Options for a server on a free port.
pub fn options(model: Model, accept: AcceptMode, threads: usize) -> Options {
    let address = "127.0.0.1:0".parse().unwrap();
    Options { address, model, accept, threads, ..Options::default() }
}

/// Starts a server to judge.
pub fn start(options: Options) -> Running {
    Server::start(options).unwrap()
}

/// The models that promise to serve as all others do, and can on this machine. Where one cannot,
/// this is a skip, and fails under CI.
#[track_caller]
pub fn judged() -> Vec<Model> {
    let mut able = Vec::new();
    for &model in Model::ALL.iter().filter(|model| !model.is_exempt()) {
        let refused = AcceptMode::ALL.map(|accept| model.check(&options(model, accept, 2)).err());
        match refused.iter().all(Option::is_some) {
            false => able.push(model),
            true => skip_outside_ci(&format!("{model} cannot serve here: {:?}", refused[0])),
        }
    }
    able
}

/// The accept modes that can be combined with a model.
pub fn accept_modes(model: Model) -> Vec<AcceptMode> {
    let modes = AcceptMode::ALL.into_iter();
    modes.filter(|&accept| model.check(&options(model, accept, 2)).is_ok()).collect()
}

/// Runs it on a thread of its own; panics, with the name, if it takes longer than `limit`.
pub fn within<T: Send + 'static>(
    name: &str,
    limit: Duration,
    run: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, is_done) = channel();
    let thread = thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let result = run();
            let _ = done.send(result);
        })
        .unwrap();
    match is_done.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("{name}: stuck for {} s", limit.as_secs()),
        // It panicked; its own message is what matters.
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Ok(()) => unreachable!("{name}: ended without a result"),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

/// Runs it for every model under test, all at once, each for at most `limit`.
pub fn for_each_model(limit: Duration, run: impl Fn(Model) + Send + Sync + Copy + 'static) {
    let jobs = judged().into_iter().map(|model| (model.to_string(), model));
    all_at_once(limit, jobs.collect(), run);
}

/// Runs named jobs side by side and reports all failures together.
pub fn all_at_once<J: Send + 'static>(
    limit: Duration,
    jobs: Vec<(String, J)>,
    run: impl Fn(J) + Send + Sync + Copy + 'static,
) {
    let threads: Vec<_> = jobs
        .into_iter()
        .map(|(name, job)| {
            let of = name.clone();
            let one =
                move || catch_unwind(AssertUnwindSafe(|| within(&of, limit, move || run(job))));
            (name, thread::spawn(one))
        })
        .collect();
    let mut failed = Vec::new();
    for (name, thread) in threads {
        if let Err(panic) = thread.join().unwrap() {
            failed.push(format!("{name}: {}", message(&*panic)));
        }
    }
    assert!(failed.is_empty(), "{} failed\n{}", failed.len(), failed.join("\n"));
}

/// What a panic said.
pub fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}
