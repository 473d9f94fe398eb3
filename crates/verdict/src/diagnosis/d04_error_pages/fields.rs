//! What is known of header fields that the server answers with 431.

use ablaze_model::Run;

use crate::words::grouped;

/// What the server had said of the fields that it answers with 431 (RFC 6585, 5): over HTTP/2 advice, which is sent all the same
/// (RFC 9113, 10.5.1).
pub(super) fn limit(run: &Run, others: &[(u16, u64)]) -> String {
    let settings = run.record.http2.as_ref().and_then(|facts| facts.settings);
    let bytes = settings.and_then(|settings| settings.header_list_bytes);
    match bytes.filter(|_| others.iter().any(|(status, _)| *status == 431)) {
        Some(bytes) => format!(
            " For 431: the server accepts header fields of {} bytes (SETTINGS_MAX_HEADER_LIST_SIZE: names and values, \
             32 more for each).",
            grouped(bytes.into())
        ),
        None => String::new(),
    }
}
