//! The connection to one page: one thread reads the page's messages, another writes pictures and answers.

use crate::{
    encode,
    flow::Flow,
    protocol::Request,
    server::{SEND_PATIENCE, STACK, Shared},
};
use bytes::Bytes;
#[cfg(unix)]
use std::os::fd::AsRawFd;
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};
use throng_base::sync::lock;
use throng_preview::{Answer, Link, Next};
use tungstenite::{
    Error, Message, WebSocket,
    error::ProtocolError,
    protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
};

/// Greatest size of a message from a page, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// Longest time that the writer sleeps before it checks again whether a picture may be sent.
const NAP: Duration = Duration::from_millis(500);
/// Time without a message after which the page is pinged, so that a dead connection is detected.
const SILENCE: Duration = Duration::from_secs(20);

/// Size of the socket's send buffer in bytes. Pictures in the buffer grow stale, and a large buffer hides that the page has stopped
/// reading.
#[cfg(unix)]
const BACKLOG: libc::c_int = 256 << 10;
/// Time for which data are still read after the connection was closed.
const LINGERING: Duration = Duration::from_secs(1);
/// Bytes per write. Fewer bytes than this within [`SEND_PATIENCE`] count as no progress.
const PART: usize = 16 << 10;

pub struct Session {
    shared: Arc<Shared>,
    stream: TcpStream,
    link: Arc<Link>,
    flow: Arc<Mutex<Flow>>,
    control: Arc<Mutex<Control>>,
}

/// Frames that the reader leaves to the writer, so that only one thread writes and no message is split.
#[derive(Default)]
struct Control {
    /// Payload of the last ping that has no answer yet.
    pong: Option<Bytes>,
    /// Set when the connection is to be closed; the inner value is the close code, if any.
    close: Option<Option<CloseCode>>,
}

/// The reading half of the stream. Writes are discarded, because pongs and close frames are sent by the writer.
struct ReadHalf(TcpStream);

impl Read for ReadHalf {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for ReadHalf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The writing half of the stream. Slow pages are tolerated as long as they make progress.
struct WriteHalf(TcpStream);

impl Read for WriteHalf {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl Write for WriteHalf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = &bytes[..bytes.len().min(PART)];
        let start = Instant::now();
        let written = self.0.write(part)?;
        // After a timeout, the system reports the bytes it took instead of an error.
        if written < part.len() && start.elapsed() >= SEND_PATIENCE {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(written)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Session {
    pub fn new(shared: Arc<Shared>, stream: TcpStream, name: Option<String>) -> Self {
        let link = shared.preview.open(name);
        Self { shared, stream, link, flow: Arc::default(), control: Arc::default() }
    }

    /// Serves the page until the connection is closed.
    pub fn run(self) {
        // If no second handle or thread is available, closing the stream notifies the page.
        let _ = self.start();
        self.link.close();
        let _ = self.stream.shutdown(Shutdown::Both);
        self.shared.forget(self.link.number());
    }

    fn start(&self) -> io::Result<()> {
        #[cfg(unix)]
        limit_backlog(&self.stream);
        let writer = Writer {
            shared: self.shared.clone(),
            socket: WebSocket::from_raw_socket(WriteHalf(self.stream.try_clone()?), Role::Server, None),
            link: self.link.clone(),
            flow: self.flow.clone(),
            control: self.control.clone(),
        };
        let stream = self.stream.try_clone()?;
        let write = move || {
            let mut writer = writer;
            let written = writer.run();
            writer.link.close();
            // Ends the reader's blocking read, unless the reader requested the close and is waiting for the writer.
            if written.is_err() || lock(&writer.control).close.is_none() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        };
        let writer = thread::Builder::new().name("view".into()).stack_size(STACK).spawn(write)?;
        let config = WebSocketConfig::default()
            .read_buffer_size(4096)
            .max_message_size(Some(MOST_BYTES))
            .max_frame_size(Some(MOST_BYTES));
        let reader = WebSocket::from_raw_socket(ReadHalf(self.stream.try_clone()?), Role::Server, Some(config));
        let end = self.read(reader);
        let is_told = end.is_some();
        lock(&self.control).close = end;
        self.link.close();
        if !is_told {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        let _: Result<(), _> = writer.join();
        if is_told {
            self.linger();
        }
        Ok(())
    }

    /// Reads remaining data for a limited time. Closing the socket earlier would discard the last messages that were sent.
    fn linger(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let _ = self.stream.set_read_timeout(Some(LINGERING));
        let start = Instant::now();
        let mut rest = [0; 4096];
        while start.elapsed() < LINGERING && matches!((&self.stream).read(&mut rest), Ok(1..)) {}
    }

    /// Reads until the connection is closed or the page violates the protocol. Returns the close code to send, or None if the page no
    /// longer reads.
    fn read(&self, mut socket: WebSocket<ReadHalf>) -> Option<Option<CloseCode>> {
        while !self.link.is_closed() {
            let message = match socket.read() {
                Ok(message) => message,
                Err(error) => return code_of(&error).map(Some),
            };
            match message {
                Message::Text(text) => match Request::parse(&text) {
                    Ok(Request::Shown(picture)) => {
                        let mut flow = lock(&self.flow);
                        flow.shown(picture, Instant::now());
                        let limits = flow.limits();
                        drop(flow);
                        self.link.set_limits(limits);
                        self.link.nudge();
                    }
                    Ok(Request::Command(command)) => self.link.send(command),
                    Err(message) => self.link.answer(Answer::error(message)),
                },
                Message::Close(frame) => {
                    return Some(frame.map(|frame| frame.code).filter(|code| code.is_allowed()));
                }
                Message::Ping(content) => {
                    lock(&self.control).pong = Some(content);
                    self.link.nudge();
                }
                Message::Binary(_) => self.link.answer(Answer::error("messages are texts")),
                Message::Pong(_) | Message::Frame(_) => {}
            }
        }
        None
    }
}

/// Limits the socket's send buffer to [`BACKLOG`]. If the system refuses, stalled pages are detected later.
#[cfg(unix)]
fn limit_backlog(stream: &TcpStream) {
    let (bytes, length) = (BACKLOG, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: the option is an integer, and `bytes` outlives the call.
    unsafe {
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, (&raw const bytes).cast(), length);
    }
}

/// The close code for an invalid message; None if the connection itself failed.
fn code_of(error: &Error) -> Option<CloseCode> {
    match error {
        Error::Capacity(_) => Some(CloseCode::Size),
        Error::Utf8(_) => Some(CloseCode::Invalid),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        Error::Protocol(_) => Some(CloseCode::Protocol),
        _ => None,
    }
}

struct Writer {
    shared: Arc<Shared>,
    socket: WebSocket<WriteHalf>,
    link: Arc<Link>,
    flow: Arc<Mutex<Flow>>,
    control: Arc<Mutex<Control>>,
}

impl Writer {
    fn run(&mut self) -> tungstenite::Result<()> {
        self.socket.get_ref().0.set_write_timeout(Some(SEND_PATIENCE))?;
        let mut spoken = Instant::now();
        loop {
            let pong = lock(&self.control).pong.take();
            if let Some(content) = pong {
                self.socket.send(Message::Pong(content))?;
            }
            let has_room = lock(&self.flow).has_room();
            match self.link.next(has_room, NAP) {
                Next::Answer(answer) => self.tell(answer)?,
                Next::Picture(picture) => {
                    let pixels = picture.width as usize * picture.height as usize;
                    let (number, quality) = {
                        let flow = lock(&self.flow);
                        (flow.number(), flow.quality(picture.kind, pixels))
                    };
                    match encode::message(&picture, number, quality) {
                        Ok(message) => {
                            lock(&self.flow).sent(picture.kind, pixels, message.len(), Instant::now());
                            self.socket.send(Message::Binary(message.into()))?;
                        }
                        Err(error) => self.tell(Answer::error(error))?,
                    }
                }
                Next::Nothing if spoken.elapsed() < SILENCE => continue,
                Next::Nothing => self.socket.send(Message::Ping(Bytes::new()))?,
                Next::Closed => {
                    let code = lock(&self.control).close.flatten();
                    return self.socket.close(code.map(|code| CloseFrame { code, reason: "".into() }));
                }
            }
            spoken = Instant::now();
        }
    }

    fn tell(&mut self, answer: Answer) -> tungstenite::Result<()> {
        let answer = match answer {
            Answer::Still { ask, file: Some((file, extension)), .. } => {
                let link = self.shared.keep(self.link.number(), file, extension);
                Answer::Still { ask, share: None, link: Some(link), file: None }
            }
            other => other,
        };
        let text = serde_json::to_string(&answer).map_err(io::Error::from)?;
        self.socket.send(Message::Text(text.into()))
    }
}
