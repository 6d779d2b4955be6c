/** Monetary credits: which of them pay an invoice, in which order, and how much of each line (S12). */
import type { Cycle } from "../calendar/cycle.ts";
import type { Instant } from "../calendar/instant.ts";
import { add, Decimal, maximum, minimum, subtract, ZERO } from "../numbers/decimal.ts";

/**
 * What created a credit: a user or a book (`MANUAL`), a credit grant card of a plan (`PLAN`), a refund of an advance
 * charge (`REFUND`), or an invoice below zero (`NEGATIVE_INVOICE`). Stored, so that no code parses the purpose.
 */
export type CreditKind = "MANUAL" | "PLAN" | "REFUND" | "NEGATIVE_INVOICE";

/** Money that pays invoice lines of one account. */
export interface MonetaryCredit {
  readonly id: string;
  readonly accountId?: string;
  readonly kind: CreditKind;
  /** Shown to people. */
  readonly purpose: string;
  /** Major units of the account's invoice currency. */
  readonly creditAmount: Decimal;
  /** The lowest is spent first. */
  readonly priority: number;
  /** Inclusive. */
  readonly effectiveFrom: Instant;
  /** Exclusive. Absent: no expiry. */
  readonly effectiveUntil?: Instant;
  /** Billable ids and names of kinds (S12.2); absent or empty: any line. */
  readonly applicableEntityIds?: readonly string[] | null;
  /** Breaks ties between otherwise equal credits; the lowest is the oldest. */
  readonly createdAt: number;
  /** The amount that can still be spent: neither reserved nor consumed. 0 once voided (S12.5). */
  readonly left: Decimal;
}

/** The kind of card of a line. */
export type PayableKind =
  | "USAGE"
  | "FIXED_FEE"
  | "LICENSE"
  | "BILLING_ENTITLEMENT"
  | "ENTITLEMENT_OVERAGE"
  | "CREDIT_GRANT"
  | "TRUE_UP";

/** The line of one card, or the true-up line, of an invoice. */
export interface PayableLine {
  readonly kind: PayableKind;
  /** The meter's, add-on's or feature's id. */
  readonly billableId: string;
  /** Major units, rounded; below 0 for a discount. */
  readonly value: Decimal;
}

/** The payments of one credit on an invoice. */
export interface CreditUse {
  readonly creditId: string;
  /** Major units, above 0. */
  readonly amount: Decimal;
  /** By line index, in order of payment; they add up to `amount`. */
  readonly lines: readonly { readonly index: number; readonly amount: Decimal }[];
}

/** The names for all cards of a kind (S12.2). */
const KIND_OF_NAME: ReadonlyMap<string, PayableKind> = new Map([
  ["ALL_USAGE_METER_RATE_CARDS", "USAGE"],
  ["ALL_FIXED_FEE_RATE_CARDS", "FIXED_FEE"],
  ["ALL_LICENSE_RATE_CARDS", "LICENSE"],
  ["ALL_BILLING_ENTITLEMENT_RATE_CARDS", "BILLING_ENTITLEMENT"],
  ["ALL_ENTITLEMENT_OVERAGE_RATE_CARDS", "ENTITLEMENT_OVERAGE"],
]);

/** Whether a credit is in force in a part of a billing period (S12.1). */
export function isEffectiveIn(
  { effectiveFrom, effectiveUntil }: Pick<MonetaryCredit, "effectiveFrom" | "effectiveUntil">,
  { start, end }: Cycle,
): boolean {
  return effectiveFrom < end && (effectiveUntil === undefined || effectiveUntil > start);
}

/**
 * The order in which credits pay (S12.1): lowest priority number, earliest effectiveUntil, limited before unlimited,
 * earliest effectiveFrom, createdAt, id.
 */
export function compareCredits(a: MonetaryCredit, b: MonetaryCredit): number {
  return (
    a.priority - b.priority ||
    compareEnds(a.effectiveUntil, b.effectiveUntil) ||
    Number(isUnlimited(a)) - Number(isUnlimited(b)) ||
    a.effectiveFrom - b.effectiveFrom ||
    a.createdAt - b.createdAt ||
    (a.id < b.id ? -1 : Number(a.id > b.id))
  );
}

/**
 * Pays an invoice's lines with credits (S12.2, S12.3): lines in invoice order, the true-up last; neither a line nor the
 * sum goes below 0.
 *
 * @param credits in the order in which they pay, see {@link compareCredits}; read only as far as needed
 * @param lines in invoice order
 * @param digits of the currency's minor unit: amounts are truncated to it
 * @returns the credits that pay something, in their order
 */
export function applyCredits(
  credits: Iterable<MonetaryCredit>,
  lines: readonly PayableLine[],
  digits: number,
): { readonly uses: readonly CreditUse[] } {
  const dueAmounts = lines.map(({ value }) => maximum(value, ZERO));
  const isOpen = (index: number): boolean => dueAmounts[index]?.isZero() === false;
  const order = paymentOrder(lines).filter((index) => lines[index]?.kind !== "CREDIT_GRANT" && isOpen(index));
  // A discount reduces the total to pay, not any one line.
  let net = ZERO;
  for (const { value } of lines) net = add(net, value);
  const uses: CreditUse[] = [];
  if (order.length === 0 || net.lte(ZERO)) return { uses };
  let openLineCount = order.length;
  const findQueues = createLineQueues(lines, order);
  for (const credit of credits) {
    const queues = findQueues(credit);
    const payments: { readonly index: number; readonly amount: Decimal }[] = [];
    let remaining = minimum(truncate(credit.left, digits), net);
    while (remaining.gt(ZERO)) {
      const index = firstOpenLine(queues, isOpen);
      const due = index === undefined ? undefined : dueAmounts[index];
      if (index === undefined || due === undefined) break;
      const amount = minimum(due, remaining);
      payments.push({ index, amount });
      dueAmounts[index] = subtract(due, amount);
      if (!isOpen(index)) openLineCount--;
      remaining = subtract(remaining, amount);
      net = subtract(net, amount);
    }
    if (payments.length === 0) continue;
    uses.push({ creditId: credit.id, amount: sumAmounts(payments), lines: payments });
    if (openLineCount === 0 || net.lte(ZERO)) break;
  }
  return { uses };
}

/** A credit's status (S12.4): CONSUMED once nothing is left or reserved. */
export function creditStatus(credit: {
  readonly creditAmount: Decimal;
  readonly holdAmount: Decimal;
  readonly consumedAmount: Decimal;
  readonly voided: boolean;
}): "ACTIVE" | "CONSUMED" | "VOIDED" {
  if (credit.voided) return "VOIDED";
  return credit.holdAmount.isZero() && availableAmount(credit).lte(ZERO) ? "CONSUMED" : "ACTIVE";
}

/** The amount of a credit that is neither reserved nor consumed (S12.4); 0 once voided (S12.5). */
export function availableAmount(credit: {
  readonly creditAmount: Decimal;
  readonly holdAmount: Decimal;
  readonly consumedAmount: Decimal;
  readonly voided: boolean;
}): Decimal {
  return credit.voided ? ZERO : subtract(subtract(credit.creditAmount, credit.holdAmount), credit.consumedAmount);
}

/** Whether a credit without reserved amounts can still pay; most of the thousands that an account may have cannot. */
export function canPay(credit: {
  readonly creditAmount: Decimal;
  readonly consumedAmount: Decimal;
  readonly voided: boolean;
}): boolean {
  return !credit.voided && credit.consumedAmount.lt(credit.creditAmount);
}

/** Earliest first, undefined last. */
function compareEnds(a: Instant | undefined, b: Instant | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  return b === undefined ? -1 : a - b;
}

function isUnlimited({ applicableEntityIds }: MonetaryCredit): boolean {
  return applicableEntityIds === undefined || applicableEntityIds === null || applicableEntityIds.length === 0;
}

/** Lines that a credit can pay, in the order of payment. Those before `next` are paid. */
interface LineQueue {
  readonly indices: number[];
  next: number;
}

/**
 * Creates a function that finds the lines that a credit can pay (S12.2). Credits share the queues: thousands of credits
 * on thousands of lines read each paid line only once per queue.
 *
 * @param order the payable lines, in the order of payment
 */
function createLineQueues(
  lines: readonly PayableLine[],
  order: readonly number[],
): (credit: MonetaryCredit) => readonly LineQueue[] {
  const all: LineQueue = { indices: [...order], next: 0 };
  const byKind = new Map<PayableKind, LineQueue>();
  const byId = new Map<string, LineQueue>();
  const addTo = <Key>(queues: Map<Key, LineQueue>, key: Key, index: number): void => {
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, { indices: [index], next: 0 });
    else queue.indices.push(index);
  };
  for (const index of order) {
    const line = lines[index];
    if (line === undefined || line.kind === "TRUE_UP") continue;
    addTo(byKind, line.kind, index);
    addTo(byId, line.billableId, index);
  }
  return (credit) => {
    if (isUnlimited(credit)) return [all];
    return [...new Set(credit.applicableEntityIds)].flatMap((id) => {
      const kind = KIND_OF_NAME.get(id);
      return [byId.get(id), kind === undefined ? undefined : byKind.get(kind)].filter((queue) => queue !== undefined);
    });
  };
}

/** The first unpaid line of some queues. The true-up, which is last, is only in the queue of all lines. */
function firstOpenLine(queues: readonly LineQueue[], isOpen: (index: number) => boolean): number | undefined {
  let first: number | undefined;
  for (const queue of queues) {
    let index = queue.indices[queue.next];
    while (index !== undefined && !isOpen(index)) index = queue.indices[++queue.next];
    if (index !== undefined && (first === undefined || index < first)) first = index;
  }
  return first;
}

/** The line indices in the order of payment: the true-up last (S12.3). */
function paymentOrder(lines: readonly PayableLine[]): readonly number[] {
  const isTrueUp = (index: number): boolean => lines[index]?.kind === "TRUE_UP";
  return lines.map((_, index) => index).sort((a, b) => Number(isTrueUp(a)) - Number(isTrueUp(b)) || a - b);
}

function sumAmounts(payments: readonly { readonly amount: Decimal }[]): Decimal {
  let total = ZERO;
  for (const { amount } of payments) total = add(total, amount);
  return total;
}

/** Truncates to the minor unit. */
function truncate(amount: Decimal, digits: number): Decimal {
  return amount.toDecimalPlaces(digits, Decimal.ROUND_DOWN);
}
