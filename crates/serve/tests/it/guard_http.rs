//! The guard before a server that is reached by an address.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use actum_core::Outcome;
use actum_serve::guard::{CALL_FOR, Guard, Http, HttpError, Settings, Sight};
use tiny_http::{Header, Response, Server};

use crate::guard_scene::{CLINIC, Kept, SERVER, TOOLS, call, ends, id_of, port_on, text};

const LOCAL: &str = "127.0.0.1:0";

struct Web {
    http: Arc<Http>,
    /// What reached the server.
    heard: Receiver<String>,
    kept: Kept,
    _folder: tempfile::TempDir,
}

impl Drop for Web {
    fn drop(&mut self) {
        self.http.stop();
    }
}

/// A guard before a server that answers each request with what `says` makes of it: a type and a body.
fn web(turn: &str, says: fn(&str) -> (&'static str, String)) -> Web {
    let server = Server::http(LOCAL).unwrap();
    let url = format!("http://{}/mcp", server.server_addr().to_ip().unwrap());
    let (tell, heard) = channel();
    thread::spawn(move || {
        for mut request in server.incoming_requests() {
            let mut body = String::new();
            request.as_reader().read_to_string(&mut body).unwrap();
            let (kind, answer) = if body.contains("\"tools/list\"") {
                ("application/json", crate::guard_scene::answer(&id_of(&body), TOOLS))
            } else {
                if tell.send(body.clone()).is_err() {
                    return;
                }
                says(&body)
            };
            let kind = Header::from_bytes("content-type", kind).unwrap();
            request.respond(Response::from_string(answer).with_header(kind)).unwrap();
        }
    });
    let (folder, kept) = (tempfile::tempdir().unwrap(), Kept::default());
    let port = port_on(&kept, CLINIC, &folder);
    let session = port.open(Sight::Partial).unwrap();
    crate::guard_scene::turn(&*port, &session, turn);
    let (name, sight) = (SERVER.to_owned(), Sight::Partial);
    let settings = Settings { name, sight, session: Some(session) };
    let guard = Arc::new(Guard::new(settings, port, Box::new(|_| {})).unwrap());
    let http = Http::listen(guard, LOCAL.parse().unwrap(), &url, CALL_FOR).unwrap();
    let own = Arc::clone(&http);
    thread::spawn(move || own.serve());
    Web { http, heard, kept, _folder: folder }
}

impl Web {
    fn says(&self, headers: &str, body: &str) -> String {
        let address: SocketAddr = self.http.address().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        write!(stream, "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn posts(&self, body: &str) -> String {
        self.says("Host: localhost\r\n", body)
    }
}

fn whole(body: &str) -> (&'static str, String) {
    ("application/json", crate::guard_scene::answer(&id_of(body), &text("done")))
}

fn streamed(body: &str) -> (&'static str, String) {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#;
    let unasked = crate::guard_scene::answer("77", &text("unasked"));
    let answer = crate::guard_scene::answer(&id_of(body), &text("done"));
    // For some readers the carriage return in the comment ends a line, and an event begins.
    let hidden = format!(": x\rdata: {unasked}\r\r\n\n");
    (
        "text/event-stream",
        format!("data: {progress}\n\n{hidden}data: {unasked}\n\nid: 7\ndata: {answer}\n\n"),
    )
}

#[test]
fn what_the_user_named_goes_to_the_address_and_what_nothing_backs_does_not() {
    let web = web("Send it to ann@example.org please.", whole);
    let heard = web.posts(&call(1, "send", r#"{ "to" : "eve@evil.example" }"#));
    assert!(heard.starts_with("HTTP/1.1 200") && heard.contains("actum approve"), "{heard}");
    let heard = web.posts(&call(2, "send", r#"{ "to" : "ann@example.org" }"#));
    assert!(heard.contains(&crate::guard_scene::answer("2", &text("done"))), "{heard}");
    assert_eq!(web.heard.recv().unwrap(), call(2, "send", r#"{"to":"ann@example.org"}"#));
    assert!(web.heard.try_recv().is_err());
    assert_eq!(ends(&web.kept), [Outcome::Passed]);
}

#[test]
fn a_stream_passes_event_by_event_and_nothing_hides_in_it() {
    let web = web("Send it to ann@example.org please.", streamed);
    let heard = web.posts(&call(1, "send", r#"{"to":"ann@example.org"}"#));
    assert!(
        heard.contains("text/event-stream") && heard.contains("notifications/progress"),
        "{heard}"
    );
    assert!(
        heard.contains("done") && heard.contains("id: 7\n") && !heard.contains("unasked"),
        "{heard}"
    );
    assert_eq!(ends(&web.kept), [Outcome::Passed]);
}

#[test]
fn a_page_of_another_machine_may_not_speak() {
    let web = web("", whole);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for headers in [
        "Host: localhost\r\nOrigin: https://evil.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
        "Host: localhost\r\nOrigin: http://localhost.evil.example\r\n",
        "Host: rebound.evil.example\r\n",
    ] {
        assert!(web.says(headers, ping).starts_with("HTTP/1.1 403"), "{headers}");
    }
    let origin = "Host: 127.0.0.1:7\r\nOrigin: http://localhost:3000\r\n";
    assert!(web.says(origin, ping).starts_with("HTTP/1.1 200"));
    assert_eq!(web.heard.recv().unwrap(), ping);
    assert!(web.heard.try_recv().is_err());
}

#[test]
fn what_the_protocol_forbids_is_refused_here_as_well() {
    let web = web("", whole);
    for line in [
        "[]",
        "no json",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"look"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"a":1,"a":2}}}"#,
    ] {
        assert!(web.posts(line).starts_with("HTTP/1.1 400"), "{line}");
    }
    assert!(web.heard.try_recv().is_err());
}

#[test]
fn a_guard_listens_on_this_machine_alone() {
    let (folder, kept) = (tempfile::tempdir().unwrap(), Kept::default());
    let settings = Settings { name: SERVER.to_owned(), sight: Sight::Partial, session: None };
    let port = port_on(&kept, CLINIC, &folder);
    let guard = Arc::new(Guard::new(settings, port, Box::new(|_| {})).unwrap());
    let listen = |address: &str, url: &str| {
        Http::listen(Arc::clone(&guard), address.parse().unwrap(), url, CALL_FOR)
    };
    assert!(matches!(listen("0.0.0.0:0", "http://x"), Err(HttpError::Beyond { .. })));
    assert!(matches!(listen(LOCAL, "ftp://x"), Err(HttpError::Url { .. })));
}
