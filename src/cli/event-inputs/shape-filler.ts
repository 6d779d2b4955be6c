/** Writes the values of a line with a known shape directly into the slots that metering reads. */
import type { EventSlots } from "../../metering/event-slots.ts";
import type { LineShape, SlotPart } from "./line-shape.ts";
import { parseExactBytes, parsePlainNumber } from "./parse-bytes.ts";

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
    const names = new Set(parts.map((part) => (part.kind === kind && "name" in part ? part.name : undefined)));
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

function createDimensionFiller(part: Extract<SlotPart, { readonly name: string }>, slots: EventSlots): FillSlot {
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
