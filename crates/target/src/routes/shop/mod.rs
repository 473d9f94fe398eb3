//! `--app shop`: a small target with state, for journeys: log in, look at a list, fill a basket, log out. What it
//! responds depends on the seed, on what was sent and on the order of the requests, never on a clock, and the memory
//! that it keeps is bounded.
//!
//! | request | response |
//! |---|---|
//! | `POST /login` `user`, `password` | 200 with a cookie `session` and a JSON `token`; the password is the user's name reversed, else 401 |
//! | `GET /items?page=N` | a page of 20 of the 1,000 items, from page 1 on |
//! | `GET /items/ID` | an item, 404 if there is none |
//! | `POST /basket` `item`, `count` | 201 and the basket |
//! | `GET /basket`, `DELETE /basket/ID` | the basket; without that item |
//! | `POST /logout` | ends the session |
//! | `GET /slow?time=100ms` | a response after that time |
//! | `POST /upload` | size and SHA-256 of each part of a `multipart/form-data` body, or of any other body |
//!
//! Fields come as `application/x-www-form-urlencoded` or as JSON. All but `/login`, `/slow` and `/upload` need the
//! session: the cookie, or `Authorization: Bearer TOKEN`. Errors are `{"error": …}`. Only the 65,536 sessions that began
//! last are kept.

pub mod asked;
pub mod counts;
mod items;
mod sessions;
mod upload;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::conditions::draws::Draws;
use crate::handler::{Body, Method, Reply, Request, Response};
use crate::routes::values::{parameter, time_ns, whole};
use asked::{Sent, credentials};
use counts::RouteCounts;
use items::{Catalogue, PAGES};
use sessions::{Full, Session, Sessions};

const JSON: &str = "application/json";
const SLOW_NS: u64 = 100_000_000;
const USER_BYTES_MAX: usize = 64;

/// How often the shop responds with an error that is nobody's fault: shares from 0 to 1, together at most 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ShopOptions {
    /// 404 instead of an item: a share of `GET /items/ID`.
    pub not_found: f64,
    /// 500: a share of all of its responses. Such a request changes nothing.
    pub failing: f64,
}

/// The shop.
#[derive(Debug)]
pub struct Shop {
    options: ShopOptions,
    draws: Draws,
    catalogue: Catalogue,
    sessions: Sessions,
    counts: Arc<RouteCounts>,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Route {
    /// `POST /login`
    Login,
    /// `GET /items`
    Items,
    /// `GET /items/ID`
    Item,
    /// `POST /basket`
    Add,
    /// `GET /basket`
    Basket,
    /// `DELETE /basket/ID`
    Remove,
    /// `POST /logout`
    Logout,
    /// `GET /slow`
    Slow,
    /// `POST /upload`
    Upload,
    /// A path of the shop with another method.
    OtherMethod,
}

impl Route {
    /// Their names in `/_/status`, in their order.
    pub const NAMES: [&str; 10] = [
        "POST /login",
        "GET /items",
        "GET /items/ID",
        "POST /basket",
        "GET /basket",
        "DELETE /basket/ID",
        "POST /logout",
        "GET /slow",
        "POST /upload",
        "other methods",
    ];

    /// The route of a request with the part of its path that is a value, or the methods that its path has; nothing if
    /// the path is not the shop's.
    fn of(method: Method, path: &[u8]) -> Option<Result<(Self, &[u8]), &'static str>> {
        let get = matches!(method, Method::Get | Method::Head);
        let (post, delete) = (method == Method::Post, method == Method::Delete);
        let (route, fits, methods) = match path {
            b"/login" => (Self::Login, post, "POST"),
            b"/items" => (Self::Items, get, "GET, HEAD"),
            b"/basket" if post => (Self::Add, true, ""),
            b"/basket" => (Self::Basket, get, "GET, HEAD, POST"),
            b"/logout" => (Self::Logout, post, "POST"),
            b"/slow" => (Self::Slow, get, "GET, HEAD"),
            b"/upload" => (Self::Upload, post, "POST"),
            _ => {
                let (route, fits, methods, id) = match path.strip_prefix(b"/items/") {
                    Some(id) => (Self::Item, get, "GET, HEAD", id),
                    None => (Self::Remove, delete, "DELETE", path.strip_prefix(b"/basket/")?),
                };
                return Some(if fits { Ok((route, id)) } else { Err(methods) });
            }
        };
        Some(if fits { Ok((route, b"")) } else { Err(methods) })
    }
}

/// A response before it is one.
struct Answer<'a> {
    status: u16,
    body: Body<'a>,
    field: Option<(&'static str, String)>,
    delay_ns: u64,
}

impl<'a> Answer<'a> {
    fn new(status: u16, body: Body<'a>) -> Self {
        Self { status, body, field: None, delay_ns: 0 }
    }

    fn json(status: u16, value: &Value) -> Self {
        Self::new(status, Body::Owned(format!("{value}\n").into_bytes()))
    }

    fn error(status: u16, why: &str) -> Self {
        Self::json(status, &json!({ "error": why }))
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.field = Some((name, value.into()));
        self
    }
}

/// What a request gets, or the error that it gets instead.
type Outcome<'a> = Result<Answer<'a>, Answer<'a>>;

impl Shop {
    /// A shop without sessions. The seed decides names, prices, tokens and errors.
    pub fn new(options: ShopOptions, seed: u64) -> Self {
        Self {
            options,
            draws: Draws::new(seed),
            catalogue: Catalogue::new(seed),
            sessions: Sessions::new(seed),
            counts: Arc::default(),
        }
    }

    /// How often each route was answered, by status.
    pub fn counts(&self) -> &Arc<RouteCounts> {
        &self.counts
    }

    /// Whether the body of a request for this path is looked into.
    pub fn wants_body(&self, path: &[u8]) -> bool {
        matches!(path, b"/login" | b"/basket" | b"/upload")
    }

    /// The response, if the path is one of the shop's.
    pub fn reply<'a>(&'a self, request: &Request<'a>) -> Option<Reply<'a>> {
        let (route, answer) = match Route::of(request.method, request.path)? {
            Ok((route, id)) => (route, self.answer(route, id, request)),
            Err(methods) => {
                let why = format!("this path has {methods}");
                (Route::OtherMethod, Answer::error(405, &why).with("Allow", methods))
            }
        };
        let Answer { status, body, field, delay_ns } = answer;
        self.counts.add(route, status);
        let mut response = Response::new(status, JSON, body);
        if let Some((name, value)) = field {
            response = response.with_field(name, &value);
        }
        Some(Reply { response, delay_ns })
    }

    fn answer<'a>(&'a self, route: Route, id: &[u8], request: &Request<'a>) -> Answer<'a> {
        if let Some(error) = self.unlucky(route) {
            return error;
        }
        let outcome = match route {
            Route::Login => self.login(request),
            Route::Items => self.items(request),
            Route::Item => self.item(id, request),
            Route::Add => self.add(request),
            Route::Basket => self.with_session(request, |session| Ok(self.basket(200, session))),
            Route::Remove => self.remove(id, request),
            Route::Logout => self.logout(request),
            Route::Slow => slow(request),
            Route::Upload => upload::described(request)
                .map(|parts| Answer::json(200, &parts))
                .map_err(|why| Answer::error(400, why)),
            Route::OtherMethod => Err(Answer::error(405, "no such method here")),
        };
        outcome.unwrap_or_else(|error| error)
    }

    /// The error that strikes, if one does.
    fn unlucky(&self, route: Route) -> Option<Answer<'static>> {
        let ShopOptions { not_found, failing } = self.options;
        if not_found + failing == 0.0 {
            return None;
        }
        let drawn = self.draws.take().fault;
        if drawn < failing {
            return Some(Answer::error(500, "internal error, as asked for with --app"));
        }
        let missing = route == Route::Item && drawn < failing + not_found;
        missing.then(|| Answer::error(404, "no such item, as asked for with --app"))
    }

    fn login(&self, request: &Request<'_>) -> Outcome<'static> {
        let sent = sent(request)?;
        let text = |name| {
            sent.text(name).ok_or_else(|| Answer::error(400, "`user` and `password` are needed"))
        };
        let (user, password) = (text("user")?, text("password")?);
        if user.is_empty() || user.len() > USER_BYTES_MAX {
            return Err(Answer::error(400, "a user has a name of 1 to 64 bytes"));
        }
        if !user.chars().rev().eq(password.chars()) {
            return Err(Answer::error(401, "the password is the user's name reversed"));
        }
        let token = self.sessions.begin(&user);
        let cookie = format!("session={token}; Path=/; HttpOnly");
        let body = json!({ "user": user, "token": token });
        Ok(Answer::json(200, &body).with("Set-Cookie", cookie))
    }

    fn items<'a>(&'a self, request: &Request<'a>) -> Outcome<'a> {
        self.with_session(request, |_| Ok(()))?;
        let page = match parameter(request.query, "page") {
            Some(page) => whole(page),
            None => Some(1),
        };
        match page.and_then(|page| self.catalogue.page(page)) {
            Some(page) => Ok(Answer::new(200, Body::Borrowed(page))),
            None => Err(Answer::error(400, &format!("`page` is a number from 1 to {PAGES}"))),
        }
    }

    fn item<'a>(&'a self, id: &[u8], request: &Request<'a>) -> Outcome<'a> {
        self.with_session(request, |_| Ok(()))?;
        match whole(id).and_then(|id| self.catalogue.item(id)) {
            Some(item) => Ok(Answer::new(200, Body::Borrowed(&item.json))),
            None => Err(no_such_item()),
        }
    }

    fn add<'a>(&'a self, request: &Request<'a>) -> Outcome<'a> {
        self.with_session(request, |session| {
            let sent = sent(request)?;
            let Some(item) = sent.number("item") else {
                return Err(Answer::error(400, "`item` is the number of an item"));
            };
            let count = match sent.has("count") {
                true => sent.number("count"),
                false => Some(1),
            };
            let Some(count) = count.filter(|count| (1..=100).contains(count)) else {
                return Err(Answer::error(400, "`count` is a number from 1 to 100"));
            };
            if self.catalogue.item(item).is_none() {
                return Err(no_such_item());
            }
            // Both are small: checked above.
            match session.add(item as u32, count as u32) {
                Ok(()) => Ok(self.basket(201, session)),
                Err(Full) => Err(Answer::error(409, "the basket is full")),
            }
        })
    }

    fn remove<'a>(&'a self, id: &[u8], request: &Request<'a>) -> Outcome<'a> {
        self.with_session(request, |session| match whole(id) {
            Some(id) if session.remove(id) => Ok(self.basket(200, session)),
            _ => Err(Answer::error(404, "that item is not in the basket")),
        })
    }

    fn logout<'a>(&'a self, request: &Request<'a>) -> Outcome<'a> {
        let token = credentials(request.head).find(|token| self.sessions.end(token));
        match token {
            Some(_) => Ok(Answer::json(200, &json!({ "logged_out": true }))
                .with("Set-Cookie", "session=; Path=/; Max-Age=0; HttpOnly")),
            None => Err(unknown()),
        }
    }

    fn basket<'a>(&self, status: u16, session: &Session) -> Answer<'a> {
        let price = |item| self.catalogue.item(u64::from(item)).map_or(0, |item| item.price_cents);
        let lines = session.basket().iter();
        let total: u64 = lines.clone().map(|(item, count)| price(*item) * u64::from(*count)).sum();
        let lines: Vec<Value> = lines
            .map(|(item, count)| json!({ "item": item, "count": count, "price_cents": price(*item) }))
            .collect();
        let basket = json!({ "user": session.user(), "lines": lines, "total_cents": total });
        Answer::json(status, &basket)
    }

    /// What is done with the session of a request, or 401 if it has none.
    fn with_session<'a, T>(
        &self,
        request: &Request<'a>,
        act: impl FnOnce(&mut Session) -> Result<T, Answer<'a>>,
    ) -> Result<T, Answer<'a>> {
        let mut act = Some(act);
        let done = credentials(request.head).find_map(|token| {
            self.sessions.with(token, |session| act.take().map(|act| act(session)))?
        });
        done.unwrap_or_else(|| Err(unknown()))
    }
}

fn sent(request: &Request<'_>) -> Result<Sent, Answer<'static>> {
    Sent::of(request.field("Content-Type").unwrap_or_default(), request.body)
        .map_err(|why| Answer::error(400, why))
}

fn slow<'a>(request: &Request<'_>) -> Outcome<'a> {
    match parameter(request.query, "time").map_or(Some(SLOW_NS), time_ns) {
        Some(delay_ns) => {
            let body = json!({ "waited_ms": delay_ns as f64 / 1e6 });
            Ok(Answer { delay_ns, ..Answer::json(200, &body) })
        }
        None => Err(Answer::error(400, "write `time` as in /slow?time=250ms")),
    }
}

fn no_such_item<'a>() -> Answer<'a> {
    Answer::error(404, "no such item")
}

fn unknown<'a>() -> Answer<'a> {
    let why = "log in first: POST /login, then send its cookie, or `Authorization: Bearer TOKEN`";
    Answer::error(401, why).with("WWW-Authenticate", "Bearer")
}
