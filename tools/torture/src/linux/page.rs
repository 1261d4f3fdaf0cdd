//! A client of `throng view` in place of a browser page, and the server that it connects to.

use super::{
    campaign::Campaign,
    process::{Ended, Limits, Running},
};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    path::Path,
    thread,
    time::{Duration, Instant},
};
use tungstenite::{Bytes, Error, Message, WebSocket, protocol::Role};

/// Timeout for the server's link and for answers, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Server {
    running: Running,
    host: String,
    cookie: String,
}

impl Server {
    /// Serves `scene.ron` of a folder.
    pub fn start(campaign: &Campaign, folder: &Path) -> anyhow::Result<Self> {
        let line = "view scene.ron --port 0 --no-open";
        let running = Running::start(&mut campaign.command(folder, line), Limits::default())?;
        let start = Instant::now();
        let link = loop {
            let said = running.said()?;
            if said.ends_with('\n') {
                break said;
            }
            if running.has_ended() || start.elapsed() > PATIENCE {
                bail!("throng view printed no link");
            }
            thread::sleep(Duration::from_millis(5));
        };
        let link = link.trim().strip_prefix("http://").and_then(|rest| rest.split_once("/?token="));
        let (host, token) = link.context("throng view printed another link")?;
        let port = host.rsplit(':').next().unwrap_or_default();
        Ok(Self { running, host: host.to_owned(), cookie: format!("throng_{port}={token}") })
    }

    /// Opens the page with this name. None if the server refuses the connection.
    pub fn open(&self, name: &str) -> anyhow::Result<Option<Page>> {
        let mut stream = TcpStream::connect(&self.host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (host, cookie) = (&self.host, &self.cookie);
        write!(
            stream,
            "GET /socket?page={name} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )?;
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte).unwrap_or(0) == 0 {
                return Ok(None);
            }
            head.extend(byte);
        }
        let is_open = head.starts_with(b"HTTP/1.1 101");
        Ok(is_open.then(|| Page { socket: WebSocket::from_raw_socket(stream, Role::Client, None) }))
    }

    /// A connection without the token that sends nothing.
    pub fn stranger(&self) -> anyhow::Result<TcpStream> {
        Ok(TcpStream::connect(&self.host)?)
    }

    /// Ends the server by Ctrl-C.
    pub fn end(self, campaign: &Campaign) -> anyhow::Result<Ended> {
        self.running.send(libc::SIGINT);
        Ok(self.running.wait(campaign.bounds.patience())?)
    }
}

pub struct Page {
    socket: WebSocket<TcpStream>,
}

impl Page {
    /// Sends a message. A closed connection is detected at the next wait.
    pub fn say(&mut self, message: &Value) {
        self.send(Message::Text(message.to_string().into()));
    }

    pub fn send(&mut self, message: Message) {
        let _ = self.socket.send(message);
    }

    /// Waits for the next answer of one of these kinds.
    pub fn answer(&mut self, kinds: &[&str]) -> Result<Value, String> {
        self.wait(kinds[0], |message| {
            let Message::Text(text) = message else { return None };
            let answer: Value = serde_json::from_str(text).ok()?;
            kinds.contains(&answer["is"].as_str()?).then_some(answer)
        })
    }

    /// Sends a ping and waits for the pong.
    pub fn ping(&mut self) -> Result<(), String> {
        self.send(Message::Ping(Bytes::from_static(b"torture")));
        self.wait("pong", |message| matches!(message, Message::Pong(_)).then_some(()))
    }

    fn wait<T>(&mut self, what: &str, found: impl Fn(&Message) -> Option<T>) -> Result<T, String> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let message = match self.socket.read() {
                Ok(message) => message,
                Err(Error::Io(error)) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => break,
                Err(error) => return Err(format!("a page that waits for `{what}` is closed: {error}")),
            };
            if let Message::Binary(picture) = &message
                && let Some(number) = picture.get(4..8).and_then(|bytes| bytes.try_into().ok())
            {
                self.say(&json!({"do": "shown", "picture": u32::from_le_bytes(number)}));
            }
            if let Some(found) = found(&message) {
                return Ok(found);
            }
        }
        Err(format!("a page waits for `{what}` in vain"))
    }
}
