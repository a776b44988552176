//! A server of models on this machine that speaks both APIs, and misbehaves on order.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// The certificate of this server, which it signed itself, and the key to it. Nobody trusts it, unless told to.
pub(crate) const CERTIFICATE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/certificate.pem");
const CERTIFICATE_KEY: &[u8] = include_bytes!("certificate-key.pem");

/// A connection, plain or not.
trait Line: Read + Write {}
impl<L: Read + Write> Line for L {}

/// What it does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Says this, in the dialect it is asked in.
    Say(&'static str),
    /// Says these tokens, each with its alternatives and their chances.
    Tokens(&'static [(&'static str, &'static [(&'static str, f64)])]),
    /// Answers with this status, these headers and this body.
    Status(u16, &'static [(&'static str, &'static str)], &'static str),
    /// Says this in chunks of so many bytes.
    Chunks(&'static str, usize),
    /// Sends a body of so many bytes, and says so before.
    Huge(usize),
    /// Sends chunks until nobody reads any more.
    Endless,
    /// Sends what is no HTTP.
    Noise,
    /// Promises more than it sends, and hangs up.
    HangUp,
    /// Says nothing until the other end has gone.
    Silence,
    /// Sends the beginning of an answer, and nothing more until the other end has gone.
    Stall,
}

/// What it was asked.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

/// The server. Its acts are carried out in order, one a request; the last is repeated.
#[derive(Debug)]
pub(crate) struct Fake {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    sent: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    pub(crate) fn new(acts: impl Into<Vec<Act>>) -> Self {
        let mut acts: Vec<Act> = acts.into();
        acts.reverse();
        let next = move |_: &Received| {
            if acts.len() > 1 { acts.pop() } else { acts.last().cloned() }.unwrap()
        };
        Self::with(next)
    }

    /// One that speaks https.
    pub(crate) fn over_tls(act: Act) -> Self {
        let certificate = CertificateDer::from_pem_file(CERTIFICATE).unwrap();
        let key = PrivateKeyDer::from_pem_slice(CERTIFICATE_KEY).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        let config = Arc::new(config);
        let wrap = move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            Box::new(StreamOwned::new(connection, stream)) as Box<dyn Line>
        };
        Self::start(move |_| act.clone(), wrap)
    }

    /// One that looks at each request before it acts.
    pub(crate) fn with(act: impl FnMut(&Received) -> Act + Send + 'static) -> Self {
        Self::start(act, |stream| Box::new(stream))
    }

    fn start(
        mut act: impl FnMut(&Received) -> Act + Send + 'static,
        wrap: impl Fn(TcpStream) -> Box<dyn Line> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let (all, stopped) = (Arc::clone(&received), Arc::clone(&stop));
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let mut stream = wrap(stream.unwrap());
                // Whoever only knocks is nobody.
                let Some(request) = receive(stream.as_mut()) else { continue };
                let act = act(&request);
                all.lock().unwrap().push(request.clone());
                // The other end may have gone, as it should after a timeout.
                drop(carry_out(&act, &request, stream.as_mut(), &counted));
            }
        });
        Self { address, received, sent, stop, thread: Some(thread) }
    }

    /// Its address, without the API's own part.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Bytes of endless answers that somebody took.
    pub(crate) fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// What it was asked until now.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// An address of this machine where nobody listens.
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn receive(stream: &mut dyn Line) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { path, headers, body: serde_json::from_slice(&body).ok()? })
}

fn carry_out(
    act: &Act,
    request: &Received,
    stream: &mut dyn Line,
    sent: &AtomicUsize,
) -> std::io::Result<()> {
    let json = [("content-type", "application/json")];
    match act {
        Act::Say(text) => whole(stream, 200, &json, &said(request, text, &[])),
        Act::Tokens(tokens) => {
            let text: String = tokens.iter().map(|(token, _)| *token).collect();
            whole(stream, 200, &json, &said(request, &text, tokens))
        }
        Act::Status(status, headers, body) => whole(stream, *status, headers, body),
        Act::Chunks(text, size) => {
            begin(stream, 200, &json)?;
            write!(stream, "transfer-encoding: chunked\r\n\r\n")?;
            for chunk in said(request, text, &[]).as_bytes().chunks(*size) {
                write!(stream, "{:x}\r\n", chunk.len())?;
                stream.write_all(chunk)?;
                write!(stream, "\r\n")?;
            }
            write!(stream, "0\r\n\r\n")
        }
        Act::Huge(bytes) => whole(stream, 200, &json, &" ".repeat(*bytes)),
        Act::Endless => {
            begin(stream, 200, &json)?;
            write!(stream, "transfer-encoding: chunked\r\n\r\n")?;
            loop {
                write!(stream, "1000\r\n{}\r\n", " ".repeat(0x1000))?;
                sent.fetch_add(0x1000, Ordering::Relaxed);
            }
        }
        Act::Noise => write!(stream, "220 ready when you are\r\n"),
        Act::HangUp => {
            begin(stream, 200, &json)?;
            write!(stream, "content-length: 100\r\n\r\n{{\"cho")
        }
        Act::Silence => until_gone(stream),
        Act::Stall => {
            begin(stream, 200, &json)?;
            write!(stream, "content-length: 100\r\n\r\n{{\"cho")?;
            until_gone(stream)
        }
    }
}

fn begin(stream: &mut dyn Line, status: u16, headers: &[(&str, &str)]) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status} As It Is\r\nconnection: close\r\n")?;
    headers.iter().try_for_each(|(name, value)| write!(stream, "{name}: {value}\r\n"))
}

fn whole(
    stream: &mut dyn Line,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> std::io::Result<()> {
    begin(stream, status, headers)?;
    write!(stream, "content-length: {}\r\n\r\n{body}", body.len())
}

fn until_gone(stream: &mut dyn Line) -> std::io::Result<()> {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).map(|_| ())
}

/// An answer in the dialect of the request.
fn said(request: &Received, text: &str, tokens: &[(&str, &[(&str, f64)])]) -> String {
    let alternative =
        |(token, chance): &(&str, f64)| json!({ "token": token, "logprob": chance.ln() });
    let token = |(token, all): &(&str, &[(&str, f64)])| {
        let all: Vec<Value> = all.iter().map(alternative).collect();
        json!({ "token": token, "logprob": -0.1, "top_logprobs": all })
    };
    let tokens: Vec<Value> = tokens.iter().map(token).collect();
    let message = json!({ "role": "assistant", "content": text });
    let answer = match request.path.as_str() {
        "/v1/chat/completions" => {
            let logprobs = json!({ "content": tokens });
            let logprobs = if tokens.is_empty() { Value::Null } else { logprobs };
            let one = json!({
                "index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs
            });
            json!({ "object": "chat.completion", "choices": [one] })
        }
        "/api/chat" => {
            let mut answer = json!({ "message": message, "done": true, "done_reason": "stop" });
            if !tokens.is_empty() {
                answer["logprobs"] = Value::Array(tokens);
            }
            answer
        }
        path => panic!("nothing at {path}"),
    };
    answer.to_string()
}
