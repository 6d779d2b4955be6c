/**
 * Puts the values of a line of a learned shape straight into the slots that metering reads.
 *
 * @module
 */
import type { EventSlots } from "../../metering/event-slots.ts";
import type { LineShape, SlotPart } from "./line-shape.ts";
import { parseExactBytes, parsePlainNumber } from "./parse-bytes.ts";
import { type TextCache, createTextCache } from "./text-cache.ts";

/** Bounds of an event's texts, in bytes of ASCII: metering rejects longer texts. */
const TEXT_BYTES_MAX = 512;

/** Texts that one file repeats. */
export interface TextCaches {
  readonly accounts: TextCache<string>;
  readonly dimensions: TextCache<string>;
}

/** Fresh memories of texts, one for each file. */
export function createTextCaches(): TextCaches {
  return { accounts: createTextCache((text) => text), dimensions: createTextCache((text) => text) };
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
  fillSlots(bytes: Buffer, spans: Int32Array): boolean;
}

type FillSlot = (bytes: Buffer, start: number, end: number) => boolean;

/**
 * Binds a shape to the slots of its schema.
 *
 * @returns undefined when the shape lacks what an event must carry: such lines are left to metering to refuse
 */
export function bindShape(shape: LineShape, slots: EventSlots, caches: TextCaches): ShapeFiller | undefined {
  const { slots: parts } = shape;
  const findSpan = (kind: SlotPart["kind"]): number => parts.findIndex((part) => part.kind === kind);
  const timestampSpan = findSpan("timestamp");
  if (timestampSpan < 0 || findSpan("id") < 0 || findSpan("accountId") < 0) return undefined;
  const hasAllNames = (
    kind: "attribute" | "dimension",
    slotIndexes: ReadonlyMap<string, number>,
    declaredCount: number,
  ): boolean => {
    const names = new Set(parts.map((part) => (part.kind === kind && "name" in part ? part.name : undefined)));
    return [...slotIndexes].every(([name, slotIndex]) => slotIndex >= declaredCount || names.has(name));
  };
  if (!hasAllNames("attribute", slots.attributeSlots, slots.declaredAttributes)) return undefined;
  if (!hasAllNames("dimension", slots.dimensionSlots, slots.declaredDimensions)) return undefined;
  const fillers = parts.map((part) => createFiller(part, slots, caches));
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

function createFiller(part: SlotPart, slots: EventSlots, caches: TextCaches): FillSlot | undefined {
  switch (part.kind) {
    case "timestamp":
    case "unused":
      return undefined;
    case "id":
      return (bytes, start, end) => {
        slots.id = bytes.toString("latin1", start, end);
        return isTextLength(start, end);
      };
    case "accountId":
      return (bytes, start, end) => {
        if (!isTextLength(start, end)) return false;
        slots.accountId = caches.accounts.get(bytes, start, end);
        return true;
      };
    case "attribute":
      return createAttributeFiller(part, slots);
    case "dimension":
      return createDimensionFiller(part, slots, caches);
  }
}

function createAttributeFiller(part: Extract<SlotPart, { readonly name: string }>, slots: EventSlots): FillSlot {
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

function createDimensionFiller(
  part: Extract<SlotPart, { readonly name: string }>,
  slots: EventSlots,
  caches: TextCaches,
): FillSlot {
  const slotIndex = slots.dimensionSlots.get(part.name);
  const isUsed = slotIndex !== undefined && slotIndex < slots.declaredDimensions;
  const { texts } = slots;
  return (bytes, start, end) => {
    if (end - start > TEXT_BYTES_MAX) return false;
    // A number becomes its plain text (S4.1): its own digits, where it is an integer and not "-0".
    if (!part.isQuoted && !isPlainInteger(bytes, start, end)) return false;
    if (isUsed) texts[slotIndex] = caches.dimensions.get(bytes, start, end);
    return true;
  };
}

function isTextLength(start: number, end: number): boolean {
  return end > start && end - start <= TEXT_BYTES_MAX;
}

/** `0` is the only way to write zero here: `-0`, `0.0` and `1.0` are not plain. */
function isPlainInteger(bytes: Buffer, start: number, end: number): boolean {
  const exact = parseExactBytes(bytes, start, end);
  return typeof exact === "number" && String(exact).length === end - start;
}
