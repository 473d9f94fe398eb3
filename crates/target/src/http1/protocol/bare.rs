//! Servers that speak no HTTP, as some that were measured as if they did: one sends back what it
//! gets, one only reads. What one read gives counts as one request.

use crate::conditions::ResponseKind;
use crate::http1::output::Output;
use crate::http1::protocol::later::Later;
use crate::http1::protocol::{Http1, Next};
use crate::service::Service;

impl Http1 {
    /// Takes in what one read gave.
    pub(crate) fn receive_bare<H>(
        &mut self,
        bytes: &[u8],
        service: &Service<H>,
        out: &mut Output,
    ) -> Next {
        let keep = self.count(service);
        let then = if keep { Next::Read } else { Next::Close { unread: false } };
        let response = match service.response {
            ResponseKind::Echo => bytes,
            ResponseKind::Http | ResponseKind::None => b"",
        };
        if service.circumstances.are_none() {
            out.push_text(response);
            return then;
        }
        let mut later = Later::new(Output::default(), then);
        later.output.push_text(response);
        self.leave(later, service.circumstances.meet(0), 0, out)
    }
}
