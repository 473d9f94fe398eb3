//! setup, done, and what passes between them and the threads.

use ablaze_script::{Distribution, Errors, Summary};
use ablaze_testing::ScratchFile;

use super::{request, script};

#[test]
fn setup_gives_each_thread_its_number_and_done_reads_what_became_of_it() {
    let out = ScratchFile::new("done.txt");
    let (mut script, _file) = script(&format!(
        r#"local threads, counter = {{}}, 0
           function setup(thread)
              counter = counter + 1
              thread:set("id", counter)
              thread:set("list", {{ 1, "two", {{ three = true }} }})
              threads[#threads + 1] = thread
           end
           function init() responses = 0 end
           function request() return wrk.format("GET", "/" .. id .. list[2] .. tostring(list[3].three)) end
           function response() responses = responses + 1 end
           function done()
              local file = io.open("{}", "w")
              for _, thread in ipairs(threads) do
                 file:write(thread:get("id"), " ", thread:get("responses"), " ", tostring(thread:get("none")), "\n")
              end
              file:close()
           end"#,
        out.word()
    ));
    let first = script.thread().unwrap();
    let second = script.thread().unwrap();
    assert!(request(&first).starts_with("GET /1twotrue "));
    assert!(request(&second).starts_with("GET /2twotrue "));
    second.response(200, b"HTTP/1.1 200 OK\r\n\r\n", b"").unwrap();
    script.done(&Summary::default(), Distribution::default(), Distribution::default()).unwrap();
    assert_eq!(std::fs::read_to_string(out.path()).unwrap(), "1 0 nil\n2 1 nil\n");
}

#[test]
fn a_thread_goes_to_the_first_address_that_accepts_connections_or_where_setup_sends_it() {
    let (mut of_wrk, _file) = script("");
    assert_eq!(of_wrk.thread().unwrap().address(), Some("127.0.0.2:8001".parse().unwrap()));
    let (mut own, _file) = script(
        r#"local all, next = wrk.lookup("two", "8001"), 0
           function setup(thread)
              next = next + 1
              thread.addr = all[next]
              thread:set("where", tostring(thread.addr))
           end
           function init() wrk.headers["Where"] = where end"#,
    );
    let (first, second) = (own.thread().unwrap(), own.thread().unwrap());
    assert_eq!(first.address(), Some("127.0.0.1:8001".parse().unwrap()));
    assert_eq!(second.address(), Some("127.0.0.2:8001".parse().unwrap()));
    assert!(request(&first).contains("|Where: 127.0.0.1:8001|"));
}

#[test]
fn a_thread_that_stops_itself_is_stopped() {
    let (mut script, _file) = script(
        r#"local count = 0
           function response()
              count = count + 1
              if count == 2 then wrk.thread:stop() end
           end"#,
    );
    let worker = script.thread().unwrap();
    let head = b"HTTP/1.1 200 OK\r\n\r\n";
    worker.response(200, head, b"").unwrap();
    assert!(!worker.is_stopped());
    worker.response(200, head, b"").unwrap();
    assert!(worker.is_stopped());
}

#[test]
fn done_is_told_the_figures() {
    let out = ScratchFile::new("figures.txt");
    let (script, _file) = script(&format!(
        r#"function done(summary, latency, requests)
              local file = io.open("{}", "w")
              local errors = summary.errors
              file:write(string.format("%d %d %d|%d %d %d %d %d\n", summary.duration, summary.requests, summary.bytes,
                 errors.connect, errors.read, errors.write, errors.status, errors.timeout))
              file:write(string.format("%g %g %g %g|%d|%g %g\n", latency.min, latency.max, latency.mean, latency.stdev,
                 #latency, latency:percentile(50), latency:percentile(99.99)))
              file:write(string.format("%d %d|%d %d|%d %d|%d\n", latency(1), (select(2, latency(1))), latency(2),
                 (select(2, latency(2))), latency(3), (select(2, latency(3))), #requests))
              file:close()
           end"#,
        out.word()
    ));
    let errors = Errors { connect: 1, read: 2, write: 3, status: 4, timeout: 5 };
    let summary = Summary { duration_us: 1_000_000, requests: 10, bytes: 1234, errors };
    let latency =
        Distribution { min: 5.0, max: 7.0, mean: 5.2, stdev: 0.6, values: vec![(5, 9), (7, 1)] };
    script.done(&summary, latency, Distribution::default()).unwrap();
    let expected = "1000000 10 1234|1 2 3 4 5\n5 7 5.2 0.6|2|5 7\n5 9|7 1|0 0|0\n";
    assert_eq!(std::fs::read_to_string(out.path()).unwrap(), expected);
}
