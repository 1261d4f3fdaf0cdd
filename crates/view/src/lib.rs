//! `throng view`: the server of a page in which a browser shows a scene. It passes on what a [`Preview`] and its viewers say to each
//! other; docs/view.md describes the protocol. Only who knows the token is served, see [`guard`].

mod client;
mod encode;
mod flow;
mod guard;
mod http;
mod page;
mod places;
mod protocol;

use protocol::Request;
pub use protocol::{PictureHeader, read_picture};

use bytes::Bytes;
use client::Session;
use guard::{Access, Guard};
use http::{Answered, Get};
use places::{Place, Stranger, Strangers};
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
use throng_preview::Preview;

/// Connections of those who have the token that are served at the same time, and pages among these.
const MOST_CONNECTIONS: usize = 64;
const MOST_PAGES: usize = 16;
/// Ports that are tried, one after the other, if any will do.
const PORTS_TRIED: u16 = 100;
/// Stack of a connection's thread, in bytes.
const STACK: usize = 512 << 10;
/// How long the system may take to send what was written; who is slower is dropped.
const SEND_PATIENCE: Duration = Duration::from_secs(10);
/// Time in which a request has to be there: the first one, and those of who has the token.
const STRANGERS_PATIENCE: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(10);
/// Finished stills of a page that wait to be fetched.
const MOST_STILLS: usize = 4;
/// Longest name by which a page comes back.
const LONGEST_NAME: usize = 64;

/// The page that leads on from a file in which the token was. It is a page of this server, so the cookie goes along.
const ENTRANCE: &str = include_str!("page/entrance.html");
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
    strangers: Arc<Strangers>,
    connections: AtomicUsize,
    pages: AtomicUsize,
    stills: Mutex<BTreeMap<u32, Still>>,
    next_still: AtomicU32,
}

struct Still {
    /// The number of the page that asked for it.
    page: u64,
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
            strangers: Arc::default(),
            connections: AtomicUsize::new(0),
            pages: AtomicUsize::new(0),
            stills: Mutex::default(),
            next_still: AtomicU32::new(1),
        };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// The link that opens the page. Whoever has it may do everything.
    pub fn link(&self) -> String {
        self.shared.guard.link("/")
    }

    /// The same for a browser that comes from a file.
    pub fn entrance(&self) -> String {
        self.shared.guard.link(guard::ENTRANCE)
    }

    /// Serves until the process ends.
    pub fn serve(&self) {
        for stream in self.listener.incoming() {
            // A connection that failed before it was one, or too many open files: those that there are go on.
            let Ok(stream) = stream else {
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            // Those for whom there is no handle left are not served.
            let Ok(stranger) = self.shared.strangers.enter(&stream) else { continue };
            let shared = self.shared.clone();
            let serve = move || {
                // Whatever goes wrong with a connection concerns nobody else.
                let _ = serve_connection(&shared, stream, stranger);
            };
            // Without a thread the connection is closed.
            let _ = thread::Builder::new().name("view".into()).stack_size(STACK).spawn(serve);
        }
    }
}

impl Shared {
    fn stills(&self) -> MutexGuard<'_, BTreeMap<u32, Still>> {
        self.stills.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a file of a page to be fetched once, in place of its oldest one if there are many, and returns its path.
    fn keep(&self, page: u64, file: Bytes, extension: &'static str) -> String {
        let number = self.next_still.fetch_add(1, Ordering::Relaxed);
        let mut stills = self.stills();
        let own: Vec<u32> = stills.iter().filter(|(_, still)| still.page == page).map(|(number, _)| *number).collect();
        for oldest in own.iter().take((own.len() + 1).saturating_sub(MOST_STILLS)) {
            stills.remove(oldest);
        }
        stills.insert(number, Still { page, file, extension });
        format!("/still/{number}.{extension}")
    }

    /// Forgets the files of a page that was closed.
    fn forget(&self, page: u64) {
        self.stills().retain(|_, still| still.page != page);
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
fn serve_connection(shared: &Arc<Shared>, stream: TcpStream, stranger: Stranger) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SEND_PATIENCE))?;
    let mut stranger = Some(stranger);
    let mut connection = http::Connection::new(stream);
    let mut place = None;
    loop {
        let patience = if stranger.is_some() { STRANGERS_PATIENCE } else { PATIENCE };
        let Some(request) = connection.read(patience)? else { return Ok(()) };
        let access = shared.guard.access(&request);
        match access {
            Access::Wrong(reason) => return connection.write(&Answered::text(403, reason), false),
            Access::Stranger => return connection.write(&Answered::page(403, NO_ENTRY), false),
            Access::Arrives | Access::Known => {}
        }
        stranger = None;
        if place.is_none() {
            place = Place::take(shared, |shared| &shared.connections, MOST_CONNECTIONS);
        }
        if place.is_none() {
            return connection.write(&Answered::text(503, "too many connections: close some pages"), false);
        }
        if access == Access::Arrives {
            let cookie = shared.guard.cookie();
            let answered = match request.path() == guard::ENTRANCE {
                true => Answered::page(200, ENTRANCE).with_cookie(&cookie),
                false => Answered::redirect("/").with_cookie(&cookie),
            };
            return connection.write(&answered, false);
        }
        if request.path() == "/socket" {
            return serve_page(shared, connection, &request);
        }
        connection.write(&page_file(shared, &request), request.keeps_alive())?;
        if !request.keeps_alive() {
            return Ok(());
        }
    }
}

/// Serves the WebSocket of a page.
fn serve_page(shared: &Arc<Shared>, mut connection: http::Connection, request: &Get) -> io::Result<()> {
    let Some(key) = request.socket_key().filter(|_| shared.guard.is_same_origin(request)) else {
        return connection.write(&Answered::text(400, "this is a WebSocket of the page"), false);
    };
    let Some(_place) = Place::take(shared, |shared| &shared.pages, MOST_PAGES) else {
        return connection.write(&Answered::text(503, "too many pages are open: close some"), false);
    };
    let is_plain = |name: &&str| {
        (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let name = request.query("page").filter(is_plain).map(str::to_owned);
    Session::new(shared.clone(), connection.upgrade(&key)?, name).run();
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
