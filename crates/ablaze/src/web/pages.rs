//! What is at which path: the page, its events, the finished page, and what can be done.

use std::time::Duration;

use ablaze_report::page::live::Part;
use serde_json::Value;

use super::access::Access;
use super::board::{Board, News};
use super::orders::{Order, Orders};
use crate::http_server::{Exchange, Response};

const HTML: &str = "text/html; charset=utf-8";
/// What a page cannot say in itself: nobody may show it inside of theirs, and its address, with the token, stays here.
const SHIELDS: [&str; 2] =
    ["Content-Security-Policy: frame-ancestors 'none'", "Referrer-Policy: no-referrer"];
/// A browser that takes nothing for so long is let go; it can come again, and then gets the newest state.
const TAKING: Duration = Duration::from_secs(10);
/// So often something is sent, so that it is noticed when a browser has gone.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Answers one request.
pub fn answer(
    exchange: &Exchange,
    access: &Access,
    board: &Board,
    orders: &Orders,
) -> std::io::Result<()> {
    let request = &exchange.request;
    if let Some(refusal) = access.refusal(request) {
        return exchange.respond(&Response::text(403, refusal));
    }
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/events") => events(exchange, board),
        ("GET" | "HEAD", "/") => match board.finished() {
            // Somebody who comes late, or again.
            Some(page) => finished(exchange, board, &page),
            None => exchange.respond(&page(board.page(), "Cache-Control: no-store")),
        },
        ("GET" | "HEAD", "/finished") => match board.finished() {
            Some(page) => finished(exchange, board, &page),
            None => exchange.respond(&Response::text(404, "it is not finished yet\n")),
        },
        ("POST", "/control") => exchange.respond(&control(exchange, orders)),
        (_, "/control") => exchange.respond(&Response::text(405, "use POST\n").with("Allow: POST")),
        (_, "/" | "/events" | "/finished") => {
            exchange.respond(&Response::text(405, "use GET\n").with("Allow: GET"))
        }
        _ => exchange.respond(&Response::text(404, "there is only the page at /\n")),
    }
}

fn page(text: &str, caching: &'static str) -> Response {
    let response = Response::new(200, HTML, text.as_bytes().to_vec()).with(caching);
    SHIELDS.into_iter().fold(response, Response::with)
}

fn finished(exchange: &Exchange, board: &Board, text: &str) -> std::io::Result<()> {
    // Kept by the browser, so that it can be saved when this program is gone.
    exchange.respond(&page(text, "Cache-Control: private, max-age=86400, immutable"))?;
    if exchange.request.method == "GET" {
        board.fetched();
    }
    Ok(())
}

fn control(exchange: &Exchange, orders: &Orders) -> Response {
    let request = &exchange.request;
    let order = match request.parameter("do") {
        Some("rate") => match request.parameter("to").and_then(Order::of_rate) {
            Some(order) => Some(order),
            None => return Response::text(400, "a rate is a number of requests a second\n"),
        },
        name => name.and_then(Order::of_name),
    };
    let Some(order) = order else {
        return Response::text(
            400,
            "use do=stop, do=pause, do=faster, do=slower or do=rate&to=N\n",
        );
    };
    match orders.ask(order) {
        Some(said) => Response::text(200, &said),
        None => Response::text(409, "nothing is under way that could do it"),
    }
}

/// Server-sent events (HTML Living Standard, 9.2): first all parts, then what changes.
fn events(exchange: &Exchange, board: &Board) -> std::io::Result<()> {
    let Some(mut follower) = board.follow() else {
        let text = "too many browsers follow it: close one, then reload the page\n";
        return exchange.respond(&Response::text(503, text));
    };
    let head = Response::endless("text/event-stream", &["Cache-Control: no-store"]);
    exchange.send(head.as_bytes(), TAKING)?;
    exchange.send(b"retry: 1000\n\n", TAKING)?;
    loop {
        match follower.news(HEARTBEAT) {
            News::Parts(parts) => exchange.send(event(&parts).as_bytes(), TAKING)?,
            News::Nothing => exchange.send(b":\n\n", TAKING)?,
            News::Finished => {
                return exchange.send(b"event: finished\ndata: finished\n\n", TAKING);
            }
            News::Over => return Ok(()),
        }
    }
}

fn event(parts: &[std::sync::Arc<Part>]) -> String {
    let parts = parts.iter().map(|part| (part.id.to_owned(), Value::from(part.html.as_str())));
    // JSON has no line ends of its own.
    format!("event: parts\ndata: {}\n\n", Value::Object(parts.collect()))
}
