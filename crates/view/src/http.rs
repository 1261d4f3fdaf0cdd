//! A minimal HTTP server: GET requests without a body, sequentially on a connection.

use bytes::Bytes;
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    time::{Duration, Instant},
};
use tungstenite::handshake::derive_accept_key;

/// Greatest size of a request in bytes, and greatest number of its headers.
const MOST_BYTES: usize = 16 << 10;
const MOST_HEADERS: usize = 64;

/// A connection on which requests arrive.
pub struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A GET request.
#[derive(Debug)]
pub struct Get {
    target: String,
    /// Header names are in lower case.
    headers: Vec<(String, String)>,
    is_old: bool,
}

/// A response.
pub struct Answered {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, read: Vec::new() }
    }

    /// The next request, which must arrive completely within `patience`. None at the end of the connection.
    ///
    /// # Errors
    /// If the connection fails, or after an invalid request, which has then been answered with an error status.
    pub fn read(&mut self, patience: Duration) -> io::Result<Option<Get>> {
        let deadline = Instant::now() + patience;
        loop {
            match Get::parse(&self.read) {
                Ok(Some((request, length))) => {
                    self.read.drain(..length);
                    return Ok(Some(request));
                }
                Ok(None) => {}
                Err(status) => {
                    self.write(&Answered::text(status, "this server does not understand that"), false)?;
                    return Err(io::ErrorKind::InvalidData.into());
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut part = [0; 2048];
            match self.stream.read(&mut part)? {
                0 => return Ok(None),
                count => self.read.extend_from_slice(&part[..count]),
            }
        }
    }

    /// Sends a response. `keeps_alive` becomes the `Connection` header.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn write(&mut self, answered: &Answered, keeps_alive: bool) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", answered.status, reason(answered.status));
        for (name, value) in &answered.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let length = answered.body.len();
        let connection = if keeps_alive { "keep-alive" } else { "close" };
        head += &format!("Content-Length: {length}\r\nConnection: {connection}\r\n{}\r\n", POLICY);
        self.stream.write_all(head.as_bytes())?;
        self.stream.write_all(&answered.body)?;
        if !keeps_alive {
            let _ = self.stream.shutdown(Shutdown::Write);
        }
        Ok(())
    }

    /// Accepts a WebSocket handshake with the client's `key`, and returns the stream.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn upgrade(mut self, key: &str) -> io::Result<TcpStream> {
        let accept = derive_accept_key(key.as_bytes());
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        self.stream.write_all(head.as_bytes())?;
        self.stream.set_read_timeout(None)?;
        Ok(self.stream)
    }
}

/// Headers of all responses: the page loads nothing from other sites, cannot be embedded, and is not cached.
const POLICY: &str = "Content-Security-Policy: default-src 'self'; img-src 'self' blob: data:; connect-src 'self' ws: wss:; \
    frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n\
    Cache-Control: no-store\r\n";

impl Get {
    /// Parses a request at the beginning of `bytes`, and returns it with its length. None if the request is incomplete.
    ///
    /// # Errors
    /// The status code with which an invalid request is answered.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, u16> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if bytes.len() < MOST_BYTES => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => return Err(431),
            Err(_) => return Err(400),
        };
        if request.method != Some("GET") {
            return Err(405);
        }
        let mut known: Vec<(String, String)> = Vec::new();
        for header in request.headers.iter() {
            let value = std::str::from_utf8(header.value).map_err(|_| 400u16)?;
            known.push((header.name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let has = |name: &str| known.iter().filter(|header| header.0 == name).count();
        // A body would be parsed as the next request, and only one of two `Host` headers would be checked.
        if has("content-length") + has("transfer-encoding") > 0 || has("host") > 1 || has("origin") > 1 {
            return Err(400);
        }
        let target = request.path.unwrap_or("/").to_owned();
        Ok(Some((Self { target, headers: known, is_old: request.version == Some(0) }, length)))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| &*header.1)
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A value of the query string, not decoded.
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    pub fn host(&self) -> Option<&str> {
        self.header("host")
    }

    pub fn origin(&self) -> Option<&str> {
        self.header("origin")
    }

    pub fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = self.header("cookie")?.split(';');
        cookies.map(str::trim).find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    pub fn keeps_alive(&self) -> bool {
        !self.is_old && !self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    /// The `Sec-WebSocket-Key` of a WebSocket handshake; None for other requests.
    pub fn socket_key(&self) -> Option<String> {
        let is_websocket = self.header("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"));
        let is_known = self.header("sec-websocket-version") == Some("13");
        self.header("sec-websocket-key").filter(|_| is_websocket && is_known).map(str::to_owned)
    }
}

impl Answered {
    pub fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            headers: vec![("Content-Type", "text/plain; charset=utf-8".to_owned())],
            body: format!("throng view: {text}\n").into(),
        }
    }

    pub fn page(status: u16, html: &'static str) -> Self {
        let kind = "text/html; charset=utf-8".to_owned();
        Self { status, headers: vec![("Content-Type", kind)], body: Bytes::from_static(html.as_bytes()) }
    }

    pub fn file(kind: &str, body: Bytes) -> Self {
        Self { status: 200, headers: vec![("Content-Type", kind.to_owned())], body }
    }

    pub fn download(body: Bytes, extension: &str) -> Self {
        let kind = if extension == "png" { "image/png" } else { "application/octet-stream" };
        let name = format!("attachment; filename=\"still.{extension}\"");
        let headers = vec![("Content-Type", kind.to_owned()), ("Content-Disposition", name)];
        Self { status: 200, headers, body }
    }

    pub fn redirect(to: &str) -> Self {
        Self { status: 303, headers: vec![("Location", to.to_owned())], body: Bytes::new() }
    }

    pub fn with_cookie(mut self, cookie: &str) -> Self {
        self.headers.push(("Set-Cookie", cookie.to_owned()));
        self
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = Get::parse(&bytes);
            let mut line = b"GET / HTTP/1.1\r\n".to_vec();
            line.extend(bytes);
            let _ = Get::parse(&line);
        }
    }

    #[test]
    fn requests_are_read_to_their_end() {
        let text = b"GET /a?token=x&b=c HTTP/1.1\r\nHost: h\r\nCookie: a=1; b=2\r\n\r\nGET";
        let (request, length) = Get::parse(text).unwrap().unwrap();
        assert_eq!((request.path(), request.query("token"), request.query("b")), ("/a", Some("x"), Some("c")));
        assert_eq!((request.cookie("b"), request.cookie("c"), request.host()), (Some("2"), None, Some("h")));
        assert!(request.keeps_alive() && request.socket_key().is_none());
        assert_eq!(&text[length..], b"GET");
        assert!(Get::parse(&text[..length - 1]).unwrap().is_none());
    }

    #[test]
    fn what_is_no_plain_get_is_refused() {
        let status = |text: &str| Get::parse(text.as_bytes()).unwrap_err();
        assert_eq!(status("POST / HTTP/1.1\r\n\r\n"), 405);
        assert_eq!(status("GET / HTTP/1.1\r\nContent-Length: 4\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
        assert_eq!(status("\u{1}\u{2}"), 400);
        assert_eq!(status(&format!("GET /{} HTTP/1.1\r\n", "a".repeat(MOST_BYTES))), 431);
    }
}
