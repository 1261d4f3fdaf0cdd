//! Flies through a scene like the page of `throng view`, and reports the picture rate and the delays.
//!
//!     cargo run --release --example fly -- target/release/throng scenes/dragon_of_dragons.ron --size 960x540
//!
//! `--line 5,60` simulates a connection of 5 Mbit/s with a round-trip time of 60 ms. Flags after `--` are passed to `throng view`.

use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    env,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::{Duration, Instant},
};
use throng_view::read_picture;
use tungstenite::{Message, WebSocket, handshake::client::generate_key, protocol::Role};

/// Default number of camera poses per second; most browsers draw at this rate.
const RATE: f64 = 60.0;
/// Seconds at the start that are not measured, while the server adapts to the connection.
const WARM_UP: f64 = 3.0;

fn main() {
    let mut arguments = env::args().skip(1);
    let (mut paths, mut size, mut seconds, mut rate, mut line) = (Vec::new(), [960, 540], 10.0, RATE, None);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value");
        match argument.as_str() {
            "--size" => size = pair(&value(), 'x').map(|side| side as u32),
            "--seconds" => seconds = value().parse().expect("seconds"),
            "--rate" => rate = value().parse().expect("cameras per second"),
            "--line" => line = Some(pair(&value(), ',')),
            "--" => break,
            _ => paths.push(argument),
        }
    }
    let [program, scene] = &paths[..] else {
        panic!("usage: fly PROGRAM SCENE [--size WxH] [--seconds N] [--rate N] [--line MBIT,MS]")
    };
    let mut command = Command::new(program);
    command.args(["view", scene, "--port", "0", "--no-open"]).args(arguments).stdout(Stdio::piped());
    let mut server = Running(command.spawn().expect("the program starts"));
    let mut link = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut link).expect("a link");
    let (host, token) =
        link.trim().strip_prefix("http://").and_then(|rest| rest.split_once("/?token=")).expect("a link");
    let host = line.map_or_else(|| host.to_owned(), |[megabits, delay]| shaped(host, megabits * 125e3, delay / 2e3));
    fly(connect(&host, token), size, (seconds, rate));
}

/// A process that is killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pair(text: &str, separator: char) -> [f64; 2] {
    let (a, b) = text.split_once(separator).expect("two numbers");
    [a, b].map(|number| number.parse().expect("a number"))
}

/// Opens the page's WebSocket.
fn connect(host: &str, token: &str) -> WebSocket<TcpStream> {
    let mut stream = TcpStream::connect(host).expect("a connection");
    stream.set_nodelay(true).unwrap();
    let page = ask(&mut stream, &format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let cookie = page.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).expect("a cookie");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let mut stream = TcpStream::connect(host).expect("a connection");
    stream.set_nodelay(true).unwrap();
    let key = generate_key();
    let request = format!(
        "GET /socket HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    );
    let answer = ask(&mut stream, &request);
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    WebSocket::from_raw_socket(stream, Role::Client, None)
}

/// Sends a request and returns the head of the response.
fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).expect("the request is sent");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("an answer");
        head.extend(byte);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A circle about the scene camera's target, at the camera's height.
struct Circle {
    eye: [f64; 3],
    target: [f64; 3],
    fov: Value,
}

impl Circle {
    fn of(camera: &Value) -> Self {
        let triple = |value: &Value| [0, 1, 2].map(|i| value[i].as_f64().unwrap());
        Self { eye: triple(&camera["eye"]), target: triple(&camera["target"]), fov: camera["fov"].clone() }
    }

    /// The command that moves the camera to its place at `time` in seconds.
    fn camera(&self, time: f64, key: u32) -> Value {
        let Self { eye, target, fov } = self;
        let (x, z) = (eye[0] - target[0], eye[2] - target[2]);
        let (radius, angle) = (x.hypot(z), x.atan2(z) + 0.4 * time);
        let eye = [target[0] + radius * angle.sin(), eye[1], target[2] + radius * angle.cos()];
        json!({"do": "camera", "eye": eye, "target": target, "fov": fov, "key": key})
    }
}

/// Measurements of pictures.
#[derive(Default)]
struct Measured {
    /// Delay of each camera pose, in milliseconds.
    lags: Vec<f64>,
    /// Time of each picture, in seconds.
    times: Vec<f64>,
    bytes: usize,
    /// Number of pictures by width, height and samples.
    sizes: BTreeMap<(u16, u16, u32), u32>,
}

impl Measured {
    fn print(mut self, seconds: f64) {
        self.lags.sort_by(f64::total_cmp);
        let last = self.lags.len() as f64;
        let at = |share: f64| self.lags.get((share * last) as usize).copied().unwrap_or(f64::NAN);
        let worst = self.times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        let (count, kilobytes) = (self.times.len() as f64, self.bytes as f64 / 1e3);
        println!("{:.1} pictures/s, {:.0} kB each", count / seconds, kilobytes / count.max(1.0));
        println!("lag: {:.0} ms in the median, {:.0} ms at 95 %, {:.0} ms at most", at(0.5), at(0.95), at(0.9999));
        println!("longest time without a picture: {:.0} ms", 1e3 * worst);
        println!("sizes and samples: {:?}", self.sizes);
    }
}

fn say(socket: &mut WebSocket<TcpStream>, message: &Value) {
    socket.send(Message::Text(message.to_string().into())).expect("a message is sent");
}

/// The server's first message about the scene.
fn scene(socket: &mut WebSocket<TcpStream>) -> Value {
    loop {
        if let Message::Text(text) = socket.read().expect("a message") {
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["is"] == "scene" {
                return message;
            }
        }
    }
}

fn fly(mut socket: WebSocket<TcpStream>, size: [u32; 2], (seconds, rate): (f64, f64)) {
    let begin = Instant::now();
    let scene = scene(&mut socket);
    println!("{} on {}", scene["name"], scene["device"]);
    say(&mut socket, &json!({"do": "start", "size": size}));
    let circle = Circle::of(&scene["camera"]);
    let (mut sent, mut measured) = (BTreeMap::new(), Measured::default());
    let (mut key, mut shown) = (0u32, 0u32);
    socket.get_ref().set_read_timeout(Some(Duration::from_millis(2))).unwrap();
    while begin.elapsed().as_secs_f64() < seconds + WARM_UP {
        let now = begin.elapsed().as_secs_f64();
        if now * rate >= f64::from(key) {
            key += 1;
            say(&mut socket, &circle.camera(now, key));
            sent.insert(key, now);
        }
        match socket.read() {
            Ok(Message::Binary(message)) => {
                let (header, stripes) = read_picture(&message).expect("a picture");
                for stripe in stripes {
                    image::load_from_memory(stripe.data).expect("an image");
                }
                say(&mut socket, &json!({"do": "shown", "picture": header.picture}));
                let now = begin.elapsed().as_secs_f64();
                if now > WARM_UP {
                    // This picture answers all poses up to its own that no earlier picture answered.
                    let answered = sent.range(shown + 1..=header.key.max(shown));
                    measured.lags.extend(answered.map(|(_, at)| 1e3 * (now - at)));
                    measured.times.push(now);
                    *measured.sizes.entry((header.width, header.height, header.samples)).or_default() += 1;
                    measured.bytes += message.len();
                }
                shown = shown.max(header.key);
            }
            Ok(_) => {}
            Err(tungstenite::Error::Io(error))
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) => panic!("{error}"),
        }
    }
    measured.print(seconds);
}

/// Forwards connections to `host` with limited throughput (bytes per second) and a delay in seconds each way. Returns the forwarding host.
fn shaped(host: &str, rate: f64, delay: f64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let own = listener.local_addr().unwrap().to_string();
    let host = host.to_owned();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let far = TcpStream::connect(&host).expect("a connection");
            for (from, to) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
                let (sender, receiver) = channel();
                let back = from.try_clone().unwrap();
                thread::spawn(move || take(from, &sender, rate, delay));
                thread::spawn(move || pass(to, back, &receiver));
            }
        }
    });
    own
}

/// Reads at the simulated throughput, with a limited queue.
fn take(mut from: TcpStream, sender: &Sender<(Instant, Vec<u8>)>, rate: f64, delay: f64) {
    let mut free = Instant::now();
    let mut part = [0; 1400];
    while let Ok(count @ 1..) = from.read(&mut part) {
        free = free.max(Instant::now()) + Duration::from_secs_f64(count as f64 / rate);
        if sender.send((free + Duration::from_secs_f64(delay), part[..count].to_vec())).is_err() {
            break;
        }
        // Routers queue some tenths of a second.
        let ahead = free.saturating_duration_since(Instant::now());
        thread::sleep(ahead.saturating_sub(Duration::from_millis(100)));
    }
}

fn pass(mut to: TcpStream, back: TcpStream, receiver: &Receiver<(Instant, Vec<u8>)>) {
    let mut waiting = VecDeque::new();
    while let Some((time, part)) = waiting.pop_front().or_else(|| receiver.recv().ok()) {
        thread::sleep(time.saturating_duration_since(Instant::now()));
        if to.write_all(&part).is_err() {
            break;
        }
        waiting.extend(receiver.try_iter());
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = back.shutdown(Shutdown::Both);
}
