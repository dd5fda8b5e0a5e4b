//! What is answered to which request.

use std::sync::Arc;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::Mutex;

use super::values;
use crate::commands::health::{self, Examined, Place, Word};
use crate::commands::status::archive;
use crate::context::wall_clock;
use crate::exit::{Failure, Outcome};
use crate::follow::board::Board;
use crate::forwarder::file::Found;

/// Prometheus' text format.
const METRICS_TYPE: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const TEXT_TYPE: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Where answers come from.
pub(super) struct Source {
    place: Place,
    board: Arc<Board>,
    /// Held while the journal is read: one reading at a time, however many ask.
    reading: Arc<Mutex<()>>,
}

impl Source {
    pub(super) fn new(place: Place, board: Arc<Board>) -> Source {
        Source {
            place,
            board,
            reading: Arc::default(),
        }
    }

    /// Answers one request.
    pub(super) async fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        if !matches!(path, "/metrics" | "/healthz") {
            let text = "here are /metrics and /healthz\n";
            return response(StatusCode::NOT_FOUND, TEXT_TYPE, text.to_owned());
        }
        if request.method() != Method::GET {
            let text = "only GET\n".to_owned();
            let mut refused = response(StatusCode::METHOD_NOT_ALLOWED, TEXT_TYPE, text);
            let get = HeaderValue::from_static("GET");
            refused.headers_mut().insert(ALLOW, get);
            return refused;
        }
        match path {
            "/metrics" => self.read(metrics).await,
            _ => self.read(healthz).await,
        }
    }

    /// Reads on a thread of its own: following does not wait for the disk.
    async fn read(
        &self,
        page: fn(&Place, &Board) -> Outcome<Response<Full<Bytes>>>,
    ) -> Response<Full<Bytes>> {
        let reading = Arc::clone(&self.reading).lock_owned().await;
        let (place, board) = (self.place.clone(), Arc::clone(&self.board));
        let read = tokio::task::spawn_blocking(move || {
            let answered = page(&place, &board);
            drop(reading);
            answered
        });
        match read.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(failure)) => unreadable(&failure),
            Err(_) => response(
                StatusCode::INTERNAL_SERVER_ERROR,
                TEXT_TYPE,
                "this is a fault of the program\n".to_owned(),
            ),
        }
    }
}

fn examined(place: &Place, board: &Board) -> Outcome<Examined> {
    let now = wall_clock();
    let examined = health::with(place, Found::Running(board.forwarder(now)), now)?;
    // Whoever follows has opened one.
    if examined.journal.is_none() {
        return Err(Failure::failed("there is no journal"));
    }
    Ok(examined)
}

fn metrics(place: &Place, board: &Board) -> Outcome<Response<Full<Bytes>>> {
    let examined = examined(place, board)?;
    let disk = archive::disk(place.dir.path());
    let page = values::page(&examined, &disk, wall_clock())?;
    Ok(response(StatusCode::OK, METRICS_TYPE, page))
}

/// 503 while lines are being lost: what looks at codes alone has to see that. `degraded` is 200, for
/// nothing is lost.
fn healthz(place: &Place, board: &Board) -> Outcome<Response<Full<Bytes>>> {
    let health = examined(place, board)?.health;
    let code = match health.word {
        Word::Healthy | Word::Degraded => StatusCode::OK,
        Word::Losing => StatusCode::SERVICE_UNAVAILABLE,
    };
    let text = format!("{}: {}\n", health.word.word(), health.reasons.join("; "));
    Ok(response(code, TEXT_TYPE, text))
}

/// The journal cannot be read, so nothing is known: that is not healthy.
fn unreadable(failure: &Failure) -> Response<Full<Bytes>> {
    if let Failure::Told(told) = failure {
        tracing::warn!("the metrics cannot be read: {}", told.what);
    }
    response(
        StatusCode::SERVICE_UNAVAILABLE,
        TEXT_TYPE,
        "unknown: the journal cannot be read; `boundlane status` says why\n".to_owned(),
    )
}

fn response(code: StatusCode, content: HeaderValue, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, content);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
