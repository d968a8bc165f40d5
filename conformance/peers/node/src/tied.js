import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const LOOK_EVERY_MS = 100;
const STATE = 0, START_TIME = 19; // fields of /proc/PID/stat behind the name

function fields(stat) {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

// tie calls ended when the process ends (PIPE-5). Node has no pidfd, but a file under /proc, once open, belongs to the process
// and not to its number: when that has ended it cannot be read, even if the number is another's by then.
export function tie(pid, ended) {
  let fd;
  try {
    fd = openSync(`/proc/${pid}/stat`);
  } catch {
    ended();
    return;
  }
  const mine = BigInt(fields(readFileSync('/proc/self/stat', 'latin1'))[START_TIME]);
  const theirs = look(fd);
  if (!theirs || BigInt(theirs[START_TIME]) > mine) {
    closeSync(fd);
    ended(); // it began after us, so its number was used again
    return;
  }
  const timer = setInterval(() => {
    if (look(fd)) return;
    clearInterval(timer);
    closeSync(fd);
    ended();
  }, LOOK_EVERY_MS);
  timer.unref();
}

// The fields of a process that lives, or undefined. One that waits to be reaped has ended.
function look(fd) {
  const buffer = Buffer.alloc(4096);
  try {
    const found = fields(buffer.latin1Slice(0, readSync(fd, buffer, 0, buffer.length, 0)));
    return found[STATE] === 'Z' || found[STATE] === 'X' ? undefined : found;
  } catch {
    return undefined;
  }
}
