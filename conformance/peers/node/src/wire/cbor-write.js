// A CBOR writer with the shortest heads. cbor-x writes texts and the integers beyond 64 bits; it has no half floats, takes 1.0
// for 1, and writes some integers longer than need be, so those and the heads of lists and maps are written here.

import { Encoder } from 'cbor-x';
import { checkWritable } from './writable.js';
import { isFloat, isInteger, isList, isMap } from './values.js';

const UNSIGNED = 0, NEGATIVE = 1, LIST = 4, MAP = 5;
const TWO_64 = 2n ** 64n;

const scalars = new Encoder({ useRecords: false });

export function writeCbor(value) {
  checkWritable(value);
  const parts = [];
  write(value, parts);
  return Buffer.concat(parts);
}

function write(value, parts) {
  if (isList(value)) {
    parts.push(head(LIST, BigInt(value.length)));
    for (const element of value) write(element, parts);
  } else if (isMap(value)) {
    parts.push(head(MAP, BigInt(value.size)));
    for (const [key, member] of value) {
      parts.push(scalars.encode(key));
      write(member, parts);
    }
  } else if (isInteger(value)) parts.push(integer(value));
  else if (isFloat(value)) parts.push(float(value));
  else parts.push(scalars.encode(value));
}

function integer(value) {
  if (value >= 0n && value < TWO_64) return head(UNSIGNED, value);
  if (value < 0n && value >= -TWO_64) return head(NEGATIVE, -1n - value);
  return scalars.encode(value);
}

function head(major, argument) {
  const first = major << 5;
  if (argument < 24n) return Buffer.of(first | Number(argument));
  const length = argument < 0x100n ? 1 : argument < 0x10000n ? 2 : argument < 0x100000000n ? 4 : 8;
  const out = Buffer.allocUnsafe(1 + length);
  out[0] = first | (24 + Math.log2(length));
  if (length === 8) out.writeBigUInt64BE(argument, 1);
  else out.writeUIntBE(Number(argument), 1, length);
  return out;
}

function float(value) {
  const out = Buffer.allocUnsafe(9);
  const half = halfBits(value);
  if (half !== undefined) {
    out[0] = 0xf9;
    return out.subarray(0, out.writeUInt16BE(half, 1));
  }
  if (Math.fround(value) === value) {
    out[0] = 0xfa;
    return out.subarray(0, out.writeFloatBE(value, 1));
  }
  out[0] = 0xfb;
  return out.subarray(0, out.writeDoubleBE(value, 1));
}

const single = new DataView(new ArrayBuffer(4));

// The 16 bits of a half float that is exactly the value, or undefined.
function halfBits(value) {
  if (Math.fround(value) !== value) return undefined;
  single.setFloat32(0, value);
  const bits = single.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127;
  const fraction = bits & 0x7fffff;
  if (value === 0) return sign;
  if (exponent >= -14 && exponent <= 15) {
    return fraction & 0x1fff ? undefined : sign | ((exponent + 15) << 10) | (fraction >>> 13);
  }
  if (exponent < -24 || exponent > 15) return undefined;
  // A subnormal half counts in steps of 2^-24, and a single's fraction with its leading bit in steps of 2^(exponent - 23).
  const significand = fraction | 0x800000;
  const shift = -(exponent + 1);
  return significand & ((1 << shift) - 1) ? undefined : sign | (significand >>> shift);
}
