"""Where the socket is, and how one server comes to own it (SOCK-2, SOCK-3)."""

import fcntl
import os
import socket
import stat

from wire.errors import Refusal

from .stdio import reason

_PATH_MOST = 107  # the kernel has 108 bytes, one of them for the NUL
_CONNECT_SECONDS = 1.0
_BACKLOG = 1024
_FIRST_PASSED = 3


def default_path(program: str, instance: str) -> str:
    """The path by convention; its directory is made where it is missing."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        directory = os.path.join(runtime, program)
    else:
        directory = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"{program}-{os.getuid()}")
    path = os.path.join(directory, f"{instance}.sock")
    _check_length(path)
    _own_directory(directory)
    return path


def path_by_hand(path: str) -> str:
    """A path that somebody has named, once its directory is known to be safe. Nothing is made."""
    _check_length(path)
    directory = os.path.dirname(path) or "."
    found = _directory(directory)
    if found.st_uid not in (os.getuid(), 0):
        raise Refusal(f"the directory {directory} belongs to another user")
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        raise Refusal(f"others can write to the directory {directory}")
    return path


def _check_length(path: str) -> None:
    length = len(os.fsencode(path))
    if length > _PATH_MOST:
        raise Refusal(f"the path {path} has {length} bytes and the limit is {_PATH_MOST}")


def _own_directory(directory: str) -> None:
    try:
        os.mkdir(directory, 0o700)
        os.chmod(directory, 0o700)  # an umask may have taken more than it should
    except FileExistsError:
        pass
    except OSError as why:
        raise Refusal(f"the directory {directory} cannot be made: {reason(why)}") from None
    found = _directory(directory)
    if found.st_uid != os.getuid():
        raise Refusal(f"the directory {directory} belongs to another user")
    if (mode := stat.S_IMODE(found.st_mode)) != 0o700:
        raise Refusal(f"the directory {directory} has mode {mode:04o}, and 0700 is taken")


def _directory(directory: str) -> os.stat_result:
    try:
        found = os.lstat(directory)
    except OSError as why:
        raise Refusal(f"the directory {directory} cannot be used: {reason(why)}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise Refusal(f"{directory} is no directory, or a link to one")
    return found


class Place:
    """A listening socket, and what is to be done about its file."""

    def __init__(self, listener: socket.socket, path: str, file: tuple[int, int] | None, lock: int | None):
        self.listener = listener
        self.path = path
        self._file = file  # device and inode of the file that we made
        self._lock = lock  # kept open for as long as the program lives

    def withdraw(self) -> None:
        """Stops listening. The file goes first: as long as the socket is open its inode cannot be another's."""
        try:
            if self._file is not None and _identity(self.path) == self._file:
                os.unlink(self.path)
        except OSError:
            pass
        self._file = None
        self.listener.close()


def _identity(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_dev, found.st_ino


def take(path: str) -> Place:
    """Makes the path ours and listens there, or says in a Refusal why not."""
    lock = _lock(f"{path}.lock", path)
    try:
        _clear(path)
        return _bind(path, lock)
    except OSError as why:
        os.close(lock)
        raise Refusal(f"{path} cannot be listened at: {reason(why)}") from None
    except Refusal:
        os.close(lock)
        raise


def _lock(name: str, path: str) -> int:
    """Holds the lock of the path. Whoever has it is the one server."""
    while True:
        try:
            fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as why:
            raise Refusal(f"the lock {name} cannot be opened: {reason(why)}") from None
        try:
            _hold(fd, name, path)
            if _still_named(fd, name):
                return fd
        except Refusal:
            os.close(fd)
            raise
        os.close(fd)  # somebody has removed the file in between: ours locks nothing


def _hold(fd: int, name: str, path: str) -> None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        raise Refusal(f"the lock {name} is no file of ours")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.fchmod(fd, 0o600)
    except BlockingIOError:
        raise Refusal(f"another server has the path {path}") from None


def _still_named(fd: int, name: str) -> bool:
    found = os.fstat(fd)
    try:
        return _identity(name) == (found.st_dev, found.st_ino)
    except FileNotFoundError:
        return False


def _clear(path: str) -> None:
    """Removes a socket that a dead server has left, and nothing else."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise Refusal(f"{path} is there and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_SECONDS)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except FileNotFoundError:
            return
        except BlockingIOError:
            pass  # its queue is full: it has an owner
    raise Refusal(f"another server, which does not know the lock, has the path {path}")


def _bind(path: str, lock: int) -> Place:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # The file takes over the mode of the socket, so it is 0600 from its first instant and no umask is touched.
        os.fchmod(listener.fileno(), 0o600)
        listener.bind(path)
        listener.listen(_BACKLOG)
        return Place(listener, path, _identity(path), lock)
    except OSError:
        listener.close()
        raise


def passed() -> Place | None:
    """The socket that a service manager has passed, if there is one (SOCK-6). Its file is not ours."""
    count, pid = os.environ.pop("LISTEN_FDS", ""), os.environ.pop("LISTEN_PID", "")
    os.environ.pop("LISTEN_FDNAMES", None)
    if pid != str(os.getpid()) or not count.isdecimal() or int(count) == 0:
        return None
    if int(count) > 1:
        raise Refusal(f"{count} sockets were passed, and one is taken")
    os.set_inheritable(_FIRST_PASSED, False)
    try:
        listener = socket.socket(fileno=_FIRST_PASSED)
        listening = listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError as why:
        raise Refusal(f"what was passed is no socket: {reason(why)}") from None
    path = listener.getsockname()
    if (listener.family, listener.type) != (socket.AF_UNIX, socket.SOCK_STREAM) or not listening:
        raise Refusal("the socket that was passed is no Unix stream socket that listens")
    if not isinstance(path, str) or not path:
        raise Refusal("the socket that was passed has no path")
    return Place(listener, path, None, None)
