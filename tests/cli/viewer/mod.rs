//! `throng view`, through its connection to pages.

mod page;
mod saves;
mod view;
