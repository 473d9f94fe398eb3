//! The report beside the real ab's: the same labels in the same order, the same columns, files of
//! the same shape, progress in the same steps.

use std::time::Duration;

use crate::ab::report_reader::Report;
use crate::ab::support::{Ran, Scratch, Server, ablaze, ok, real_ab};

/// Runs both against one server.
fn both(words: &[&str], server: &Server) -> Option<(Ran, Ran)> {
    let url = server.url();
    let words: Vec<&str> = words.iter().copied().chain([&url[..]]).collect();
    Some((ablaze(&words), real_ab(&words)?))
}

/// `Keep-Alive` is what ab needs to see.
const KEEPING: &str = "HTTP/1.0 200 OK\r\nServer: a/1 (b)\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello";

fn not_found() -> Server {
    Server::answering("HTTP/1.0 404 Not Found\r\nContent-Length: 3\r\n\r\nno!")
}

#[test]
fn labels_columns_and_counts_are_ab_s() {
    let body = Scratch::with("report-body", b"a=1");
    let kept = Server::keeping(KEEPING);
    let closed = Server::answering(ok("hello"));
    let table: &[(&[&str], &Server)] = &[
        (&[], &closed),
        (&["-n", "7", "-c", "2"], &closed),
        (&["-n", "50", "-c", "3", "-k"], &kept),
        (&["-n", "20", "-l", "-k"], &kept),
        (&["-n", "20", "-p", body.word()], &closed),
        (&["-n", "20", "-u", body.word(), "-k"], &kept),
        (&["-n", "20", "-S"], &closed),
        (&["-n", "20", "-d"], &closed),
        (&["-n", "20", "-S", "-d", "-q"], &closed),
        (&["-n", "200", "-c", "4"], &closed),
        (&["-n", "5", "-i"], &Server::answering("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n")),
        (&["-n", "5"], &not_found()),
    ];
    for (words, server) in table {
        let Some((ours, theirs)) = both(words, server) else { return };
        assert_eq!((ours.status, theirs.status), (0, 0), "{words:?}");
        let (our_report, their_report) = (Report::read(&ours.stdout), Report::read(&theirs.stdout));
        assert_eq!(without_warnings(&our_report), without_warnings(&their_report), "{words:?}");
        assert_eq!(shape(&ours.stdout), shape(&theirs.stdout), "{words:?}");
        let columns = |report: &Report| -> Vec<usize> {
            report.times.iter().map(|(_, numbers)| numbers.len()).collect()
        };
        assert_eq!(columns(&our_report), columns(&their_report), "{words:?}");
        for label in [
            "Server Software",
            "Server Hostname",
            "Server Port",
            "Document Path",
            "Document Length",
            "Concurrency Level",
            "Complete requests",
            "Failed requests",
            "Non-2xx responses",
            "Keep-Alive requests",
            "Total transferred",
            "Total body sent",
            "HTML transferred",
        ] {
            assert_eq!(our_report.value(label), their_report.value(label), "{words:?}");
        }
        assert_eq!(ours.stderr, theirs.stderr, "{words:?}");
    }
}

/// Labels, ab's bogus warnings not among them.
fn without_warnings(report: &Report) -> Vec<&str> {
    let mut labels = report.labels();
    labels.retain(|label| !["WARNING", "ERROR"].contains(label));
    labels
}

/// A report with every figure replaced by `#`, and warnings left out: what is left is layout.
fn shape(text: &str) -> Vec<String> {
    let (_, body) = text.split_once("\n\n").unwrap();
    body.lines()
        .filter(|line| !is_warning(line))
        .map(|line| {
            let mut shape = String::new();
            let mut in_number = false;
            for letter in line.chars() {
                let of_number = letter.is_ascii_digit() || in_number && letter == '.';
                if of_number && !in_number {
                    // Padding in front of a number depends on how wide it is.
                    shape.truncate(shape.trim_end_matches(' ').len());
                    shape.push('#');
                }
                if !of_number {
                    shape.push(letter);
                }
                in_number = of_number;
            }
            shape
        })
        .collect()
}

fn is_warning(line: &str) -> bool {
    line.starts_with("ERROR:")
        || line.starts_with("WARNING:")
        || line.starts_with("       deviation apart")
        || line.starts_with("        These results")
}

#[test]
fn labels_fill_24_columns_and_rows_their_widths() {
    let ran = ablaze(&["-n", "3", &Server::answering(ok("hello")).url()]);
    let report = Report::read(&ran.stdout);
    for label in report.labels().iter().filter(|label| !label.starts_with("Benchmarking")) {
        let line = ran.stdout.lines().find(|line| line.starts_with(&format!("{label}:")));
        let line = line.unwrap();
        assert_ne!(line.as_bytes()[24], b' ', "{line}");
        assert_eq!(line.as_bytes()[23], b' ', "{line}");
    }
    let row = ran.stdout.lines().find(|line| line.starts_with("Processing:")).unwrap();
    assert_eq!(row.len(), 12 + 5 + 1 + 4 + 1 + 5 + 1 + 6 + 1 + 7, "{row}");
}

#[test]
fn the_figures_agree_with_each_other() {
    let server = Server::keeping(KEEPING);
    let ran = ablaze(&["-k", "-n", "400", "-c", "4", &server.url()]);
    let report = Report::read(&ran.stdout);
    let per_request: Vec<f64> = report
        .values
        .iter()
        .filter(|(label, _)| label == "Time per request")
        .map(|(_, value)| value.split(' ').next().unwrap().parse().unwrap())
        .collect();
    let rate = report.number("Requests per second");
    // Printed to the microsecond, so that short times are far from exact.
    assert!((per_request[0] - 4.0 * per_request[1]).abs() < 0.003, "{per_request:?}");
    assert!((1000.0 / rate - per_request[1]).abs() < 0.001, "{rate} {per_request:?}");
    assert!((400.0 / rate - report.number("Time taken for tests")).abs() < 0.001);
    let mean = |row: usize| report.times[row].1[1];
    // Connect and Processing make the Total; each is rounded to a millisecond.
    assert!((mean(0) + mean(1) - mean(3)).abs() <= 1.0, "{}", ran.stdout);
    let last = report.percentiles.last().unwrap();
    assert_eq!((last.0, last.1 as f64), (100, *report.times[3].1.last().unwrap()));
}

#[test]
fn connecting_is_part_of_the_total_and_not_of_processing() {
    let server = Server::start(|client| {
        client.request();
        std::thread::sleep(std::time::Duration::from_millis(60));
        client.send(&ok("hello"));
    });
    let ran = ablaze(&["-n", "3", &server.url()]);
    let report = Report::read(&ran.stdout);
    let (processing, waiting) = (&report.times[1].1, &report.times[2].1);
    assert!(processing[0] >= 60.0 && waiting[0] >= 60.0, "{}", ran.stdout);
    assert!(report.times[3].1[0] >= 60.0, "{}", ran.stdout);
    assert!(report.times[3].1[0] >= processing[0], "{}", ran.stdout);
}

#[test]
fn progress_comes_in_ab_s_steps() {
    let server = Server::keeping(KEEPING);
    for words in [
        &["-kn", "150"][..],
        &["-kn", "151"],
        &["-kn", "1999", "-c", "5"],
        &["-kqn", "1999"],
        &["-kn", "1500", "-t", "5", "-n", "1500"],
    ] {
        let Some((ours, theirs)) = both(words, &server) else { return };
        assert_eq!(ours.stderr, theirs.stderr, "{words:?}");
    }
}

#[test]
fn the_csv_has_ab_s_shape() {
    let (ours, theirs) = (Scratch::new("ours.csv"), Scratch::new("theirs.csv"));
    let server = Server::answering(ok("hello"));
    ablaze(&["-n", "60", "-e", ours.word(), &server.url()]);
    let keys = |scratch: &Scratch| -> Vec<String> {
        let text = std::fs::read_to_string(scratch.path()).unwrap();
        text.lines().map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(keys(&ours).len(), 102);
    if real_ab(&["-n", "60", "-e", theirs.word(), &server.url()]).is_some() {
        assert_eq!(keys(&ours), keys(&theirs));
    }
}

#[test]
fn the_gnuplot_file_has_a_line_per_request_sorted_by_total_time() {
    let (ours, theirs) = (Scratch::new("ours.tsv"), Scratch::new("theirs.tsv"));
    let server = Server::answering(ok("hello"));
    ablaze(&["-n", "25", "-c", "2", "-g", ours.word(), &server.url()]);
    let rows = |scratch: &Scratch| -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(scratch.path()).unwrap();
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    };
    let our_rows = rows(&ours);
    assert_eq!(our_rows.len(), 26);
    assert!(our_rows.iter().all(|row| row.len() == 6));
    let totals: Vec<u64> = our_rows[1..].iter().map(|row| row[4].parse().unwrap()).collect();
    assert!(totals.is_sorted());
    if real_ab(&["-n", "25", "-g", theirs.word(), &server.url()]).is_some() {
        let their_rows = rows(&theirs);
        assert_eq!(our_rows[0], their_rows[0]);
        // `Sat Nov 21 07:23:53 2026`: the same date in the same form, in the same time zone.
        let date = |rows: &[Vec<String>]| rows[1][0].len();
        assert_eq!(date(&our_rows), date(&their_rows));
        let hour = |rows: &[Vec<String>]| rows[1][0].split(':').next().unwrap().to_owned();
        let seconds = |rows: &[Vec<String>]| rows[1][1].parse::<u64>().unwrap() / 3600;
        if seconds(&our_rows) == seconds(&their_rows) {
            assert_eq!(hour(&our_rows), hour(&their_rows));
        }
    }
}

#[test]
fn the_html_table_has_ab_s_rows() {
    let body = Scratch::with("html-body", b"a=1");
    let server = Server::answering(ok("hello"));
    for words in [
        &["-w", "-n", "20", "-q"][..],
        &["-x", "border=1", "-y", "class=r", "-z", "class=c", "-n", "9", "-p", body.word()],
    ] {
        let Some((ours, theirs)) = both(words, &server) else { return };
        let table = |ran: &Ran| -> Vec<String> {
            let start = ran.stdout.find("<table").unwrap();
            shape(&format!("\n\n{}", &ran.stdout[start..]))
        };
        assert_eq!(table(&ours), table(&theirs), "{words:?}");
    }
}

#[test]
fn heads_and_statuses_are_shown_as_ab_does() {
    let long = |status: &str| {
        let body: String = ('a'..='z').cycle().take(20_000).collect();
        format!(
            "HTTP/1.0 {status}\r\nConnection: keep-alive\r\nContent-Length: 20000\r\n\r\n{body}"
        )
    };
    let split = Server::start(|client| {
        for _ in 0..2 {
            let Some(_) = client.request() else { return };
            let kept = "ection: keep-alive\r\nContent-Length: 5\r\n\r\nhe";
            for part in ["HTTP/1.0 200 OK\r\nConn", kept, "llo"] {
                client.send(part.as_bytes());
                // Two reads of the client: each is printed.
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    });
    let shown = |ran: &Ran| -> String {
        let start = ran.stdout.find("Benchmarking ").unwrap();
        let end = ran.stdout.find("Server Software:").unwrap();
        ran.stdout[start..end].to_owned()
    };
    let closing: &[&[&str]] = &[&["-v", "2", "-n", "3"], &["-v4", "-n2", "-q"]];
    let keeping: &[&[&str]] = &[&["-v", "2", "-k"], &["-v3", "-n2", "-k"]];
    for (server, lines) in [
        (not_found(), closing),
        (Server::answering(long("302 Found")), closing),
        (Server::answering("HTTP/1.0 200 OK\n\na\0b\n"), closing),
        (Server::keeping(KEEPING), keeping),
        (Server::keeping(long("200 OK")), keeping),
        (split, keeping),
    ] {
        for words in lines {
            let Some((ours, theirs)) = both(words, &server) else { return };
            let (ours, theirs) = (shown(&ours), shown(&theirs));
            let same = ours.bytes().zip(theirs.bytes()).take_while(|(ours, theirs)| ours == theirs);
            let same = same.count();
            let (left, right) = (ours.get(same..), theirs.get(same..));
            assert!(ours == theirs, "{words:?}, from byte {same}: {left:.200?} {right:.200?}");
        }
    }
    let Some((ours, theirs)) = both(&["-v", "1", "-n", "1"], &not_found()) else { return };
    assert_eq!(shown(&ours), shown(&theirs));
}
