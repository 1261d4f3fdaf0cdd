//! `throng view`: serves a web page that shows a scene.

use super::{
    Exit,
    args::{DeviceArgs, TreeArgs, warn_of_trees},
    console, interrupt, program, shipped,
};
use anyhow::Context;
use clap::{
    Args,
    builder::{PathBufValueParser, TypedValueParser},
};
use std::{
    env,
    io::{self, Write},
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};
use throng_loader::LoadOptions;
use throng_preview::{Preview, Source, Takes, typed_flags};
use throng_settings::{PictureOptions, RenderOptions};
use throng_view::{Port, Server};

/// First port to try.
const USUAL_PORT: u16 = 8080;
/// Lifetime of the file that leads the browser to the page.
const OPENING: Duration = Duration::from_secs(60);

const VIEW_HELP: &str = "\
Prints a link, and opens it if there is a desktop session. The link gives full control. Without --bind, it works only on
this machine; from another machine, forward the port: ssh -L 8080:localhost:8080 HOST. Ctrl-C stops the server.

Examples:
  throng view scenes/dragon_of_dragons.ron
  throng view model.glb --environment sky.hdr --integrator path";

/// Fly through a scene in the browser
#[derive(clap::Args)]
#[command(after_long_help = VIEW_HELP)]
pub struct PreviewArgs {
    /// Scene file (.ron), model (.gltf, .glb, .obj, .ply, .stl) or raw scene (.scn)
    #[arg(value_name = "SCENE", value_parser = PathBufValueParser::new().map(shipped::found))]
    path: PathBuf,
    /// Port of the server; 0 means any free port [default: 8080, or the next free one]
    #[arg(long, value_name = "PORT", help_heading = "Server")]
    port: Option<u16>,
    /// Address that the server listens on; addresses other than 127.0.0.1 allow access from other machines
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), help_heading = "Server")]
    bind: IpAddr,
    /// Do not open a browser
    #[arg(long, help_heading = "Server")]
    no_open: bool,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    picture: RenderOptions,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    trees: TreeArgs,
}

impl PreviewArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        interrupt::end_at_once()?;
        let device = self.device.open(false, console::note)?;
        let trees = self.trees.open()?.remembering();
        let options = PictureOptions {
            load: self.load,
            picture: self.picture,
            trees: trees.clone(),
            ..PictureOptions::default()
        };
        let arguments: Vec<String> =
            program::arguments().iter().skip(2).map(|text| text.to_string_lossy().into_owned()).collect();
        let flags = typed_flags(&arguments, what_follows());
        let preview = Preview::start(Source { path: self.path, options, flags }, device)?;
        warn_of_trees(&trees, console::note);
        let port = match self.port {
            Some(port) => Port::Exactly(port),
            None => Port::From(USUAL_PORT),
        };
        let server = Server::bind(preview, self.bind, port).with_context(|| {
            let fix = "choose another --port, or 0 for any, and a --bind of this machine";
            format!("cannot serve at {} port {}: {fix}", self.bind, self.port.unwrap_or(USUAL_PORT))
        })?;
        if !self.bind.is_loopback() {
            console::note(
                "throng: warning: other machines can reach this server, and what it shows goes over the network as it is; whoever \
                 has the link may change and save",
            );
        }
        let link = server.link();
        console::print(&link)?;
        if !self.no_open && has_desktop() {
            // The link is also printed on the terminal.
            let _ = open(&server.entrance());
        }
        server.serve();
        Ok(Exit::Done)
    }
}

/// The possible values of each flag.
fn what_follows() -> impl Fn(&str) -> Takes {
    let command = PreviewArgs::augment_args(clap::Command::new("view"));
    move |flag| {
        let name = flag.trim_start_matches('-');
        let Some(found) = command.get_arguments().find(|known| known.get_long() == Some(name)) else {
            return Takes::Nothing;
        };
        let least = found.get_num_args().map_or(1, |count| count.min_values());
        if !found.get_action().takes_values() || found.is_require_equals_set() {
            Takes::Nothing
        } else if least == 0 {
            Takes::Perhaps
        } else {
            Takes::Value
        }
    }
}

/// Whether this machine has a desktop session.
fn has_desktop() -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_remote = is_set("SSH_CONNECTION") || is_set("SSH_TTY");
    !is_remote && (cfg!(any(target_os = "macos", windows)) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// Opens a link in the browser. The link is passed in a file that only its owner can read, because command lines of processes are public.
fn open(link: &str) -> io::Result<()> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    let folder = runtime.unwrap_or_else(env::temp_dir);
    let mut file = tempfile::Builder::new().prefix("throng-view-").suffix(".html").tempfile_in(folder)?;
    writeln!(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={link}\"><title>throng</title>")?;
    let opener: &[&str] = match env::consts::OS {
        "macos" => &["open"],
        // Unlike `start` of cmd, it does not interpret its argument.
        "windows" => &["rundll32", "url.dll,FileProtocolHandler"],
        _ => &["xdg-open"],
    };
    let mut command = Command::new(opener[0]);
    command.args(&opener[1..]).arg(file.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn()?;
    let remove = move || {
        thread::sleep(OPENING);
        drop(file);
    };
    thread::Builder::new().name("open".into()).spawn(remove).map(drop)
}
