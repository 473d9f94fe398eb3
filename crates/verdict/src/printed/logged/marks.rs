//! What stands before every line of a text: the numbers of `cat -n`, the sign of a comment, of a list or of code.

/// Fewer lines may begin alike by themselves.
const FEWEST: usize = 4;

/// How a line may begin that is quoted with all others. Tools print none of them before each.
const SIGNS: [&str; 8] = ["#", "//", "--", ";", "-", "+", "*", "`"];

/// How many bytes of each line are of such a mark; all 0 where not every line has it.
pub fn marks(lines: &[impl AsRef<str>]) -> Vec<usize> {
    let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
    numbers(&lines).or_else(|| signs(&lines)).unwrap_or_else(|| vec![0; lines.len()])
}

/// `     7\tServer Port:  80`: each has the number behind that of the line above.
fn numbers(lines: &[&str]) -> Option<Vec<usize>> {
    let mut last: Option<u64> = None;
    let mut cut = Vec::with_capacity(lines.len());
    let mut numbered = 0;
    for line in lines {
        if line.trim().is_empty() {
            // `cat -b` and `nl` do not count these.
            cut.push(0);
            continue;
        }
        let digits = line.trim_start();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let number: u64 = digits[..end].parse().ok()?;
        let rest = digits[end..].strip_prefix([':', '|', ')', '.']).unwrap_or(&digits[end..]);
        let is_apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
        if !is_apart || last.is_some_and(|last| number <= last || number > last + SKIPPED) {
            return None;
        }
        (last, numbered) = (Some(number), numbered + 1);
        cut.push(line.len() - rest.len());
    }
    (numbered >= FEWEST).then_some(cut)
}

/// Empty lines that have a number, of which a copy kept none.
const SKIPPED: u64 = 4;

fn signs(lines: &[&str]) -> Option<Vec<usize>> {
    let full = || lines.iter().filter(|line| !line.trim().is_empty());
    let has = |sign: &&&str| full().all(|line| line.trim_start().starts_with(**sign));
    let sign = SIGNS.iter().find(has).filter(|_| full().count() >= FEWEST)?;
    // A list of options, a diff with a part of a file, the rows of a drawn table: they have more of the sign.
    let is_apart = |line: &&&str| {
        let rest = line.trim_start()[sign.len()..].chars().next();
        *sign == "`" || rest.is_none_or(|c| c.is_whitespace() || *sign == "+")
    };
    let cut = |line: &&str| match line.trim().is_empty() {
        true => 0,
        false => line.len() - line.trim_start().len() + sign.len(),
    };
    full().all(|line| is_apart(&line)).then(|| lines.iter().map(cut).collect())
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    const REPORT: &str = "$ wrk -t1 -c8 -d2 http://127.0.0.1:8312/\nRunning 2s test @ http://127.0.0.1:8312/\n  \
                          1 threads and 8 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
                          Latency   232.84us  340.29us   5.08ms   97.24%\n    Req/Sec    48.80k    14.29k  103.40k    73.17%\n  \
                          198723 requests in 2.10s, 27.86MB read\nRequests/sec:  94648.79\n\nTransfer/sec:     13.27MB\n";

    #[test]
    fn what_stands_before_every_line_is_no_part_of_it() {
        let plain = read(REPORT);
        assert_eq!(plain.reports.len(), 1);
        let numbered = |lines: Vec<String>| lines.join("\n") + "\n";
        let each = |of: &dyn Fn(usize, &str) -> String| {
            let lines = REPORT.lines().enumerate();
            numbered(lines.map(|(at, line)| of(at + 1, line)).collect())
        };
        for text in [
            each(&|at, line| format!("{at:6}\t{line}")),
            each(&|at, line| if line.is_empty() { String::new() } else { format!("{at}: {line}") }),
            each(&|_, line| format!("# {line}")),
            each(&|_, line| format!("// {line}")),
            each(&|_, line| format!("+{line}")),
            each(&|_, line| if line.is_empty() { String::new() } else { format!("- {line}") }),
            each(&|_, line| if line.is_empty() { String::new() } else { format!("`{line}`") }),
        ] {
            assert_eq!(read(&text), plain, "{text}");
        }
    }

    #[test]
    fn what_only_some_lines_have_stays() {
        for lines in [
            vec!["# a", "# b", "# c", "d", "# e"],
            vec!["1 a", "2 b", "9 c", "10 d"],
            vec!["- a", "--- b", "- c", "- d"],
            vec!["# a", "# b"],
            vec!["100 a", "90 b", "80 c", "70 d"],
        ] {
            assert_eq!(super::marks(&lines), vec![0; lines.len()], "{lines:?}");
        }
    }
}
