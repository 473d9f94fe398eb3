//! Why a connection is over, or none came about, as one of the kinds that reports know, and in a sentence.

use ablaze_model::failure::FailureKind;
use ablaze_quic::client::{Ended, StartError, Why};
use ablaze_quic::codes::TransportCode;
use ablaze_wire::http3::error::ErrorCode;
use rustls::AlertDescription;

use crate::transport::tls::{Trouble, on_this_thread};

/// The alert with which a server says that it does not speak what it was offered (RFC 7301, 3.2).
const NO_APPLICATION_PROTOCOL: u8 = 120;

/// Of a connection that could not even be begun.
pub(super) fn of_start(error: &StartError) -> Trouble {
    Trouble::new(FailureKind::Other, error.to_string())
}

/// Of a connection that is over; `None` if nothing is wrong with that.
pub(super) fn of_ended(ended: &Ended) -> Option<Trouble> {
    let kind = match &ended.why {
        Why::Closed | Why::ByServer(ErrorCode::NO_ERROR) => return None,
        Why::ByServersQuic(code) if *code == TransportCode(0) => return None,
        Why::IdleTimeout => FailureKind::Timeout,
        Why::ByServer(_) | Why::ByServersQuic(_) => FailureKind::QuicClosed,
        Why::ByAlert(NO_APPLICATION_PROTOCOL) | Why::NoHttp3 | Why::NoCommonVersion => {
            FailureKind::NoHttp3
        }
        Why::ByAlert(alert) => {
            let alert = Trouble::of_alert(AlertDescription::from(*alert)).after(on_this_thread());
            return Some(Trouble { detail: ended.to_string(), ..alert });
        }
        Why::Forgotten => FailureKind::Reset,
        Why::Tls(error) => return Some(Trouble::of(error)),
        Why::Http3(_) | Why::Quic(_) => FailureKind::Http3Violated,
    };
    Some(Trouble::new(kind, ended.to_string()))
}
