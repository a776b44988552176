//! A guard before a server that is reached by an address: streamable HTTP, on an address of this machine. Each request of the client
//! is one of ours to the server; what comes back is looked at message by message, whether it comes whole or as a stream.

use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use actum_core::hex;
use actum_store::random;
use tiny_http::{Header, Method, Request, Response, Server};
use ureq::http::Response as Answer;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::gate::{Askable, Cleared, Ends, From, Guard, Passes, Reply, Sent};
use super::message::{Id, Kind, MESSAGE_MAX, Message, ToolCall, quoted};
use super::port::PortError;
use super::relay::{Line, error_line, is_shown, read_line, reply_of};

/// Requests that are served at once.
pub const AT_ONCE_MAX: usize = 256;
/// Bytes of a header that is passed on.
pub const HEADER_MAX: usize = 8 << 10;
/// Lines of one event of a stream.
const EVENT_LINES_MAX: usize = 4096;

/// Headers that a client says to the server.
const TO_SERVER: &[&str] = &[
    "accept",
    "authorization",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "traceparent",
    "tracestate",
];
/// Headers that a server says to the client.
const TO_CLIENT: &[&str] =
    &["allow", "mcp-protocol-version", "mcp-session-id", "retry-after", "www-authenticate"];

/// Why a guard cannot listen, or has nobody to speak to.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// It would listen for other machines.
    #[error("{address} is not an address of this machine alone; a guard listens on loopback")]
    Beyond {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// The address is in use, or not ours.
    #[error("cannot listen on {address}: {what}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        what: String,
    },
    /// The server has no such address.
    #[error("{url} is no address of a server: {what}")]
    Url {
        /// Which.
        url: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The machine gives no random bytes.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// A guard that listens.
pub struct Http {
    guard: Arc<Guard>,
    server: Server,
    agent: ureq::Agent,
    url: String,
    nonce: String,
    calls: AtomicU64,
    busy: AtomicUsize,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("guard", &self.guard)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Http {
    /// Listens at this address, before the server at that one.
    ///
    /// # Errors
    /// [`HttpError`].
    pub fn listen(
        guard: Arc<Guard>,
        address: SocketAddr,
        url: &str,
        call_for: Duration,
    ) -> Result<Arc<Self>, HttpError> {
        if !address.ip().is_loopback() {
            return Err(HttpError::Beyond { address });
        }
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let what = "it begins with neither http:// nor https://";
            return Err(HttpError::Url { url: url.to_owned(), what });
        }
        let server = Server::http(address)
            .map_err(|error| HttpError::Listen { address, what: error.to_string() })?;
        let nonce = random::<8>().map_err(|error| PortError::of(&error))?;
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(Duration::from_secs(30)))
            .timeout_global(Some(call_for))
            .tls_config(tls())
            .build();
        Ok(Arc::new(Self {
            guard,
            server,
            agent: config.new_agent(),
            url: url.to_owned(),
            nonce: hex(&*nonce),
            calls: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
        }))
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.server_addr().to_ip()
    }

    /// Serves until [`Http::stop`].
    pub fn serve(self: &Arc<Self>) {
        for request in self.server.incoming_requests() {
            if self.busy.fetch_add(1, Ordering::SeqCst) >= AT_ONCE_MAX {
                self.busy.fetch_sub(1, Ordering::SeqCst);
                say(request, 503, &error_line(None, -32603, "too many requests at once"));
                continue;
            }
            let this = Arc::clone(self);
            std::thread::spawn(move || {
                this.answer(request);
                this.busy.fetch_sub(1, Ordering::SeqCst);
            });
        }
        self.guard.close();
    }

    /// Serves nobody any more.
    pub fn stop(&self) {
        self.server.unblock();
    }

    fn answer(&self, mut request: Request) {
        if !is_from_here(&request) {
            return say(request, 403, &error_line(None, -32600, "this origin may not speak here"));
        }
        match request.method() {
            Method::Post => {}
            Method::Get | Method::Delete => return self.pass(request),
            Method::Head
            | Method::Put
            | Method::Connect
            | Method::Options
            | Method::Trace
            | Method::Patch
            | Method::NonStandard(_) => {
                return say(
                    request,
                    405,
                    &error_line(None, -32600, "only POST, GET and DELETE are spoken here"),
                );
            }
        }
        let mut body = Vec::new();
        let read = request.as_reader().take(MESSAGE_MAX as u64 + 1).read_to_end(&mut body);
        if read.is_err() {
            return;
        }
        let message = match Message::read(&body) {
            Ok(message) => message,
            Err(flaw) => {
                return say(request, 400, &error_line(None, flaw.code(), &flaw.to_string()));
            }
        };
        let headers = headers_of(&request);
        match &message.kind {
            Kind::Request { id, method } if method == "tools/call" => {
                self.call(request, &headers, &message, id);
            }
            Kind::Notification { method } if method == "tools/call" => {
                say(request, 400, &error_line(None, -32600, "a call wants an answer"));
            }
            Kind::Request { id, method } => {
                let shown = is_shown(method).then(|| method.clone());
                let waits = shown.map_or(Waits::Passed, |method| Waits::Shown { method });
                let exchange = Exchange { id: Some(id.clone()), waits };
                self.exchange(request, &headers, message.line(), exchange);
            }
            Kind::Notification { .. } | Kind::Response { .. } => {
                let exchange = Exchange { id: None, waits: Waits::Passed };
                self.exchange(request, &headers, message.line(), exchange);
            }
        }
    }

    fn call(&self, request: Request, headers: &[(String, String)], message: &Message<'_>, id: &Id) {
        let call = match ToolCall::read(self.guard.name(), message.params()) {
            Ok(call) => call,
            Err(flaw) => {
                return say(request, 400, &error_line(Some(id), flaw.code(), &flaw.to_string()));
            }
        };
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let session = headers.iter().find(|(name, _)| name == "mcp-session-id");
        let meta = call.client.as_ref();
        let from = From {
            call_id: format!("{}:{number}:{}", self.nonce, id.as_json()),
            client: meta.and_then(|meta| meta.name.clone()),
            principal: session.map_or_else(String::new, |(_, session)| session.clone()),
            // One that shakes hands would be asked on a stream of its own; it gets a receipt.
            askable: if meta.is_some_and(|meta| meta.can_ask) {
                Askable::Answer
            } else {
                Askable::No
            },
            modern: meta.map(|meta| meta.version.clone()),
        };
        let ends = Through { http: self, headers };
        match self.guard.clear(&call, &from, &ends, &mut None) {
            Cleared::Go(sent) => {
                let line = message.with_params(&sent.params);
                let exchange = Exchange { id: Some(id.clone()), waits: Waits::Call { sent } };
                self.exchange(request, headers, &line, exchange);
            }
            Cleared::Answer(result) => {
                let id = id.as_json();
                say(
                    request,
                    200,
                    &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
                );
            }
            Cleared::Error(code, what) => say(request, 400, &error_line(Some(id), code, &what)),
        }
    }

    fn post(
        &self,
        headers: &[(String, String)],
        line: &str,
    ) -> Result<Answer<ureq::Body>, ureq::Error> {
        let mut post = self.agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in headers {
            post = post.header(name, value);
        }
        post.send(line.as_bytes())
    }

    /// Says it to the server, and passes on what comes back.
    fn exchange(
        &self,
        request: Request,
        headers: &[(String, String)],
        line: &str,
        mut exchange: Exchange,
    ) {
        match self.post(headers, line) {
            Ok(answer) => self.back(request, answer, &mut exchange),
            Err(error) => {
                let reply = if matches!(error, ureq::Error::Timeout(_)) {
                    Reply::TimedOut
                } else {
                    Reply::Lost
                };
                self.guard.note(&format!("the server cannot be reached: {error}"));
                let id = exchange.id.clone();
                exchange.lost(&self.guard, &reply);
                say(request, 502, &error_line(id.as_ref(), -32001, "the server cannot be reached"));
            }
        }
        exchange.lost(&self.guard, &Reply::Lost);
    }

    /// A request without a message: the stream of a session, or its end.
    fn pass(&self, request: Request) {
        let is_get = *request.method() == Method::Get;
        let mut asked =
            if is_get { self.agent.get(&self.url) } else { self.agent.delete(&self.url) };
        for (name, value) in &headers_of(&request) {
            asked = asked.header(name, value);
        }
        match asked.call() {
            Ok(answer) => {
                self.back(request, answer, &mut Exchange { id: None, waits: Waits::Passed });
            }
            Err(_) => say(request, 502, &error_line(None, -32001, "the server cannot be reached")),
        }
    }

    fn back(&self, request: Request, answer: Answer<ureq::Body>, exchange: &mut Exchange) {
        let status = answer.status().as_u16();
        let header = |name: &str| {
            answer.headers().get(name).and_then(|it| it.to_str().ok()).map(str::to_owned)
        };
        let kept: Vec<(String, String)> = TO_CLIENT
            .iter()
            .filter_map(|name| {
                Some(((*name).to_owned(), header(name).filter(|it| it.len() <= HEADER_MAX)?))
            })
            .collect();
        let kind = header("content-type").unwrap_or_default();
        let body = answer.into_body().into_reader();
        if kind.starts_with("text/event-stream") {
            return self.stream(request, status, &kept, body, exchange);
        }
        let mut bytes = Vec::new();
        let read = body.take(MESSAGE_MAX as u64 + 1).read_to_end(&mut bytes);
        let text = match (read, core::str::from_utf8(&bytes)) {
            (Ok(_), Ok(text)) if text.trim().is_empty() => String::new(),
            (Ok(_), Ok(text)) => match self.told(text.trim(), exchange) {
                Some(text) => text,
                None => {
                    error_line(exchange.id.as_ref(), -32603, "the server's answer is not passed on")
                }
            },
            (_, _) => error_line(exchange.id.as_ref(), -32603, "the server's answer is none"),
        };
        respond(request, status, &kept, &text);
    }

    /// A stream, event by event. Each is written anew, so that no reader finds an event in it that we did not see.
    fn stream(
        &self,
        request: Request,
        status: u16,
        headers: &[(String, String)],
        body: impl Read,
        exchange: &mut Exchange,
    ) {
        let mut to = request.into_writer();
        let headers: String =
            headers.iter().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
        let head = format!(
            "HTTP/1.1 {status} -\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\ntransfer-encoding: chunked\r\n{headers}\r\n"
        );
        let mut write = |text: &str| -> io::Result<()> {
            write!(to, "{text}")?;
            to.flush()
        };
        if write(&head).is_err() {
            return exchange.lost(&self.guard, &Reply::Cancelled);
        }
        let mut from = BufReader::new(body);
        let (mut data, mut name) = (Vec::new(), String::new());
        while let Ok(Line::Whole(line)) = read_line(&mut from) {
            let line = String::from_utf8_lossy(&line).into_owned();
            let line = line.trim_end_matches('\r');
            if let Some(text) = line.strip_prefix("data:") {
                if data.len() >= EVENT_LINES_MAX {
                    break;
                }
                data.push(text.strip_prefix(' ').unwrap_or(text).to_owned());
            } else if let Some(text) = line.strip_prefix("id:") {
                name = text.trim().chars().filter(|c| !c.is_control()).collect();
            } else if line.is_empty() && !data.is_empty() {
                // A carriage return would end a line for some readers; in JSON it is only white space.
                let text = core::mem::take(&mut data).join(" ").replace('\r', " ");
                let Some(text) = self.told(&text, exchange) else { continue };
                let id = if name.is_empty() { String::new() } else { format!("id: {name}\n") };
                let event = format!("{id}data: {text}\n\n");
                if write(&format!("{:x}\r\n{event}\r\n", event.len())).is_err() {
                    return exchange.lost(&self.guard, &Reply::Cancelled);
                }
            }
        }
        // A client that is gone needs no end.
        let _gone = write("0\r\n\r\n");
    }

    /// One message of the server, as it is passed on; nothing for one that is not.
    fn told(&self, text: &str, exchange: &mut Exchange) -> Option<String> {
        let message = match Message::read(text.as_bytes()) {
            Ok(message) => message,
            Err(flaw) => {
                self.guard.note(&format!("what the server wrote is not passed on: {flaw}"));
                return None;
            }
        };
        match &message.kind {
            Kind::Request { method, .. } if method == "sampling/createMessage" => {
                let shown = self.guard.say(method, message.params().unwrap_or_default());
                shown.then(|| text.to_owned())
            }
            Kind::Request { .. } | Kind::Response { id: None, .. } => Some(text.to_owned()),
            Kind::Notification { method } => {
                if method == "notifications/tools/list_changed" {
                    self.guard.list_again();
                }
                Some(text.to_owned())
            }
            Kind::Response { id: Some(id), .. } if exchange.id.as_ref() == Some(id) => {
                match exchange.answered(&self.guard, &message) {
                    Passes::AsItCame => Some(text.to_owned()),
                    Passes::Instead(result) => Some(message.with_result(&result)),
                    Passes::Withheld => {
                        let what = "the ledger cannot be asked, and what is shown to a model is recorded first";
                        Some(error_line(Some(id), -32603, what))
                    }
                }
            }
            Kind::Response { id: Some(_), .. } => {
                self.guard.note("an answer of the server to no question is not passed on");
                None
            }
        }
    }
}

/// What an answer is to.
struct Exchange {
    id: Option<Id>,
    waits: Waits,
}

enum Waits {
    Passed,
    Shown { method: String },
    Call { sent: Box<Sent> },
}

impl Exchange {
    fn answered(&mut self, guard: &Guard, message: &Message<'_>) -> Passes {
        // An answer is one: a second one is to no question.
        self.id = None;
        match core::mem::replace(&mut self.waits, Waits::Passed) {
            Waits::Passed => Passes::AsItCame,
            Waits::Shown { method } => guard.shown(message, &method),
            Waits::Call { sent } => guard.settle(&sent, &reply_of(message)),
        }
    }

    /// Nothing came, or nobody wants it any more.
    fn lost(&mut self, guard: &Guard, reply: &Reply) {
        if let Waits::Call { sent } = core::mem::replace(&mut self.waits, Waits::Passed) {
            guard.settle(&sent, reply);
        }
    }
}

/// The ends of one request: questions of ours to the server go as this client.
struct Through<'h> {
    http: &'h Http,
    headers: &'h [(String, String)],
}

impl Ends for Through<'_> {
    fn ask_server(&self, method: &str, params: &str) -> Result<Reply, String> {
        let number = self.http.calls.fetch_add(1, Ordering::SeqCst);
        let id = Id::ours(&format!("actum-{}-{number}", self.http.nonce));
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{},\"params\":{params}}}",
            id.as_json(),
            quoted(method)
        );
        let others = self
            .headers
            .iter()
            .filter(|(name, _)| !name.starts_with("mcp-method") && !name.starts_with("mcp-name"));
        let mut headers: Vec<(String, String)> = others.cloned().collect();
        if self.headers.iter().any(|(name, _)| name == "mcp-method") {
            headers.push(("mcp-method".to_owned(), method.to_owned()));
            headers.extend(
                super::gate::member(params, "name").map(|name| ("mcp-name".to_owned(), name)),
            );
        }
        let answer = match self.http.post(&headers, &line) {
            Ok(answer) => answer,
            Err(ureq::Error::Timeout(_)) => return Ok(Reply::TimedOut),
            Err(error) => return Err(error.to_string()),
        };
        let kind = answer.headers().get("content-type").and_then(|it| it.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut from = BufReader::new(answer.into_body().into_reader().take(MESSAGE_MAX as u64));
        let mut whole = Vec::new();
        while let Ok(Line::Whole(line)) = read_line(&mut from) {
            let text = String::from_utf8_lossy(&line).into_owned();
            match text.strip_prefix("data:") {
                Some(data) if is_stream => whole.push(data.trim().to_owned()),
                None if !is_stream => whole.push(text),
                Some(_) | None => {}
            }
        }
        let all = if is_stream { whole } else { vec![whole.join(" ")] };
        for text in all {
            let Ok(message) = Message::read(text.as_bytes()) else { continue };
            if matches!(&message.kind, Kind::Response { id: Some(answers), .. } if *answers == id) {
                return Ok(reply_of(&message));
            }
        }
        Ok(Reply::Lost)
    }

    fn ask_client(&self, _params: &str) -> Option<String> {
        None
    }
}

fn headers_of(request: &Request) -> Vec<(String, String)> {
    let named = request.headers().iter().filter_map(|header| {
        let name = header.field.as_str().as_str().to_ascii_lowercase();
        let is_ours = TO_SERVER.contains(&name.as_str()) || name.starts_with("mcp-param-");
        let value = header.value.as_str();
        (is_ours && value.len() <= HEADER_MAX).then(|| (name, value.to_owned()))
    });
    named.collect()
}

/// A page of another machine must not speak to us through somebody's browser, under whatever name it knows us.
fn is_from_here(request: &Request) -> bool {
    let find = |name: &'static str| {
        request.headers().iter().filter(move |header| header.field.equiv(name))
    };
    let host_of = |text: &str| {
        let text =
            text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")).unwrap_or(text);
        let host = match text.strip_prefix('[') {
            Some(rest) => rest.split(']').next(),
            None => text.split([':', '/']).next(),
        };
        host.unwrap_or_default().to_ascii_lowercase()
    };
    let is_here = |text: &str| matches!(host_of(text).as_str(), "localhost" | "127.0.0.1" | "::1");
    find("Origin").all(|header| is_here(header.value.as_str()))
        && find("Host").all(|header| is_here(header.value.as_str()))
        && find("Host").count() == 1
}

fn say(request: Request, status: u16, text: &str) {
    respond(request, status, &[], text);
}

fn respond(request: Request, status: u16, headers: &[(String, String)], text: &str) {
    let mut response = Response::from_string(text).with_status_code(status);
    let json = [("content-type".to_owned(), "application/json".to_owned())];
    for (name, value) in headers.iter().chain(json.iter().filter(|_| !text.is_empty())) {
        if let Ok(header) = Header::from_bytes(name.as_bytes(), value.as_bytes()) {
            response.add_header(header);
        }
    }
    // Whoever is gone hears nothing.
    let _gone = request.respond(response);
}

/// The roots of this system.
fn tls() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let certificates = found.iter().map(|der| Certificate::from_der(der).to_owned());
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(certificates.collect())))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}
