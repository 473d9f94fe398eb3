//! The options of HTTP/3 and of the QUIC below it.

use ablaze_model::LoadSpec;
use clap::Args;

use crate::{CommandError, values};

/// HTTP/3.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "HTTP/3")]
pub struct Http3Options {
    /// HTTP/3 where the server's Alt-Svc says it is, asked over TCP
    #[arg(long)]
    pub alt_svc: bool,
    /// Close connections idle for this long; 0: never [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    pub quic_idle_timeout: Option<u64>,
    /// Flow control window of a response [default: 16MiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size_bytes)]
    pub quic_stream_window: Option<u64>,
    /// Flow control window of a connection [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size_bytes)]
    pub quic_window: Option<u64>,
    /// Size of datagrams, 1200 to 65507 [default: what the path carries]
    #[arg(long, value_name = "BYTES", value_parser = datagram_bytes)]
    pub quic_datagram: Option<u16>,
    /// Spread what is sent over the round trip, as browsers do
    #[arg(long)]
    pub quic_pacing: bool,
    /// QPACK table that the server may use [default: 0]
    #[arg(long, value_name = "SIZE", value_parser = table_bytes)]
    pub qpack_table: Option<u32>,
}

impl Http3Options {
    /// Puts them into a spec.
    ///
    /// # Errors
    /// When an option was given that is for TCP.
    pub fn apply(&self, closes: bool, spec: &mut LoadSpec) -> Result<(), CommandError> {
        if closes {
            return Err(CommandError::usage(
                "--http 3 and --close cannot be used together: QUIC ends a connection with a frame of its own; \
                 remove --close",
            ));
        }
        let quic = &mut spec.quic;
        quic.follows_alt_svc |= self.alt_svc;
        quic.idle_timeout_ns = self.quic_idle_timeout.or(quic.idle_timeout_ns);
        quic.stream_window_bytes = self.quic_stream_window.or(quic.stream_window_bytes);
        quic.connection_window_bytes = self.quic_window.or(quic.connection_window_bytes);
        quic.datagram_bytes = self.quic_datagram.or(quic.datagram_bytes);
        quic.paces |= self.quic_pacing;
        quic.qpack_table_bytes = self.qpack_table.or(quic.qpack_table_bytes);
        Ok(())
    }

    /// Rejects them where another version is spoken.
    ///
    /// # Errors
    /// When one was given.
    pub fn refuse(&self) -> Result<(), CommandError> {
        let given = [
            ("--quic-idle-timeout", self.quic_idle_timeout.is_some()),
            ("--quic-stream-window", self.quic_stream_window.is_some()),
            ("--quic-window", self.quic_window.is_some()),
            ("--quic-datagram", self.quic_datagram.is_some()),
            ("--quic-pacing", self.quic_pacing),
            ("--qpack-table", self.qpack_table.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => {
                Err(CommandError::usage(format!("{option} needs HTTP/3: add --http 3")))
            }
        }
    }
}

fn datagram_bytes(text: &str) -> Result<u16, String> {
    u16::try_from(values::size_bytes(text)?)
        .map_err(|_| "expected a size from 1200 to 65507 bytes".to_owned())
}

fn table_bytes(text: &str) -> Result<u32, String> {
    u32::try_from(values::size_bytes(text)?).map_err(|_| "expected a size up to 1MiB".to_owned())
}
