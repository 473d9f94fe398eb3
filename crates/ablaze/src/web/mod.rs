//! `--web`: the page of what is not over yet, in browsers. Whoever measures posts parts of the page on a [`Board`] and takes
//! [`Orders`]; threads of their own serve both to browsers, which hold nobody up.

mod access;
mod board;
mod options;
mod orders;
mod pages;
mod parts;
pub mod plan;
pub mod run;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use ablaze_report::system_error::reason;

use crate::CommandError;
use crate::carry_out::interrupted;
use crate::error::note;
use crate::http_server::{self, Bounds};

pub use board::Board;
pub use options::WebOptions;
pub use orders::{Order, Orders};

use access::Access;

/// Browsers keep a connection each, and others come and go.
const BOUNDS: Bounds = Bounds { name: "web", connections_max: 48 };
/// How long a browser that followed is given to fetch the finished page.
const FETCHING: Duration = Duration::from_secs(10);

/// The page, served.
#[derive(Debug)]
pub struct Web {
    /// Where: with the token.
    pub url: String,
    /// What is shown.
    pub board: Arc<Board>,
    /// What browsers ask for.
    pub orders: Arc<Orders>,
}

impl Web {
    /// Serves this page from now on, and says where.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn begin(address: SocketAddr, orders: Orders, page: String) -> Result<Self, CommandError> {
        let refused = |error: &std::io::Error| {
            CommandError::usage(format!("--web cannot listen on {address}: {}", reason(error)))
        };
        let listener = TcpListener::bind(address).map_err(|error| refused(&error))?;
        let bound = listener.local_addr().map_err(|error| refused(&error))?;
        let access = Access::new(bound).map_err(|error| refused(&error))?;
        let (url, is_open) = (access.url(), access.is_open());
        let web = Self { url, board: Arc::new(Board::of(page)), orders: Arc::new(orders) };
        let (board, orders) = (Arc::clone(&web.board), Arc::clone(&web.orders));
        let answer = move |exchange| pages::answer(&exchange, &access, &board, &orders);
        http_server::serve(listener, BOUNDS, answer).map_err(|error| refused(&error))?;
        note(&format!("watch at {}", web.url));
        if is_open {
            note(&format!(
                "--web {bound} can be reached from other machines: whoever has this address with its token sees the \
                 run and can end it, and it is sent without encryption"
            ));
        }
        Ok(web)
    }

    /// Waits until the browsers that followed have the finished page, for a while; if none did, for `linger_ns` at most until
    /// one comes. Ctrl-C ends it, unless that was what ended the run: a second one ends this process.
    pub fn linger(&self, linger_ns: u64) {
        let for_a_first = Duration::from_nanos(linger_ns);
        let was_interrupted = interrupted();
        let is_enough = || !was_interrupted && interrupted();
        self.board.wait_until_fetched(FETCHING, for_a_first, is_enough);
    }
}
