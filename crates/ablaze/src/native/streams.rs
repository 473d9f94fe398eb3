//! Versions of HTTP whose connections carry several requests as streams, and how many.

use ablaze_model::LoadSpec;
use ablaze_model::plan::Http2;
use ablaze_model::spec::HttpVersion;

use super::options::Options;
use crate::CommandError;

/// Applies HTTP/2 or HTTP/3, and how many exchanges a connection has in flight.
///
/// # Errors
/// When options of another version were given, or a number is out of its range.
pub fn apply(options: &Options, spec: &mut LoadSpec) -> Result<(), CommandError> {
    let streams = options.load.streams;
    let version = match options.request.http {
        // Whatever was asked for: it says where HTTP/3 is.
        _ if options.http3.alt_svc => 3,
        Some(HttpVersion::Http2) => 2,
        Some(HttpVersion::Http3) => 3,
        _ => {
            if let Some(streams) = streams {
                return Err(CommandError::usage(format!(
                    "--streams needs HTTP/2 or HTTP/3: use --http 2 --streams {streams}, or --pipeline \
                     {streams} for HTTP/1.1"
                )));
            }
            return options.http3.refuse();
        }
    };
    if options.load.pipeline.is_some() {
        return Err(CommandError::usage(format!(
            "--pipeline needs HTTP/1: use --streams N for HTTP/{version}"
        )));
    }
    let streams = streams.unwrap_or(1);
    if !(1..=Http2::STREAMS_MAX).contains(&streams) {
        return Err(CommandError::usage(format!(
            "--streams {streams}: use a number from 1 to {}",
            Http2::STREAMS_MAX
        )));
    }
    if streams > 1 && !keeps_alive(options) {
        return Err(CommandError::usage(format!(
            "--streams {streams} cannot be used with a connection per request: raise -c instead, \
             or remove --no-keepalive"
        )));
    }
    spec.in_flight = streams;
    if version == 3 {
        spec.http = Some(HttpVersion::Http3);
        return options.http3.apply(options.connection.close.is_some(), spec);
    }
    options.http3.refuse()
}

/// Whether requests ask for the connection to be kept.
fn keeps_alive(options: &Options) -> bool {
    !options.connection.no_keepalive && options.connection.requests_per_connection != Some(1)
}
