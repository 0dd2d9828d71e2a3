import type { Cell } from './tabSeparated.ts';
import { cellText } from './tabSeparated.ts';

const firstBytes = 64 * 1024;
const tab = 9;
const newline = 10;
const digitZero = 48;
const lastAscii = 127;
const billion = 1_000_000_000;
const powersOfTen = Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);
/** Any cell of a few characters, and a UUID, fit without asking again. */
const roomForNumber = 24;

/** Rows in ClickHouse's `TabSeparated` format, written into bytes: a row makes nothing for the collector to pick up. */
export interface RowText {
  text(value: string | null): void;
  /** Any safe integer. */
  integer(value: number): void;
  decimal(value: bigint): void;
  endRow(): void;
  /** What was written since the last call, in bytes of its own. */
  take(): Buffer;
}

/** One writer of rows; its bytes are used again for the next ones. */
export function createRowText(): RowText {
  let bytes = Buffer.allocUnsafe(firstBytes);
  let length = 0;

  function reserve(count: number) {
    if (length + count <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, length + count));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  }

  /** Characters that stand for themselves; false, with nothing written, when there are others. */
  function writePlain(value: string): boolean {
    reserve(value.length + 1);
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      // Controls and the backslash are escaped, the rest beyond ASCII takes several bytes.
      if (code < 32 || code > lastAscii || code === 92) return false;
      bytes[length + index] = code;
    }
    length += value.length;
    return true;
  }

  function writeEscaped(value: Cell) {
    const text = cellText(value);
    reserve(text.length * 3 + 1);
    length += bytes.write(text, length, 'utf8');
  }

  /** Digits of a whole number below 2^31, at least `digits` of them. */
  function writeDigits(value: number, digits: number) {
    let count = digits;
    while (count < 10 && value >= (powersOfTen[count] as number)) count++;
    let rest = value | 0;
    for (let place = length + count - 1; place >= length; place--) {
      // Truncated as a 32-bit integer, which costs a multiplication.
      const tenth = (rest / 10) | 0;
      bytes[place] = digitZero + rest - tenth * 10;
      rest = tenth;
    }
    length += count;
  }

  return {
    text: (value) => {
      if (value === null || !writePlain(value)) writeEscaped(value);
      bytes[length++] = tab;
    },
    integer: (value) => {
      reserve(roomForNumber);
      if (value < 0) writeEscaped(value);
      else if (value < billion) writeDigits(value, 1);
      else {
        const high = Math.floor(value / billion);
        writeDigits(high, 1);
        writeDigits(value - high * billion, 9);
      }
      bytes[length++] = tab;
    },
    decimal: (value) => {
      writePlain(value.toString());
      bytes[length++] = tab;
    },
    endRow: () => {
      bytes[length - 1] = newline;
    },
    take: () => {
      const taken = Buffer.from(bytes.subarray(0, length));
      length = 0;
      return taken;
    },
  };
}
