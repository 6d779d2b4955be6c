/**
 * Credits that pay invoices: what is left of each before a line, and what it pays (S12.3, S12.4).
 *
 * @module
 */
import { reckon, roundingOf } from "./charges.ts";
import {
  compare,
  figure,
  type Fraction,
  greatest,
  type Json,
  least,
  list,
  type Look,
  record,
  rounded,
  shown,
  subtract,
  sumOf,
  textOf,
  ZERO,
} from "./figures.ts";

/** What the other lines of a credit say about one of its lines. */
export interface CreditPlace {
  /** What the lines before it took; undefined of a credit's first line, which only its own word tells. */
  readonly takenBefore?: Fraction;
  readonly creditAmount?: unknown;
  /** What the line before it leaves, of invoices that do not say what was taken before. */
  readonly left?: Fraction;
}

/** An invoice while credits pay it. */
export interface PaidInvoice {
  /** The lines that credits pay, in their order, and what is open of each. */
  readonly payable: { readonly line: Json; readonly isPayable: boolean; open: Fraction }[];
  /** The amount left to pay of all of them. */
  net: Fraction;
  /** The priority of the credit above. */
  priority: Fraction;
  readonly isDraft: boolean;
  readonly digits: number;
}

/** The place of each line of a credit. @param lines the SUB_CREDITS lines of an account, in any order */
export function creditPlaces(lines: readonly Json[]): ReadonlyMap<Json, CreditPlace> {
  const places = new Map<Json, CreditPlace>();
  const linesById = new Map<unknown, Json[]>();
  for (const line of lines) {
    const { id } = line;
    const others = linesById.get(id);
    if (others === undefined) linesById.set(id, [line]);
    else others.push(line);
  }
  for (const own of linesById.values()) {
    const older = own.filter((line) => howOf(line)["takenBefore"] === undefined);
    for (const place of placesByLeft(older)) places.set(...place);
    const first = older.length === 0 ? undefined : subtract(ZERO, sumOf(older, "value"));
    const newer = own.filter((line) => !older.includes(line));
    for (const place of placesByTaken(newer, first)) places.set(...place);
  }
  return places;
}

/** Each line was taken after the one before it: what was taken before grows by what that one took. */
function placesByTaken(lines: readonly Json[], first: Fraction | undefined): readonly (readonly [Json, CreditPlace])[] {
  const inOrder = lines.toSorted((a, b) => {
    return compare(figure(howOf(a)["takenBefore"]), figure(howOf(b)["takenBefore"])) || compareValues(b, a);
  });
  const creditAmount = inOrder[0] && howOf(inOrder[0])["creditAmount"];
  return inOrder.map((line, index) => {
    const before = inOrder[index - 1];
    const takenBefore = before ? subtract(figure(howOf(before)["takenBefore"]), figure(before["value"])) : first;
    return [line, { creditAmount, ...(takenBefore && { takenBefore }) }];
  });
}

/**
 * Lines follow each other from the most that is left to the least. Where an invoice in advance became final before one that
 * precedes it, this order is not that of taking; such lines say nothing more.
 */
function placesByLeft(lines: readonly Json[]): readonly (readonly [Json, CreditPlace])[] {
  const inOrder = lines.toSorted((a, b) => {
    return compare(figure(howOf(b)["left"]), figure(howOf(a)["left"])) || compareValues(b, a);
  });
  return inOrder.map((line, index) => {
    const before = inOrder[index - 1];
    return [line, before === undefined ? {} : { left: figure(howOf(before)["remaining"]) }];
  });
}

/** Below 0 where the first is the smaller. */
function compareValues(a: Json, b: Json): number {
  return compare(figure(a["value"]), figure(b["value"]));
}

function howOf(line: Json): Json {
  return record(line["explanation"]);
}

/** A credit pays line after line all that it can, cut to the minor unit (S12.3). */
export function verifyCredit(line: Json, place: CreditPlace, invoice: PaidInvoice, on: Look): void {
  const { payable, digits } = invoice;
  const how = howOf(line);
  const left = on.read(how, "left");
  const priority = on.read(how, "priority");
  on.expect(", left", leftBefore(how, place, invoice, on) ?? left, how["left"]);
  on.expect(
    ", priority",
    compare(priority, invoice.priority) < 0 ? `${textOf(invoice.priority)} or more` : priority,
    priority,
  );
  invoice.priority = priority;
  let open = least(rounded(left, digits, "DOWN"), invoice.net);
  let at = -1;
  for (const { type, id, amount } of list(how["paid"])) {
    at = payable.findIndex((each, index) => {
      return index > at && each.open.over > 0n && each.line["type"] === type && each.line["id"] === id;
    });
    const item = payable[at];
    const pays = item?.isPayable === true ? least(item.open, open) : ZERO;
    on.expect(`, paid of ${shown(type)}`, pays.over > 0n ? pays : "a line of this invoice that is open", amount);
    if (item !== undefined) item.open = subtract(item.open, pays);
    open = subtract(open, pays);
    invoice.net = subtract(invoice.net, pays);
  }
  const taken = sumOf(list(how["paid"]), "amount");
  on.expect(", value", subtract(ZERO, taken), line["value"]);
  on.expect(", remaining", subtract(left, taken), how["remaining"]);
  if (how["refund"] === undefined) return;
  const refund = record(how["refund"]);
  const amount = roundingOf(refund, digits, on)(reckon(refund, true, on).exact);
  if (how["creditAmount"] === undefined)
    on.expect(", left of the refund", compare(left, amount) > 0 ? amount : left, left);
  else on.expect(", creditAmount", amount, how["creditAmount"]);
}

/** What is left of a credit before a line: its amount, less what was taken before and what earlier drafts held (S12.4). */
function leftBefore(how: Json, place: CreditPlace, { isDraft }: PaidInvoice, on: Look): Fraction | undefined {
  if (how["takenBefore"] === undefined) return place.left;
  const creditAmount = on.read(how, "creditAmount");
  const takenBefore = on.read(how, "takenBefore");
  on.expect(", creditAmount", place.creditAmount, how["creditAmount"]);
  on.expect(", takenBefore", place.takenBefore ?? greatest(takenBefore, ZERO), takenBefore);
  const leftByOthers = subtract(creditAmount, place.takenBefore ?? takenBefore);
  if (how["heldByDrafts"] === undefined) return leftByOthers;
  const held = on.read(how, "heldByDrafts");
  // Of a draft, what earlier ones hold is taken before it.
  const canBeHeld = !isDraft && held.over > 0n;
  on.expect(", heldByDrafts", canBeHeld ? held : "an amount above 0, of a final invoice alone", held);
  return subtract(leftByOthers, held);
}
