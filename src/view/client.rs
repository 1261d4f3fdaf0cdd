//! A page: one thread reads what it asks, one writes what it gets.

use super::{Request, SEND_PATIENCE, STACK, Shared, encode, flow::Flow};
use crate::preview::{Answer, Link, Next};
use bytes::Bytes;
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};
use tungstenite::{
    Message, WebSocket,
    protocol::{Role, WebSocketConfig},
};

/// Bytes of a message of a page.
const MOST_BYTES: usize = 1 << 20;
/// How long the writer sleeps at most before it looks whether there is room.
const NAP: Duration = Duration::from_millis(500);
/// Silence after which the page is pinged, so that a line that is gone is noticed.
const SILENCE: Duration = Duration::from_secs(20);

pub struct Session {
    shared: Arc<Shared>,
    stream: TcpStream,
    link: Arc<Link>,
    flow: Arc<Mutex<Flow>>,
}

/// A stream that is only read from. Answers to pings and the like are the writer's, so that no message is torn.
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

impl Session {
    pub fn new(shared: Arc<Shared>, stream: TcpStream) -> Self {
        let link = shared.preview.open();
        Self { shared, stream, link, flow: Arc::default() }
    }

    /// Serves the page until it is closed.
    pub fn run(self) {
        // Without a second connection or thread, the page is told by the end of the first.
        let _ = self.start();
        self.link.close();
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn start(&self) -> io::Result<()> {
        let writer = Writer {
            shared: self.shared.clone(),
            socket: WebSocket::from_raw_socket(self.stream.try_clone()?, Role::Server, None),
            link: self.link.clone(),
            flow: self.flow.clone(),
        };
        let stream = self.stream.try_clone()?;
        let write = move || {
            let mut writer = writer;
            // Whatever the end is, the reader shall see it.
            let _ = writer.run();
            writer.link.close();
            let _ = stream.shutdown(Shutdown::Both);
        };
        let writer = thread::Builder::new().name("view".into()).stack_size(STACK).spawn(write)?;
        let config = WebSocketConfig::default()
            .read_buffer_size(4096)
            .max_message_size(Some(MOST_BYTES))
            .max_frame_size(Some(MOST_BYTES));
        let reader = WebSocket::from_raw_socket(ReadHalf(self.stream.try_clone()?), Role::Server, Some(config));
        self.read(reader);
        self.link.close();
        let _ = self.stream.shutdown(Shutdown::Both);
        let _: Result<(), _> = writer.join();
        Ok(())
    }

    /// Reads until the page is closed or does what no page of ours does.
    fn read(&self, mut socket: WebSocket<ReadHalf>) {
        while let Ok(message) = socket.read() {
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
                Message::Close(_) => return,
                Message::Binary(_) => self.link.answer(Answer::error("messages are texts")),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }
}

struct Writer {
    shared: Arc<Shared>,
    socket: WebSocket<TcpStream>,
    link: Arc<Link>,
    flow: Arc<Mutex<Flow>>,
}

impl Writer {
    fn run(&mut self) -> tungstenite::Result<()> {
        self.socket.get_ref().set_write_timeout(Some(SEND_PATIENCE))?;
        let mut spoken = Instant::now();
        loop {
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
                Next::Closed => return self.socket.close(None),
            }
            spoken = Instant::now();
        }
    }

    fn tell(&mut self, answer: Answer) -> tungstenite::Result<()> {
        let answer = match answer {
            Answer::Still { ask, file: Some((file, extension)), .. } => {
                let link = self.shared.keep(file, extension);
                Answer::Still { ask, share: None, link: Some(link), file: None }
            }
            other => other,
        };
        let text = serde_json::to_string(&answer).map_err(io::Error::from)?;
        self.socket.send(Message::Text(text.into()))
    }
}

/// Locks a mutex. A panic elsewhere is reported there, and the data is consistent between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
