//! Values in CBOR. Heads are read and written by ciborium's low level. Its values are left aside:
//! they hold no duplicate keys and no offsets, and take tags and byte strings, all refused here.

use std::collections::HashSet;

use ciborium_ll::{simple, Decoder, Encoder, Error, Header};

use crate::integer::Integer;
use crate::limits::Limits;
use crate::value::{quote, Budget, Malformed, Members, Value};

const POSITIVE_BIGNUM: u64 = 2;
const NEGATIVE_BIGNUM: u64 = 3;

/// The one value in `bytes[at..]`, with nothing behind it.
pub fn read(bytes: &[u8], at: usize, limits: &Limits) -> Result<Value, Malformed> {
    let mut reader = Reader {
        bytes,
        at,
        budget: Budget::new(limits),
    };
    let value = reader.value()?;
    if reader.at < bytes.len() {
        return Err(Malformed::new(
            reader.at,
            "there is something behind the message",
        ));
    }
    Ok(value)
}

/// The name behind the head of the map at `at`, if the bytes get that far.
pub fn first_name(bytes: &[u8], at: usize, limits: &Limits) -> Option<String> {
    let mut reader = Reader {
        bytes,
        at,
        budget: Budget::new(limits),
    };
    match reader.head().ok()? {
        Header::Map(count) if count != Some(0) => {}
        _ => return None,
    }
    match reader.head().ok()? {
        Header::Text(length) => reader.text(length, reader.at).ok(),
        _ => None,
    }
}

pub fn write(value: &Value, out: &mut Vec<u8>) {
    write_to(value, &mut Encoder::from(out)).expect("memory takes everything");
}

fn write_to(value: &Value, out: &mut Encoder<&mut Vec<u8>>) -> std::io::Result<()> {
    match value {
        Value::Null => out.push(Header::Simple(simple::NULL)),
        Value::Bool(true) => out.push(Header::Simple(simple::TRUE)),
        Value::Bool(false) => out.push(Header::Simple(simple::FALSE)),
        Value::Integer(integer) => write_integer(integer, out),
        Value::Float(float) => out.push(Header::Float(*float)),
        Value::Text(text) => out.text(text, None),
        Value::List(elements) => {
            out.push(Header::Array(Some(elements.len())))?;
            elements
                .iter()
                .try_for_each(|element| write_to(element, out))
        }
        Value::Map(members) => {
            out.push(Header::Map(Some(members.len())))?;
            members.iter().try_for_each(|(name, member)| {
                out.text(name, None)?;
                write_to(member, out)
            })
        }
    }
}

fn write_integer(integer: &Integer, out: &mut Encoder<&mut Vec<u8>>) -> std::io::Result<()> {
    match integer.untagged() {
        Some(value) if value < 0 => out.push(Header::Negative((-1 - value) as u64)),
        Some(value) => out.push(Header::Positive(value as u64)),
        None => {
            out.push(Header::Tag(if integer.is_negative() {
                NEGATIVE_BIGNUM
            } else {
                POSITIVE_BIGNUM
            }))?;
            out.bytes(&integer.magnitude(), None)
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    budget: Budget<'a>,
}

impl<'a> Reader<'a> {
    fn head(&mut self) -> Result<Header, Malformed> {
        let mut decoder = Decoder::from(&self.bytes[self.at..]);
        let header = decoder.pull().map_err(|error| match error {
            Error::Io(_) => Malformed::new(self.bytes.len(), "the message ends inside a head"),
            Error::Syntax(_) => Malformed::new(self.at, "a head that CBOR does not have"),
        })?;
        self.at += decoder.offset();
        Ok(header)
    }

    /// The head that follows, but for a break, which is left to end what it ends.
    fn head_or_break(&mut self) -> Result<Option<Header>, Malformed> {
        match self.head()? {
            Header::Break => Ok(None),
            header => Ok(Some(header)),
        }
    }

    fn value(&mut self) -> Result<Value, Malformed> {
        let start = self.at;
        let header = self.head()?;
        self.behind(header, start)
    }

    /// The value whose head stood at `start`.
    fn behind(&mut self, header: Header, start: usize) -> Result<Value, Malformed> {
        let refused = |why: &str| Err(Malformed::new(start, why));
        match header {
            Header::Positive(argument) => self.integer(false, argument, start),
            Header::Negative(argument) => self.integer(true, argument, start),
            Header::Float(float) if float.is_finite() => Ok(Value::Float(float)),
            Header::Float(_) => refused("NaN or an infinity"),
            Header::Simple(_) if self.at - start > 1 => {
                refused("a simple value that the wire does not have")
            }
            Header::Simple(simple::NULL) => Ok(Value::Null),
            Header::Simple(simple::TRUE) => Ok(Value::Bool(true)),
            Header::Simple(simple::FALSE) => Ok(Value::Bool(false)),
            Header::Simple(simple::UNDEFINED) => refused("undefined"),
            Header::Simple(_) => refused("a simple value that the wire does not have"),
            Header::Text(length) => self.text(length, start).map(Value::Text),
            Header::Bytes(_) => refused("a byte string"),
            Header::Tag(POSITIVE_BIGNUM) => self.bignum(false, start),
            Header::Tag(NEGATIVE_BIGNUM) => self.bignum(true, start),
            Header::Tag(tag) => Err(Malformed::new(start, format!("tag {tag}"))),
            Header::Array(count) => self.list(count, start),
            Header::Map(count) => self.map(count, start),
            Header::Break => refused("a break that ends nothing"),
        }
    }

    fn integer(&self, negative: bool, argument: u64, start: usize) -> Result<Value, Malformed> {
        let integer = Integer::from_head(negative, argument);
        if integer.bits() > self.budget.limits.intbits {
            return Err(self.too_wide(start));
        }
        Ok(Value::Integer(integer))
    }

    fn too_wide(&self, start: usize) -> Malformed {
        let most = self.budget.limits.intbits;
        Malformed::new(
            start,
            format!("an integer of more than {most} bits (intbits)"),
        )
    }

    fn bignum(&mut self, negative: bool, start: usize) -> Result<Value, Malformed> {
        let inner = self.at;
        let bytes = match self.head()? {
            Header::Bytes(Some(length)) => self.slice(length, inner)?.to_vec(),
            Header::Bytes(None) => {
                let mut bytes = Vec::new();
                loop {
                    let chunk = self.at;
                    match self.head_or_break()? {
                        None => break bytes,
                        Some(Header::Bytes(Some(length))) => {
                            bytes.extend(self.slice(length, chunk)?)
                        }
                        Some(_) => {
                            return Err(Malformed::new(chunk, "a chunk that is no byte string"))
                        }
                    }
                }
            }
            _ => {
                return Err(Malformed::new(
                    start,
                    "tag 2 or 3 around something other than a byte string",
                ))
            }
        };
        let integer = Integer::from_bytes(negative, &bytes, self.budget.limits.intbits);
        integer
            .map(Value::Integer)
            .ok_or_else(|| self.too_wide(start))
    }

    /// So many bytes, which the head at `start` announced.
    fn slice(&mut self, length: usize, start: usize) -> Result<&'a [u8], Malformed> {
        if length > self.bytes.len() - self.at {
            let why = format!(
                "{length} bytes are announced and {} are there",
                self.bytes.len() - self.at
            );
            return Err(Malformed::new(start, why));
        }
        let slice = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(slice)
    }

    fn chunk(&mut self, length: usize, start: usize) -> Result<&'a str, Malformed> {
        let slice = self.slice(length, start)?;
        std::str::from_utf8(slice).map_err(|wrong| {
            Malformed::new(self.at - length + wrong.valid_up_to(), "invalid UTF-8")
        })
    }

    fn text(&mut self, length: Option<usize>, start: usize) -> Result<String, Malformed> {
        if let Some(length) = length {
            return self.chunk(length, start).map(str::to_owned);
        }
        let mut text = String::new();
        loop {
            let chunk = self.at;
            match self.head_or_break()? {
                None => return Ok(text),
                Some(Header::Text(Some(length))) => text.push_str(self.chunk(length, chunk)?),
                Some(_) => return Err(Malformed::new(chunk, "a chunk that is no text")),
            }
        }
    }

    /// Checks a count before anything is kept for it: each element takes at least one byte.
    fn announced(
        &self,
        count: Option<usize>,
        bytes_each: usize,
        start: usize,
    ) -> Result<(), Malformed> {
        let count = count.unwrap_or(0);
        self.budget.fits(count, start)?;
        if count > (self.bytes.len() - self.at) / bytes_each {
            return Err(Malformed::new(
                start,
                format!("{count} are announced, and the message ends before"),
            ));
        }
        Ok(())
    }

    /// The head of the next element, of `count` or up to a break.
    fn next(&mut self, count: Option<usize>, taken: usize) -> Result<Option<Header>, Malformed> {
        match count {
            Some(count) if taken == count => Ok(None),
            Some(_) => self.head().map(Some),
            None => self.head_or_break(),
        }
    }

    fn list(&mut self, count: Option<usize>, start: usize) -> Result<Value, Malformed> {
        self.budget.open(start)?;
        self.announced(count, 1, start)?;
        let mut elements = Vec::new();
        loop {
            let at = self.at;
            let Some(header) = self.next(count, elements.len())? else {
                break;
            };
            self.budget.item(at)?;
            elements.push(self.behind(header, at)?);
        }
        self.budget.close();
        Ok(Value::List(elements))
    }

    fn map(&mut self, count: Option<usize>, start: usize) -> Result<Value, Malformed> {
        self.budget.open(start)?;
        self.announced(count, 2, start)?;
        let mut members = Members::new();
        let mut names = HashSet::new();
        loop {
            let at = self.at;
            let Some(header) = self.next(count, members.len())? else {
                break;
            };
            self.budget.item(at)?;
            let Header::Text(length) = header else {
                return Err(Malformed::new(at, "a key that is no text"));
            };
            let name = self.text(length, at)?;
            if !names.insert(name.clone()) {
                return Err(Malformed::new(
                    at,
                    format!("duplicate key {}", quote(&name)),
                ));
            }
            members.push((name, self.value()?));
        }
        self.budget.close();
        Ok(Value::Map(members))
    }
}
