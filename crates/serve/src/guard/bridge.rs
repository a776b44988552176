//! A server of the stateless era for a client that shakes hands: what the client says is said anew as the server wants it, and
//! back. Stands between the relay and the server, so that everything else sees one era. A server that shakes hands is left alone.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::value::RawValue;

use super::gate::{STATELESS, member};
use super::message::{
    Id, Kind, META_CAPABILITIES, META_CLIENT, META_VERSION, Message, members_of, quoted,
};
use super::pool::lock;

/// How often a server may ask in the middle of one request.
pub const ROUNDS_MAX: u32 = 10;
/// Questions of a server that can be open at once.
pub const OPEN_MAX: usize = 1024;
/// The newest revision with a handshake.
const HANDSHAKE: &str = "2025-11-25";
const REVISIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", HANDSHAKE];

/// Lines to pass on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Moves {
    pub(crate) to_server: Vec<String>,
    pub(crate) to_client: Vec<String>,
}

impl Moves {
    fn server(line: impl Into<String>) -> Self {
        Self { to_server: vec![line.into()], to_client: Vec::new() }
    }

    fn client(line: impl Into<String>) -> Self {
        Self { to_server: Vec::new(), to_client: vec![line.into()] }
    }
}

/// The bridge of one server.
#[derive(Debug)]
pub(crate) struct Bridge {
    /// What our own ids begin with.
    nonce: String,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Nobody has shaken hands yet.
    New,
    /// The server was greeted, with this.
    Greeted { id: Id, hello: Hello },
    /// It did not understand; it is asked whether it is of the other era.
    Probed { id: Id, hello: Hello, error: String },
    /// Both are of one era.
    Same,
    /// They are not.
    Bridged(Box<Bridged>),
}

/// What the client said of itself.
#[derive(Debug, Clone)]
struct Hello {
    version: String,
    capabilities: String,
    client: String,
}

#[derive(Debug)]
struct Bridged {
    hello: Hello,
    /// Requests that went to the server, by the id that they have there.
    sent: BTreeMap<Id, Asked>,
    /// Questions of the server that are with the client, by our id: the request there, and the name of the question.
    open: BTreeMap<Id, (Id, String)>,
    count: u64,
}

/// A request of the client.
#[derive(Debug, Clone)]
struct Asked {
    /// Its id at the client.
    id: Id,
    method: String,
    /// Its members, without what the server gave.
    params: Vec<(String, String)>,
    /// What the server gave with its questions.
    state: Option<String>,
    answers: BTreeMap<String, String>,
    waits: usize,
    rounds: u32,
}

impl Bridge {
    pub(crate) fn new(nonce: &str) -> Self {
        Self { nonce: nonce.to_owned(), state: Mutex::new(State::New) }
    }

    /// Both ends are of one era, so every line passes as it is.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(*lock(&self.state), State::Same)
    }

    /// A line on its way to the server.
    pub(crate) fn to_server(&self, line: &str) -> Moves {
        let mut state = lock(&self.state);
        match &mut *state {
            State::New => {
                let message = Message::read(line.as_bytes());
                if let Ok(message) = &message
                    && let Kind::Request { id, method } = &message.kind
                {
                    *state = match (method.as_str(), message.params().and_then(hello_of)) {
                        ("initialize", Some(hello)) => State::Greeted { id: id.clone(), hello },
                        (_, _) => State::Same,
                    };
                }
                Moves::server(line)
            }
            // A client that does not wait for the handshake says what it would say without us.
            State::Same | State::Greeted { .. } | State::Probed { .. } => Moves::server(line),
            State::Bridged(bridged) => {
                bridged.out(line, &self.nonce).unwrap_or_else(|| Moves::server(line))
            }
        }
    }

    /// A line of the server.
    pub(crate) fn to_client(&self, line: &str) -> Moves {
        let mut state = lock(&self.state);
        let Ok(message) = Message::read(line.as_bytes()) else { return Moves::client(line) };
        let Kind::Response { id: Some(answers), is_result } = &message.kind else {
            return Moves::client(line);
        };
        match &mut *state {
            State::Greeted { id, hello } if id == answers => {
                if *is_result {
                    *state = State::Same;
                    return Moves::client(line);
                }
                // Whatever it says: another era answers with one error today and another tomorrow.
                let (id, hello) = (id.clone(), hello.clone());
                let probe = self.request(0, "server/discover", &format!("{{{}}}", meta(&hello)));
                *state = State::Probed { id, hello, error: line.to_owned() };
                Moves::server(probe)
            }
            State::Probed { id, hello, error } if *answers == self.id(0) => {
                let (welcome, error) =
                    (message.result().and_then(|it| welcome(id, hello, it)), error.clone());
                let Some(welcome) = welcome else {
                    *state = State::Same;
                    return Moves::client(error);
                };
                let hello = hello.clone();
                let (sent, open) = (BTreeMap::new(), BTreeMap::new());
                *state = State::Bridged(Box::new(Bridged { hello, sent, open, count: 0 }));
                Moves::client(welcome)
            }
            State::New | State::Same | State::Greeted { .. } | State::Probed { .. } => {
                Moves::client(line)
            }
            State::Bridged(bridged) => {
                bridged.back(&message, answers, &self.nonce).unwrap_or_else(|| Moves::client(line))
            }
        }
    }

    fn id(&self, number: u64) -> Id {
        own_id(&self.nonce, number)
    }

    fn request(&self, number: u64, method: &str, params: &str) -> String {
        request(&self.id(number), method, params)
    }
}

fn own_id(nonce: &str, number: u64) -> Id {
    Id::ours(&format!("actum-bridge-{nonce}-{number}"))
}

fn request(id: &Id, method: &str, params: &str) -> String {
    let (id, method) = (id.as_json(), quoted(method));
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}")
}

fn result(id: &Id, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", id.as_json())
}

fn hello_of(params: &str) -> Option<Hello> {
    let members = object(params)?;
    let find = |name: &str| members.iter().find(|(it, _)| it == name).map(|(_, raw)| raw.clone());
    Some(Hello {
        version: member(params, "protocolVersion")?,
        capabilities: find("capabilities").unwrap_or_else(|| "{}".to_owned()),
        client: find("clientInfo").unwrap_or_else(|| "{}".to_owned()),
    })
}

fn object(json: &str) -> Option<Vec<(String, String)>> {
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    let members = members_of(raw).ok()?;
    Some(members.into_iter().map(|(name, raw)| (name, raw.get().to_owned())).collect())
}

fn json(members: &[(String, String)]) -> String {
    let parts: Vec<String> =
        members.iter().map(|(name, raw)| format!("{}:{raw}", quoted(name))).collect();
    format!("{{{}}}", parts.join(","))
}

/// What every request of the stateless era says of its client, as a member.
fn meta(hello: &Hello) -> String {
    format!("\"_meta\":{{{}}}", meta_members(hello))
}

fn meta_members(hello: &Hello) -> String {
    format!(
        "{}:{},{}:{},{}:{}",
        quoted(META_VERSION),
        quoted(STATELESS),
        quoted(META_CAPABILITIES),
        hello.capabilities,
        quoted(META_CLIENT),
        hello.client
    )
}

/// The answer to a handshake, from what a server of the stateless era says of itself; nothing for one that does not speak it.
fn welcome(id: &Id, hello: &Hello, discovered: &str) -> Option<String> {
    let members = object(discovered)?;
    let find = |name: &str| members.iter().find(|(it, _)| it == name).map(|(_, raw)| raw.as_str());
    let versions: Vec<String> = serde_json::from_str(find("supportedVersions")?).ok()?;
    if !versions.iter().any(|version| version == STATELESS) {
        return None;
    }
    let known = REVISIONS.iter().find(|version| **version == hello.version);
    let version = quoted(known.unwrap_or(&HANDSHAKE));
    let named = find("_meta").and_then(object);
    let named = named.and_then(|meta| {
        meta.into_iter()
            .find(|(name, _)| name == "io.modelcontextprotocol/serverInfo")
            .map(|it| it.1)
    });
    let server = find("serverInfo").map(str::to_owned).or(named);
    let server = server.unwrap_or_else(|| r#"{"name":"server","version":"0"}"#.to_owned());
    let capabilities = find("capabilities").unwrap_or("{}");
    let instructions =
        find("instructions").map_or_else(String::new, |it| format!(",\"instructions\":{it}"));
    Some(result(
        id,
        &format!(
            "{{\"protocolVersion\":{version},\"capabilities\":{capabilities},\"serverInfo\":{server}{instructions}}}"
        ),
    ))
}

impl Bridged {
    fn out(&mut self, line: &str, nonce: &str) -> Option<Moves> {
        let message = Message::read(line.as_bytes()).ok()?;
        match &message.kind {
            Kind::Notification { method } => match method.as_str() {
                "notifications/initialized" | "notifications/roots/list_changed" => {
                    Some(Moves::default())
                }
                "notifications/cancelled" => Some(self.cancel(&message)),
                _ => None,
            },
            Kind::Request { id, method } => match method.as_str() {
                "ping" | "logging/setLevel" => Some(Moves::client(result(id, "{}"))),
                "initialize" | "resources/subscribe" | "resources/unsubscribe" => {
                    let what = format!("the server speaks {STATELESS}, which has no {method}");
                    Some(Moves::client(format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":-32601,\"message\":{}}}}}",
                        id.as_json(),
                        quoted(&format!("actum: {what}"))
                    )))
                }
                _ => {
                    let params = message.params().and_then(object).unwrap_or_default();
                    let (id, method) = (id.clone(), method.clone());
                    let (state, answers) = (None, BTreeMap::new());
                    let asked = Asked { id, method, params, state, answers, waits: 0, rounds: 0 };
                    Some(Moves::server(self.send(asked, nonce)))
                }
            },
            Kind::Response { id: Some(id), .. } => {
                let (there, name) = self.open.remove(id)?;
                let asked = self.sent.get_mut(&there)?;
                let answer = message.result().unwrap_or(r#"{"action":"cancel"}"#).to_owned();
                asked.answers.insert(name, answer);
                asked.waits = asked.waits.saturating_sub(1);
                if asked.waits > 0 {
                    return Some(Moves::default());
                }
                let asked = self.sent.remove(&there)?;
                Some(Moves::server(self.send(asked, nonce)))
            }
            Kind::Response { id: None, .. } => None,
        }
    }

    /// The request as the server wants it, under an id of ours.
    fn send(&mut self, asked: Asked, nonce: &str) -> String {
        self.count += 1;
        let there = own_id(nonce, self.count);
        let mut params = asked.params.clone();
        let own = meta_members(&self.hello);
        match params.iter_mut().find(|(name, _)| name == "_meta") {
            Some((_, raw)) => {
                let inside = raw
                    .trim()
                    .strip_prefix('{')
                    .and_then(|it| it.strip_suffix('}'))
                    .unwrap_or_default();
                let comma = if inside.trim().is_empty() { "" } else { "," };
                *raw = format!("{{{inside}{comma}{own}}}");
            }
            None => params.push(("_meta".to_owned(), format!("{{{own}}}"))),
        }
        if !asked.answers.is_empty() {
            let answers: Vec<_> = asked.answers.clone().into_iter().collect();
            params.push(("inputResponses".to_owned(), json(&answers)));
        }
        if let Some(state) = &asked.state {
            params.push(("requestState".to_owned(), state.clone()));
        }
        let line = request(&there, &asked.method, &json(&params));
        self.sent.insert(there, asked);
        line
    }

    fn cancel(&self, message: &Message<'_>) -> Moves {
        let members = message.params().and_then(object).unwrap_or_default();
        let wanted = members.iter().find(|(name, _)| name == "requestId").map(|(_, raw)| raw);
        let there = self
            .sent
            .iter()
            .find(|(_, asked)| Some(asked.id.as_json()) == wanted.map(String::as_str));
        let Some((there, _)) = there else { return Moves::default() };
        let params: Vec<_> = members
            .iter()
            .map(|(name, raw)| {
                let raw = if name == "requestId" { there.as_json() } else { raw };
                (name.clone(), raw.to_owned())
            })
            .collect();
        Moves::server(message.with_params(&json(&params)))
    }

    fn back(&mut self, message: &Message<'_>, there: &Id, nonce: &str) -> Option<Moves> {
        let mut asked = self.sent.remove(there)?;
        let Some(whole) = message.result() else {
            let error = message.error().unwrap_or("{}");
            let id = asked.id.as_json();
            return Some(Moves::client(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}"
            )));
        };
        let members = object(whole)?;
        let find =
            |name: &str| members.iter().find(|(it, _)| it == name).map(|(_, raw)| raw.clone());
        if member(whole, "resultType").as_deref() != Some("input_required") {
            let kept: Vec<_> = members
                .into_iter()
                .filter(|(name, _)| !matches!(name.as_str(), "resultType" | "ttlMs" | "cacheScope"))
                .collect();
            return Some(Moves::client(result(&asked.id, &json(&kept))));
        }
        let questions = find("inputRequests").and_then(|raw| object(&raw)).unwrap_or_default();
        asked.rounds += 1;
        if asked.rounds > ROUNDS_MAX
            || questions.is_empty()
            || self.open.len() + questions.len() > OPEN_MAX
        {
            let id = asked.id.as_json();
            return Some(Moves::client(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"actum: the server asks without end\"}}}}"
            )));
        }
        asked.state = find("requestState");
        asked.waits = questions.len();
        asked.answers.clear();
        let mut moves = Moves::default();
        for (name, question) in questions {
            self.count += 1;
            let id = own_id(nonce, self.count);
            let method = member(&question, "method").unwrap_or_default();
            let params =
                object(&question).unwrap_or_default().into_iter().find(|(it, _)| it == "params");
            let params = params.map_or_else(|| "{}".to_owned(), |(_, raw)| raw);
            moves.to_client.push(request(&id, &method, &params));
            self.open.insert(id, (there.clone(), name));
        }
        self.sent.insert(there.clone(), asked);
        Some(moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"old"}}}"#;
    const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"old"}"#;

    fn one(lines: Vec<String>) -> String {
        let [line] = <[String; 1]>::try_from(lines).unwrap();
        line
    }

    fn bridged() -> Bridge {
        let bridge = Bridge::new("n");
        assert_eq!(bridge.to_server(HELLO), Moves::server(HELLO));
        let probe = one(bridge
            .to_client(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"no"}}"#)
            .to_server);
        assert_eq!(
            probe,
            format!(
                r#"{{"jsonrpc":"2.0","id":"actum-bridge-n-0","method":"server/discover","params":{{"_meta":{{{META}}}}}}}"#
            )
        );
        let welcome = bridge.to_client(r#"{"jsonrpc":"2.0","id":"actum-bridge-n-0","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"be kind","ttlMs":1}}"#);
        assert_eq!(
            one(welcome.to_client),
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"server","version":"0"},"instructions":"be kind"}}"#
        );
        bridge
    }

    #[test]
    fn a_server_that_shakes_hands_is_left_alone() {
        let bridge = Bridge::new("n");
        bridge.to_server(HELLO);
        let welcome = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}"#;
        assert_eq!(bridge.to_client(welcome), Moves::client(welcome));
        for line in [r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "no json"] {
            assert_eq!(bridge.to_server(line), Moves::server(line));
            assert_eq!(bridge.to_client(line), Moves::client(line));
        }
    }

    #[test]
    fn a_server_of_neither_era_says_what_it_said() {
        let bridge = Bridge::new("n");
        bridge.to_server(HELLO);
        let error = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}"#;
        bridge.to_client(error);
        let other = r#"{"jsonrpc":"2.0","id":"actum-bridge-n-0","error":{"code":-32601,"message":"what?"}}"#;
        assert_eq!(bridge.to_client(other), Moves::client(error));
    }

    #[test]
    fn requests_and_results_are_said_anew_in_the_other_era() {
        let bridge = bridged();
        assert_eq!(
            bridge.to_server(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
            Moves::default()
        );
        let ping = bridge.to_server(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(ping, Moves::client(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
        let call = bridge.to_server(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{"a":1.50},"_meta":{"progressToken":7}}}"#);
        assert_eq!(
            one(call.to_server),
            format!(
                r#"{{"jsonrpc":"2.0","id":"actum-bridge-n-1","method":"tools/call","params":{{"name":"pay","arguments":{{"a":1.50}},"_meta":{{"progressToken":7,{META}}}}}}}"#
            )
        );
        let cancel = bridge.to_server(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
        );
        assert!(one(cancel.to_server).contains("\"requestId\":\"actum-bridge-n-1\""));
        let back = bridge.to_client(r#"{"jsonrpc":"2.0","id":"actum-bridge-n-1","result":{"resultType":"complete","content":[],"ttlMs":0,"cacheScope":"private","x":1.0}}"#);
        assert_eq!(
            one(back.to_client),
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"x":1.0}}"#
        );
    }

    #[test]
    fn a_question_in_an_answer_becomes_a_request_and_its_answer_a_retry() {
        let bridge = bridged();
        bridge
            .to_server(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay"}}"#);
        let asks = bridge.to_client(r#"{"jsonrpc":"2.0","id":"actum-bridge-n-1","result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?"}}},"requestState":"s"}}"#);
        assert_eq!(
            one(asks.to_client),
            r#"{"jsonrpc":"2.0","id":"actum-bridge-n-2","method":"elicitation/create","params":{"message":"?"}}"#
        );
        let retry = bridge
            .to_server(r#"{"jsonrpc":"2.0","id":"actum-bridge-n-2","result":{"action":"accept"}}"#);
        let retry = one(retry.to_server);
        assert!(
            retry.contains(r#""inputResponses":{"q":{"action":"accept"}},"requestState":"s""#),
            "{retry}"
        );
        let done = bridge.to_client(r#"{"jsonrpc":"2.0","id":"actum-bridge-n-3","result":{"resultType":"complete","content":[]}}"#);
        assert_eq!(one(done.to_client), r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#);
    }

    #[test]
    fn a_server_that_asks_without_end_is_ended() {
        let bridge = bridged();
        let mut line = bridge
            .to_server(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay"}}"#);
        for _ in 0..ROUNDS_MAX {
            let id = member(&one(line.to_server), "id").unwrap();
            let asks = bridge.to_client(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"resultType":"input_required","inputRequests":{{"q":{{"method":"m"}}}}}}}}"#));
            let id = member(&one(asks.to_client), "id").unwrap();
            line = bridge.to_server(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#));
        }
        let id = member(&one(line.to_server), "id").unwrap();
        let ended = bridge.to_client(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"resultType":"input_required","inputRequests":{{"q":{{"method":"m"}}}}}}}}"#));
        assert!(one(ended.to_client).contains("asks without end"));
    }
}
