//! Integers of any size, kept as their decimal digits, which is how JSON carries them.
//! CBOR wants bytes beyond 64 bits, and both directions of that are here.

/// An integer in canonical digits: no leading zero, and a minus only before a number that is not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integer(String);

/// Decimal digits that fit one step of the conversions below.
const STEP: usize = 9;
const STEP_BASE: u64 = 1_000_000_000;

impl Integer {
    /// Takes digits that the JSON grammar has already approved. `None`: more than `most` bits.
    pub fn from_digits(digits: &str, most: usize) -> Option<Integer> {
        let length = digits.trim_start_matches('-').len();
        // No integer of `most` bits has more digits, and this one may have a million.
        if length > most * 30103 / 100_000 + 1 {
            return None;
        }
        Some(Integer(digits.to_owned())).filter(|integer| integer.bits() <= most)
    }

    /// The value of a CBOR integer head: `argument`, or -1 - `argument`.
    pub fn from_head(negative: bool, argument: u64) -> Integer {
        let value = i128::from(argument);
        Integer(if negative { -1 - value } else { value }.to_string())
    }

    /// The value of tag 2 or 3 around these bytes. `None`: more than `most` bits.
    pub fn from_bytes(negative: bool, bytes: &[u8], most: usize) -> Option<Integer> {
        if bits(bytes) > most {
            return None;
        }
        let mut magnitude = bytes.to_vec();
        if negative {
            magnitude.insert(0, 0); // room for the carry
            for byte in magnitude.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
        let digits = decimal(&magnitude);
        Some(Integer(if negative {
            format!("-{digits}")
        } else {
            digits
        }))
    }

    pub fn digits(&self) -> &str {
        &self.0
    }

    /// The integer where CBOR has it without a tag: from -2^64 to 2^64-1.
    pub fn untagged(&self) -> Option<i128> {
        let range = -(1i128 << 64)..(1i128 << 64);
        self.0.parse().ok().filter(|value| range.contains(value))
    }

    /// Bits of n, or of -1-n where the integer is negative (ENC-5).
    pub fn bits(&self) -> usize {
        match self.untagged() {
            Some(value) => {
                128 - if value < 0 { -1 - value } else { value }.leading_zeros() as usize
            }
            None => bits(&self.magnitude()),
        }
    }

    pub fn is_negative(&self) -> bool {
        self.0.starts_with('-')
    }

    /// The bytes that CBOR carries in tag 2 (n) or 3 (-1-n), without leading zeros.
    pub fn magnitude(&self) -> Vec<u8> {
        let mut limbs: Vec<u32> = Vec::new(); // least significant first
        for chunk in chunks(self.0.trim_start_matches('-').as_bytes()) {
            let scale = 10u64.pow(chunk.len() as u32);
            let mut carry = chunk
                .iter()
                .fold(0, |sum, d| sum * 10 + u64::from(d - b'0'));
            for limb in &mut limbs {
                let wide = u64::from(*limb) * scale + carry;
                *limb = wide as u32;
                carry = wide >> 32;
            }
            limbs.push(carry as u32);
        }
        if self.is_negative() {
            for limb in &mut limbs {
                let (less, borrow) = limb.overflowing_sub(1);
                *limb = less;
                if !borrow {
                    break;
                }
            }
        }
        let bytes: Vec<u8> = limbs
            .iter()
            .rev()
            .flat_map(|limb| limb.to_be_bytes())
            .collect();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes[zeros..].to_vec()
    }
}

/// Digits in groups of `STEP`, of which the first may be shorter.
fn chunks(digits: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (first, rest) = digits.split_at(digits.len() % STEP);
    std::iter::once(first)
        .filter(|first| !first.is_empty())
        .chain(rest.chunks(STEP))
}

/// Bits of a number of bytes, most significant first.
fn bits(bytes: &[u8]) -> usize {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    match bytes.get(zeros) {
        None => 0,
        Some(first) => (bytes.len() - zeros) * 8 - first.leading_zeros() as usize,
    }
}

/// Bytes, most significant first, as decimal digits: divided by a billion until nothing is left.
fn decimal(bytes: &[u8]) -> String {
    let mut number = bytes.to_vec();
    let mut groups: Vec<u64> = Vec::new();
    while number.iter().any(|byte| *byte != 0) {
        let mut rest = 0u64;
        for byte in &mut number {
            let wide = rest << 8 | u64::from(*byte);
            *byte = (wide / STEP_BASE) as u8;
            rest = wide % STEP_BASE;
        }
        groups.push(rest);
    }
    let mut groups = groups.iter().rev();
    let first = groups.next().unwrap_or(&0).to_string();
    groups.fold(first, |text, group| format!("{text}{group:09}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_digits_are_the_same_number() {
        for digits in [
            "18446744073709551616",
            "-18446744073709551617",
            "340282366920938463463374607431768211456",
        ] {
            let integer = Integer::from_digits(digits, 1024).unwrap();
            let back = Integer::from_bytes(integer.is_negative(), &integer.magnitude(), 1024);
            assert_eq!(back, Some(integer));
        }
    }

    #[test]
    fn the_limit_is_the_bits_of_what_is_written() {
        let least = Integer::from_bytes(true, &[255; 128], 1024).unwrap(); // -2^1024
        assert_eq!(Integer::from_digits(least.digits(), 1024), Some(least));
        let most = Integer::from_bytes(false, &[255; 128], 1024).unwrap(); // 2^1024-1
        let over = most.digits().replace("7215", "7216");
        assert!(Integer::from_digits(most.digits(), 1024).is_some());
        assert!(Integer::from_digits(&over, 1024).is_none());
        assert!(Integer::from_digits(&"9".repeat(1_000_000), 1024).is_none());
        assert!(Integer::from_digits("4294967296", 32).is_none());
        assert!(Integer::from_digits("-4294967296", 32).is_some());
    }
}
