//! A request and its answer over HTTP: what is sent to whom, how long we wait, what is tried again. Knows nothing of models.

use core::fmt;
use core::time::Duration;
use std::io::{ErrorKind, Read as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use ureq::http::{HeaderValue, Response, StatusCode, Uri, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use zeroize::Zeroizing;

use super::ModelError;
use crate::seed::Dice;

/// Bytes of an endpoint's address.
pub const ENDPOINT_MAX: usize = 2048;
/// Bytes of an answer, whatever is in it.
pub const BODY_MAX: usize = 4 * 1024 * 1024;
/// Bytes of an answer's headers.
pub const HEADERS_MAX: usize = 64 * 1024;
/// How often a request is sent until it is given up.
pub const ATTEMPTS_MAX: u32 = 5;
/// The longest wait between two attempts that we choose ourselves.
pub const WAIT_MAX: Duration = Duration::from_secs(30);
/// The longest wait that a server may ask for; a longer one is an error that says so.
pub const RETRY_AFTER_MAX: Duration = Duration::from_mins(2);
/// The variable that holds the key, unless another is named.
pub const KEY_VARIABLE: &str = "ACTUM_LAB_API_KEY";
/// Bytes of a key.
const KEY_MAX: usize = 4096;
/// The wait before the second attempt, in ms; it doubles from there.
const WAIT_MS: u64 = 500;
/// Letters of a server's words that an error repeats.
const SAID_MAX: usize = 300;

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until somebody takes the call.
    pub connect: Duration,
    /// Until the answer is whole.
    pub answer: Duration,
}

impl Default for Timeouts {
    /// Small models on two cores answer within seconds, and read a long prompt in minutes.
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), answer: Duration::from_mins(5) }
    }
}

/// Who waits between two attempts.
pub trait Waits: fmt::Debug {
    /// Comes back when the time is over.
    fn wait(&mut self, time: Duration);
}

/// Waits by the clock.
#[derive(Debug, Clone, Copy)]
pub struct Sleep;

impl Waits for Sleep {
    fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// What an endpoint knows us by. Wiped when it is dropped, and shown nowhere.
pub struct Key(Zeroizing<String>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// The key in a variable of the environment; `None` if there is no such variable, or nothing in it.
    ///
    /// # Errors
    /// [`ModelError::Key`] if what it holds cannot stand in a header.
    pub fn from_env(variable: &str) -> Result<Option<Self>, ModelError> {
        let Some(value) = std::env::var_os(variable) else { return Ok(None) };
        let value = value.into_string().map_err(|value| {
            drop(Zeroizing::new(value.into_encoded_bytes()));
            ModelError::Key { variable: variable.to_owned(), what: "it is no text" }
        })?;
        Self::new(value, variable)
    }

    /// A key and where it comes from; `None` of an empty text.
    ///
    /// # Errors
    /// [`ModelError::Key`] if it cannot stand in a header.
    pub fn new(value: String, variable: &str) -> Result<Option<Self>, ModelError> {
        let value = Zeroizing::new(value);
        let fail = |what| Err(ModelError::Key { variable: variable.to_owned(), what });
        if value.trim().is_empty() {
            return Ok(None);
        }
        if value.len() > KEY_MAX {
            return fail("it is too long");
        }
        if !value.trim().bytes().all(|byte| byte.is_ascii_graphic()) {
            return fail("it has signs that no key has");
        }
        Ok(Some(Self(Zeroizing::new(value.trim().to_owned()))))
    }

    fn header(&self) -> Option<HeaderValue> {
        let bearer = Zeroizing::new(format!("Bearer {}", self.0.as_str()));
        let mut value = HeaderValue::from_str(&bearer).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// The address of an API at an endpoint, which may be named with or without the API's own part.
pub(super) fn url(endpoint: &str, [version, call]: [&str; 2]) -> Result<Uri, ModelError> {
    let fail = |what: &str| ModelError::Settings { what: format!("the endpoint {what}") };
    if endpoint.len() > ENDPOINT_MAX {
        return Err(fail("has a longer address than any server"));
    }
    if endpoint.contains(['?', '#', '@']) || endpoint.contains(char::is_whitespace) {
        // Before anything else: an address with a password in it must not be repeated.
        return Err(fail("is an address without `?`, `#`, `@` and spaces"));
    }
    let base = endpoint.trim_end_matches('/');
    let base = base.strip_suffix(call).unwrap_or(base);
    let base = base.strip_suffix(version).unwrap_or(base);
    let whole = format!("{base}{version}{call}");
    let not_one = || fail(&format!("`{endpoint}` is no address: `http://127.0.0.1:8080` is one"));
    let uri: Uri = whole.parse().map_err(|_broken| not_one())?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let has_host = uri.host().is_some_and(|host| !host.is_empty());
    if is_http && has_host { Ok(uri) } else { Err(not_one()) }
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// An endpoint, and how it is spoken to.
#[derive(Debug)]
pub(super) struct Wire {
    agent: ureq::Agent,
    url: Uri,
    key: Option<Key>,
    timeouts: Timeouts,
    waits: Box<dyn Waits>,
}

/// What came back with status 200.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    pub(super) ms: u64,
    kind: Option<String>,
    /// As far as it may be shown.
    begins: String,
}

impl Answer {
    pub(super) fn kind(&self) -> String {
        self.kind.clone().unwrap_or_else(|| "of no type".to_owned())
    }

    pub(super) fn begins(&self) -> String {
        self.begins.clone()
    }
}

impl Wire {
    pub(super) fn new(
        url: Uri,
        key: Option<Key>,
        timeouts: Timeouts,
        waits: Box<dyn Waits>,
    ) -> Result<Self, ModelError> {
        let is_secret = url.scheme_str() == Some("https");
        let is_own = is_loopback(&url);
        if key.is_some() && !is_secret && !is_own {
            let host = url.host().unwrap_or_default().to_owned();
            return Err(ModelError::KeyInClear { host });
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(HEADERS_MAX)
            .timeout_resolve(Some(timeouts.connect))
            .timeout_connect(Some(timeouts.connect))
            .timeout_global(Some(timeouts.answer))
            .user_agent(concat!("actum-lab/", env!("CARGO_PKG_VERSION")));
        let config = if is_secret { config.tls_config(tls()) } else { config };
        // A proxy sees all of plain http, and a server on this machine needs none.
        let config = if is_secret && !is_own { config } else { config.proxy(None) };
        Ok(Self { agent: config.build().new_agent(), url, key, timeouts, waits })
    }

    /// Sends a body until it is answered, as often as makes sense.
    pub(super) fn post(
        &mut self,
        body: &str,
        model: &str,
        dice: &mut Dice,
    ) -> Result<Answer, ModelError> {
        let mut attempt = 1;
        loop {
            let error = match self.post_once(body, model) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let wait = wait_before(attempt + 1, &error, dice);
            let Some(wait) = wait else { return Err(error) };
            self.waits.wait(wait);
            attempt += 1;
        }
    }

    fn post_once(&self, body: &str, model: &str) -> Result<Answer, ModelError> {
        let began = Instant::now();
        let mut request =
            self.agent.post(&self.url).header(header::CONTENT_TYPE, "application/json");
        if let Some(bearer) = self.key.as_ref().and_then(Key::header) {
            request = request.header(header::AUTHORIZATION, bearer);
        }
        let response = request.send(body).map_err(|error| self.broken(error))?;
        let (status, after) = (response.status(), retry_after(&response));
        let of = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let kind = of(header::CONTENT_TYPE).map(|kind| self.shown(kind));
        let to = of(header::LOCATION).map(|to| self.shown(to)).unwrap_or_default();
        let bytes = self.read(response)?;
        let said = self.shown(&said(&bytes));
        let url = self.url.to_string();
        match status {
            StatusCode::OK => {
                let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                Ok(Answer { bytes, ms, kind, begins: said })
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(ModelError::Denied { status: status.as_u16(), said })
            }
            StatusCode::NOT_FOUND => {
                Err(ModelError::Unknown { model: model.to_owned(), url, said })
            }
            StatusCode::TOO_MANY_REQUESTS => Err(ModelError::Busy { after_seconds: after, said }),
            status if status.is_redirection() => Err(ModelError::Redirect { to }),
            status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
                Err(ModelError::Failing { status: status.as_u16(), after_seconds: after, said })
            }
            status => Err(ModelError::Rejected { status: status.as_u16(), said }),
        }
    }

    fn read(&self, response: Response<ureq::Body>) -> Result<Vec<u8>, ModelError> {
        let limit = u64::try_from(BODY_MAX).unwrap_or(u64::MAX);
        let mut reader = response.into_body().into_reader().take(limit + 1);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| self.broken(ureq::Error::from(error)))?;
        if bytes.len() > BODY_MAX {
            return Err(ModelError::TooLong { what: "the server's answer", max: BODY_MAX });
        }
        Ok(bytes)
    }

    fn broken(&self, error: ureq::Error) -> ModelError {
        use ureq::Error as E;
        let url = self.url.to_string();
        let what = self.shown(&error.to_string());
        if let E::Timeout(which) = &error {
            let is_call = matches!(which, ureq::Timeout::Connect | ureq::Timeout::Resolve);
            let limit = if is_call { self.timeouts.connect } else { self.timeouts.answer };
            return ModelError::Timeout { limit };
        }
        if matches!(&error, E::Io(io) if io.kind() == ErrorKind::ConnectionRefused) {
            return ModelError::Refused { url };
        }
        let cause = if let E::Io(io) = &error { io.get_ref() } else { None };
        let is_distrust = cause.and_then(|it| it.downcast_ref::<rustls::Error>()).is_some();
        let is_away = matches!(
            error,
            E::HostNotFound | E::ConnectionFailed | E::ConnectProxyFailed(_) | E::Tls(_)
        );
        if is_distrust || is_away || matches!(error, E::Rustls(_)) {
            return ModelError::Unreachable { url, what };
        }
        ModelError::Broken { what }
    }

    /// A text of the other end as it may be shown: one line, no longer than a sentence or two, without the key.
    fn shown(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) => text.replace(key.0.as_str(), "[key]"),
            None => text.to_owned(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").chars().filter(|c| !c.is_control()).take(SAID_MAX).collect()
    }
}

/// The system's roots. Without any, no certificate is trusted, and the error says so.
fn tls() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> = found.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

/// How long to wait before this attempt; `None` if there is none.
fn wait_before(attempt: u32, error: &ModelError, dice: &mut Dice) -> Option<Duration> {
    let asked_for = match error {
        ModelError::Busy { after_seconds, .. } | ModelError::Failing { after_seconds, .. } => {
            after_seconds.map(Duration::from_secs)
        }
        ModelError::Timeout { .. } | ModelError::Broken { .. } => None,
        // Nobody there, or the next answer would be the same.
        ModelError::Settings { .. }
        | ModelError::KeyInClear { .. }
        | ModelError::Key { .. }
        | ModelError::Refused { .. }
        | ModelError::Unreachable { .. }
        | ModelError::Denied { .. }
        | ModelError::Unknown { .. }
        | ModelError::Redirect { .. }
        | ModelError::Rejected { .. }
        | ModelError::TooLong { .. }
        | ModelError::NotJson { .. }
        | ModelError::Shape { .. }
        | ModelError::Empty { .. } => return None,
    };
    if attempt > ATTEMPTS_MAX || asked_for.is_some_and(|wait| wait > RETRY_AFTER_MAX) {
        return None;
    }
    let doubled = WAIT_MS.saturating_mul(1 << attempt.saturating_sub(2).min(16));
    let longest = Duration::from_millis(doubled).min(WAIT_MAX);
    // Between half of it and all of it, so that many who were sent away together do not come back together.
    let half = usize::try_from(longest.as_millis() / 2).unwrap_or_default();
    let jitter = u64::try_from(dice.below(half + 1)).unwrap_or_default();
    let own = longest.saturating_sub(Duration::from_millis(jitter));
    Some(asked_for.map_or(own, |asked_for| asked_for.max(own)))
}

/// The seconds of `Retry-After`. A date in it is passed over, since the two clocks need not agree.
fn retry_after(response: &Response<ureq::Body>) -> Option<u64> {
    response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// What a server says in a body: its message, or how the body begins.
fn said(bytes: &[u8]) -> String {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let error = value.get("error");
    let message = error.and_then(|error| error.get("message")).or(error);
    if let Some(message) = message.or_else(|| value.get("message")).and_then(Value::as_str) {
        return message.to_owned();
    }
    let begins = bytes.get(..bytes.len().min(4 * SAID_MAX)).unwrap_or_default();
    String::from_utf8_lossy(begins).into_owned()
}
