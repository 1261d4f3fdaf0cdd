//! Access control: only pages of this server whose browser has the token may use it.
//!
//! The token is part of the link. It is exchanged for a cookie, so that it does not remain in the browser's address bar. Other sites in the
//! same browser can neither read the cookie nor cause it to be sent (`SameSite=Strict`). Requests by a host name that is not this server's
//! are refused (DNS rebinding).

use super::http::Get;
use std::{fmt::Write as _, io, net::SocketAddr};

/// Path of the link in a local file. A browser that comes from a file sends no `SameSite` cookie with a redirect, so this path returns a
/// page instead.
pub const ENTRANCE: &str = "/enter";
/// Number of random bytes in a token.
const TOKEN_BYTES: usize = 24;

pub struct Guard {
    token: String,
    address: SocketAddr,
}

/// Access rights of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Access {
    /// The request has the cookie: full access.
    Known,
    /// The request has the token in its link, and receives the cookie.
    Arrives,
    /// The request has neither; it gets only the page that explains how to enter.
    Stranger,
    /// The request comes from another site or uses another host name; contains the reason.
    Wrong(&'static str),
}

impl Guard {
    /// Creates a guard with a random token.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn new(address: SocketAddr) -> io::Result<Self> {
        let mut random = [0; TOKEN_BYTES];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let mut token = String::new();
        for byte in random {
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self { token, address })
    }

    /// The URL of `path`, with the token.
    pub fn link(&self, path: &str) -> String {
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => format!("localhost:{}", self.address.port()),
            _ => self.address.to_string(),
        };
        format!("http://{host}{path}?token={}", self.token)
    }

    /// Value of the `Set-Cookie` header. Cookies are not separated by port, so the port is part of the cookie's name.
    pub fn cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.token)
    }

    fn cookie_name(&self) -> String {
        format!("throng_{}", self.address.port())
    }

    pub fn access(&self, request: &Get) -> Access {
        if !request.host().is_some_and(|host| self.serves(host)) {
            return Access::Wrong("wrong host name: use the link that throng view printed");
        }
        if request.origin().is_some() && !self.is_same_origin(request) {
            return Access::Wrong("this server is not for other sites");
        }
        if ["/", ENTRANCE].contains(&request.path())
            && request.query("token").is_some_and(|token| equal(token, &self.token))
        {
            return Access::Arrives;
        }
        if request.cookie(&self.cookie_name()).is_some_and(|token| equal(token, &self.token)) {
            Access::Known
        } else {
            Access::Stranger
        }
    }

    /// Whether the request's `Origin` header is this server. Browsers send the header with every WebSocket request.
    pub fn is_same_origin(&self, request: &Get) -> bool {
        let origin = request.origin().and_then(|origin| origin.strip_prefix("http://"));
        origin.is_some() && origin == request.host()
    }

    /// Whether `host` is a name or an address of this server. A server on a loopback address accepts loopback addresses only; other servers
    /// accept any address, and the machine's name. The port is not checked, because a tunnel may use another one.
    fn serves(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is_local = name.eq_ignore_ascii_case("localhost");
        match literal.parse::<std::net::IpAddr>() {
            Ok(ip) if self.address.ip().is_loopback() => ip.is_loopback(),
            Ok(_) => true,
            Err(_) if self.address.ip().is_loopback() => is_local,
            Err(_) => is_local || gethostname::gethostname().to_string_lossy().eq_ignore_ascii_case(name),
        }
    }
}

/// Compares two texts in constant time.
fn equal(a: &str, b: &str) -> bool {
    let differing = a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str) -> Guard {
        Guard { token: "secret".into(), address: address.parse().unwrap() }
    }

    fn access(guard: &Guard, path: &str, headers: &str) -> Access {
        let text = format!("GET {path} HTTP/1.1\r\n{headers}\r\n");
        guard.access(&Get::parse(text.as_bytes()).unwrap().unwrap().0)
    }

    #[test]
    fn only_the_token_or_its_cookie_lets_in() {
        let guard = guard("127.0.0.1:8080");
        let host = "Host: 127.0.0.1:8080\r\n";
        assert_eq!(access(&guard, "/?token=secret", host), Access::Arrives);
        assert_eq!(access(&guard, "/enter?token=secret", host), Access::Arrives);
        assert_eq!(access(&guard, "/enter?token=secre", host), Access::Stranger);
        assert_eq!(access(&guard, "/?token=secre", host), Access::Stranger);
        assert_eq!(access(&guard, "/view.js?token=secret", host), Access::Stranger);
        assert_eq!(access(&guard, "/", host), Access::Stranger);
        let cookie = |name: &str| format!("{host}Cookie: a=b; {name}\r\n");
        assert_eq!(access(&guard, "/", &cookie("throng_8080=secret")), Access::Known);
        assert_eq!(access(&guard, "/", &cookie("throng_8081=secret")), Access::Stranger);
        assert_eq!(access(&guard, "/", &cookie("throng_8080=secret2")), Access::Stranger);
    }

    #[test]
    fn other_names_and_other_sites_are_refused() {
        let local = guard("127.0.0.1:8080");
        let allowed = |guard: &Guard, headers: &str| !matches!(access(guard, "/", headers), Access::Wrong(_));
        for good in ["localhost:8080", "LOCALHOST", "127.0.0.1:9999", "[::1]:8080", "127.0.0.1"] {
            assert!(allowed(&local, &format!("Host: {good}\r\n")), "{good}");
        }
        for bad in ["evil.example:8080", "192.168.0.3:8080", "localhost.evil.example", "127.0.0.1.nip.io:8080", ""] {
            assert!(!allowed(&local, &format!("Host: {bad}\r\n")), "{bad}");
        }
        assert!(!allowed(&local, ""));
        let origin = |origin: &str| format!("Host: localhost:8080\r\nOrigin: {origin}\r\n");
        assert!(allowed(&local, &origin("http://localhost:8080")));
        for bad in ["http://localhost:8081", "https://localhost:8080", "null", "http://evil.example", "localhost:8080"]
        {
            assert!(!allowed(&local, &origin(bad)), "{bad}");
        }
        let open = guard("0.0.0.0:80");
        assert!(allowed(&open, "Host: 10.1.2.3\r\n") && !allowed(&open, "Host: evil.example\r\n"));
    }

    #[test]
    fn links_lead_to_this_machine() {
        assert_eq!(guard("0.0.0.0:80").link("/"), "http://localhost:80/?token=secret");
        assert_eq!(guard("[::1]:81").link("/"), "http://[::1]:81/?token=secret");
        let made = Guard::new("127.0.0.1:1".parse().unwrap()).unwrap();
        assert_eq!(made.token.len(), 48);
    }
}
