//! ab's HTML report (`-w`, and `-x`, `-y`, `-z` with attributes): one table.

use std::fmt::Display;
use std::io::{self, Write};

use ablaze_model::Run;

use super::figures::Figures;
use super::text::min_mean_max;
use super::{HtmlAttributes, Layout};

/// Writes the table as ab does.
///
/// # Errors
/// Those of writing.
pub fn write(
    run: &Run,
    layout: &Layout,
    attributes: &HtmlAttributes,
    out: &mut dyn Write,
) -> io::Result<()> {
    let figures = Figures::of(run, layout.variable_length);
    let mut table = Table { attributes, out };
    write!(table.out, "\n\n<table {}>\n", attributes.table)?;
    subject(run, layout, &figures, &mut table)?;
    counts(run, &figures, &mut table)?;
    if figures.has_rates() {
        rates(run, &figures, &mut table)?;
    }
    if figures.complete > 0 {
        connection_times(&figures, &mut table)?;
    }
    writeln!(table.out, "</table>")
}

struct Table<'a> {
    attributes: &'a HtmlAttributes,
    out: &'a mut dyn Write,
}

impl Table<'_> {
    fn row(&mut self, label: &str, value: impl Display) -> io::Result<()> {
        let HtmlAttributes { row, cell, .. } = self.attributes;
        writeln!(
            self.out,
            "<tr {row}><th colspan=2 {cell}>{label}</th><td colspan=2 {cell}>{value}</td></tr>"
        )
    }

    /// A row that goes on with the one before it.
    fn more(&mut self, value: impl Display) -> io::Result<()> {
        let HtmlAttributes { row, cell, .. } = self.attributes;
        writeln!(
            self.out,
            "<tr {row}><td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{value}</td></tr>"
        )
    }
}

fn subject(run: &Run, layout: &Layout, figures: &Figures, table: &mut Table<'_>) -> io::Result<()> {
    let target = &run.plan.target;
    table.row("Server Software:", escaped(&figures.server_software))?;
    table.row("Server Hostname:", escaped(&target.host))?;
    table.row("Server Port:", target.port)?;
    table.row("Document Path:", escaped(&target.path))?;
    if layout.variable_length {
        table.row("Document Length:", "Variable")
    } else {
        table.row("Document Length:", format_args!("{} bytes", figures.document_bytes))
    }
}

fn counts(run: &Run, figures: &Figures, table: &mut Table<'_>) -> io::Result<()> {
    let record = &run.record;
    table.row("Concurrency Level:", crate::concurrency(run))?;
    table.row("Time taken for tests:", format_args!("{:.3} seconds", figures.taken_s))?;
    table.row("Complete requests:", figures.complete)?;
    table.row("Failed requests:", figures.failed.total())?;
    if figures.failed.total() > 0 {
        let HtmlAttributes { row, cell, .. } = table.attributes;
        let failed = &figures.failed;
        writeln!(
            table.out,
            "<tr {row}><td colspan=4 {cell} >   (Connect: {}, Receive: {}, Length: {}, \
             Exceptions: {})</td></tr>",
            failed.connect, failed.receive, failed.length, failed.exceptions
        )?;
    }
    if figures.non_2xx > 0 {
        table.row("Non-2xx responses:", figures.non_2xx)?;
    }
    if run.plan.connections.keep_alive {
        table.row("Keep-Alive requests:", record.reused)?;
    }
    table.row("Total transferred:", format_args!("{} bytes", record.received_bytes))?;
    if run.plan.requests.has_body {
        table.row("Total body sent:", record.sent_bytes)?;
    }
    table.row("HTML transferred:", format_args!("{} bytes", record.body_bytes))
}

fn rates(run: &Run, figures: &Figures, table: &mut Table<'_>) -> io::Result<()> {
    let received = figures.per_second(run.record.received_bytes) / 1024.0;
    let per_second = figures.per_second(figures.complete);
    table.row("Requests per second:", format_args!("{per_second:.2}"))?;
    table.row("Transfer rate:", format_args!("{received:.2} kb/s received"))?;
    if run.plan.requests.has_body {
        let sent = figures.per_second(run.record.sent_bytes) / 1024.0;
        table.more(format_args!("{sent:.2} kb/s sent"))?;
        table.more(format_args!("{:.2} kb/s total", received + sent))?;
    }
    Ok(())
}

fn connection_times(figures: &Figures, table: &mut Table<'_>) -> io::Result<()> {
    let HtmlAttributes { row, cell, .. } = table.attributes;
    writeln!(table.out, "<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>")?;
    writeln!(
        table.out,
        "<tr {row}><th {cell}>&nbsp;</th> <th {cell}>min</th>   <th {cell}>avg</th>   \
         <th {cell}>max</th></tr>"
    )?;
    let times = &figures.times;
    let rows = [
        ("Connect:", &times.connect),
        ("Processing:", &times.processing),
        ("Total:", &times.total),
    ];
    for (label, quantity) in rows {
        let [min, mean, max] = min_mean_max(quantity);
        writeln!(
            table.out,
            "<tr {row}><th {cell}>{label}</th><td {cell}>{min:>5}</td><td {cell}>{mean:>5}</td>\
             <td {cell}>{max:>5}</td></tr>"
        )?;
    }
    Ok(())
}

/// What a server or a URL says is text, not markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::{HtmlAttributes, Layout, sample};

    fn html(run: &ablaze_model::Run, attributes: &HtmlAttributes) -> String {
        let mut out = Vec::new();
        super::write(run, &Layout::default(), attributes, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_are_ab_s_with_its_default_attributes() {
        let html = html(&sample::run(), &HtmlAttributes::default());
        let label = |line: &str| line.split(['>', '<']).nth(4).unwrap_or("").to_owned();
        let labels: Vec<_> = html.lines().skip(3).map(label).collect();
        let expected = [
            "Server Software:",
            "Server Hostname:",
            "Server Port:",
            "Document Path:",
            "Document Length:",
            "Concurrency Level:",
            "Time taken for tests:",
            "Complete requests:",
            "Failed requests:",
            "Keep-Alive requests:",
            "Total transferred:",
            "HTML transferred:",
            "Requests per second:",
            "Transfer rate:",
            "Connection Times (ms)",
            "&nbsp;",
            "Connect:",
            "Processing:",
            "Total:",
            "",
        ];
        assert_eq!(labels, expected);
        assert!(html.starts_with(
            "\n\n<table >\n<tr ><th colspan=2 bgcolor=white>Server Software:</th>\
             <td colspan=2 bgcolor=white>demo/1</td></tr>\n"
        ));
        assert!(html.contains(
            "<tr ><th bgcolor=white>Total:</th><td bgcolor=white>    3</td>\
             <td bgcolor=white>    8</td><td bgcolor=white>   12</td></tr>\n</table>\n"
        ));
    }

    #[test]
    fn attributes_go_where_they_were_asked_for_and_failures_have_all_four_columns() {
        let mut run = sample::run();
        run.record.failures[1] = 3;
        run.plan.requests.has_body = true;
        let attributes =
            HtmlAttributes { table: "border=1".into(), row: "a".into(), cell: "b".into() };
        let html = html(&run, &attributes);
        assert!(html.starts_with("\n\n<table border=1>\n<tr a><th colspan=2 b>"));
        assert!(html.contains(
            "<tr a><td colspan=4 b >   (Connect: 0, Receive: 3, Length: 0, Exceptions: 0)</td></tr>"
        ));
        assert!(html.contains(
            "<tr a><td colspan=2 b>&nbsp;</td><td colspan=2 b>50.00 kb/s sent</td></tr>"
        ));
    }

    #[test]
    fn markup_in_the_url_stays_text() {
        let mut run = sample::run();
        run.plan.target.path = "/<b>&".into();
        assert!(html(&run, &HtmlAttributes::default()).contains(">/&lt;b&gt;&amp;</td>"));
    }
}
