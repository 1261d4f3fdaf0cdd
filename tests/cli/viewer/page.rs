//! A `throng view` server under test, and its clients, which are not browsers.

use crate::{
    common::Place,
    process::{Process, wait_until},
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};
use throng_view::{PictureHeader, read_picture};
use tungstenite::{Message, WebSocket, protocol::Role};

/// Timeout for answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
pub struct Server {
    /// None if the server belongs to another process.
    pub process: Option<Process>,
    pub host: String,
    pub token: String,
}

/// A received picture.
pub struct Shown {
    pub header: PictureHeader,
    /// RGB bytes.
    pub pixels: Vec<u8>,
}

impl Server {
    /// Serves `scene.ron` of `place`.
    pub fn start(place: &Place, flags: &[&str]) -> Self {
        Self::start_with(place, &[&["scene.ron"], flags].concat())
    }

    /// Serves with these arguments, which include the scene.
    pub fn start_with(place: &Place, arguments: &[&str]) -> Self {
        let args = [&["view", "--port", "0", "--no-open"], arguments].concat();
        let out = place.path("link");
        let process = Process::start_with_stdout(&mut place.command(&args), fs::File::create(&out).unwrap());
        let mut link = String::new();
        wait_until("a link", || {
            link = fs::read_to_string(&out).unwrap();
            link.ends_with('\n')
        });
        Self { process: Some(process), ..Self::at(link.trim()) }
    }

    /// A running server, given by its link.
    pub fn at(link: &str) -> Self {
        let rest = link.strip_prefix("http://").unwrap();
        let (host, token) = rest.split_once("/?token=").unwrap();
        Self { process: None, host: host.to_owned(), token: token.to_owned() }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a GET request with these headers and `Host`, and returns the response.
    pub fn get(&self, path: &str, headers: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}Connection: close\r\n\r\n", self.host))
    }

    /// Sends `request` and reads until the connection is closed.
    pub fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Exchanges the token for a cookie, and returns the `Cookie` header.
    pub fn cookie(&self) -> String {
        let answer = self.get(&format!("/?token={}", self.token), "");
        let cookie =
            answer.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).unwrap_or_else(|| panic!("{answer}"));
        assert!(answer.starts_with("HTTP/1.1 303") && answer.contains("\r\nLocation: /\r\n"), "{answer}");
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        format!("Cookie: {}\r\n", cookie.split(';').next().unwrap())
    }

    /// Requests the WebSocket, and returns the response and the stream.
    pub fn handshake(&self, headers: &str) -> (String, TcpStream) {
        self.handshake_at("/socket", headers)
    }

    fn handshake_at(&self, path: &str, headers: &str) -> (String, TcpStream) {
        let mut stream = self.connect();
        let request = format!(
            "GET {path} HTTP/1.1\r\n{headers}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count > 0) {
            head.extend(byte);
        }
        (String::from_utf8_lossy(&head).into_owned(), stream)
    }

    /// Opens a page.
    pub fn open(&self) -> Page {
        self.open_at("/socket")
    }

    /// Opens a page with a name, under which it can reconnect.
    pub fn open_as(&self, name: &str) -> Page {
        self.open_at(&format!("/socket?page={name}"))
    }

    fn open_at(&self, path: &str) -> Page {
        let host = &self.host;
        let (answer, stream) =
            self.handshake_at(path, &format!("Host: {host}\r\nOrigin: http://{host}\r\n{}", self.cookie()));
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
        Page { socket: WebSocket::from_raw_socket(stream, Role::Client, None) }
    }
}

/// An open page.
pub struct Page {
    pub socket: WebSocket<TcpStream>,
}

impl Page {
    pub fn say(&mut self, message: &Value) {
        self.socket.send(Message::Text(message.to_string().into())).unwrap();
    }

    /// Requests pictures of this size.
    pub fn start(&mut self, width: u32, height: u32) {
        self.say(&json!({"do": "start", "size": [width, height]}));
    }

    /// Waits for a message for which `found` returns a value. Pictures are acknowledged.
    pub fn wait<T>(&mut self, what: &str, mut found: impl FnMut(Result<&Value, &Shown>) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "waited too long for {what}");
            let found = match self.socket.read().unwrap_or_else(|error| panic!("{what}: {error}")) {
                Message::Text(text) => found(Ok(&serde_json::from_str(&text).unwrap())),
                Message::Binary(message) => {
                    let (header, stripes) = read_picture(&message).unwrap();
                    self.say(&json!({"do": "shown", "picture": header.picture}));
                    let decode = |data: &[u8]| image::load_from_memory(data).unwrap().into_rgb8().into_raw();
                    let pixels = stripes.iter().flat_map(|stripe| decode(stripe.data)).collect();
                    found(Err(&Shown { header, pixels }))
                }
                _ => None,
            };
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// Waits for the next answer of this kind.
    pub fn answer(&mut self, kind: &str) -> Value {
        self.wait(kind, |message| message.ok().filter(|answer| answer["is"] == kind).cloned())
    }

    /// Waits for the next picture for which `wanted` is true.
    pub fn picture(&mut self, wanted: impl Fn(&PictureHeader) -> bool) -> Shown {
        let found = |message: Result<&Value, &Shown>| {
            let shown = message.err().filter(|shown| wanted(&shown.header))?;
            Some(Shown { header: shown.header, pixels: shown.pixels.clone() })
        };
        self.wait("a picture", found)
    }

    /// Waits for the next lossless picture.
    pub fn finished(&mut self) -> Shown {
        self.picture(|header| header.is_finished() && header.is_png())
    }
}
