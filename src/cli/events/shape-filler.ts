/**
 * Puts the values of a line of a learned shape straight into the slots that metering reads.
 *
 * @module
 */
import type { EventSlots } from "../../metering/event-slots.ts";
import { type ByteTexts, createByteTexts } from "./byte-texts.ts";
import { exactOfBytes, exactOfPlainNumber } from "./bytes.ts";
import type { LineShape, SlotPart } from "./line-shape.ts";

/** Bounds of an event's texts, in bytes of ASCII: what is longer is left to metering to refuse. */
const TEXT_BYTES_MAX = 512;

/** Texts that one file repeats. */
export interface KnownTexts {
  readonly accounts: ByteTexts<string>;
  readonly dimensions: ByteTexts<string>;
}

/** Fresh memories of texts, one for each file. */
export function createKnownTexts(): KnownTexts {
  return { accounts: createByteTexts((text) => text), dimensions: createByteTexts((text) => text) };
}

/** A shape that is bound to its schema's slots. */
export interface ShapeFiller {
  readonly shape: LineShape;
  readonly slots: EventSlots;
  /** Which of the shape's slots holds the timestamp. */
  readonly timestampSpan: number;
  /** Which of them hold a number without quotes: the line is JSON only when each of these is one. */
  readonly numberSpans: readonly number[];
  /**
   * Fills the slots, timestamp aside, from the spans that the shape was matched at; those of {@link numberSpans} must
   * hold plain numbers.
   *
   * @returns false when a value is not of the plain form: the line is then to be read in full
   */
  fill(bytes: Buffer, spans: Int32Array): boolean;
}

type FillOne = (bytes: Buffer, start: number, end: number) => boolean;

/**
 * Binds a shape to the slots of its schema.
 *
 * @returns undefined when the shape lacks what an event must carry: such lines are left to metering to refuse
 */
export function bindShape(shape: LineShape, slots: EventSlots, texts: KnownTexts): ShapeFiller | undefined {
  const { slots: parts } = shape;
  const spanOf = (kind: SlotPart["kind"]): number => parts.findIndex((part) => part.kind === kind);
  const timestampSpan = spanOf("timestamp");
  if (timestampSpan < 0 || spanOf("id") < 0 || spanOf("accountId") < 0) return undefined;
  const found = (kind: "attribute" | "dimension", places: ReadonlyMap<string, number>, declared: number): boolean => {
    const names = new Set(parts.map((part) => (part.kind === kind && "name" in part ? part.name : undefined)));
    return [...places].every(([name, place]) => place >= declared || names.has(name));
  };
  if (!found("attribute", slots.attributeSlots, slots.declaredAttributes)) return undefined;
  if (!found("dimension", slots.dimensionSlots, slots.declaredDimensions)) return undefined;
  const fills = parts.map((part) => fillerOf(part, slots, texts));
  return {
    shape,
    slots,
    timestampSpan,
    numberSpans: parts.flatMap((part, index) => (part.quoted ? [] : [index])),
    fill(bytes, spans) {
      for (let index = 0; index < fills.length; index++) {
        const fill = fills[index];
        if (fill !== undefined && !fill(bytes, spans[2 * index] ?? 0, spans[2 * index + 1] ?? 0)) return false;
      }
      return true;
    },
  };
}

function fillerOf(part: SlotPart, slots: EventSlots, texts: KnownTexts): FillOne | undefined {
  switch (part.kind) {
    case "timestamp":
    case "unused":
      return undefined;
    case "id":
      return (bytes, start, end) => {
        slots.id = bytes.toString("latin1", start, end);
        return isText(start, end);
      };
    case "accountId":
      return (bytes, start, end) => {
        if (!isText(start, end)) return false;
        slots.accountId = texts.accounts.get(bytes, start, end);
        return true;
      };
    case "attribute":
      return attributeFiller(part, slots);
    case "dimension":
      return dimensionFiller(part, slots, texts);
  }
}

function attributeFiller(part: Extract<SlotPart, { readonly name: string }>, slots: EventSlots): FillOne {
  const place = slots.attributeSlots.get(part.name);
  const { values } = slots;
  if (place === undefined || place >= slots.declaredAttributes) {
    return (bytes, start, end) => exactOfBytes(bytes, start, end) !== undefined;
  }
  if (!part.quoted) {
    return (bytes, start, end) => {
      values[place] = exactOfPlainNumber(bytes, start, end);
      return true;
    };
  }
  return (bytes, start, end) => {
    const exact = exactOfBytes(bytes, start, end);
    if (exact === undefined) return false;
    values[place] = exact;
    return true;
  };
}

function dimensionFiller(
  part: Extract<SlotPart, { readonly name: string }>,
  slots: EventSlots,
  known: KnownTexts,
): FillOne {
  const place = slots.dimensionSlots.get(part.name);
  const used = place !== undefined && place < slots.declaredDimensions;
  const { texts } = slots;
  return (bytes, start, end) => {
    if (end - start > TEXT_BYTES_MAX) return false;
    // A number becomes its plain text (S4.1): its own digits, where it is an integer and not "-0".
    if (!part.quoted && !isPlainInteger(bytes, start, end)) return false;
    if (used) texts[place] = known.dimensions.get(bytes, start, end);
    return true;
  };
}

function isText(start: number, end: number): boolean {
  return end > start && end - start <= TEXT_BYTES_MAX;
}

/** `0` is the only way to write zero here: `-0`, `0.0` and `1.0` are not plain. */
function isPlainInteger(bytes: Buffer, start: number, end: number): boolean {
  const exact = exactOfBytes(bytes, start, end);
  return typeof exact === "number" && String(exact).length === end - start;
}
