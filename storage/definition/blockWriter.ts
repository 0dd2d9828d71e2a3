/** Values of hexadecimal digits by their character code; 255 for other characters. */
const hexDigits = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 255 : value;
});
/** Index of the digits of each of the 16 bytes in the text of a UUID. ClickHouse stores the last byte of each half first. */
const uuidDigits = [16, 14, 11, 9, 6, 4, 2, 0, 34, 32, 30, 28, 26, 24, 21, 19];
const uint64Max = 2n ** 64n - 1n;
/** Texts up to this length are copied by character, which is faster than a call of the encoder. */
const shortText = 64;

/**
 * Writes values in ClickHouse's `Native` format, integers with the lowest byte first. Methods are named after ClickHouse's types. They throw a
 * RangeError for a value that the type cannot hold, which would otherwise be stored as another value.
 */
export class BlockWriter {
  private bytes: Buffer;
  private view: DataView;
  private length = 0;

  /** @param expectedBytes initial size; the buffer grows if needed. */
  constructor(expectedBytes: number) {
    this.bytes = Buffer.allocUnsafe(expectedBytes);
    this.view = viewBytes(this.bytes);
  }

  uint8(value: number): void {
    if ((value & 0xff) !== value) refuse(value, 'UInt8');
    const at = this.extend(1);
    this.bytes[at] = value;
  }

  uint32(value: number): void {
    if (value >>> 0 !== value) refuse(value, 'UInt32');
    const at = this.extend(4);
    this.view.setUint32(at, value, true);
  }

  /** A safe integer as `Int64`, or as `UInt64` when it is not negative. */
  int64(value: number): void {
    if (!Number.isSafeInteger(value)) refuse(value, 'Int64');
    const at = this.extend(8);
    this.view.setUint32(at, value >>> 0, true);
    this.view.setInt32(at + 4, Math.floor(value / 2 ** 32), true);
  }

  uint64(value: bigint): void {
    if (value < 0n || value > uint64Max) refuse(value, 'UInt64');
    const at = this.extend(8);
    this.view.setBigUint64(at, value, true);
  }

  uint256(value: bigint): void {
    if (value < 0n || value >> 256n !== 0n) refuse(value, 'UInt256');
    const at = this.extend(32);
    let rest = value;
    for (let word = 0; word < 4; word++) {
      this.view.setBigUint64(at + 8 * word, rest, true);
      rest >>= 64n;
    }
  }

  uuid(value: string): void {
    const at = this.extend(16);
    let allDigits = value.length === 36 ? 0 : 255;
    for (let byte = 0; byte < 16; byte++) {
      const digit = uuidDigits[byte] as number;
      const high = hexDigits[value.charCodeAt(digit)] ?? 255;
      const low = hexDigits[value.charCodeAt(digit + 1)] ?? 255;
      allDigits |= high | low;
      this.bytes[at + byte] = high * 16 + low;
    }
    if (allDigits > 15) refuse(value, 'UUID');
  }

  /** A text of any length, in UTF-8. */
  string(value: string): void {
    if (value.length <= shortText && this.ascii(value)) return;
    const byteLength = Buffer.byteLength(value);
    this.size(byteLength);
    const at = this.extend(byteLength);
    this.bytes.write(value, at);
  }

  /** A number of rows, columns or bytes, with a variable length. */
  size(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.uint8((rest % 128) + 128);
    this.uint8(rest);
  }

  /** The written bytes. Nothing may be written afterwards. */
  finish(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** @returns whether the text was written: false if it has characters other than ASCII. */
  private ascii(value: string): boolean {
    const { length } = value;
    const at = this.extend(length + 1);
    this.bytes[at] = length;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        this.length = at;
        return false;
      }
      this.bytes[at + 1 + index] = code;
    }
    return true;
  }

  /** @returns the place of the next bytes in `bytes` and `view`, which may be replaced. */
  private extend(byteLength: number): number {
    const at = this.length;
    this.length += byteLength;
    if (this.length > this.bytes.length) {
      const larger = Buffer.allocUnsafe(2 * this.length);
      this.bytes.copy(larger, 0, 0, at);
      this.bytes = larger;
      this.view = viewBytes(larger);
    }
    return at;
  }
}

function viewBytes({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function refuse(value: unknown, type: string): never {
  throw new RangeError(`a column of ${type} cannot hold ${value}`);
}
