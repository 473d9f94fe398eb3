//! The five documents.

use super::document::{Document, Line, Server, Then};

/// All of them, by number.
pub const ALL: [&Document; 5] =
    [&GURL_AND_AB, &LEVEL_AND_EDGE, &THREE_SERVERS, &FIBERS_AND_NGINX, &WAYS_TO_ACCEPT];

/// The text of a file in the repository's `experiments/`, which a link has in this crate's package, too.
macro_rules! experiment {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../documents/experiments/", $name)))
    };
}

/// The figures of a document, as the tests of the reader of printed reports have them, by a link as well.
macro_rules! printed {
    ($name:literal) => {
        include_str!(concat!("../../../documents/printed/", $name))
    };
}

/// gurl against ab.
const GURL_AND_AB: Document = Document {
    number: "000",
    title: "gurl against ab",
    about: "gurl against ab on gurl's own echo server, which answers nothing",
    source: "guonaihong/gurl, the page gurl_vs_ab of May 2018",
    did: &[
        "One run each of gurl and ab against gurl's own server: a million requests, 21 at a time. \
         gurl reached 4.3 times the rate of ab, which the page attributes to ab's single thread.",
        "ab's command line is not printed; the one below follows from its report.",
    ],
    printed: &[printed!("000-gurl-and-ab.txt")],
    lines: || {
        let line = |name: &str, words: &str, report| Line {
            name: name.to_owned(),
            words: words.to_owned(),
            server: Server::BuiltIn("--like gurl-echo"),
            then: Then::Report(report),
            quick: 20_000,
            quick_words: "",
            in_quick: true,
        };
        vec![
            line("gurl", "gurl -ac 21 -an 1000000 -bench :12345", 0),
            line("ab", "ab -n 1000000 -c 21 http://127.0.01:12345/", 1),
        ]
    },
    times: 1,
    wrong: &[
        "gurl kept 21 connections and sent HTTP/1.1; ab opened 1,000,000 and sent HTTP/1.0. \
         Neither report says so: the ratio of 4.3 comes from connections as much as from \
         threads.",
        "Both totals are 137,000,000 bytes, which proves nothing: gurl recomputed the size of the \
         heads from the parsed fields.",
        "The machine, its cores and the versions are not named, the server shared the machine with the \
         clients, and there is one run of each. That gurl benefits from more cores was not measured.",
    ],
    files: &[experiment!("000-gurl-and-ab.toml"), experiment!("000-client-threads.toml")],
    asks: "Both clients on the same connections, and ablaze with 1, 2 and 4 threads.",
    profiled: &[],
};

/// Level- against edge-triggered epoll.
const LEVEL_AND_EDGE: Document = Document {
    number: "001",
    title: "level- against edge-triggered epoll",
    about: "handy's two epoll servers, level- against edge-triggered, with 1,048,576 and 48,576 bytes",
    source: "a page of notes on ab, its figures of 2016 to 2018; the servers are yedf/handy's epoll.cc and epoll-et.cc",
    did: &[
        "Notes on ab's options with a sample report, then one run each of two servers that differ in how \
         epoll tells them that a blocked connection can be written again. ET came to 1.14 times the rate of \
         LT with responses of 1,048,576 bytes and to 1.24 times with 48,576 bytes, which the page \
         attributes to the calls that turn EPOLLOUT on and off.",
        "The built-in servers stand in for them. They do not reproduce three peculiarities of the \
         revisions of that time: LT printed a line at each switch and never disarmed EPOLLOUT, and \
         both ended each response with a write of 0 bytes.",
    ],
    printed: &[printed!("001-rates.txt"), printed!("001-annotated.txt")],
    lines: || {
        let line = |name: &str, words: &str, server, then, quick| Line {
            name: name.to_owned(),
            words: words.to_owned(),
            server: Server::BuiltIn(server),
            then,
            quick,
            quick_words: "",
            in_quick: true,
        };
        let large = "ab -n 1000 -k 127.0.0.1/";
        let small = "ab -n 5000 -k 127.0.0.1/";
        vec![
            line("LT, 1,048,576 B", large, "--like handy-lt", Then::Rate(0, 0), 1000),
            line("ET, 1,048,576 B", large, "--like handy-et", Then::Rate(0, 1), 1000),
            line("LT, 48,576 B", small, "--like handy-lt --size 48576", Then::Rate(0, 2), 5000),
            line("ET, 48,576 B", small, "--like handy-et --size 48576", Then::Rate(0, 3), 5000),
            line(
                "the sample",
                "ab -n 1000 -c 100 localhost/index.php",
                "--route /index.php=200:0123456789 --threads 1",
                Then::ReportOf(1, 0),
                1000,
            ),
        ]
    },
    times: 1,
    wrong: &[
        "Two epoll_ctl per response cost a few microseconds. The gap between LT and ET is 2,899 µs per response \
         of 1,048,576 bytes and 264 µs per response of 48,576: more than 99 % of it has another cause.",
        "ET is 1.24 times as fast with the smaller body, so the page says that it blocks more \
         often. It blocks less often per response; LT makes two calls for each response that \
         blocks, whatever its size.",
        "ab ran with one connection (its default), so the servers were never busy with more than one response, \
         and 36 to 51 MB/s on loopback is a tenth or less of what one connection carries.",
        "Likelier causes are in the sources of that time: `g++ epoll.cc -o epoll` compiles without -O; LT printed a line at each \
         switch, ET none; and LT never disarmed EPOLLOUT, so that after the first blocked response it was woken \
         again and again for nothing.",
        "`0.247 [ms] (mean, across all concurrent requests)` is not the time of one user's request, as the notes say: it is the \
         length of the test divided by the requests of all 100 users. A request of one user took 24.701 ms, the line above.",
        "-t is not a timeout, as the notes say: it is the length of the test, and sets -n to \
         50,000. The timeout is -s.",
        "Whether a response blocked at all was not checked. Here 1,048,576 bytes do not unless the \
         send buffer is small, and 48,576 bytes do not even then.",
    ],
    files: &[experiment!("001-level-and-edge.toml")],
    asks: "Both servers with responses that block and responses that do not, ten at a time; what they counted shows which do.",
    profiled: &[],
};

/// Three ways to serve that do not answer.
const THREE_SERVERS: Document = Document {
    number: "002",
    title: "three servers of sylar's test",
    about: "plain epoll, fibers and a TcpServer in sylar's test: two of the three never answer",
    source: "578223592/sylar-from-scratch-comment, the page on the performance of TcpServer",
    did: &[
        "One run of ab with 100,000 requests, 1,000 at a time, against each of three servers with one thread: \
         sylar's TcpServer (SERVER_3), plain epoll (SERVER_1) and sylar's fibers without TcpServer (SERVER_2). \
         The page ranks them and looks for the reason in flame graphs.",
    ],
    printed: &[printed!("002-three-servers.txt")],
    lines: || {
        let line = |name: &str, port: u32, server, report, quick_words| Line {
            name: name.to_owned(),
            words: format!("ab -n 100000 -c 1000 http://localhost:{port}/"),
            server: Server::BuiltIn(server),
            then: Then::Report(report),
            quick: 5_000,
            quick_words,
            in_quick: true,
        };
        vec![
            line("SERVER_3", 12345, "--like sylar-3", 0, ""),
            // With a thousand at a time its queue of 5 loses connections, and who waits for a response
            // over them waits in vain.
            line("SERVER_1", 8888, "--like sylar-1", 1, "-s 3"),
            line("SERVER_2", 12345, "--like sylar-2", 2, ""),
        ]
    },
    times: 1,
    wrong: &[
        "ab opens one connection until it has seen the head of a response (from httpd 2.4.33 on). SERVER_1 and \
         SERVER_3 send none, so they were measured with one request in flight and SERVER_2 with 1,000: \
         the ranking compares a round-trip time with a rate under load.",
        "SERVER_1 and SERVER_3 read and close; SERVER_2 sends the request back: 8,300,000 bytes are 100,000 \
         times the 83 bytes of ab's own request.",
        "The queues of connections differ too (5, 1,024 and 4,096), and all of it was compiled without \
         optimisation.",
        "The flame graphs are of runs with ten times the requests, in which the profiler cost SERVER_3 10.3 % of its rate and \
         SERVER_2 13.6 %. They show shares of the time on a processor, with one request in flight at SERVER_3 and 1,000 at \
         SERVER_2, and not what a request costs.",
    ],
    files: &[experiment!("002-with-responses.toml"), experiment!("002-without-responses.toml")],
    asks: "The three with the same HTTP response at both concurrencies, with flame graphs of the CPU time per request, and without \
        a response.",
    profiled: &["1,000 at a time"],
};

/// Fibers against nginx.
const FIBERS_AND_NGINX: Document = Document {
    number: "003",
    title: "routn's fibers against nginx",
    about: "routn's fibers over ucontext, libco's switch and a pool, 1 to N threads, against nginx",
    source: "RoutineLi/routn, doc/Performance-Test.md",
    did: &[
        "One run of ab with 1,000,000 requests, 200 at a time, for each of eight cases: routn with a \
         connection per request on 1, 2 and more threads, with kept connections, with libco's context switch \
         and with a pool of fibers; and nginx 1.18 both ways as the control.",
        "The number of threads of `more` is not printed; routn's own configuration has 4. Whether -k was \
         given is read from the reports.",
    ],
    printed: &[printed!("003-routn-and-nginx.txt")],
    lines: || {
        let close = "ab -n 1000000 -c 200 http://172.20.10.3:8083/routn/";
        let kept = "ab -n 1000000 -c 200 -k http://172.20.10.3:8083/routn/";
        let line = |name: &str, words: &str, server, report| Line {
            name: name.to_owned(),
            words: words.to_owned(),
            server,
            then: Then::Report(report),
            quick: if words.contains("-k") { 30_000 } else { 10_000 },
            quick_words: "",
            in_quick: true,
        };
        let routn = Server::BuiltIn;
        vec![
            line("close, 1 thread", close, routn("--like routn"), 0),
            line("close, 2 threads", close, routn("--like routn --threads 2"), 1),
            line("close, more threads", close, routn("--like routn --threads 4"), 2),
            line("kept", kept, routn("--like routn --threads 4"), 3),
            line("kept, libco", kept, routn("--like routn-libco --threads 4"), 4),
            line(
                "nginx, close",
                "ab -n 1000000 -c 200 http://172.20.10.3/",
                Server::Nginx(200, 612),
                5,
            ),
            line(
                "nginx, kept",
                "ab -n 1000000 -c 200 -k http://172.20.10.3/routn/",
                Server::Nginx(404, 162),
                6,
            ),
            line(
                "kept, pool",
                "ab -n 100000 -c 200 -k http://172.20.10.3:8083/routn",
                routn("--like routn-pool --threads 4"),
                7,
            ),
        ]
    },
    times: 1,
    wrong: &[
        "The slow tail of 3.5 to 3.9 s does not come from single requests: by the standard deviation, 200 requests \
         were slow in two of the runs and twice as many in two others, with 200 in flight. Everything stood still once or twice, under nginx too.",
        "routn was measured on its 404 page of 138 bytes, nginx once on a page of 612 bytes with status 200 \
         and once on a 404 of 162 bytes.",
        "nginx 1.18 closes a connection after 100 requests: 9,907 times in that run. routn never does.",
        "libco's switch against ucontext is 2.0 %, from one run each; the pool was measured with a tenth of \
         the requests, for 1.8 s.",
        "2 threads were slower than 1, and the page does not say why. The median of Connect is 0 ms with 1 thread and 5 ms with 2 \
         and with more: opening a connection waits for no thread of the server, as the kernel answers, so these \
         milliseconds were most likely spent in ab, whose one thread was then the limit. Faster servers cannot show behind it.",
        "routn's build asks for `-o3`, which names an output file; the build was not optimised.",
    ],
    files: &[experiment!("003-fibers-and-nginx.toml")],
    asks: "All servers with the same 138 bytes and status 200, and as many threads as nginx has \
        workers.",
    profiled: &[],
};

/// The concurrencies of CppNet's chart.
const STEPS: [u64; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];

/// Ways to accept.
const WAYS_TO_ACCEPT: Document = Document {
    number: "004",
    title: "CppNet against muduo",
    about: "CppNet with REUSEPORT and with EPOLLEXCLUSIVE against muduo, from 1 to 10,000 connections",
    source: "caozhiyi/CppNet, its page on the ab benchmark; the values are those of the table in its chart",
    did: &[
        "`ab -kc[1-10000] -n100000 http://127.0.0.1:8921/hello`: 100,000 requests over kept connections for a \
         page of 14 bytes, 1 to 10,000 at a time, three times each; the chart has the best of the three. CppNet with a listener per thread (cppnet_1), \
         CppNet with one listener and EPOLLEXCLUSIVE (cppnet_2), and muduo, two threads each, under WSL2.",
        "Its charts of Windows and macOS cannot be replayed here: ablaze's servers run on Linux.",
    ],
    printed: &[printed!("004-sweep.txt")],
    lines: || {
        let line = |curve: &'static str, server: &'static str, connections: u64| Line {
            name: format!("c = {connections}, {curve}"),
            words: format!("ab -kc{connections} -n100000 http://127.0.0.1:8921/hello"),
            server: Server::BuiltIn(server),
            then: Then::Point(curve, connections),
            quick: 10_000,
            quick_words: "",
            in_quick: matches!(connections, 1 | 100 | 1000),
        };
        let servers = [
            ("cppnet_1", "--like cppnet-1"),
            ("cppnet_2", "--like cppnet-2"),
            ("muduo", "--like muduo"),
        ];
        let at = |connections| servers.map(|(curve, server)| line(curve, server, connections));
        STEPS.into_iter().flat_map(at).collect()
    },
    times: 3,
    wrong: &[
        "The best of three keeps the luckiest run and hides the spread.",
        "From one connection to two, every rate grows more than twofold (2.36, 2.45 and 4.90 times): in a \
         closed loop that is impossible unless the single connection was slow for another reason, \
         such as idle processors that had to wake up.",
        "From 200 connections to 500, cppnet_1 loses 44 %, muduo 51 % and cppnet_2 15 %, and the page does not say why. The cause \
         cannot be read from the chart. All three share ab with its one thread and a machine of four cores under WSL2, a virtual \
         machine in which client and servers ran together, and with 500 connections each carries 200 requests.",
        "With -k a connection is accepted once and then kept: 100 times in 100,000 requests at 100 connections. The way to accept \
         then matters only through how it distributes the connections among the threads.",
        "100,000 requests last 0.6 to 7 s; with 10,000 connections each carries 10 requests, and opening it is \
         part of the measured time.",
        "ab has one thread, and at 190,000/s it is near its own limit; its CPU time was not shown.",
        "muduo's test server prints a line for each request, and with two I/O threads it has three; how CppNet's \
         two threads shared the connections was not shown.",
    ],
    files: &[experiment!("004-ways-to-accept.toml")],
    asks: "The same sweep with the same time at every point, connections open before the clock.",
    profiled: &[],
};
