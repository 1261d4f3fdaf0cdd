//! A headless Chromium, controlled by the DevTools protocol.

use crate::process::{self, Process, wait_until};
use serde_json::{Value, json};
use std::{
    fs,
    net::TcpStream,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

/// Names of the executable in Debian and other distributions.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Timeout that only a failing test reaches, even on slow machines.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page, which is closed when this is dropped.
pub struct Chromium {
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    calls: u64,
    /// Uncaught exceptions of the page.
    failures: Vec<String>,
    _process: Process,
    _profile: TempDir,
}

impl Chromium {
    /// Starts the browser. None if Chromium is not installed.
    pub fn start(width: u32, height: u32) -> Option<Self> {
        let name = NAMES.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())?;
        let profile = tempfile::tempdir().unwrap();
        let mut command = process::command(name);
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--remote-debugging-port=0",
        ]);
        command.arg(format!("--window-size={width},{height}")).arg("about:blank");
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        let mut process = Process::start(&mut command);
        let port_file = profile.path().join("DevToolsActivePort");
        let mut address = None;
        wait_until("the port of Chromium", || {
            assert!(process.has_ended().is_none(), "Chromium ended early");
            let text = fs::read_to_string(&port_file).unwrap_or_default();
            address = text.split_once('\n').map(|(port, path)| format!("127.0.0.1:{port}{}", path.trim()));
            address.is_some()
        });
        let address = address.unwrap();
        let stream = TcpStream::connect(address.split('/').next().unwrap()).unwrap();
        let (socket, _) = tungstenite::client(format!("ws://{address}"), stream).unwrap();
        let (calls, failures) = (0, Vec::new());
        let mut browser = Self { socket, session: None, calls, failures, _process: process, _profile: profile };
        browser.attach();
        browser.call("Page.enable", json!({}));
        browser.call("Runtime.enable", json!({}));
        browser.resize(width, height);
        Some(browser)
    }

    /// Resizes the window.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = self.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        self.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
    }

    /// Calls a method of the protocol and waits for its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).unwrap();
        loop {
            let Message::Text(text) = self.socket.read().unwrap() else { continue };
            let mut answer: Value = serde_json::from_str(&text).unwrap();
            if answer["method"] == "Runtime.exceptionThrown" {
                self.failures.push(answer["params"]["exceptionDetails"].to_string());
            }
            if answer["id"] == self.calls {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
        }
    }

    pub fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
    }

    pub fn reload(&mut self) {
        self.call("Page.reload", json!({}));
    }

    /// Evaluates an expression. The result is null while a page loads and if the expression throws.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.call("Runtime.evaluate", params);
        match result.get("exceptionDetails") {
            Some(_) => Value::Null,
            None => result["result"]["value"].take(),
        }
    }

    /// Waits until an expression is true, with a generous timeout.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) {
        let start = Instant::now();
        while self.value(expression) != Value::Bool(true) {
            if start.elapsed() > PATIENCE {
                let told = self.value("document.body.innerText");
                panic!("waited too long for {expression}; failures: {:?}; the page: {told}", self.failures);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Presses and releases a key. `code` is a value of `KeyboardEvent.code`.
    pub fn press(&mut self, key: &str, code: &str) {
        self.key_down(key, code, 0);
        self.key_up(key, code, 0);
    }

    /// Presses and releases a key together with Ctrl.
    pub fn press_with_control(&mut self, key: &str, code: &str) {
        self.key_down(key, code, 2);
        self.key_up(key, code, 2);
    }

    pub fn key_down(&mut self, key: &str, code: &str, modifiers: u32) {
        self.key("keyDown", key, code, modifiers);
    }

    pub fn key_up(&mut self, key: &str, code: &str, modifiers: u32) {
        self.key("keyUp", key, code, modifiers);
    }

    fn key(&mut self, kind: &str, key: &str, code: &str, modifiers: u32) {
        self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": code, "modifiers": modifiers }));
    }

    /// Saves the page as a JPEG.
    pub fn screenshot(&mut self, path: &Path, quality: u32) {
        use base64::prelude::{BASE64_STANDARD, Engine as _};
        let picture = self.call("Page.captureScreenshot", json!({ "format": "jpeg", "quality": quality }));
        fs::write(path, BASE64_STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()).unwrap();
    }

    /// Panics if the page had an uncaught exception.
    #[track_caller]
    pub fn assert_no_failures(&self) {
        assert!(self.failures.is_empty(), "{:#?}", self.failures);
    }
}
