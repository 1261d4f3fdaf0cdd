//! `throng view`: an HTTP server whose page shows a scene in the browser. It forwards messages between a
//! [`Preview`](throng_preview::Preview) and its viewers; docs/view.md describes the protocol. Clients need the token, see [`guard`].

mod client;
mod encode;
mod flow;
mod guard;
mod http;
mod limits;
mod page;
mod protocol;
mod server;

pub use protocol::{PictureHeader, read_picture};
pub use server::{Port, Server};
