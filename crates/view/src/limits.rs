//! Limits on the number of connections. Connections without the token have a separate limit, so they cannot lock out clients that have it.

use crate::server::Shared;
use std::{
    collections::VecDeque,
    io,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};
use throng_base::sync::lock;

/// Maximum number of connections that have not shown the token yet. A new one replaces the oldest.
const MOST_STRANGERS: usize = 32;

/// One of a limited number of permits for connections. Dropping it frees the permit.
pub struct Permit {
    shared: Arc<Shared>,
    count: fn(&Shared) -> &AtomicUsize,
}

impl Permit {
    pub fn take(shared: &Arc<Shared>, count: fn(&Shared) -> &AtomicUsize, most: usize) -> Option<Self> {
        let permit = Self { shared: shared.clone(), count };
        let taken = count(shared).fetch_add(1, Ordering::SeqCst);
        (taken < most).then_some(permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        (self.count)(&self.shared).fetch_sub(1, Ordering::SeqCst);
    }
}

/// Connections that have not shown the token yet.
#[derive(Default)]
pub struct Strangers {
    next: AtomicU64,
    present: Mutex<VecDeque<(u64, TcpStream)>>,
}

/// Registration of such a connection. Dropping it removes the connection from [`Strangers`].
pub struct Stranger {
    among: Arc<Strangers>,
    number: u64,
}

impl Strangers {
    /// Registers a connection. If there are too many, the oldest one is closed.
    ///
    /// # Errors
    /// If the system provides no second handle of the connection.
    pub fn enter(self: &Arc<Self>, stream: &TcpStream) -> io::Result<Stranger> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut present = lock(&self.present);
        present.push_back((number, stream.try_clone()?));
        while present.len() > MOST_STRANGERS {
            if let Some((_, oldest)) = present.pop_front() {
                let _ = oldest.shutdown(Shutdown::Both);
            }
        }
        Ok(Stranger { among: self.clone(), number })
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        lock(&self.among.present).retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Read, net::TcpListener};

    #[test]
    fn the_oldest_stranger_makes_room_for_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let strangers = Arc::<Strangers>::default();
        let mut clients = Vec::new();
        let mut inside = Vec::new();
        for _ in 0..=MOST_STRANGERS {
            clients.push(TcpStream::connect(address).unwrap());
            let (stream, _) = listener.accept().unwrap();
            inside.push((strangers.enter(&stream).unwrap(), stream));
        }
        assert_eq!(clients[0].read(&mut [0]).unwrap(), 0);
        clients[1].set_nonblocking(true).unwrap();
        assert_eq!(clients[1].read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        inside.clear();
        assert!(lock(&strangers.present).is_empty());
    }
}
