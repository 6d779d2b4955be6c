/**
 * Writes the values of lines with known shapes directly into the slots that metering reads. Decimals and instants are
 * parsed from bytes if they have the plain forms of nearly all lines. Anything else is left to the general parsers, so
 * undefined never means invalid.
 */

import { DAY_MS, parseInstant, type Instant } from "../../calendar/instant.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { Scaled, type Exact } from "../../numbers/exact.ts";
import { type LineShape, type SlotPart, learnShape, matchShape } from "./line-shape.ts";

const [ZERO, MINUS, POINT, COLON, LETTER_T, LETTER_Z] = [0x30, 0x2d, 0x2e, 0x3a, 0x54, 0x5a];
/** Doubles represent all integers with this many digits. */
const DIGITS_MAX = 15;

/**
 * Parses [start, end) as a decimal: up to 15 digits with an optional minus sign and point, as in JSON.
 *
 * @returns undefined for other text
 */
export function parseExactBytes(bytes: Uint8Array, start: number, end: number): Exact | undefined {
  return isPlainNumber(bytes, start, end) ? parsePlainNumber(bytes, start, end) : undefined;
}

/** Parses a decimal for which {@link isPlainNumber} is true. */
export function parsePlainNumber(bytes: Uint8Array, start: number, end: number): Exact {
  const isNegative = bytes[start] === MINUS;
  let mantissa = 0;
  let scale = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at++) {
    if (bytes[at] === POINT) scale = end - at - 1;
    else mantissa = mantissa * 10 + (bytes[at] ?? 0) - ZERO;
  }
  if (mantissa === 0) return 0;
  const value = isNegative ? -mantissa : mantissa;
  return scale === 0 ? value : new Scaled(value, scale);
}

/** Whether {@link parseExactBytes} can parse [start, end). */
export function isPlainNumber(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start;
  let point = -1;
  for (let at = first; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit >= 0 && digit <= 9) continue;
    if (bytes[at] !== POINT || point >= 0) return false;
    point = at;
  }
  const integerEnd = point < 0 ? end : point;
  if (integerEnd === first || point === end - 1) return false;
  if (bytes[first] === ZERO && integerEnd > first + 1) return false;
  return end - first - (point < 0 ? 0 : 1) <= DIGITS_MAX;
}

/** Parses instants. It remembers the last date, because events in a file are usually ordered by day. */
export interface InstantReader {
  /** Parses `2024-01-02T03:04:05.678Z`, milliseconds optional; otherwise undefined. */
  readInstant(bytes: Uint8Array, start: number, end: number): Instant | undefined;
}

/** Creates a reader, one for each file. */
export function createInstantReader(): InstantReader {
  const lastDate = new Uint8Array(10);
  let lastDateMs = Number.NaN;

  function readDate(bytes: Uint8Array, start: number): boolean {
    let isSame = true;
    for (let index = 0; index < 10; index++) {
      if (bytes[start + index] !== lastDate[index]) isSame = false;
    }
    if (isSame) return !Number.isNaN(lastDateMs);
    lastDate.set(bytes.subarray(start, start + 10));
    const text = String.fromCharCode(...lastDate);
    try {
      lastDateMs = /^\d{4}-\d\d-\d\d$/.test(text) ? parseInstant(`${text}T00:00:00.000Z`) : Number.NaN;
    } catch {
      lastDateMs = Number.NaN;
    }
    return !Number.isNaN(lastDateMs);
  }

  return {
    readInstant(bytes, start, end) {
      const length = end - start;
      if ((length !== 20 && length !== 24) || bytes[end - 1] !== LETTER_Z || bytes[start + 10] !== LETTER_T) {
        return undefined;
      }
      if (bytes[start + 13] !== COLON || bytes[start + 16] !== COLON) return undefined;
      const hours = parseDigits(bytes, start + 11, start + 13);
      const minutes = parseDigits(bytes, start + 14, start + 16);
      const seconds = parseDigits(bytes, start + 17, start + 19);
      if (!(hours <= 23 && minutes <= 59 && seconds <= 59)) return undefined;
      let millis = 0;
      if (length === 24) {
        if (bytes[start + 19] !== POINT) return undefined;
        millis = parseDigits(bytes, start + 20, start + 23);
        if (Number.isNaN(millis)) return undefined;
      }
      if (!readDate(bytes, start)) return undefined;
      const timeOfDayMs = ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis;
      return timeOfDayMs < DAY_MS ? lastDateMs + timeOfDayMs : undefined;
    },
  };
}

/** Parses the digits of [start, end); NaN if a byte isn't a digit. */
function parseDigits(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** The maximum bytes of an event's texts; metering rejects longer ones. */
const TEXT_BYTES_MAX = 512;

/** A shape bound to its schema's slots. */
export interface ShapeFiller {
  readonly shape: LineShape;
  readonly slots: EventSlots;
  /** The index of the timestamp's slot. */
  readonly timestampSpan: number;
  /** The indexes of unquoted slots, which must be numbers for the line to be JSON. */
  readonly numberSpans: readonly number[];
  /**
   * Fills the slots, except the timestamp, from the matched spans; those in {@link numberSpans} must be plain numbers.
   *
   * @returns false if a value isn't plain, so that the line must be parsed
   */
  fillSlots(bytes: Buffer, spans: Int32Array): boolean;
}

type FillSlot = (bytes: Buffer, start: number, end: number) => boolean;

/**
 * Binds a shape to the slots of its schema.
 *
 * @returns undefined if the shape lacks a required part of events; metering rejects such lines
 */
export function bindShape(shape: LineShape, slots: EventSlots): ShapeFiller | undefined {
  const { slots: parts } = shape;
  const findSpan = (kind: SlotPart["kind"]): number => parts.findIndex((part) => part.kind === kind);
  const timestampSpan = findSpan("timestamp");
  if (timestampSpan < 0 || findSpan("id") < 0 || findSpan("accountId") < 0) return undefined;
  const hasAllNames = (
    kind: "attribute" | "dimension",
    slotIndexes: ReadonlyMap<string, number>,
    declaredCount: number,
  ): boolean => {
    const names = new Set(parts.map((part) => (part.kind === kind ? part.name : undefined)));
    return [...slotIndexes].every(([name, slotIndex]) => slotIndex >= declaredCount || names.has(name));
  };
  if (!hasAllNames("attribute", slots.attributeSlots, slots.declaredAttributes)) return undefined;
  if (!hasAllNames("dimension", slots.dimensionSlots, slots.declaredDimensions)) return undefined;
  const fillers = parts.map((part) => createFiller(part, slots));
  return {
    shape,
    slots,
    timestampSpan,
    numberSpans: parts.flatMap((part, index) => (part.isQuoted ? [] : [index])),
    fillSlots(bytes, spans) {
      for (let index = 0; index < fillers.length; index++) {
        const fill = fillers[index];
        if (fill !== undefined && !fill(bytes, spans[2 * index] ?? 0, spans[2 * index + 1] ?? 0)) return false;
      }
      return true;
    },
  };
}

function createFiller(part: SlotPart, slots: EventSlots): FillSlot | undefined {
  switch (part.kind) {
    case "timestamp":
    case "unused":
      return undefined;
    case "id":
      return (bytes, start, end) => {
        slots.id = bytes.toString("latin1", start, end);
        return hasValidLength(start, end);
      };
    case "accountId":
      return (bytes, start, end) => {
        if (!hasValidLength(start, end)) return false;
        slots.accountId = bytes.toString("latin1", start, end);
        return true;
      };
    case "attribute":
      return createAttributeFiller(part, slots);
    case "dimension":
      return createDimensionFiller(part, slots);
  }
}

function createAttributeFiller(part: SlotPart, slots: EventSlots): FillSlot {
  const slotIndex = slots.attributeSlots.get(part.name);
  const { values } = slots;
  if (slotIndex === undefined || slotIndex >= slots.declaredAttributes) {
    return (bytes, start, end) => parseExactBytes(bytes, start, end) !== undefined;
  }
  if (!part.isQuoted) {
    return (bytes, start, end) => {
      values[slotIndex] = parsePlainNumber(bytes, start, end);
      return true;
    };
  }
  return (bytes, start, end) => {
    const exact = parseExactBytes(bytes, start, end);
    if (exact === undefined) return false;
    values[slotIndex] = exact;
    return true;
  };
}

function createDimensionFiller(part: SlotPart, slots: EventSlots): FillSlot {
  const slotIndex = slots.dimensionSlots.get(part.name);
  const isUsed = slotIndex !== undefined && slotIndex < slots.declaredDimensions;
  const { texts } = slots;
  return (bytes, start, end) => {
    if (end - start > TEXT_BYTES_MAX) return false;
    // A number becomes its plain text (S4.1). Only an integer other than "-0" is plain text already.
    if (!part.isQuoted && !isPlainInteger(bytes, start, end)) return false;
    if (isUsed) texts[slotIndex] = bytes.toString("latin1", start, end);
    return true;
  };
}

function hasValidLength(start: number, end: number): boolean {
  return end > start && end - start <= TEXT_BYTES_MAX;
}

/** Zero is plain only as `0`: `-0`, `0.0` and `1.0` are not plain. */
function isPlainInteger(bytes: Buffer, start: number, end: number): boolean {
  const exact = parseExactBytes(bytes, start, end);
  return typeof exact === "number" && String(exact).length === end - start;
}

const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** The maximum number of shapes to try before a line is parsed. */
const SHAPES_MAX = 16;
/** The number of failures after which no more shapes are learned. */
const FAILURES_MAX = 1000;
/** The maximum bytes of a line to learn from. */
const LEARNABLE_BYTES_MAX = 1 << 16;
/** The capacity for the spans of the largest shape. */
const SPANS_LENGTH = 1024;

/** The shapes of one file, most recently matched first. */
export interface KnownShapes {
  /** The start and end (exclusive) of each slot in the last matched line. */
  readonly spans: Int32Array;
  /** The offset after the end of the last matched line. */
  readonly after: number;
  /** The shape of the whole line at `start`; undefined if none matches. */
  match(bytes: Buffer, start: number): ShapeFiller | undefined;
  /** Learns from a line that is valid JSON. */
  learn(line: Buffer): void;
}

/** @param findSlots returns the slots of a schema; undefined if its lines must be parsed */
export function createKnownShapes(findSlots: (schemaName: string) => EventSlots | undefined): KnownShapes {
  const spans = new Int32Array(SPANS_LENGTH);
  const fillers: ShapeFiller[] = [];
  let viewedBytes: Buffer | undefined;
  let view: DataView = new DataView(new ArrayBuffer(0));
  let after = 0;
  let failures = 0;

  return {
    spans,
    get after() {
      return after;
    },
    match(bytes, start) {
      if (bytes !== viewedBytes) {
        viewedBytes = bytes;
        view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      }
      for (let index = 0; index < fillers.length; index++) {
        const filler = fillers[index];
        if (filler === undefined) continue;
        after = afterLineEnd(bytes, matchShape(filler.shape, bytes, view, start, spans));
        if (after < 0) continue;
        if (index > 0) {
          fillers.copyWithin(1, 0, index);
          fillers[0] = filler;
        }
        return filler;
      }
      return undefined;
    },
    learn(line) {
      if (fillers.length >= SHAPES_MAX || failures >= FAILURES_MAX || line.length > LEARNABLE_BYTES_MAX) return;
      const shape = learnShape(line.toString("latin1"));
      const slots = shape === undefined ? undefined : findSlots(shape.schemaName);
      const filler = shape === undefined || slots === undefined ? undefined : bindShape(shape, slots);
      if (filler === undefined) failures++;
      else fillers.push(filler);
    },
  };
}

/** The offset after the line end at `at`; −1 if there is none. */
function afterLineEnd(bytes: Buffer, at: number): number {
  if (at < 0) return -1;
  if (bytes[at] === LINE_END) return at + 1;
  return bytes[at] === CARRIAGE_RETURN && bytes[at + 1] === LINE_END ? at + 2 : -1;
}
