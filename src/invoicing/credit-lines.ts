/** Converts drafts to line trees: credits pay the lines of each draft, in the order of the drafts (S12, S13.2). */
import { formatInstant, type Instant } from "../calendar/instant.ts";
import { applyCredits, type CreditUse, type PayableLine } from "../credits/monetary-credits.ts";
import { type Decimal, subtract, sum } from "../numbers/decimal.ts";
import type { Steps } from "../numbers/steps.ts";
import type { Rounding } from "../rating/cards.ts";
import { ruleLink } from "../rulebook.ts";
import { type Draft, type DraftTerms, grossAmount, invoiceKey, type PlannedDraft } from "./draft.ts";
import {
  createCreditPool,
  mayChargeBelowZero,
  type GrantedCredit,
  toNegativeInvoiceCredit,
  type RoundedRefund,
} from "./granted-credits.ts";
import {
  groupByTag,
  type CardItem,
  exactValueField,
  withExplanation,
  groupLine,
  type LineStyle,
  sumLine,
} from "./invoice-lines.ts";
import {
  citeRules,
  type CountedRefund,
  SUM,
  toExactFraction,
  toIsoPeriod,
  cardLineType,
  type InvoiceLine,
} from "./invoice.ts";
import type { AssociatedPlan } from "./timeline.ts";

/** A draft with its payments. */
export interface PaidDraft {
  readonly draft: Draft;
  /** The value of its line tree. */
  readonly total: Decimal;
  /** Builds its line tree. */
  readonly tree: () => InvoiceLine;
  /** The same tree, of which everything below the total is built on first access: lists show only totals. */
  readonly lazyTree: () => InvoiceLine;
  /** The amount taken from each credit, in their order. */
  readonly creditUses: readonly CreditUse[];
  /** The credit that it grants if its total is below zero (S13.4). Its id is its cause. */
  readonly grantedCredit?: GrantedCredit;
}

/** Which invoices to return: those that match, or all that take credits. Others are computed only if the result depends on them. */
export type DraftSelection = ((terms: DraftTerms) => boolean) | "TAKING_CREDITS";

/**
 * Pays drafts with credits in order: what one takes is not available to the next (S12.3). One draft per step. A draft
 * that is not requested is not computed if no credit is left for it and it cannot grant one: no other draft depends on it.
 *
 * @param drafts in the order in which they take credits
 * @returns the requested ones, without those that have nothing to show
 */
export function* payWithCredits(
  drafts: readonly PlannedDraft[],
  credits: readonly GrantedCredit[],
  style: {
    readonly rounding: Rounding;
    readonly explain: boolean;
    /** The id of a credit from its cause; default the cause. */
    readonly creditId?: ((cause: string) => string) | undefined;
    /**
     * Excludes from totals and trees what the credits of drafts below zero pay, so that totals add up to the amount
     * payable; default false.
     */
    readonly countsNegativeInvoicesOnce?: boolean | undefined;
    /** Default: all. */
    readonly selection?: DraftSelection | undefined;
    /** Stops after this many; default all. */
    readonly limit?: number | undefined;
  },
): Steps<readonly PaidDraft[]> {
  const { selection = () => true, limit = Number.POSITIVE_INFINITY } = style;
  const isRequested = selection === "TAKING_CREDITS" ? () => false : selection;
  const last = selection === "TAKING_CREDITS" ? drafts.length - 1 : drafts.findLastIndex(isRequested);
  const pool = createCreditPool(credits, drafts);
  const earliest = earliestStarts(drafts);
  const negativeInvoiceCreditIds = new Set<string>();
  const mayGrant = createNegativeInvoiceCheck();
  const paidDrafts: PaidDraft[] = [];
  const pay = (draft: Draft, usable: Iterable<GrantedCredit>): PaidDraft => {
    const groups = groupByTag(draft.items);
    const items = groups.flat();
    const { uses } = applyCredits(usable, payableLines(items, draft), style.rounding.digits);
    const lineStyle: LineStyle = { ...style, inAdvance: draft.invoiceType !== "STANDARD" };
    const payments = uses.flatMap((use) => {
      const credit = pool.take(use.creditId, use.amount);
      return credit === undefined ||
        (style.countsNegativeInvoicesOnce === true && negativeInvoiceCreditIds.has(use.creditId))
        ? []
        : [{ credit, use }];
    });
    const tree = (): InvoiceLine => {
      const creditLines = payments.map(({ credit, use }) => creditLine(credit, use, [...items, draft], lineStyle));
      return buildLineTree(draft, groups, creditLines, lineStyle);
    };
    const total = amountToPay(draft, payments);
    const trees = { tree, lazyTree: () => makeLazyTree(total, tree, lineStyle) };
    if (!total.isNegative()) return { draft, total, ...trees, creditUses: uses };
    const grantedCredit = toNegativeInvoiceCredit(invoiceKey(draft), total, draft.invoiceDate, draft.finalAt);
    const id = style.creditId?.(grantedCredit.id) ?? grantedCredit.id;
    pool.add({ ...grantedCredit, id });
    negativeInvoiceCreditIds.add(id);
    return { draft, total, ...trees, creditUses: uses, grantedCredit };
  };
  for (const [index, planned] of drafts.slice(0, last + 1).entries()) {
    if (paidDrafts.length >= limit) break;
    const start = earliest[index] ?? planned.cycle.start;
    const isWanted = isRequested(planned);
    if (!isWanted && !mayGrant(planned.cycle.term.plan) && isEmpty(pool.usableFor(planned, start))) continue;
    const draft = planned.draft();
    if (draft !== undefined) {
      const paid = pay(draft, pool.usableFor(draft, start));
      if (isWanted || (selection === "TAKING_CREDITS" && paid.creditUses.length > 0)) paidDrafts.push(paid);
    }
    yield;
  }
  return paidDrafts;
}

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _ of items) return false;
  return true;
}

/** Creates a predicate for whether invoices of a plan may be below zero, and so grant a credit (S13.4); checks each plan once. */
function createNegativeInvoiceCheck(): (plan: AssociatedPlan) => boolean {
  const results = new Map<AssociatedPlan, boolean>();
  return (plan) => {
    let result = results.get(plan);
    if (result === undefined) results.set(plan, (result = mayChargeBelowZero(plan.details)));
    return result;
  };
}

/** The amount payable: the charge minus what credits pay. */
function amountToPay(draft: Draft, payments: readonly { readonly use: CreditUse }[]): Decimal {
  return subtract(grossAmount(draft), sum(payments.map(({ use }) => use.amount)));
}

/** For each draft, the earliest cycle start among this and later ones. */
function earliestStarts(drafts: readonly DraftTerms[]): readonly Instant[] {
  const starts: Instant[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (let index = drafts.length - 1; index >= 0; index--) {
    earliest = Math.min(earliest, drafts[index]?.cycle.start ?? earliest);
    starts[index] = earliest;
  }
  return starts;
}

function payableLines(items: readonly CardItem[], draft: Draft): readonly PayableLine[] {
  const lines: PayableLine[] = items.map(({ charge, values }) => ({
    kind: charge.kind,
    billableId: charge.billableId,
    value: values.value,
  }));
  if (draft.trueUp) lines.push({ kind: "TRUE_UP", billableId: "", value: draft.trueUp.amount });
  return lines;
}

/** TOTAL > NET > { CREDITS, GROSS > PRICE_PLAN > { SUB_TOTAL > cards, TRUE_UP } } (S13.2). */
function buildLineTree(
  draft: Draft,
  groups: readonly (readonly CardItem[])[],
  creditLines: readonly InvoiceLine[],
  style: LineStyle,
): InvoiceLine {
  const cards = groups.map((group) => groupLine(group, style));
  const subTotal = sumLine("SUB_TOTAL_AMOUNT", cards, style);
  const plan = sumLine("PRICE_PLAN_AMOUNT", [subTotal, ...trueUpLine(draft, style)], style);
  const gross = sumLine("GROSS_AMOUNT", [plan], style);
  const credits = creditLines.length > 0 ? [sumLine("TOTAL_CREDITS", creditLines, style)] : [];
  const net = sumLine("NET_AMOUNT", [...credits, gross], style);
  return sumLine("TOTAL_AMOUNT", [net], style);
}

function makeLazyTree(total: Decimal, makeTree: () => InvoiceLine, style: LineStyle): InvoiceLine {
  let lineItems: readonly InvoiceLine[] | undefined;
  return {
    type: "TOTAL_AMOUNT",
    value: total,
    get lineItems() {
      return (lineItems ??= makeTree().lineItems ?? []);
    },
    ...withExplanation(style, () => SUM),
  };
}

function trueUpLine({ trueUp, cycle }: Draft, style: LineStyle): readonly InvoiceLine[] {
  if (trueUp === undefined) return [];
  const { amount, exact, description, explanation, invoiced, refunds } = trueUp;
  const explain = withExplanation(style, () => ({
    of: "TRUE_UP",
    ...citeRules(explanation),
    served: toIsoPeriod(cycle),
    natural: toIsoPeriod(cycle.natural),
    exact: toExactFraction(exact),
    invoiced: invoiced.map(({ invoiceType, invoiceDate, subTotal }) => ({
      invoiceType,
      invoiceDate: formatInstant(invoiceDate),
      value: subTotal,
    })),
    ...(refunds.length === 0 ? {} : { refunds: refunds.map(toCountedRefund) }),
    rounding: style.rounding,
  }));
  return [{ type: "TRUE_UP_AMOUNT", description, value: amount, ...exactValueField(exact, amount), ...explain }];
}

function toCountedRefund({ at, amount, explanation }: RoundedRefund): CountedRefund {
  return { ...explanation, effectiveFrom: formatInstant(at), value: amount };
}

function creditLine(
  credit: GrantedCredit,
  use: CreditUse,
  lines: readonly (CardItem | Draft)[],
  style: LineStyle,
): InvoiceLine {
  const paid = use.lines.map(({ index, amount }) => ({ ...describePaidLine(lines[index], style), amount }));
  return {
    type: "SUB_CREDITS",
    id: credit.id,
    creditKind: credit.kind,
    description: credit.purpose,
    value: use.amount.negated(),
    ...withExplanation(style, () => ({
      of: "CREDIT",
      rules: [ruleLink("S12.1"), ruleLink("S12.3")],
      priority: credit.priority,
      creditAmount: credit.creditAmount,
      takenBefore: subtract(credit.creditAmount, credit.left),
      left: credit.left,
      paid,
      remaining: subtract(credit.left, use.amount),
      ...(credit.refund === undefined ? {} : { refund: credit.refund }),
    })),
  };
}

/**
 * Adjusts the line tree of an invoice that becomes final while earlier drafts are open: separates the amounts of a
 * credit reserved by these from those consumed by final invoices (S12.4).
 *
 * @param consumed the amount of a credit consumed by final invoices
 */
export function withConsumedCredits(line: InvoiceLine, consumed: (creditId: string) => Decimal): InvoiceLine {
  const { explanation, id, lineItems } = line;
  if (explanation?.of === "CREDIT" && id !== undefined) {
    const takenBefore = consumed(id);
    const heldByDrafts = subtract(explanation.takenBefore, takenBefore);
    return heldByDrafts.isZero() ? line : { ...line, explanation: { ...explanation, takenBefore, heldByDrafts } };
  }
  const hasCreditsBelow = line.type === "TOTAL_AMOUNT" || line.type === "NET_AMOUNT" || line.type === "TOTAL_CREDITS";
  if (!hasCreditsBelow || lineItems === undefined) return line;
  return { ...line, lineItems: lineItems.map((item) => withConsumedCredits(item, consumed)) };
}

/** The type and id of a paid line; a line without a card is the true-up. */
function describePaidLine(
  line: CardItem | Draft | undefined,
  style: LineStyle,
): { readonly type: string; readonly id?: string } {
  if (line === undefined || !("charge" in line)) return { type: "TRUE_UP_AMOUNT" };
  return { type: cardLineType(line.charge.kind, style.inAdvance), id: line.charge.billableId };
}
