//! An address with a scheme and a host, taken apart and put together in one form. Where two readers of URLs would find two
//! hosts in it (a backslash, two `@`, an encoded host, white space), it is no URL here.

use core::fmt;

use super::ADDRESS_MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    scheme: String,
    userinfo: Option<String>,
    host: String,
    port: Option<String>,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

impl Url {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > ADDRESS_MAX || text.contains(is_forbidden) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        if !is_scheme(scheme) {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let (rest, fragment) = split_off(rest, '#');
        let (rest, query) = split_off(rest, '?');
        let (authority, path) = match rest.find('/').and_then(|at| rest.split_at_checked(at)) {
            Some((authority, path)) => (authority, path),
            None => (rest, "/"),
        };
        let (userinfo, host) = match authority.rsplit_once('@') {
            Some((userinfo, _)) if userinfo.contains('@') => return None,
            Some((userinfo, host)) => (Some(percent_normal(userinfo)?), host),
            None => (None, authority),
        };
        let (host, port) = split_port(host)?;
        if (host.is_empty() && scheme != "file") || host.contains('%') {
            return None;
        }
        let port = port.filter(|port| !port.is_empty() && Some(*port) != default_port(&scheme));
        Some(Self {
            userinfo,
            host: host.to_ascii_lowercase(),
            port: port.map(str::to_owned),
            path: without_dot_segments(&percent_normal(path)?),
            query: query.map_or(Some(None), |query| percent_normal(query).map(Some))?,
            fragment: fragment.map_or(Some(None), |part| percent_normal(part).map(Some))?,
            scheme,
        })
    }

    /// Scheme, user, host and port: whom the address reaches.
    pub(crate) fn origin(&self) -> String {
        let mut text = format!("{}://", self.scheme);
        if let Some(userinfo) = &self.userinfo {
            text.push_str(userinfo);
            text.push('@');
        }
        text.push_str(&self.host);
        if let Some(port) = &self.port {
            text.push(':');
            text.push_str(port);
        }
        text
    }

    /// The address without its scheme, where a person would leave that out.
    pub(crate) fn without_scheme(&self) -> Option<String> {
        self.bare_host()?;
        self.to_string().split_once("://").map(|(_, rest)| rest.to_owned())
    }

    /// The host, if naming it alone names the whole origin: the web, no user, no unusual port.
    pub(crate) fn bare_host(&self) -> Option<&str> {
        let is_web = matches!(self.scheme.as_str(), "http" | "https");
        (is_web && self.userinfo.is_none() && self.port.is_none()).then_some(self.host.as_str())
    }

    /// All that is not the origin, in pieces between the separators `/ ? & = #`, decoded. `None` if one is empty that need not
    /// be: only the end of a path and the value of a key may.
    pub(crate) fn carried(&self) -> Option<Vec<String>> {
        let path = self.path.strip_prefix('/').unwrap_or(&self.path);
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut pieces: Vec<&str> = Vec::new();
        if !path.is_empty() || self.path.len() > 1 {
            pieces.extend(path.split('/'));
        }
        for pair in self.query.iter().flat_map(|query| query.split('&')) {
            pieces.extend(pair.strip_suffix('=').unwrap_or(pair).split('='));
        }
        pieces.extend(self.fragment.iter().flat_map(|fragment| fragment.split(is_separator)));
        let pieces = pieces.into_iter().flat_map(|piece| piece.split(is_separator));
        pieces.map(|piece| (!piece.is_empty()).then(|| percent_decoded(piece))).collect()
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.path)?;
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        match &self.fragment {
            Some(fragment) => write!(f, "#{fragment}"),
            None => Ok(()),
        }
    }
}

pub(crate) fn is_separator(c: char) -> bool {
    matches!(c, '/' | '?' | '&' | '=' | '#')
}

/// No reader agrees with the next on these, or they end the address.
fn is_forbidden(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\\\"<>^`{|}".contains(c)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_in_scheme)
}

pub(crate) fn is_in_scheme(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')
}

fn split_off(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(text, rest)| (text, Some(rest)))
}

fn split_port(host: &str) -> Option<(&str, Option<&str>)> {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if host.starts_with('[') {
        let (address, rest) = host.split_at_checked(host.find(']')? + 1)?;
        return match rest.strip_prefix(':') {
            Some(port) => is_port(port).then_some((address, Some(port))),
            None => rest.is_empty().then_some((address, None)),
        };
    }
    match host.split_once(':') {
        Some((host, port)) => is_port(port).then_some((host, Some(port))),
        None => Some((host, None)),
    }
}

fn default_port(scheme: &str) -> Option<&'static str> {
    match scheme {
        "http" | "ws" => Some("80"),
        "https" | "wss" => Some("443"),
        "ftp" => Some("21"),
        _ => None,
    }
}

/// Unreserved characters bare, all others that are encoded in capitals, characters outside ASCII encoded.
fn percent_normal(text: &str) -> Option<String> {
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = rest.strip_prefix(c)?;
        if c == '%' {
            let (digits, after) = rest.split_at_checked(2)?;
            let byte = hex_byte(digits)?;
            rest = after;
            match char::from(byte) {
                c if c.is_ascii_alphanumeric() || "-._~".contains(c) => normal.push(c),
                _ => push_encoded(&mut normal, byte),
            }
        } else if c.is_ascii() {
            normal.push(c);
        } else {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| push_encoded(&mut normal, byte));
        }
    }
    Some(normal)
}

fn push_encoded(text: &mut String, byte: u8) {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0').to_ascii_uppercase();
    text.extend(['%', digit(byte >> 4), digit(byte & 15)]);
}

fn hex_byte(digits: &str) -> Option<u8> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// The characters behind the encoding; what is not UTF-8 stays encoded.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let byte =
            after.split_at_checked(2).and_then(|(digits, left)| Some((hex_byte(digits)?, left)));
        rest = if let Some((byte, left)) = byte {
            bytes.push(byte);
            left
        } else {
            bytes.push(b'%');
            after
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// RFC 3986, 5.2.4. Doubled slashes stay: to a server they may mean something.
fn without_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_folder = false;
    for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
        is_folder = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    if is_folder {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}
