//! The `h2` crate as server, in the test itself, with rustls in front of it on one port and without on
//! the other: it is strict, and says what it holds against a client.

use ablaze_testing::Scratch;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use http::{Method, Request, Response, StatusCode};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::conformance::cases::{FILES, Server, conform};
use crate::conformance::scratch::{LARGE_BYTES, SMALL, scratch};

type Complaints = Arc<Mutex<Vec<String>>>;

#[test]
fn h2() {
    let scratch = scratch("h2");
    let complaints = Complaints::default();
    let h2c = Some(start(None, &complaints));
    let tls = Some(start(Some(acceptor(&scratch)), &complaints));
    let server =
        Server { name: "h2", scratch: &scratch, tls, h2c, h3: None, http1: false, paths: FILES };
    conform(&server, || complaints.lock().unwrap().clone());
}

fn acceptor(scratch: &Scratch) -> TlsAcceptor {
    let file = |name: &str| scratch.path().join(name);
    let chain = vec![CertificateDer::from_pem_file(file("there.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file("there.key")).unwrap();
    let mut config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// Serves on a port of its own. It ends with the process: nothing of it is outside.
fn start(tls: Option<TlsAcceptor>, complaints: &Complaints) -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let complaints = complaints.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(accept(listener, tls, complaints));
    });
    port
}

async fn accept(listener: std::net::TcpListener, tls: Option<TlsAcceptor>, complaints: Complaints) {
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (tls, complaints) = (tls.clone(), complaints.clone());
        tokio::spawn(async move {
            let served = match tls {
                None => serve(stream, &complaints).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => serve(stream, &complaints).await,
                    Err(error) => return complaints.lock().unwrap().push(format!("TLS: {error}")),
                },
            };
            if let Err(error) = served {
                complaints.lock().unwrap().push(format!("connection: {error}"));
            }
        });
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    complaints: &Complaints,
) -> Result<(), h2::Error> {
    let mut connection = Builder::new()
        // Less than is asked for, and windows that have to be waited for.
        .max_concurrent_streams(20)
        .initial_window_size(30_000)
        .initial_connection_window_size(100_000)
        .max_send_buffer_size(4 << 20)
        .handshake::<_, Bytes>(stream)
        .await?;
    while let Some(request) = connection.accept().await {
        let (request, respond) = request?;
        let complaints = complaints.clone();
        tokio::spawn(async move {
            if let Err(error) = response(request, respond).await {
                complaints.lock().unwrap().push(format!("stream: {error}"));
            }
        });
    }
    Ok(())
}

async fn response(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let is_head = request.method() == Method::HEAD;
    let (status, body) = match request.uri().path() {
        "/small" if is_head => (StatusCode::OK, Bytes::new()),
        "/small" => (StatusCode::OK, Bytes::from_static(SMALL)),
        "/large" => (StatusCode::OK, Bytes::from(vec![b'x'; LARGE_BYTES])),
        "/echo" => (StatusCode::OK, whole(request.into_body()).await?),
        _ => (StatusCode::NOT_FOUND, Bytes::from_static(b"not here\n")),
    };
    let head = Response::builder().status(status).header("server", "h2").body(()).unwrap();
    if body.is_empty() {
        respond.send_response(head, true)?;
    } else {
        respond.send_response(head, false)?.send_data(body, true)?;
    }
    // Whether the client gave the stream up is known when it is over.
    match std::future::poll_fn(|context| respond.poll_reset(context)).await {
        Ok(Reason::NO_ERROR) | Err(_) => Ok(()),
        Ok(reason) => Err(reason.into()),
    }
}

async fn whole(mut body: RecvStream) -> Result<Bytes, h2::Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.into())
}
