/** The language of an invoice, and its numbers, amounts and dates, by locale. */
import { addDays, parseInstant, toInstant } from "../../calendar/instant.ts";
import { describeSlabRange } from "../../invoicing/invoice-rows.ts";
import { ENGLISH, FRENCH, GERMAN, type InvoiceWords } from "../../invoicing/invoice-words.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, ONE, parseDecimal } from "../../numbers/decimal.ts";
import type { SlabExplanation } from "../../rating/charge.ts";
import type { InvoiceDetails } from "./invoice-details.ts";
import type { PageTexts } from "./invoice-lines.ts";

/** The texts of an invoice in a locale. */
export interface InvoiceTexts extends PageTexts {
  /** The language of the words, with the region of the locale. */
  readonly lang: string;
  /** A date or an instant as a UTC day. */
  readonly formatDate: (date: string) => string;
  readonly formatPercent: (rate: Decimal) => string;
  /** The digits of a number after its decimal mark. */
  readonly findFraction: (text: string) => string;
  readonly decimalMark: string;
}

const WORDS: ReadonlyMap<string, InvoiceWords> = new Map([
  ["en", ENGLISH],
  ["de", GERMAN],
  ["fr", FRENCH],
]);

/** The most decimal places that `Intl` shows in every runtime. */
const FRACTION_DIGITS_MAX = 20;

/** The texts for a currency. */
export function createInvoiceTexts(
  { locale: requestedLocale, currencyDisplay = "symbol", units = {} }: InvoiceDetails,
  currency: string,
): InvoiceTexts {
  const locale = findLocale(requestedLocale ?? "en");
  const { language } = new Intl.Locale(locale);
  const words = WORDS.get(language) ?? ENGLISH;
  // Dates are in the language of the words: months are words too.
  const dayLocale = WORDS.has(language) ? locale : "en-GB";
  const formatNumber = createNumberFormat(locale, {});
  const money = {
    style: "currency",
    currency,
    currencyDisplay,
    minimumFractionDigits: minorUnitDigits(currency),
  } as const;
  const formatAmount = createNumberFormat(locale, money);
  const days = new Intl.DateTimeFormat(dayLocale, { dateStyle: "long", timeZone: "UTC", calendar: "gregory" });
  const decimalMark =
    new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? ".";
  const describeBasis = (slab: SlabExplanation, unit: string | undefined): string | undefined => {
    const units = unit === undefined ? "" : `\u00A0${unit}`;
    if (slab.priceType === "FLAT") return words.flat;
    if (slab.priceType === "PER_UNIT") return unit === undefined ? undefined : `/${units}`;
    return `/\u00A0${formatNumber(slab.packageSize ?? ONE)}${units}`;
  };
  return {
    lang: WORDS.has(language) ? locale : "en",
    words,
    formatNumber,
    formatAmount,
    formatPrice: formatAmount,
    formatPercent: createNumberFormat(locale, { style: "unit", unit: "percent" }),
    formatStored: (number) => formatNumber(parseDecimal(number)),
    formatRate: (rate) => (rate.isZero() ? words.free : formatAmount(rate)),
    formatDate: (date) => days.format(toInstant(date)),
    formatPeriod: (startDate, endDate) => {
      const start = parseInstant(startDate);
      return days.formatRange(start, Math.max(start, addDays(parseInstant(endDate), -1)));
    },
    describeTier: (...tier) => describeSlabRange(...tier, { words, formatNumber }),
    describeBasis,
    findUnit: (id) => (id !== undefined && Object.hasOwn(units, id) ? units[id] : undefined),
    decimalMark,
    findFraction: (text) => /^\p{Nd}*/u.exec(text.split(decimalMark)[1] ?? "")?.[0] ?? "",
  };
}

/** A locale that `Intl` accepts: English for an invalid tag. */
function findLocale(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? "en";
  } catch {
    return "en";
  }
}

/** Formats decimals with all digits, up to 20 after the point. */
function createNumberFormat(locale: string, options: Intl.NumberFormatOptions): (value: Decimal) => string {
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: FRACTION_DIGITS_MAX, ...options });
  // Intl formats texts of decimals exactly, and shows a minus before zero.
  return (value) => format.format((value.isZero() ? value.abs() : value).toFixed() as Intl.StringNumericLiteral);
}
