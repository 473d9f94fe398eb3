//! A server of hyperium's `h3` over quinn, in the test's own process.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use ablaze_testing::Scratch;
use bytes::{Buf, Bytes};
use h3::server::RequestResolver;
use quinn::crypto::rustls::QuicServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::{Started, Wish};

/// Requests that are still processed behind GOAWAY, and from which on it is said.
const GOAWAY: (usize, usize) = (5, 300);

/// Starts it; it ends when the value is dropped.
pub fn start(wish: Wish, scratch: Scratch) -> Option<Started> {
    let config = config(&scratch);
    let files = scratch.path().join("files");
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let endpoint = quinn::Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap();
            tell.send(endpoint.clone()).unwrap();
            while let Some(incoming) = endpoint.accept().await {
                if wish == Wish::Retry && !incoming.remote_address_validated() {
                    incoming.retry().expect("it may be retried");
                    continue;
                }
                tokio::spawn(connection(incoming, wish, files.clone()));
            }
        });
    });
    let endpoint = told.recv_timeout(Duration::from_secs(10)).unwrap();
    let port = endpoint.local_addr().unwrap().port();
    Some(Started { port, scratch, _alive: Box::new(Closing(endpoint)) })
}

/// Ends the server's thread.
struct Closing(quinn::Endpoint);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close(0u8.into(), &[]);
    }
}

fn config(scratch: &Scratch) -> quinn::ServerConfig {
    let chain = CertificateDer::pem_file_iter(scratch.file("there.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(scratch.file("there.key")).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()))
}

/// Serves a connection until the client has enough, or until it was told GOAWAY and has no request left.
async fn connection(incoming: quinn::Incoming, wish: Wish, files: PathBuf) {
    // A client that does not trust the certificate ends it.
    let Ok(connection) = incoming.await else { return };
    let connection = h3_quinn::Connection::new(connection);
    let Ok(mut h3) = h3::server::Connection::<_, Bytes>::new(connection).await else { return };
    let mut begun = 0;
    while let Ok(Some(resolver)) = h3.accept().await {
        begun += 1;
        let (more, from) = GOAWAY;
        if wish == Wish::GoAway && begun == from {
            h3.shutdown(more).await.unwrap();
        }
        tokio::spawn(request(resolver, files.clone()));
    }
}

async fn request(resolver: RequestResolver<h3_quinn::Connection, Bytes>, files: PathBuf) {
    let Ok((request, mut stream)) = resolver.resolve_request().await else { return };
    let mut got = Vec::new();
    while let Ok(Some(mut part)) = stream.recv_data().await {
        got.extend_from_slice(&part.copy_to_bytes(part.remaining()));
    }
    let content = match request.uri().path() {
        "/echo" => got,
        path => std::fs::read(files.join(path.trim_start_matches('/'))).unwrap(),
    };
    let head = http::Response::builder().header("content-length", content.len());
    // The client may have gone.
    if stream.send_response(head.body(()).unwrap()).await.is_ok()
        && stream.send_data(content.into()).await.is_ok()
    {
        let _ = stream.finish().await;
    }
}
