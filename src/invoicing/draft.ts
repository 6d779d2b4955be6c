/** Invoices before credits: rounded cards, usage and true-up (S13.1, S13.3). */
import { type Day, dayOf, formatInstant, type Instant } from "../calendar/instant.ts";
import { add, type Decimal, sum, formatDecimal, ZERO } from "../numbers/decimal.ts";
import { groupBy } from "../numbers/ids.ts";
import { type Rounding, type TrueUp, computeTrueUp } from "../rating/cards.ts";
import type { Charge, UnpricedUsage } from "../rating/charge.ts";
import { chargeInArrears } from "./arrears.ts";
import { createCardFinder } from "./charge-periods.ts";
import type { AdvanceCharge } from "./due-work.ts";
import type { RoundedRefund } from "./granted-credits.ts";
import { type CardItem, toCardItem, sortIntoLineOrder } from "./invoice-lines.ts";
import type { InvoiceType, UsageLine } from "./invoice.ts";
import { type AccountView, type BillingCatalog, closesAt, type AccountCycle } from "./timeline.ts";

/** The data of an invoice that is known before rating. */
export interface DraftTerms {
  readonly invoiceType: InvoiceType;
  readonly cycle: AccountCycle;
  readonly invoiceDate: Instant;
  /** From when it is final (S13.4). */
  readonly finalAt: Instant;
}

/** An invoice that an account may get; rating its cards is far more expensive than planning it. */
export interface PlannedDraft extends DraftTerms {
  /** Rates its cards on the first call; undefined if there is nothing to show (S13.1). */
  readonly draft: () => Draft | undefined;
}

/** An invoice before credits: rounded cards, and true-up. */
export interface Draft extends DraftTerms {
  readonly items: readonly CardItem[];
  /** The sum of the cards' lines. */
  readonly subTotal: Decimal;
  readonly trueUp?: DraftTrueUp;
  readonly usage: readonly UsageLine[];
  readonly notices: readonly string[];
  /** Usage that no row of a price table prices (S18.2). */
  readonly unpriced?: readonly UnpricedUsage[];
}

/** A true-up with the invoices and refunds that it counts (S13.3). */
export interface DraftTrueUp extends TrueUp {
  readonly description: string;
  readonly invoiced: readonly Draft[];
  readonly refunds: readonly RoundedRefund[];
}

/** Advance and AD_HOC invoices, and refunds: a minimum commitment counts both (S13.3). */
export interface AdvanceDrafts {
  readonly drafts: readonly PlannedDraft[];
  readonly refunds: readonly RoundedRefund[];
}

/** The charge of a draft before credits: the cards and the true-up. */
export function grossAmount({ subTotal, trueUp }: Draft): Decimal {
  return trueUp === undefined ? subTotal : add(subTotal, trueUp.amount);
}

/** Identifies an invoice within its account; a draft always has the same key. */
export function invoiceKey({
  invoiceType,
  cycle,
  invoiceDate,
  finalAt,
}: Pick<Draft, "invoiceType" | "invoiceDate" | "finalAt"> & { readonly cycle: { readonly start: Instant } }): string {
  const late = invoiceType !== "STANDARD" && finalAt !== invoiceDate ? [formatInstant(finalAt)] : [];
  return [invoiceType, formatInstant(cycle.start), formatInstant(invoiceDate), ...late].join("|");
}

/** The input for the STANDARD invoice of a cycle. */
export interface StandardDraftInput {
  readonly view: AccountView;
  readonly catalog: BillingCatalog;
  readonly rounding: Rounding;
  readonly cycle: AccountCycle;
}

/** Plans the STANDARD invoice of a cycle; its draft is undefined without lines or usage to show (S13.1). */
export function planStandardDraft(input: StandardDraftInput, inAdvance: AdvanceDrafts): PlannedDraft {
  const { view, cycle } = input;
  const terms = { invoiceType: "STANDARD", cycle, invoiceDate: cycle.end, finalAt: closesAt(cycle, view) } as const;
  return { ...terms, draft: memoize(() => draftStandardInvoice(input, terms, inAdvance)) };
}

function draftStandardInvoice(
  input: StandardDraftInput,
  terms: DraftTerms,
  inAdvance: AdvanceDrafts,
): Draft | undefined {
  const { view, catalog, rounding, cycle } = input;
  const charges = chargeInArrears(view, cycle, catalog);
  const items = toCardItems(charges, cycle, catalog, rounding);
  const unpriced = charges.flatMap((charge) => charge.unpriced ?? []);
  const draft: Draft = {
    ...terms,
    items,
    subTotal: sumItems(items),
    usage: usageLines(view, catalog, cycle),
    notices: [...charges.flatMap((charge) => charge.notices), ...unpricedOverage(view, catalog, cycle)],
    ...(unpriced.length > 0 && { unpriced }),
  };
  const result = withTrueUp(draft, input, inAdvance);
  return result.items.length > 0 || result.trueUp !== undefined || result.usage.length > 0 ? result : undefined;
}

/** The name of a minimum commitment without a displayName. */
export const COMMITMENT_NAME = "Minimum commitment";

/** Adds to a draft what the invoices for its cycle lack of the minimum commitment (S13.3). */
function withTrueUp(draft: Draft, { view, rounding, cycle }: StandardDraftInput, inAdvance: AdvanceDrafts): Draft {
  const commitment = cycle.term.plan.details.minimumCommitment;
  if (!commitment) return draft;
  // Invoices and refunds that became known after this invoice was final do not count.
  const otherDrafts = inAdvance.drafts
    .filter((other) => isChargeFor(cycle, other.cycle) && other.finalAt <= draft.finalAt)
    .flatMap((other) => other.draft() ?? []);
  const refunds = inAdvance.refunds.filter((each) => isChargeFor(cycle, each.cycle) && each.knownAt <= draft.finalAt);
  const invoiced = [draft, ...otherDrafts];
  const period = { served: { start: cycle.start, end: cycle.end }, natural: cycle.natural };
  const charges = {
    alreadyCharged: sum(invoiced.map(({ subTotal }) => subTotal)),
    refunded: sum(refunds.map(({ amount }) => amount)),
  };
  const trueUp = computeTrueUp(commitment, view.currency, period, charges, rounding);
  if (trueUp === undefined) return draft;
  const description = commitment.displayName ?? COMMITMENT_NAME;
  return { ...draft, trueUp: { ...trueUp, description, invoiced, refunds } };
}

/** Plans the invoices of advance charges: one for each type, date, cycle and instant at which charges became known. */
export function planAdvanceDrafts(
  catalog: BillingCatalog,
  rounding: Rounding,
  charges: readonly AdvanceCharge[],
): readonly PlannedDraft[] {
  const groups = groupBy(charges, ({ invoiceType, invoiceDate, due, cycle }) => {
    const { planId, version } = cycle.term.plan;
    return `${invoiceType}|${invoiceDate}|${finalInstant(invoiceDate, due)}|${cycle.start}|${version}|${planId}`;
  });
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { invoiceType, cycle, invoiceDate, due } = first;
    const terms = { invoiceType, cycle, invoiceDate, finalAt: finalInstant(invoiceDate, due) };
    const draft = memoize((): Draft | undefined => {
      const charges = group.flatMap(({ rate }) => rate() ?? []);
      const items = toCardItems(charges, cycle, catalog, rounding);
      if (items.length === 0) return undefined;
      const notices = charges.flatMap((charge) => charge.notices);
      return { ...terms, items, subTotal: sumItems(items), usage: [], notices };
    });
    return [{ ...terms, draft }];
  });
}

function memoize<Result>(work: () => Result): () => Result {
  let computed: { readonly result: Result } | undefined;
  return () => (computed ??= { result: work() }).result;
}

/** An advance invoice is final at its date, or as soon as it is known (S13.4). */
export function finalInstant(invoiceDate: Instant, due: Instant): Instant {
  return Math.max(invoiceDate, due);
}

function toCardItems(
  charges: readonly Charge[],
  cycle: AccountCycle,
  catalog: BillingCatalog,
  rounding: Rounding,
): readonly CardItem[] {
  const cardFor = createCardFinder(cycle.term.plan.details);
  const items = charges.flatMap((charge) => {
    const card = cardFor(charge.kind, charge.billableId);
    const description = card?.displayName ?? billableName(catalog, charge) ?? charge.billableId;
    return toCardItem(charge, { description, ...(card?.tag ? { tag: card.tag } : {}) }, rounding) ?? [];
  });
  return sortIntoLineOrder(items);
}

/** The name of the charged item: a meter and a feature may share an id. */
function billableName(catalog: BillingCatalog, { kind, billableId }: Charge): string | undefined {
  switch (kind) {
    case "USAGE":
      return catalog.meters.get(billableId);
    case "BILLING_ENTITLEMENT":
    case "ENTITLEMENT_OVERAGE":
      return catalog.features.get(billableId);
    case "FIXED_FEE":
    case "LICENSE":
    case "CREDIT_GRANT":
      return catalog.addOns.get(billableId);
  }
}

function sumItems(items: readonly CardItem[]): Decimal {
  return sum(items.map((item) => item.values.value));
}

/**
 * Whether the commitment of `cycle` counts what is charged for `chargedCycle`, because that begins on one of its days,
 * with any version of the same plan, even one replaced on that day (S13.3).
 */
function isChargeFor({ start, end, term }: AccountCycle, chargedCycle: AccountCycle): boolean {
  const isSamePlan = chargedCycle.term.plan.planId === term.plan.planId;
  return start <= chargedCycle.start && chargedCycle.start < end && isSamePlan;
}

/** The usage of every meter in the cycle, priced or not. */
function usageLines(view: AccountView, catalog: BillingCatalog, cycle: AccountCycle): readonly UsageLine[] {
  const [from, until] = dayRange(cycle);
  return [...catalog.meters].flatMap(([id, description]) => {
    const quantity = view.usage(id, from, until);
    if (quantity.isZero()) return [];
    const featureId = catalog.featuresByMeter.get(id);
    const line = { type: "USAGE_METER_USAGE", id, description, quantity } as const;
    return [featureId === undefined ? line : { ...line, featureId }];
  });
}

/** Notices on overage of features without an overage card in the plan, which costs nothing (S11.7). */
function unpricedOverage(view: AccountView, catalog: BillingCatalog, cycle: AccountCycle): readonly string[] {
  const [from, until] = dayRange(cycle);
  const cardFor = createCardFinder(cycle.term.plan.details);
  return [...catalog.features].flatMap(([id, name]) => {
    if (cardFor("ENTITLEMENT_OVERAGE", id) !== undefined) return [];
    const quantity = view.overage(id, from, until);
    const units = `${formatDecimal(quantity)} units of ${name}`;
    return quantity.lte(ZERO) ? [] : [`${units} were used beyond the entitlements; the plan has no price for them`];
  });
}

function dayRange({ start, end }: AccountCycle): readonly [Day, Day] {
  return [dayOf(start), dayOf(end)];
}
