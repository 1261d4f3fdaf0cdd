//! Things in a folder that are no regular files.

use std::{
    ffi::CString,
    fs::{self, File},
    io::{self, Read},
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, OpenOptionsExt, symlink},
        },
    },
    path::{Path, PathBuf},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Fifo,
    /// With a reader, see [`Reader`].
    ReadFifo,
    Null,
    Zero,
    Full,
    Folder,
    LinkToFile,
    LinkToNothing,
    LinkToItself,
    LinkToFifo,
}

/// Where a link of [`Kind::LinkToFile`] and others leads, beside it.
pub fn target(path: &Path) -> PathBuf {
    path.with_extension("target")
}

/// Makes one in place of what is there. False where the system does not allow it.
pub fn make(path: &Path, kind: Kind) -> io::Result<bool> {
    if path.is_dir() {
        fs::remove_dir_all(path)?;
    } else if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let to = target(path);
    let name = to.file_name().unwrap_or_default();
    match kind {
        Kind::Fifo | Kind::ReadFifo => make_node(path, libc::S_IFIFO, 0)?,
        Kind::Null => return device(path, 3),
        Kind::Zero => return device(path, 5),
        Kind::Full => return device(path, 7),
        Kind::Folder => fs::create_dir(path)?,
        Kind::LinkToItself => symlink(path.file_name().unwrap_or_default(), path)?,
        Kind::LinkToNothing => symlink(name, path)?,
        Kind::LinkToFile => {
            fs::write(&to, "what was there before")?;
            symlink(name, path)?;
        }
        Kind::LinkToFifo => {
            make_node(&to, libc::S_IFIFO, 0)?;
            symlink(name, path)?;
        }
    }
    Ok(true)
}

/// A node of its own: what replaces it does not replace the machine's. Links to that are made only where nobody could replace it.
fn device(path: &Path, minor: libc::c_uint) -> io::Result<bool> {
    if make_node(path, libc::S_IFCHR, libc::makedev(1, minor)).is_ok() && File::open(path).is_ok() {
        return Ok(true);
    }
    let _ = fs::remove_file(path);
    // SAFETY: the string is a literal.
    let could_be_replaced = unsafe { libc::access(c"/dev".as_ptr(), libc::W_OK) } == 0;
    if could_be_replaced {
        return Ok(false);
    }
    let name = if minor == 3 {
        "/dev/null"
    } else if minor == 5 {
        "/dev/zero"
    } else {
        "/dev/full"
    };
    symlink(name, path).map(|()| true)
}

fn make_node(path: &Path, kind: libc::mode_t, device: libc::dev_t) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the string lives until the call returns.
    match unsafe { libc::mknod(path.as_ptr(), kind | 0o666, device) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What tells whether something was replaced.
pub fn identity(path: &Path) -> Option<(u64, u32)> {
    let data = fs::symlink_metadata(path).ok()?;
    Some((data.ino(), data.mode() & libc::S_IFMT))
}

/// Whoever opens the FIFO does not wait, and what is written stays in it.
pub struct Reader(File);

impl Reader {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        // SAFETY: no pointers. Where it is refused, the FIFO is as large as usual.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20) };
        Ok(Self(file))
    }

    /// All that was written.
    pub fn drain(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.0.read_to_end(&mut bytes) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(bytes),
        }
    }
}
