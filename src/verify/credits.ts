/** Credits that pay invoices: the remainder of each credit before a line, and what it pays there (S12.3, S12.4). */
import { computeCharge, verifyRounding } from "./charges.ts";
import {
  compare,
  fractionOrZero,
  type Fraction,
  maxFraction,
  type JsonObject,
  minFraction,
  asList,
  type Check,
  asObject,
  roundToDigits,
  formatValue,
  subtract,
  sumFigures,
  formatFraction,
  ZERO,
} from "./figures.ts";

/** The state of a credit before one of its lines, from its other lines. */
export interface CreditLineContext {
  /** The amount used by earlier lines; undefined for a credit's first line. */
  readonly takenBefore?: Fraction;
  readonly creditAmount?: unknown;
  /** The remainder after the previous line, for invoices that don't state the amount used before. */
  readonly remainingBefore?: Fraction;
}

/** An invoice that credits are applied to. */
export interface PaidInvoice {
  /** The lines that credits can pay, in order, and the unpaid amount of each. */
  readonly payable: { readonly line: JsonObject; readonly isPayable: boolean; unpaid: Fraction }[];
  /** The unpaid total. */
  unpaidTotal: Fraction;
  /** The priority of the previous credit; undefined for the first. */
  priority: Fraction | undefined;
  readonly isDraft: boolean;
  readonly digits: number;
}

/** Finds the context of each line of a credit. @param lines the SUB_CREDITS lines of an account, in any order */
export function findCreditLineContexts(lines: readonly JsonObject[]): ReadonlyMap<JsonObject, CreditLineContext> {
  const contexts = new Map<JsonObject, CreditLineContext>();
  const linesById = new Map<unknown, JsonObject[]>();
  for (const line of lines) {
    const creditLines = linesById.get(line["id"]) ?? [];
    creditLines.push(line);
    linesById.set(line["id"], creditLines);
  }
  for (const creditLines of linesById.values()) {
    // Older invoices don't state the amount used before. If an invoice in advance became final before an earlier one, the
    // largest remainder first is not the order of use, and these lines have no context.
    const isOlder = (line: JsonObject): boolean => explanationOf(line)["takenBefore"] === undefined;
    const older = sortLines(creditLines.filter(isOlder), (line) => subtract(ZERO, readLineFigure(line, "left")));
    for (const [index, line] of older.entries()) {
      const before = older[index - 1];
      contexts.set(line, before === undefined ? {} : { remainingBefore: readLineFigure(before, "remaining") });
    }
    const newer = sortLines(
      creditLines.filter((line) => !isOlder(line)),
      (line) => readLineFigure(line, "takenBefore"),
    );
    const creditAmount = newer[0] && explanationOf(newer[0])["creditAmount"];
    let takenBefore = older.length === 0 ? undefined : subtract(ZERO, sumFigures(older, "value"));
    for (const line of newer) {
      contexts.set(line, { creditAmount, ...(takenBefore && { takenBefore }) });
      takenBefore = subtract(readLineFigure(line, "takenBefore"), fractionOrZero(line["value"]));
    }
  }
  return contexts;
}

/** Sorts lines by a figure, the smallest first; of equal ones, the line that pays the least first. */
function sortLines(lines: readonly JsonObject[], figure: (line: JsonObject) => Fraction): readonly JsonObject[] {
  return lines.toSorted(
    (a, b) => compare(figure(a), figure(b)) || compare(fractionOrZero(b["value"]), fractionOrZero(a["value"])),
  );
}

function readLineFigure(line: JsonObject, name: string): Fraction {
  return fractionOrZero(explanationOf(line)[name]);
}

function explanationOf(line: JsonObject): JsonObject {
  return asObject(line["explanation"]);
}

/** Verifies that a credit pays each line in order as far as it can, rounded down to the minor unit (S12.3). */
export function verifyCredit(line: JsonObject, context: CreditLineContext, invoice: PaidInvoice, check: Check): void {
  const { payable, digits } = invoice;
  const explanation = explanationOf(line);
  const available = check.readFigure(explanation, "left");
  const priority = check.readFigure(explanation, "priority");
  const previous = invoice.priority ?? priority;
  check.expect(", left", computeRemaining(explanation, context, invoice, check) ?? available, explanation["left"]);
  check.expect(
    ", priority",
    compare(priority, previous) < 0 ? `${formatFraction(previous)} or more` : priority,
    priority,
  );
  invoice.priority = priority;
  let unspent = minFraction(roundToDigits(available, digits, "DOWN"), invoice.unpaidTotal);
  let at = -1;
  for (const { type, id, amount } of asList(explanation["paid"])) {
    at = payable.findIndex((each, index) => {
      return index > at && each.unpaid.numerator > 0n && each.line["type"] === type && each.line["id"] === id;
    });
    const item = payable[at];
    const payment = item?.isPayable === true ? minFraction(item.unpaid, unspent) : ZERO;
    check.expect(
      `, paid of ${formatValue(type)}`,
      payment.numerator > 0n ? payment : "an unpaid line of this invoice",
      amount,
    );
    if (item !== undefined) item.unpaid = subtract(item.unpaid, payment);
    unspent = subtract(unspent, payment);
    invoice.unpaidTotal = subtract(invoice.unpaidTotal, payment);
  }
  const paidTotal = sumFigures(asList(explanation["paid"]), "amount");
  check.expect(", value", subtract(ZERO, paidTotal), line["value"]);
  check.expect(", remaining", subtract(available, paidTotal), explanation["remaining"]);
  if (explanation["refund"] === undefined) return;
  const refund = asObject(explanation["refund"]);
  const amount = verifyRounding(refund, digits, check)(computeCharge(refund, "RUNS", check).exact);
  if (explanation["creditAmount"] === undefined)
    check.expect(", left of the refund", compare(available, amount) > 0 ? amount : available, available);
  else check.expect(", creditAmount", amount, explanation["creditAmount"]);
}

/**
 * The expected remainder of a credit before a line: its amount minus earlier use and what earlier drafts reserve
 * (S12.4).
 */
function computeRemaining(
  explanation: JsonObject,
  context: CreditLineContext,
  { isDraft }: PaidInvoice,
  check: Check,
): Fraction | undefined {
  if (explanation["takenBefore"] === undefined) return context.remainingBefore;
  const creditAmount = check.readFigure(explanation, "creditAmount");
  const takenBefore = check.readFigure(explanation, "takenBefore");
  check.expect(", creditAmount", context.creditAmount, explanation["creditAmount"]);
  check.expect(", takenBefore", context.takenBefore ?? maxFraction(takenBefore, ZERO), takenBefore);
  const remainingOfOthers = subtract(creditAmount, context.takenBefore ?? takenBefore);
  if (explanation["heldByDrafts"] === undefined) return remainingOfOthers;
  const heldByDrafts = check.readFigure(explanation, "heldByDrafts");
  // On a draft, the amounts that earlier drafts reserve count as used.
  const canBeHeld = !isDraft && heldByDrafts.numerator > 0n;
  check.expect(", heldByDrafts", canBeHeld ? heldByDrafts : "an amount above 0, on a final invoice only", heldByDrafts);
  return subtract(remainingOfOthers, heldByDrafts);
}
