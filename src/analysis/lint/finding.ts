/**
 * A finding of lint, with an example that a person can check, and the cards of a book that price a quantity, in plans and
 * in overrides of associations.
 */
import { type Path, formatPath } from "../../book/problems.ts";
import type { LintCode, Book } from "../../book/resources/book.ts";
import type { UsageMeter } from "../../book/resources/event-schema.ts";
import {
  readBillable,
  CARD_LISTS,
  type CardList,
  type PricePlanDetails,
  type PricePlanDetailsOverride,
} from "../../book/resources/price-plan.ts";
import type { RatePlan, RateValue } from "../../book/resources/rate-card.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";
import { grantedUnits } from "../../rating/cards.ts";

/** Something in a book that is valid but probably unintended. */
export interface LintFinding {
  readonly code: LintCode;
  /** `note`: inherent in the pricing model and possibly intended. */
  readonly level: "warning" | "note";
  /** The JSON path in the book, such as `$.pricePlans[0].pricePlanDetails.usageRateCards[0]`. */
  readonly path: string;
  /** The same place by ids, which stay the same when lists change, such as `pp.small@1/usage/um.calls`. Suppressions use it. */
  readonly at: string;
  /** One sentence, without a full stop. */
  readonly message: string;
  /** Figures that demonstrate it, to be checked by hand. */
  readonly example?: string;
  /** Whether it was found by trying values rather than proved. */
  readonly searched: boolean;
  /** The reason that the book gives for silencing it; absent if it is not silenced. */
  readonly silenced?: string;
}

/** A place in a book, as a path and by names. */
export interface LintPlace {
  readonly path: Path;
  readonly at: string;
}

export function createFinding(
  code: LintCode,
  place: LintPlace,
  details: Pick<LintFinding, "message"> & Partial<Pick<LintFinding, "level" | "example" | "searched">>,
): LintFinding {
  const { path, at } = place;
  return { code, level: "warning", path: formatPath(path), at, searched: false, ...details };
}

/** An amount with at least the digits of its currency, such as `500.00 USD`. */
export function formatAmountWithCurrency(amount: Decimal, currency: string): string {
  const digits = minorUnitDigits(currency);
  return `${amount.decimalPlaces() <= digits ? amount.toFixed(digits) : formatDecimal(amount)} ${currency}`;
}

/** The cards of a plan version, or of an association's overrides. */
export interface CardSet extends LintPlace {
  readonly details: PricePlanDetails | PricePlanDetailsOverride;
}

/** A card whose price depends on a quantity. */
export interface PricedCard extends LintPlace {
  readonly ratePlan: RatePlan;
  readonly rateValues: readonly RateValue[];
  /** The name of what is priced, for use in a sentence. */
  readonly name: string;
  /** Whether the quantity is always a whole number. */
  readonly isWhole: boolean;
  /** The largest possible quantity; absent if unbounded. */
  readonly quantityMax?: Decimal;
  /** Whether the quantity is always `quantityMax`. */
  readonly isFixed: boolean;
}

/** All sets of cards in book order: plans that are not archived, then the overrides of accounts. */
export function listCardSets({ pricePlans, accounts }: Book): readonly CardSet[] {
  return [
    ...pricePlans.flatMap(({ id, version, status, pricePlanDetails }, index) =>
      status === "ARCHIVED"
        ? []
        : [{ at: `${id}@${version}`, path: ["pricePlans", index, "pricePlanDetails"], details: pricePlanDetails }],
    ),
    ...accounts.flatMap((account, index) =>
      account.pricePlans.flatMap(({ pricePlanId, version, pricePlanDetailsOverride: details }, position) => {
        const path = ["accounts", index, "pricePlans", position, "pricePlanDetailsOverride"];
        return details ? [{ at: `${account.id}/${pricePlanId}@${version}`, path, details }] : [];
      }),
    ),
  ];
}

/** The cards of a set that price a quantity. Credit grants have a fixed amount and no curve. */
export function listPricedCards(book: Book, { details, path, at }: CardSet): readonly PricedCard[] {
  const { usageMeters, addOns, features } = book;
  const names = { usageMeters, addOns, features };
  const isCount = ({ aggregation }: UsageMeter): boolean => aggregation === "COUNT" || aggregation === "UNIQUE_COUNT";
  const countMeterIds = new Set(usageMeters.filter(isCount).map(({ id }) => id));
  const listCards = <List extends SlabPricedList>(
    list: List,
    kind: string,
    toQuantity: (card: CardOf<List>) => Pick<PricedCard, "quantityMax"> & Partial<PricedCard>,
  ): readonly PricedCard[] =>
    (details[list] as readonly CardOf<List>[]).flatMap((card, index) => {
      if ("rateTable" in card && card.rateTable) return [];
      const billable = readBillable(list, card);
      const name = names[CARD_LISTS[list].items].find(({ id }) => id === billable)?.displayName;
      return {
        path: [...path, list, index],
        at: `${at}/${kind}/${billable}`,
        ratePlan: card.ratePlan,
        rateValues: card.rateValues,
        name: card.displayName ?? name ?? billable,
        isWhole: false,
        isFixed: false,
        ...toQuantity(card),
      };
    });
  return [
    ...listCards("usageRateCards", "usage", ({ usageMeterId }) => ({ isWhole: countMeterIds.has(usageMeterId) })),
    ...listCards("licenseRateCards", "license", ({ config }) => toQuantityMax(config?.maxQuantity)),
    ...listCards("billingEntitlementRateCards", "entitlement", (card) => ({
      quantityMax: grantedUnits(card),
      isFixed: true,
    })),
    ...listCards("entitlementOverageRateCards", "overage", ({ maxQuantity }) => toQuantityMax(maxQuantity)),
  ];
}

type SlabPricedList = Exclude<CardList, "fixedFeeRateCards" | "creditGrantRateCards">;
type CardOf<List extends SlabPricedList> = PricePlanDetailsOverride[List][number];

function toQuantityMax(quantity: Decimal | null | undefined): Pick<PricedCard, "quantityMax"> {
  return quantity ? { quantityMax: quantity } : {};
}
