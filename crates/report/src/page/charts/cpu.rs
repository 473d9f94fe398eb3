//! CPU time per request of server and client, in the parts that can be told.

use ablaze_chart::{BarRow, Bars, Chart, Unit};
use ablaze_model::Run;

use crate::effort::{self, Effort};
use crate::page::ShownRun;

/// CPU time per request, ns, as the bars have it: in user mode, in the kernel, polling busily, and working in one of the
/// two modes where too little was used to say in which. Not a number: not known.
pub(crate) type CpuParts = [f64; 4];

/// Bars of CPU times per request without a row.
pub(crate) fn bars(title: &str) -> Bars {
    Bars::new(title, Unit::TimeNs, &["user", "kernel", "busy polling", "user and kernel"])
}

/// CPU time per request of server and client.
pub fn cpu(subjects: &[ShownRun<'_>]) -> Option<Chart> {
    let several = subjects.len() > 1;
    let mut bars = bars("mean over all requests");
    for ShownRun { name, slot, run } in subjects {
        let named = |who: &str| if several { format!("{name}: {who}") } else { who.to_owned() };
        if let (Some(parts), Some((_, who))) = (server_parts(run), effort::of_the_server(run)) {
            let who = if several { "server".to_owned() } else { format!("server ({who})") };
            bars.rows.push(BarRow::new(&named(&who), *slot, &parts));
        }
        if let Some(effort) = Effort::of(run).filter(|effort| effort.work_ns() > 0.0) {
            bars.rows.push(BarRow::new(&named("client"), *slot, &client_parts(&effort)));
        }
    }
    drop_unused_parts(&mut bars);
    (!bars.rows.is_empty()).then(|| Chart::of("CPU time per request", bars))
}

/// The client's, see [`Effort::has_parts`].
pub(crate) fn client_parts(effort: &Effort) -> CpuParts {
    let Effort { user_ns, system_ns, spun_ns, .. } = *effort;
    let work_ns = effort.work_ns().max(0.0);
    if !effort.has_parts {
        return [f64::NAN, f64::NAN, spun_ns, work_ns];
    }
    // Active waiting is spent in user mode, and measured on a finer clock than the modes are.
    [(user_ns - spun_ns).max(0.0), system_ns.min(work_ns), spun_ns, f64::NAN]
}

/// The server's; `None` where nothing is known of it. No response is free: where the kernel's account shows nothing,
/// nothing is known. What of it was busy polling is not measured.
pub(crate) fn server_parts(run: &Run) -> Option<CpuParts> {
    let (cpu_ns, _) = effort::of_the_server(run).filter(|(cpu_ns, _)| *cpu_ns > 0.0)?;
    let processes = &run.monitor.as_ref()?.target.processes;
    let user_ns: u64 = processes.iter().map(|process| process.user_ns).sum();
    let system_ns: u64 = processes.iter().map(|process| process.system_ns).sum();
    if !effort::has_parts(user_ns as f64, system_ns as f64) {
        return Some([f64::NAN, f64::NAN, f64::NAN, cpu_ns]);
    }
    let user = user_ns as f64 / (user_ns + system_ns) as f64;
    Some([cpu_ns * user, cpu_ns * (1.0 - user), f64::NAN, f64::NAN])
}

/// Takes away what no row has: busy polling where nobody polled, most often.
pub(crate) fn drop_unused_parts(bars: &mut Bars) {
    let is_used = |part: usize| bars.rows.iter().any(|row| row.values[part] > 0.0);
    let used: Vec<usize> = (0..bars.parts.len()).filter(|part| is_used(*part)).collect();
    bars.parts = used.iter().map(|part| bars.parts[*part].clone()).collect();
    for row in &mut bars.rows {
        row.values = used.iter().map(|part| row.values[*part]).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn rows(run: &Run) -> Vec<Vec<String>> {
        let chart = cpu(&[ShownRun::new("x", 0, run)]).unwrap();
        let table = chart.tables().remove(0);
        assert!(table.rows.iter().flatten().all(|cell| !cell.starts_with('−')), "{table:?}");
        std::iter::once(table.head).chain(table.rows).collect()
    }

    /// Two threads were in user mode at all of the few ticks of the clock: they have made system calls all the same.
    #[test]
    fn few_ticks_are_not_divided() {
        let mut run = sample::ordinary();
        (run.workers[0].user_ns, run.workers[0].system_ns) = (20_000_000, 0);
        let process = &mut run.monitor.as_mut().unwrap().target.processes[0];
        (process.user_ns, process.system_ns) = (0, 30_000_000);
        let rows = rows(&run);
        assert_eq!(rows[0], ["", "mean over all requests"]);
        assert_eq!(rows[2], ["client", "1.00 µs"]);
        // One of the two is divided.
        (run.workers[0].user_ns, run.workers[0].system_ns) = (20_000_000, 80_000_000);
        let rows = self::rows(&run);
        assert_eq!(rows[0][1..4], ["user", "kernel", "user and kernel"]);
        assert_eq!(rows[2], ["client", "1.00 µs", "4.00 µs", "-", "5.00 µs"]);
        assert_eq!(rows[1][1..3], ["-", "-"]);
    }

    #[test]
    fn what_a_server_polls_is_not_known() {
        let mut run = sample::ordinary();
        (run.workers[0].user_ns, run.workers[0].spun_ns) = (100_000_000, 80_000_000);
        let rows = rows(&run);
        assert_eq!(rows[0][3], "busy polling");
        assert_eq!((rows[1][3].as_str(), rows[2][3].as_str()), ("-", "4.00 µs"));
        assert!(rows[1][1] != "-" && rows[1][2] != "-", "{rows:?}");
    }

    /// A clock finer than that of the modes measured more polling than there was user time.
    #[test]
    fn parts_are_never_less_than_nothing_and_add_up() {
        for (user_ns, system_ns, spun_ns) in
            [(70e6, 1e-9, 70e6), (60e6, 40e6, 75e6), (0.1, 0.2, 0.3), (200.1, 3400.7, 0.0)]
        {
            let (cpu_ns, has_parts) = (user_ns + system_ns, true);
            let parts = client_parts(&Effort { cpu_ns, user_ns, system_ns, spun_ns, has_parts });
            let known = || parts.iter().filter(|part| part.is_finite());
            assert!(known().all(|part| *part >= 0.0), "{parts:?}");
            assert!((known().sum::<f64>() / cpu_ns - 1.0).abs() < 1e-9, "{parts:?}");
        }
    }
}
