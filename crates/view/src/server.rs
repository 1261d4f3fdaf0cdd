//! The server: connections, and what they may have.

use crate::{
    client::Session,
    guard::{self, Access, Guard},
    http::{self, Answered, Get},
    limits::{Permit, Stranger, Strangers},
    page,
};
use bytes::Bytes;
use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use throng_base::sync::lock;
use throng_preview::Preview;

/// Maximum number of connections with the token, and of pages among them.
const MOST_CONNECTIONS: usize = 64;
const MOST_PAGES: usize = 16;
/// Number of further ports that are tried for [`Port::From`].
const PORTS_TRIED: u16 = 100;
/// Stack of a connection's thread, in bytes.
pub const STACK: usize = 512 << 10;
/// Timeout for sending; slower clients are disconnected.
pub const SEND_PATIENCE: Duration = Duration::from_secs(10);
/// Timeouts for receiving a request: before the token was shown, and after.
const STRANGERS_PATIENCE: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of finished stills per page that wait to be downloaded.
const MOST_STILLS: usize = 4;
/// Maximum length of the name by which a page identifies itself when it reconnects.
const LONGEST_NAME: usize = 64;

/// Page that redirects from [`guard::ENTRANCE`] to the viewer. It belongs to this server, so the browser sends the cookie.
const ENTRANCE: &str = include_str!("page/entrance.html");
/// Page for clients without the token.
const NO_ENTRY: &str = include_str!("page/no_entry.html");

/// Port on which a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// This port, or any free port if it is 0.
    Exactly(u16),
    /// This port, or the next free one after it.
    From(u16),
}

/// A server that is bound to its port.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// State shared by all connections.
pub struct Shared {
    pub preview: Preview,
    guard: Guard,
    strangers: Arc<Strangers>,
    connections: AtomicUsize,
    pages: AtomicUsize,
    stills: Mutex<BTreeMap<u32, Still>>,
    next_still: AtomicU32,
}

struct Still {
    /// Number of the page that requested the still.
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

    /// The link that opens the page. It grants full access.
    pub fn link(&self) -> String {
        self.shared.guard.link("/")
    }

    /// The link for a browser that comes from a local file.
    pub fn entrance(&self) -> String {
        self.shared.guard.link(guard::ENTRANCE)
    }

    /// Serves until the process ends.
    pub fn serve(&self) {
        for stream in self.listener.incoming() {
            // Accepting failed: the client left, or no file descriptor is free. Existing connections continue.
            let Ok(stream) = stream else {
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            // Without a second handle, the connection cannot be tracked, so it is closed.
            let Ok(stranger) = self.shared.strangers.enter(&stream) else { continue };
            let shared = self.shared.clone();
            let serve = move || {
                // Errors of one connection do not affect the others.
                let _ = serve_connection(&shared, stream, stranger);
            };
            // Without a thread, the connection is closed.
            let _ = thread::Builder::new().name("view".into()).stack_size(STACK).spawn(serve);
        }
    }
}

impl Shared {
    /// Stores a still for one download, and returns its path. If the page has too many stills, its oldest one is removed.
    pub fn keep(&self, page: u64, file: Bytes, extension: &'static str) -> String {
        let number = self.next_still.fetch_add(1, Ordering::Relaxed);
        let mut stills = lock(&self.stills);
        let own: Vec<u32> = stills.iter().filter(|(_, still)| still.page == page).map(|(number, _)| *number).collect();
        for oldest in own.iter().take((own.len() + 1).saturating_sub(MOST_STILLS)) {
            stills.remove(oldest);
        }
        stills.insert(number, Still { page, file, extension });
        format!("/still/{number}.{extension}")
    }

    /// Removes the stills of a page that was closed.
    pub fn forget(&self, page: u64) {
        lock(&self.stills).retain(|_, still| still.page != page);
    }

    fn fetch(&self, path: &str) -> Option<Still> {
        let (number, extension) = path.strip_prefix("/still/")?.split_once('.')?;
        let number = number.parse().ok()?;
        let mut stills = lock(&self.stills);
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
    let mut permit = None;
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
        if permit.is_none() {
            permit = Permit::take(shared, |shared| &shared.connections, MOST_CONNECTIONS);
        }
        if permit.is_none() {
            return connection.write(&Answered::text(503, "too many connections: close some pages"), false);
        }
        if access == Access::Arrives {
            let cookie = shared.guard.cookie();
            let answered = if request.path() == guard::ENTRANCE {
                Answered::page(200, ENTRANCE).with_cookie(&cookie)
            } else {
                Answered::redirect("/").with_cookie(&cookie)
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

/// Accepts the WebSocket of a page and serves it until it is closed.
fn serve_page(shared: &Arc<Shared>, mut connection: http::Connection, request: &Get) -> io::Result<()> {
    let Some(key) = request.socket_key().filter(|_| shared.guard.is_same_origin(request)) else {
        return connection.write(&Answered::text(400, "this is a WebSocket of the page"), false);
    };
    let Some(_permit) = Permit::take(shared, |shared| &shared.pages, MOST_PAGES) else {
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
