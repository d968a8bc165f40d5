//! What is done with each thing that came in, at a pipe and at a socket.

use crate::limits::Limits;
use crate::message::{self, Encoding, Message};
use crate::queue::Incoming;
use crate::reply::{self, Refusal};
use crate::verbs::{self, Context, Door};

/// What follows from it.
pub enum Outcome {
    Reply(Vec<u8>),
    /// An event, which is never answered.
    Nothing,
    /// The last reply, behind which the connection is closed.
    Last(Vec<u8>),
    /// A reply for which no call waits: the connection is closed without a word (CLIENT-3).
    Unasked,
}

pub fn to(incoming: Incoming, context: &Context, limits: &Limits) -> Outcome {
    let malformed =
        |why: String, encoding| reply::write(Err(Refusal::malformed(why)), false, encoding, limits);
    let (encoding, message) = match incoming {
        Incoming::Unreadable(why) => return Outcome::Reply(malformed(why, Encoding::Json)),
        Incoming::Broken(why) => return Outcome::Last(malformed(why, Encoding::Json)),
        Incoming::Message(line) if context.door == Door::Pipe => {
            (Encoding::Json, message::read_line(&line, limits))
        }
        Incoming::Message(frame) => message::read(&frame, limits),
    };
    match message {
        Message::Call { verb, args, .. } => {
            Outcome::Reply(verbs::answer(context, &verb, args, encoding, limits))
        }
        Message::Malformed(why) => Outcome::Reply(malformed(why, encoding)),
        Message::Event => Outcome::Nothing,
        Message::Reply(_) => Outcome::Unasked,
    }
}
