//! Where the socket is, and that one server has it (SOCK-2, SOCK-3).

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, process};

use crate::{sys, unix};

/// How long an owner that does not know the lock has to take a connection.
const PROBE: Duration = Duration::from_secs(1);

/// The first descriptor that a service manager passes.
const PASSED: i32 = 3;

/// A socket that listens, with what is removed and unlocked when this is dropped.
pub struct Place {
    pub listener: UnixListener,
    pub path: PathBuf,
    /// `None` for a socket that was passed: its file is somebody else's.
    own: Option<Own>,
}

struct Own {
    _lock: File,
    /// Device and inode of the file that was made here.
    file: (u64, u64),
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(own) = &self.own else { return };
        let there = fs::symlink_metadata(&self.path);
        if there.is_ok_and(|file| (file.dev(), file.ino()) == own.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The socket that was passed, or one at the path, or at the default place of the instance.
pub fn listen(program: &str, socket: Option<&str>, instance: &str) -> Result<Place, String> {
    if let Some(place) = passed()? {
        return Ok(place);
    }
    match socket {
        Some(path) => {
            let path = PathBuf::from(path);
            fits(&path)?;
            by_hand(directory_of(&path))?;
            take(path)
        }
        None => {
            if instance.is_empty() || instance.starts_with('.') || instance.contains(['/', '\0']) {
                return Err(
                    "an instance is named like a file, without '/' and with no '.' in front"
                        .to_owned(),
                );
            }
            let directory = default_directory(program);
            let path = directory.join(format!("{instance}.sock"));
            fits(&path)?;
            own_directory(&directory)?;
            take(path)
        }
    }
}

/// The socket of a service manager, which also says for which process it is.
fn passed() -> Result<Option<Place>, String> {
    if env::var("LISTEN_PID").ok().and_then(|pid| pid.parse().ok()) != Some(process::id()) {
        return Ok(None);
    }
    let count = env::var("LISTEN_FDS").unwrap_or_default();
    if count != "1" {
        return Err(format!(
            "LISTEN_FDS is {}, and one socket is taken",
            crate::value::quote(&count)
        ));
    }
    // SAFETY: by LISTEN_PID this descriptor is ours, and nothing else here has taken it.
    let socket = unsafe { OwnedFd::from_raw_fd(PASSED) };
    if !unix::listens(&socket) {
        return Err("what LISTEN_FDS passes is no Unix stream socket that listens".to_owned());
    }
    let listener = UnixListener::from(socket);
    let path = listener
        .local_addr()
        .ok()
        .and_then(|address| address.as_pathname().map(Path::to_owned));
    Ok(Some(Place {
        listener,
        path: path.unwrap_or_default(),
        own: None,
    }))
}

fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn default_directory(program: &str) -> PathBuf {
    match set("XDG_RUNTIME_DIR") {
        Some(runtime) => runtime.join(program),
        None => set("TMPDIR")
            .unwrap_or_else(|| "/tmp".into())
            .join(format!("{program}-{}", sys::user())),
    }
}

fn fits(path: &Path) -> Result<(), String> {
    let length = path.as_os_str().as_bytes().len();
    if length > unix::PATH {
        let path = path.display();
        return Err(format!(
            "the path {path} has {length} bytes, and the limit is {}",
            unix::PATH
        ));
    }
    Ok(())
}

fn directory_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn own_directory(directory: &Path) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("{}: {why}", directory.display()));
    match DirBuilder::new().mode(0o700).create(directory) {
        // The umask may have taken bits away from a directory that is new.
        Ok(()) => fs::set_permissions(directory, Permissions::from_mode(0o700))
            .or_else(|e| wrong(&e.to_string()))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return wrong(&error.to_string()),
    }
    match fs::symlink_metadata(directory) {
        Err(error) => wrong(&error.to_string()),
        Ok(there) if !there.is_dir() => wrong("is no directory"),
        Ok(there) if there.uid() != sys::user() => wrong("belongs to another user"),
        Ok(there) if there.mode() & 0o7777 != 0o700 => wrong("its mode is not 0700"),
        Ok(_) => Ok(()),
    }
}

fn by_hand(directory: &Path) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("{}: {why}", directory.display()));
    match fs::symlink_metadata(directory) {
        Err(error) => wrong(&error.to_string()),
        Ok(there) if !there.is_dir() => wrong("is no directory"),
        Ok(there) if there.uid() != sys::user() && there.uid() != 0 => {
            wrong("belongs to another user")
        }
        Ok(there) if there.mode() & 0o022 != 0 && there.mode() & 0o1000 == 0 => {
            wrong("others may write to it")
        }
        Ok(_) => Ok(()),
    }
}

/// Opens the lock file, which stays for ever, and takes the lock.
fn lock(path: &Path) -> Result<File, String> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let wrong = |why: String| format!("{}: {why}", name.display());
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    let file = options
        .custom_flags(libc::O_NOFOLLOW)
        .open(&name)
        .map_err(|error| wrong(error.to_string()))?;
    let there = file.metadata().map_err(|error| wrong(error.to_string()))?;
    if !there.is_file() || there.uid() != sys::user() {
        return Err(wrong("is no file of ours".to_owned()));
    }
    if !sys::lock(&file).map_err(|error| wrong(error.to_string()))? {
        return Err(format!("another server has {}", path.display()));
    }
    file.set_permissions(Permissions::from_mode(0o600))
        .map_err(|error| wrong(error.to_string()))?;
    Ok(file)
}

/// Removes what a server left behind that is no more.
fn clear(path: &Path) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("{}: {why}", path.display()));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return wrong(&error.to_string()),
        Ok(there) if !there.file_type().is_socket() => return wrong("is there, and no socket"),
        Ok(_) => {}
    }
    match unix::connect(path.as_os_str(), PROBE).map_err(|error| error.kind()) {
        Err(io::ErrorKind::ConnectionRefused) => {
            fs::remove_file(path).or_else(|error| wrong(&error.to_string()))
        }
        Err(io::ErrorKind::NotFound) => Ok(()),
        Ok(_) | Err(io::ErrorKind::WouldBlock) => wrong("a server listens that holds no lock"),
        Err(other) => wrong(&other.to_string()),
    }
}

fn take(path: PathBuf) -> Result<Place, String> {
    let lock = lock(&path)?;
    clear(&path)?;
    let wrong = |error: io::Error| format!("{}: {error}", path.display());
    let name: &OsStr = path.as_os_str();
    let listener = unix::listen(name).map_err(wrong)?;
    let file = fs::symlink_metadata(&path).map_err(wrong)?;
    let own = Own {
        _lock: lock,
        file: (file.dev(), file.ino()),
    };
    Ok(Place {
        listener,
        path,
        own: Some(own),
    })
}
