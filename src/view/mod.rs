//! `throng view`: the server of a page in which a browser shows a scene. It passes on what a [`Preview`] and its viewers say to each
//! other; docs/view.md describes the protocol. Only who knows the token is served, see [`guard`].

mod client;
mod encode;
mod flow;
mod guard;
mod http;
mod page;
mod protocol;

use protocol::Request;
#[cfg(feature = "test-seams")]
pub use protocol::{PictureHeader, read_picture};

use crate::preview::Preview;
use bytes::Bytes;
use client::Session;
use guard::{Access, Guard};
use http::{Answered, Get};
use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// Connections that are served at the same time, and pages among these.
const MOST_CONNECTIONS: usize = 64;
const MOST_PAGES: usize = 16;
/// Ports that are tried, one after the other, if any will do.
const PORTS_TRIED: u16 = 100;
/// Stack of a connection's thread, in bytes.
const STACK: usize = 512 << 10;
/// How long the system may take to send what was written; who is slower is dropped.
const SEND_PATIENCE: Duration = Duration::from_secs(10);
/// Finished stills that wait to be fetched.
const MOST_STILLS: usize = 8;

/// The page of who has no token.
const NO_ENTRY: &str = include_str!("page/no_entry.html");

/// The port of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// This one, or a free one if it is 0.
    Exactly(u16),
    /// This one or the next that is free.
    From(u16),
}

/// A server that is ready to serve.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// State that all connections share.
struct Shared {
    preview: Preview,
    guard: Guard,
    connections: AtomicUsize,
    pages: AtomicUsize,
    stills: Mutex<BTreeMap<u32, Still>>,
    next_still: AtomicU32,
}

struct Still {
    file: Bytes,
    extension: &'static str,
}

impl Server {
    /// Binds to a port of `address`.
    ///
    /// # Errors
    /// If the port is taken, or the address is not one of this machine.
    pub fn bind(preview: Preview, address: IpAddr, port: Port) -> io::Result<Self> {
        let listener = match port {
            Port::Exactly(port) => TcpListener::bind((address, port))?,
            Port::From(first) => {
                let ports = first..=first.saturating_add(PORTS_TRIED);
                let tried = ports.map(|port| TcpListener::bind((address, port)));
                let mut taken =
                    tried.skip_while(|bound| matches!(bound, Err(error) if error.kind() == io::ErrorKind::AddrInUse));
                taken.next().unwrap_or_else(|| Err(io::ErrorKind::AddrInUse.into()))?
            }
        };
        let address = listener.local_addr()?;
        let shared = Shared {
            preview,
            guard: Guard::new(address)?,
            connections: AtomicUsize::new(0),
            pages: AtomicUsize::new(0),
            stills: Mutex::default(),
            next_still: AtomicU32::new(1),
        };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// The link that opens the page. Whoever has it may do everything.
    pub fn link(&self) -> String {
        self.shared.guard.link()
    }

    /// Serves until the process ends.
    pub fn serve(&self) {
        for stream in self.listener.incoming() {
            // A connection that failed before it was one, or too many open files: those that there are go on.
            let Ok(stream) = stream else {
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let Some(place) = Place::take(&self.shared, |shared| &shared.connections, MOST_CONNECTIONS) else {
                http::refuse(stream);
                continue;
            };
            let shared = self.shared.clone();
            let serve = move || {
                let _place = place;
                // Whatever goes wrong with a connection concerns nobody else.
                let _ = serve_connection(&shared, stream);
            };
            // Without a thread the connection is closed.
            let _ = thread::Builder::new().name("view".into()).stack_size(STACK).spawn(serve);
        }
    }
}

/// One of a limited number of places, which is free again when this is dropped.
struct Place {
    shared: Arc<Shared>,
    count: fn(&Shared) -> &AtomicUsize,
}

impl Place {
    fn take(shared: &Arc<Shared>, count: fn(&Shared) -> &AtomicUsize, most: usize) -> Option<Self> {
        let place = Self { shared: shared.clone(), count };
        let taken = count(shared).fetch_add(1, Ordering::SeqCst);
        (taken < most).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        (self.count)(&self.shared).fetch_sub(1, Ordering::SeqCst);
    }
}

impl Shared {
    fn stills(&self) -> MutexGuard<'_, BTreeMap<u32, Still>> {
        self.stills.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a file to be fetched once, and returns its path.
    fn keep(&self, file: Bytes, extension: &'static str) -> String {
        let number = self.next_still.fetch_add(1, Ordering::Relaxed);
        let mut stills = self.stills();
        while stills.len() >= MOST_STILLS {
            stills.pop_first();
        }
        stills.insert(number, Still { file, extension });
        format!("/still/{number}.{extension}")
    }

    fn fetch(&self, path: &str) -> Option<Still> {
        let (number, extension) = path.strip_prefix("/still/")?.split_once('.')?;
        let number = number.parse().ok()?;
        let mut stills = self.stills();
        stills.get(&number).filter(|still| still.extension == extension)?;
        stills.remove(&number)
    }
}

/// Answers requests until the connection is closed or becomes a WebSocket.
fn serve_connection(shared: &Arc<Shared>, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SEND_PATIENCE))?;
    let mut connection = http::Connection::new(stream);
    while let Some(request) = connection.read()? {
        match shared.guard.access(&request) {
            Access::Wrong(reason) => {
                connection.write(&Answered::text(403, reason), false)?;
                return Ok(());
            }
            Access::Stranger => connection.write(&Answered::page(403, NO_ENTRY), false)?,
            Access::Arrives => connection.write(&Answered::redirect("/", &shared.guard.cookie()), false)?,
            Access::Known if request.path() == "/socket" => {
                let Some(key) = request.socket_key().filter(|_| shared.guard.is_same_origin(&request)) else {
                    return connection.write(&Answered::text(400, "this is a WebSocket of the page"), false);
                };
                let Some(place) = Place::take(shared, |shared| &shared.pages, MOST_PAGES) else {
                    return connection.write(&Answered::text(503, "too many pages are open: close some"), false);
                };
                let stream = connection.upgrade(&key)?;
                let session = Session::new(shared.clone(), stream);
                session.run();
                drop(place);
                return Ok(());
            }
            Access::Known => {
                let answered = page_file(shared, &request);
                connection.write(&answered, request.keeps_alive())?;
            }
        }
        if !request.keeps_alive() {
            break;
        }
    }
    Ok(())
}

fn page_file(shared: &Shared, request: &Get) -> Answered {
    let path = request.path();
    if let Some((kind, contents)) = page::file(path) {
        return Answered::file(kind, Bytes::from_static(contents.as_bytes()));
    }
    match shared.fetch(path) {
        Some(still) => Answered::download(still.file, still.extension),
        None => Answered::text(404, "there is no such file"),
    }
}
