//! `ablaze wrk -s`: scripts as people write them, beside wrk itself where it is installed: what the server saw, and what the
//! script printed. Figures differ from run to run, so digits are not compared.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use ablaze_testing::{Bounded, ScratchFile, skip};
use rustix::process::Signal;

use crate::command::support::{Request, Server, ablaze};

/// Name and text. `FILE` is a file with three paths.
const SCRIPTS: &[(&str, &str)] = &[
    ("constants", "wrk.method = 'POST' wrk.body = 'a=1' wrk.headers['Content-Type'] = 'text/x'"),
    (
        "a count in path and header",
        "local n = 0
         function request()
            n = n + 1
            wrk.headers['X-Count'] = n
            return wrk.format(nil, '/item/' .. n)
         end",
    ),
    ("a pause", "function delay() return 40 end function request() return wrk.format('PUT') end"),
    (
        "several requests at once",
        "function init()
            all = wrk.format('GET', '/a') .. wrk.format('POST', '/b', nil, 'x') .. wrk.format('GET', '/c')
         end
         function request() return all end",
    ),
    (
        "numbers of threads",
        "local threads = {}
         function setup(thread)
            threads[#threads + 1] = thread
            thread:set('id', #threads)
            print('thread ' .. #threads .. ' goes to a ' .. type(thread.addr))
         end
         function init(args) count = 0 first = args[1] end
         function request() count = count + 1 return wrk.format(nil, '/of/' .. id .. '/' .. first) end
         function done()
            for i, thread in ipairs(threads) do print(thread:get('id') .. ' sent ' .. thread:get('count')) end
         end",
    ),
    (
        "a report of one's own",
        "function done(summary, latency, requests)
            for _, p in pairs({ 50, 99, 99.999 }) do
               io.write(string.format('%g%% %d\\n', p, latency:percentile(p)))
            end
            io.write(string.format('{\"requests\": %d, \"errors\": %d, \"mean\": %d, \"rates\": %s}\\n', summary.requests,
               summary.errors.status + summary.errors.timeout, latency.mean, tostring(#requests > 0)))
         end",
    ),
    (
        "an end of its own",
        "local count = 0
         function response()
            count = count + 1
            if count == 100 then wrk.thread:stop() end
         end",
    ),
    (
        "a token of the first response",
        "local token
         function request() return wrk.format('GET', token and '/with' or '/login') end
         function response(status, headers, body)
            if not token and status == 200 then
               token = headers['Server'] .. body
               wrk.headers['Authorization'] = 'Bearer ' .. token
            end
         end",
    ),
    (
        "paths of a file, at random",
        "local paths = {}
         for line in io.lines('FILE') do paths[#paths + 1] = line end
         math.randomseed(os.time())
         function request() return wrk.format(nil, paths[math.random(#paths)]) end",
    ),
    (
        "statuses that are counted",
        "local threads = {}
         function setup(thread) table.insert(threads, thread) end
         function init() seen = {} end
         function response(status) seen[status] = (seen[status] or 0) + 1 end
         function done()
            local sums = {}
            for _, thread in ipairs(threads) do
               for status, count in pairs(thread:get('seen')) do sums[status] = (sums[status] or 0) + count end
            end
            for status, count in pairs(sums) do print('status ' .. status .. ': ' .. count) end
         end",
    ),
    (
        "addresses",
        "local addresses
         function setup(thread)
            addresses = addresses or wrk.lookup(wrk.host, wrk.port)
            for _, address in ipairs(addresses) do
               if wrk.connect(address) then thread.addr = address end
            end
            print('to ' .. tostring(thread.addr))
         end
         function init() wrk.headers['X-Home'] = os.getenv('NO_SUCH_VARIABLE') or 'none' end",
    ),
    ("methods that send no body back", "function request() return wrk.format('HEAD', '/h') end"),
];

fn digits_as_one(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        let is_next = character.is_ascii_digit() && shown.ends_with('0');
        match character {
            _ if is_next => {}
            '0'..='9' => shown.push('0'),
            other => shown.push(other),
        }
    }
    shown
}

/// The different requests that there were.
fn different(seen: &[Request]) -> BTreeSet<String> {
    let shown = |request: &Request| {
        let mut fields = request.head[1..].to_vec();
        fields.sort();
        digits_as_one(&format!("{} | {} | {}", request.head[0], fields.join(" | "), request.body))
    };
    seen.iter().map(shown).collect()
}

/// What stands in front of the report and behind it, in order of the lines.
fn printed(stdout: &str) -> Vec<String> {
    let (before, rest) = stdout.split_once("Running ").unwrap_or_else(|| panic!("{stdout}"));
    let behind = rest.split_once("Transfer/sec:").unwrap_or_else(|| panic!("{stdout}")).1;
    let behind = behind.split_once('\n').unwrap().1;
    let mut lines: Vec<String> = before.lines().chain(behind.lines()).map(digits_as_one).collect();
    lines.sort();
    lines
}

#[test]
fn scripts_have_sent_and_print_what_they_do_under_wrk() {
    let paths = ScratchFile::with("paths.txt", b"/one\n/two\n/three\n");
    let wrk = skip::installed("wrk");
    for (name, text) in SCRIPTS {
        let file = ScratchFile::with("script.lua", text.replace("FILE", paths.word()).as_bytes());
        let (own, of_wrk) = (Server::start(200), Server::start(200));
        let words = |url: &str| {
            let words = ["-t2", "-c4", "-d1s", "-s", file.word(), url, "--", "word"];
            words.map(str::to_owned)
        };
        let other = wrk.as_ref().map(|program| {
            let mut command = Command::new(program);
            command.args(words(&of_wrk.url("/p?q"))).stdout(Stdio::piped());
            std::thread::spawn(move || command.bounded_output().unwrap())
        });
        let own_words = words(&own.url("/p?q"));
        let own_words: Vec<&str> =
            ["wrk"].into_iter().chain(own_words.iter().map(String::as_str)).collect();
        let said = ablaze(&own_words);
        assert_eq!(said.status, 0, "{name}: {said:?}");
        let requests = said.stdout.lines().find_map(|line| line.trim().split_once(" requests in "));
        let counted: usize = requests.unwrap().0.parse().unwrap();
        let seen = own.seen();
        // What was in flight on the four connections at the end.
        let in_flight = if name.starts_with("several") { 12 } else { 4 };
        let left = seen.len() - counted;
        assert!(!seen.is_empty() && left <= in_flight, "{name}: {} {said:?}", seen.len());
        let Some(other) = other else { continue };
        let stdout = String::from_utf8(other.join().unwrap().stdout).unwrap();
        assert_eq!(different(&seen), different(&of_wrk.seen()), "{name}");
        assert_eq!(printed(&said.stdout), printed(&stdout), "{name}: {}{stdout}", said.stdout);
    }
}

#[test]
fn a_static_script_is_one_constant_request() {
    let server = Server::start(200);
    let file = ScratchFile::with("script.lua", b"wrk.method = 'DELETE' wrk.path = '/x'");
    let words = ["wrk", "-t1", "-c1", "-d1s", "--requests", "7", "--json", "-s", file.word()];
    let said = ablaze(&[&words[..], &[&server.url("/")]].concat());
    let run: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.status, &run["responses"]), (0, &7.into()), "{}", said.stderr);
    assert_eq!(server.seen().len(), 7);
    assert_eq!(server.seen()[0].head[0], "DELETE /x HTTP/1.1");
}

#[test]
fn threads_have_constants_of_their_own() {
    let server = Server::start(200);
    let text = b"local n = 0
        function setup(thread) n = n + 1 thread:set('own', n) end
        function init() wrk.headers['X-Thread'] = own end";
    let file = ScratchFile::with("script.lua", text);
    let said = ablaze(&["wrk", "-t2", "-c2", "-d1s", "-s", file.word(), &server.url("/")]);
    assert_eq!(said.status, 0, "{said:?}");
    let seen: BTreeSet<String> =
        server.seen().iter().map(|request| request.fields("X-Thread").concat()).collect();
    assert_eq!(seen, ["1", "2"].map(str::to_owned).into());
}

#[test]
fn a_script_that_is_wrong_is_told_in_a_line_and_nothing_is_sent() {
    let server = Server::start(200);
    for (text, part) in [
        ("function request(", "script.lua:1: "),
        ("function init() error('no') end", "script.lua:1: no"),
        ("function request() return 'GET' end", "incomplete request at 1:1"),
        ("function request() return {} end", "request() returned a table"),
    ] {
        let file = ScratchFile::with("script.lua", text.as_bytes());
        let said = ablaze(&["wrk", "-t1", "-c1", "-d1s", "-s", file.word(), &server.url("/")]);
        assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{text}: {said:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{text}: {said:?}");
        assert!(said.stderr.starts_with("ablaze: script: "), "{text}: {said:?}");
        assert!(said.stderr.contains(part), "{text}: {said:?}");
    }
    assert!(server.seen().is_empty());
    let said = ablaze(&["wrk", "-d1s", "-s", "/no/such.lua", &server.url("/")]);
    assert!(said.status == 1 && said.stderr.contains("/no/such.lua"), "{said:?}");
}

#[test]
fn a_script_that_fails_on_the_way_ends_the_run_with_its_report() {
    let server = Server::start(200);
    let text = b"local n = 0
        function request()
           n = n + 1
           if n > 50 then nothing.here = 1 end
           return wrk.format()
        end";
    let file = ScratchFile::with("script.lua", text);
    let said = ablaze(&["wrk", "-t1", "-c1", "-d60s", "-s", file.word(), &server.url("/")]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("script.lua:4: attempt to index"), "{said:?}");
    // One was asked for before the run.
    assert!(said.stdout.contains("  49 requests in "), "{said:?}");
    assert_eq!(server.seen().len(), 49);
}

#[test]
fn ctrl_c_ends_a_script_that_does_not_return_and_keeps_the_report() {
    let server = Server::start(200);
    let text = b"local n = 0
        function request()
           n = n + 1
           while n > 20 do end
           return wrk.format()
        end";
    let file = ScratchFile::with("script.lua", text);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(["wrk", "-t1", "-c1", "-d60s", "-s", file.word(), &server.url("/")]);
    let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start().unwrap();
    assert!(ablaze_testing::process::eventually(|| server.seen().len() == 19));
    process.signal(Signal::INT);
    let ran = process.end();
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("the script did not return and was ended"), "{ran:?}");
    assert!(ran.stdout.contains("  19 requests in "), "{ran:?}");
}

/// Responds when it has three requests, to each of them, and not before: as a pipeline of three needs it, and nothing else
/// can do with. It ends with the test's process.
fn three_at_a_time() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let (mut came, mut buffer) = (Vec::new(), [0; 4096]);
                while let Ok(count @ 1..) = stream.read(&mut buffer) {
                    came.extend_from_slice(&buffer[..count]);
                    let ends = came.windows(4).filter(|four| four == b"\r\n\r\n").count();
                    if came.ends_with(b"\r\n\r\n") && ends % 3 == 0 {
                        came.clear();
                        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                        stream.write_all(&response.repeat(ends)).unwrap_or_default();
                    }
                }
            });
        }
    });
    format!("http://{address}/")
}

/// As wrk's own script for pipelines does it.
#[test]
fn several_requests_in_one_string_are_sent_together() {
    let text = b"init = function(args)
           local r = {}
           for n = 1, 3 do r[n] = wrk.format('GET', '/' .. n) end
           all = table.concat(r)
        end
        request = function() return all end";
    let file = ScratchFile::with("pipeline.lua", text);
    let words = ["-t1", "-c2", "-d1s", "-s", file.word()];
    let requests = |stdout: &str| -> u64 {
        let line = stdout.lines().find_map(|line| line.trim().split_once(" requests in "));
        line.unwrap_or_else(|| panic!("{stdout}")).0.parse().unwrap()
    };
    let said = ablaze(&[&["wrk"], &words[..], &[&three_at_a_time()]].concat());
    assert!(said.status == 0 && requests(&said.stdout) >= 6, "{said:?}");
    assert!(!said.stdout.contains("Socket errors"), "{said:?}");
    let Some(wrk) = skip::installed("wrk") else { return };
    let output = Command::new(wrk).args(words).arg(three_at_a_time()).bounded_output().unwrap();
    assert!(requests(&String::from_utf8(output.stdout).unwrap()) >= 6);
}

/// One request in the first string says nothing of the strings behind it: each request has its response, and the server is
/// not said to have sent too much.
#[test]
fn a_script_may_give_several_requests_later() {
    let text = b"local n = 0
        request = function()
           n = n + 1
           if n < 3 then return wrk.format('GET', '/one') end
           return wrk.format('GET', '/two') .. wrk.format('POST', '/three', nil, 'x')
        end";
    let file = ScratchFile::with("later.lua", text);
    let server = Server::start(200);
    let words = ["wrk", "-t1", "-c1", "-d60s", "--requests", "100", "--json", "-s", file.word()];
    let said = ablaze(&[&words[..], &[&server.url("/")]].concat());
    let run: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.status, &run["responses"]), (0, &100.into()), "{}", said.stderr);
    let findings = run["verdict"]["findings"].to_string();
    assert!(!findings.contains("\"D18\""), "{findings}");
    let seen = server.seen();
    let sent = |head: &str| seen.iter().filter(|request| request.head[0].starts_with(head)).count();
    // The first of all was asked for before the run.
    assert_eq!((sent("GET /one "), sent("GET /two "), sent("POST /three ")), (1, 50, 49));
}

#[test]
fn ctrl_c_before_the_run_ends_a_script_that_does_not_return() {
    let server = Server::start(200);
    for body in ["", "function request() wait() end", "function init() wait() end"] {
        let begun = ScratchFile::with("begun", b"");
        let text = format!(
            "function wait() local f = io.open('{}', 'w') f:write('x') f:close() while true do end end\n{body}{}",
            begun.word(),
            if body.is_empty() { "wait()" } else { "" }
        );
        let file = ScratchFile::with("script.lua", text.as_bytes());
        let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
        command.args(["wrk", "-t1", "-c1", "-d60s", "-s", file.word(), &server.url("/")]);
        let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start().unwrap();
        let is_in_it = || std::fs::read(begun.word()).is_ok_and(|text| !text.is_empty());
        assert!(ablaze_testing::process::eventually(is_in_it), "{body}");
        process.signal(Signal::INT);
        let ran = process.end();
        let line = "ablaze: interrupted before the run: the script had not returned, and nothing was sent\n";
        assert_eq!((ran.status, ran.stderr.as_str()), (130, line), "{body}: {ran:?}");
        assert_eq!(ran.stdout, "", "{body}");
    }
    assert!(server.seen().is_empty());
}

#[test]
fn ctrl_c_ends_a_done_that_does_not_return() {
    let (server, begun) = (Server::start(200), ScratchFile::with("begun", b""));
    let text = format!(
        "function done() local f = io.open('{}', 'w') f:write('x') f:close() while true do end end",
        begun.word()
    );
    let file = ScratchFile::with("script.lua", text.as_bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(["wrk", "-t1", "-c1", "-d1s", "-s", file.word(), &server.url("/")]);
    let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start().unwrap();
    let is_in_it = || std::fs::read(begun.word()).is_ok_and(|text| !text.is_empty());
    assert!(ablaze_testing::process::eventually(is_in_it));
    process.signal(Signal::INT);
    let ran = process.end();
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("Requests/sec:"), "{ran:?}");
    assert!(ran.stderr.contains("script: the script did not return and was ended"), "{ran:?}");
}
