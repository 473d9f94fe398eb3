//! Whether a Plan can be carried out at all. Front ends check more, and earlier; this keeps a Plan made by hand from doing
//! harm.

use super::{Http2, Http3, Load, Plan};

/// Why a Plan cannot be carried out.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PlanError {
    /// A number is out of its range or two settings exclude each other; the text names the fix.
    #[error("{0}")]
    Invalid(String),
}

impl Plan {
    /// Whether the Plan can be carried out at all.
    ///
    /// # Errors
    /// [`PlanError::Invalid`], naming what is wrong and the fix. Front ends check more, and
    /// earlier; this keeps a Plan made by hand from doing harm.
    pub fn check(&self) -> Result<(), PlanError> {
        let invalid = |text: &str| Err(PlanError::Invalid(text.to_owned()));
        if self.load.connections() == 0 || self.load.pipeline() == 0 || self.workers.count == 0 {
            return invalid(
                "a run needs at least one connection, one request in flight and one \
                            worker",
            );
        }
        if let Load::Open { rate, .. } = self.load {
            let fine = |per_s: f64| (0.0..=1e9).contains(&per_s);
            if !fine(rate.from_per_s) || !fine(rate.to_per_s) {
                return invalid("the rate must be a number from 0 to 1,000,000,000 per second");
            }
            if rate.from_per_s == 0.0 && rate.to_per_s == 0.0 {
                return invalid("a rate of 0 sends nothing; use a higher one");
            }
            if !rate.is_constant() && self.limits.duration_ns.is_none() {
                return invalid("a changing rate needs a duration");
            }
        }
        if let Some(streams) = self.streams() {
            let closed = !self.load.is_open();
            if !(1..=Http2::STREAMS_MAX).contains(&streams)
                || (closed && self.load.pipeline() != streams)
            {
                return invalid("streams per connection must be 1 to 100,000");
            }
        }
        if let Some(http3) = self.http3 {
            self.check_http3(http3)?;
        }
        if self.requests.templates.is_empty() {
            return invalid("a run needs at least one request");
        }
        if self.requests.order.iter().any(|&t| t as usize >= self.requests.templates.len()) {
            return invalid("the order of requests names one that does not exist");
        }
        self.requests.groups.check(self.requests.templates.len())?;
        let walks = self.journey.as_ref().and_then(|journey| journey.route.as_ref());
        if walks.is_some_and(|route| route.rows() != self.requests.templates.len()) {
            return invalid("a journey needs one request for each of its steps and redirects");
        }
        if walks.is_some() && self.streams().is_none() && self.load.pipeline() > 1 {
            return invalid("users of a journey send one request at a time: use no pipeline");
        }
        let has_data = self.requests.data.as_ref().is_some_and(|data| data.table.is_some());
        if self.requests.vary_in_length() && !has_data {
            return invalid("requests with columns of a feed need its rows");
        }
        let bytes: usize =
            self.requests.templates.iter().map(|t| self.requests.most_bytes(t)).sum();
        // Requests in a pipeline are laid out one behind the other; streams share one.
        let copies = if self.streams().is_some() { 1 } else { self.load.pipeline() as usize };
        if bytes.saturating_mul(copies) > u32::MAX as usize {
            return invalid(
                "the requests together are larger than 4 GiB; send fewer or smaller ones",
            );
        }
        if self.target.addresses.is_empty() && self.target.unix_socket.is_none() {
            return invalid("a run needs an address to connect to");
        }
        if self.target.proxy.is_some() && self.target.unix_socket.is_some() {
            return invalid("a proxy is reached over TCP: use only one of proxy and Unix socket");
        }
        self.check_origins()?;
        if self.limits.requests.is_none() && self.limits.duration_ns.is_none() {
            return invalid("a run needs an end: a number of requests or a duration");
        }
        Ok(())
    }

    /// HTTP/3 is for itself: QUIC has TLS in it and goes straight to the server, over UDP.
    fn check_http3(&self, http3: Http3) -> Result<(), PlanError> {
        let invalid = |text: &str| Err(PlanError::Invalid(text.to_owned()));
        if self.http2.is_some() {
            return invalid("a run speaks one version of HTTP: use only one of HTTP/2 and HTTP/3");
        }
        if self.tls.is_none() || self.target.others.iter().any(|other| other.tls.is_none()) {
            return invalid("HTTP/3 has TLS in it: use https URLs");
        }
        if self.target.proxy.is_some() || self.target.unix_socket.is_some() {
            return invalid("HTTP/3 goes over UDP: use no proxy and no Unix socket");
        }
        let windows = [http3.stream_window_bytes, http3.connection_window_bytes];
        if windows.iter().any(|bytes| !Http3::WINDOW_BYTES.contains(bytes)) {
            return invalid("windows of HTTP/3 must have 1 KiB to 4 GiB");
        }
        if http3.datagram_bytes.is_some_and(|bytes| !Http3::DATAGRAM_BYTES.contains(&bytes)) {
            return invalid("datagrams of QUIC must have 1,200 to 65,507 bytes");
        }
        if http3.qpack_table_bytes > Http3::QPACK_TABLE_BYTES_MAX {
            return invalid("a dynamic table of QPACK must have at most 1 MiB");
        }
        Ok(())
    }
}
