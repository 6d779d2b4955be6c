/**
 * Reads JSON whose long numbers are decimals (S1.2).
 *
 * The engine's parser is several times as quick as one in JavaScript, but keeps doubles alone. So each number that a double
 * may not keep is replaced by a placeholder before the text is parsed: a number so near zero that none of the others can
 * be, which says the place of the digits in a list.
 *
 * @module
 */

const [QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE, LARGE_E, SMALL_E] = [
  0x22, 0x5c, 0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x45, 0x65,
];
/** A double keeps this many digits, whichever they are. */
const DIGITS_MAX = 15;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** Numbers without an exponent and of at most 15 digits are zero or at least 1e-15. */
const SCALE = 1e300;
const PLACEHOLDER_MAX = 1e-200;

/**
 * The value of a JSON text.
 *
 * @param read the value of a number of more than 15 digits or with an exponent
 * @throws {SyntaxError} for what is not JSON; {RangeError} where nested too deeply for the stack
 */
export function parseWithLongNumbers(text: string, read: (digits: string) => unknown): unknown {
  const numbers: string[] = [];
  const value: unknown = JSON.parse(withPlaceholders(text, numbers));
  if (numbers.length === 0) return value;
  const restoreNumber = (number: number): unknown => read(numbers[Math.round(number * SCALE) - 1] ?? "");
  return isPlaceholder(value) ? restoreNumber(value) : (restore(value, restoreNumber), value);
}

function withPlaceholders(text: string, numbers: string[]): string {
  const pieces: string[] = [];
  let copied = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code !== MINUS && !isDigit(code)) at++;
    else {
      const start = at;
      let digits = 0;
      let hasExponent = false;
      for (; ; at++) {
        const part = text.charCodeAt(at);
        if (isDigit(part)) digits++;
        else if (part === SMALL_E || part === LARGE_E) hasExponent = true;
        else if (part !== POINT && part !== MINUS && part !== PLUS) break;
      }
      if (!hasExponent && digits <= DIGITS_MAX) continue;
      const number = text.slice(start, at);
      // What is no number stays as it is, for the parser to refuse.
      if (!NUMBER.test(number)) continue;
      numbers.push(number);
      pieces.push(text.slice(copied, start), `${numbers.length}e-300`);
      copied = at;
    }
  }
  pieces.push(text.slice(copied));
  return pieces.join("");
}

/** Puts the numbers that were read in the places of their placeholders. */
function restore(value: unknown, restoreNumber: (placeholder: number) => unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (isPlaceholder(item)) value[index] = restoreNumber(item);
      else if (typeof item === "object") restore(item, restoreNumber);
    }
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const field = fields[key];
    if (!isPlaceholder(field)) {
      if (typeof field === "object") restore(field, restoreNumber);
    } else if (key === "__proto__") {
      // To assign it would set the prototype.
      Object.defineProperty(fields, key, {
        value: restoreNumber(field),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else fields[key] = restoreNumber(field);
  }
}

function isPlaceholder(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value < PLACEHOLDER_MAX;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Behind the closing quote of a text whose quote is here. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH && escapes > start + 1) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
    at = end + 1;
  }
}
