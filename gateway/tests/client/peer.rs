//! The other side.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tonic::codegen::Bytes;
use tonic::codegen::http::{HeaderMap, Request, Response};

use super::message;

/// A call as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Which connection, from 0.
    pub(super) connection: usize,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    /// Without the five bytes of framing.
    pub(super) body: Vec<u8>,
}

/// What the peer does with a call.
#[derive(Clone)]
pub(super) enum Answer {
    /// These messages, then `OK`.
    Messages(Vec<Vec<u8>>),
    /// These messages, then this status.
    Ends(Vec<Vec<u8>>, i32, &'static str),
    /// A status and no message.
    Status(i32, &'static str),
    /// These messages, and the stream stays open.
    Open(Vec<Vec<u8>>),
    /// An announcement of a message of so many bytes.
    Huge(u32),
    /// Nothing, ever.
    Silence,
    /// No gRPC at all.
    Http(u16),
}

impl Answer {
    pub(super) fn message(message: Vec<u8>) -> Answer {
        Answer::Messages(vec![message])
    }
}

type Script = Arc<dyn Fn(&Call) -> Answer + Send + Sync>;

#[derive(Clone)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    heard: Arc<Mutex<Vec<Call>>>,
    connections: Arc<Mutex<HashMap<usize, AbortHandle>>>,
}

impl Peer {
    /// Answers `Health` with this version, and everything else by `script`.
    pub(super) async fn start(
        version: &'static str,
        script: impl Fn(&Call) -> Answer + Send + Sync + 'static,
    ) -> Peer {
        Peer::scripted(None, with_health(version, script)).await
    }

    pub(super) async fn secure(
        config: ServerConfig,
        version: &'static str,
        script: impl Fn(&Call) -> Answer + Send + Sync + 'static,
    ) -> Peer {
        Peer::scripted(Some(config), with_health(version, script)).await
    }

    pub(super) async fn scripted(
        config: Option<ServerConfig>,
        script: impl Fn(&Call) -> Answer + Send + Sync + 'static,
    ) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = Peer {
            address: listener.local_addr().unwrap(),
            heard: Arc::default(),
            connections: Arc::default(),
        };
        let tls = config.map(|config| TlsAcceptor::from(Arc::new(config)));
        tokio::spawn(peer.clone().listen(listener, tls, Arc::new(script)));
        peer
    }

    pub(super) fn http(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn https(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The calls so far, `Health` not counted.
    pub(super) fn calls(&self) -> Vec<Call> {
        let heard = self.heard.lock().unwrap();
        let others = heard.iter().filter(|call| !call.path.ends_with("/Health"));
        others.cloned().collect()
    }

    pub(super) fn count(&self, rpc: &str) -> usize {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|call| call.path.ends_with(rpc)).count()
    }

    /// Breaks every connection without a word.
    pub(super) fn cut(&self) {
        for (_, connection) in self.connections.lock().unwrap().drain() {
            connection.abort();
        }
    }

    async fn listen(self, listener: TcpListener, tls: Option<TlsAcceptor>, script: Script) {
        for connection in 0.. {
            let (socket, _) = listener.accept().await.unwrap();
            let (peer, script, tls) = (self.clone(), script.clone(), tls.clone());
            let task =
                tokio::spawn(async move { peer.admit(connection, socket, tls, script).await });
            let handle = task.abort_handle();
            self.connections.lock().unwrap().insert(connection, handle);
        }
    }

    async fn admit(
        self,
        connection: usize,
        socket: TcpStream,
        tls: Option<TlsAcceptor>,
        script: Script,
    ) {
        match tls {
            None => self.serve(connection, socket, script).await,
            Some(tls) => {
                // A handshake that the other side gives up is what a test may ask for.
                if let Ok(socket) = tls.accept(socket).await {
                    self.serve(connection, socket, script).await;
                }
            }
        }
    }

    async fn serve<T>(self, connection: usize, socket: T, script: Script)
    where
        T: AsyncRead + AsyncWrite + Unpin,
    {
        let Ok(mut http) = h2::server::handshake(socket).await else {
            return;
        };
        let mut streams = JoinSet::new();
        while let Some(Ok((request, respond))) = http.accept().await {
            streams.spawn(
                self.clone()
                    .hear(connection, request, respond, script.clone()),
            );
        }
    }

    async fn hear(
        self,
        connection: usize,
        request: Request<RecvStream>,
        respond: SendResponse<Bytes>,
        script: Script,
    ) {
        let (head, mut body) = request.into_parts();
        let mut bytes = Vec::new();
        while let Some(Ok(chunk)) = body.data().await {
            bytes.extend_from_slice(&chunk);
            let _ = body.flow_control().release_capacity(chunk.len());
        }
        let call = Call {
            connection,
            path: head.uri.path().to_owned(),
            headers: head.headers,
            body: bytes.split_off(bytes.len().min(5)),
        };
        let answer = script(&call);
        self.heard.lock().unwrap().push(call);
        reply(respond, answer).await;
    }
}

fn with_health(
    version: &'static str,
    script: impl Fn(&Call) -> Answer + Send + Sync + 'static,
) -> impl Fn(&Call) -> Answer + Send + Sync + 'static {
    move |call| match call.path.ends_with("/Health") {
        true => Answer::message(message::health(version)),
        false => script(call),
    }
}

async fn reply(mut respond: SendResponse<Bytes>, answer: Answer) {
    let status = |code| Response::builder().status(code);
    let grpc = status(200).header("content-type", "application/grpc");
    match answer {
        Answer::Silence => std::future::pending().await,
        Answer::Http(code) => {
            let head = status(code).body(()).unwrap();
            respond.send_response(head, true).unwrap();
        }
        Answer::Status(code, text) => {
            let head = grpc
                .header("grpc-status", code)
                .header("grpc-message", text);
            respond.send_response(head.body(()).unwrap(), true).unwrap();
        }
        Answer::Messages(messages) => ends(respond, grpc.body(()).unwrap(), messages, 0, "").await,
        Answer::Ends(messages, code, text) => {
            ends(respond, grpc.body(()).unwrap(), messages, code, text).await;
        }
        Answer::Open(messages) => {
            let mut stream = respond
                .send_response(grpc.body(()).unwrap(), false)
                .unwrap();
            send(&mut stream, messages).await;
            std::future::pending::<()>().await;
        }
        Answer::Huge(bytes) => {
            let mut stream = respond
                .send_response(grpc.body(()).unwrap(), false)
                .unwrap();
            let announced = [vec![0], bytes.to_be_bytes().to_vec()].concat();
            stream.send_data(announced.into(), false).unwrap();
            std::future::pending::<()>().await;
        }
    }
}

async fn ends(
    mut respond: SendResponse<Bytes>,
    head: Response<()>,
    messages: Vec<Vec<u8>>,
    code: i32,
    text: &str,
) {
    let mut stream = respond.send_response(head, false).unwrap();
    send(&mut stream, messages).await;
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", code.into());
    trailers.insert("grpc-message", text.parse().unwrap());
    // The client may have gone meanwhile.
    let _ = stream.send_trailers(trailers);
}

async fn send(stream: &mut SendStream<Bytes>, messages: Vec<Vec<u8>>) {
    for message in messages {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        let framed = [&[0], &length[..], &message].concat();
        if stream.send_data(framed.into(), false).is_err() {
            return;
        }
    }
}
