//! The numbers of the wire, each with the rule that sets it.

use std::time::Duration;

/// The revision of the wire that this program writes, and the highest it reads (VER-1).
pub const FAMILY: usize = 1;
/// The revision of what extensions of this program are written against (VER-2).
pub const SURFACE: usize = 1;

/// Bytes of what came that an error text repeats (ENC-5).
pub const QUOTE: usize = 64;
/// Messages that may wait to be served before reading stops (LIMIT-5).
pub const WAITING: usize = 1024;
/// Connections at once (SOCK-5).
pub const CONNECTIONS: usize = 1024;
/// A frame that has begun must end within this time, and a write must move (SOCK-5).
pub const STALL: Duration = Duration::from_secs(30);

/// No option raises the depth above this: values are read by recursion, on the stack of a thread.
pub const DEEPEST: usize = 512;
/// Bytes of stack of a thread that reads values.
pub const STACK: usize = 1 << 20;

/// The deadlines of a caller (CLIENT-4).
pub const DIAL: Duration = Duration::from_secs(2);
pub const CALL: Duration = Duration::from_secs(30);
pub const CLOSE: Duration = Duration::from_secs(2);

/// The whole of an ending is over within 5 s (PIPE-3, SOCK-6): a call of ours has this long, then
/// two steps of `CLOSE_ENDING` for its child, then the replies are out or the process goes.
pub const CALL_ENDING: Duration = Duration::from_millis(2500);
pub const CLOSE_ENDING: Duration = Duration::from_millis(750);
pub const ENDING: Duration = Duration::from_millis(4600);

/// What a reader takes (ENC-5). At the limit is taken, one more is malformed.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a message (LIMIT-1).
    pub frame: usize,
    /// Maps and lists that are open at once.
    pub depth: usize,
    /// Members and elements of one message, together.
    pub items: usize,
    /// Bits of an integer.
    pub intbits: usize,
}

impl Limits {
    /// Between a program and the one that started it.
    pub fn process() -> Limits {
        Limits {
            frame: 16 << 20,
            depth: 64,
            items: 262_144,
            intbits: 1024,
        }
    }

    pub fn socket() -> Limits {
        Limits {
            frame: 1 << 20,
            ..Limits::process()
        }
    }
}
