//! oha, bombardier, vegeta and siege: requests, rate, length and errors.

use super::{behind, error_line, status_line, time_s};
use crate::printed::line::{count, number};
use crate::printed::{Connections, Report, Tool};

pub fn begins(line: &str) -> Option<Tool> {
    if line.starts_with("Bombarding ") {
        return Some(Tool::Bombardier);
    }
    if line.starts_with("Requests") && line.contains("[total, rate") {
        return Some(Tool::Vegeta);
    }
    (line.starts_with("Transactions:") && line.ends_with("hits")).then_some(Tool::Siege)
}

pub fn oha(report: &mut Report, line: &str) -> bool {
    if let Some(taken) = behind(line, "Total:") {
        report.taken_s = time_s(taken);
    } else if let Some(rate) = behind(line, "Requests/sec:") {
        report.rate_per_s = number(rate).map(|(rate, _)| rate);
    } else if let Some((status, responses)) = status_line(line) {
        report.statuses.insert(status, responses);
        report.complete = Some(report.complete.unwrap_or(0).saturating_add(responses));
        report.failed = report.failed.or(Some(0));
    } else if let Some(failed) = error_line(line) {
        report.failed = Some(report.failed.unwrap_or(0).saturating_add(failed));
    } else {
        let others = [
            "Slowest:",
            "Fastest:",
            "Average:",
            "Total data:",
            "Size/",
            "Response time",
            "Details",
            "DNS",
            "Status code",
            "Error distribution",
        ];
        return others.iter().any(|start| line.starts_with(start))
            || line.contains(['|', '%', '■'])
            || line.contains("[");
    }
    true
}

pub fn bombardier(report: &mut Report, line: &str) -> bool {
    if let Some(target) = behind(line, "Bombarding ") {
        crate::printed::native::url(report, target.split_whitespace().next().unwrap_or_default());
        let before = target.split_once(" connection").map(|(before, _)| before);
        report.concurrency = before.and_then(|text| count(text.rsplit(' ').next()?));
        report.connections = Connections::Kept(None);
        if let Some((_, length)) = target.split_once(" for ") {
            report.taken_s = time_s(length);
        }
    } else if let Some(rate) = behind(line, "Reqs/sec") {
        // A mean of the rates in parts of the run, not requests by time.
        report.rate_per_s = number(rate).map(|(rate, _)| rate);
    } else if line.contains("xx - ") {
        let of = |item: &str| count(item.split_once("xx - ")?.1);
        let numbers: Vec<u64> = line.split(", ").filter_map(of).collect();
        report.complete = Some(numbers.iter().copied().fold(0, u64::saturating_add));
        report.non_2xx = report.complete.zip(numbers.get(1)).map(|(all, good)| all - good);
    } else if let Some(others) = behind(line, "others - ") {
        report.failed = count(others);
    } else {
        let others = ["Statistics", "Latency", "HTTP codes:", "Throughput:", "Done!", "["];
        return others.iter().any(|start| line.starts_with(start)) || line.contains('%');
    }
    true
}

/// `Requests      [total, rate, throughput]  1200, 120.00, 65.87`.
pub fn vegeta(report: &mut Report, line: &str) -> bool {
    let Some((names, cells)) = line.split_once(']') else {
        return line.starts_with("Error Set:");
    };
    let cells: Vec<&str> = cells.split(',').map(str::trim).collect();
    report.open_loop = true;
    if names.starts_with("Requests") {
        report.complete = cells.first().and_then(|total| count(total));
        // `throughput` counts the good responses, which is the rate of any other tool.
        report.rate_per_s = cells.last().and_then(|rate| number(rate)).map(|(rate, _)| rate);
    } else if names.starts_with("Duration") {
        report.taken_s = cells.first().and_then(|total| time_s(total));
    } else if names.starts_with("Status Codes") {
        let items = cells.first().map_or("", |items| items).split_whitespace();
        let items = items.filter_map(|item| item.split_once(':'));
        for (status, responses) in items {
            match (status.parse::<u16>(), count(responses)) {
                (Ok(0), Some(failed)) => report.failed = Some(failed),
                (Ok(status), Some(responses)) => {
                    report.statuses.insert(status, responses);
                }
                _ => {}
            }
        }
        report.failed = report.failed.or(Some(0));
    } else {
        return ["Latencies", "Bytes", "Success"].iter().any(|start| names.starts_with(start));
    }
    true
}

pub fn siege(report: &mut Report, line: &str) -> bool {
    if let Some(hits) = behind(line, "Transactions:") {
        report.complete = count(hits);
    } else if let Some(taken) = behind(line, "Elapsed time:") {
        report.taken_s = time_s(taken);
    } else if let Some(rate) = behind(line, "Transaction rate:") {
        report.rate_per_s = number(rate).map(|(rate, _)| rate);
    } else if let Some(failed) = behind(line, "Failed transactions:") {
        report.failed = count(failed);
    } else {
        let others = [
            "Availability:",
            "Data transferred:",
            "Response time:",
            "Throughput:",
            "Concurrency:",
            "Successful transactions:",
            "Longest transaction:",
            "Shortest transaction:",
        ];
        return others.iter().any(|start| line.starts_with(start));
    }
    true
}
