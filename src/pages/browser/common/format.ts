/** Formats numbers and money in the reader's locale, and days in English, as the pages are. Numbers are exact decimal texts and never doubles. */
import { formatNumbersIn } from "../../../invoicing/reason-words.ts";
import { minorUnitDigits } from "../../../numbers/currency.ts";

/** The maximum number of decimal places; shown decimals never have more. */
const FRACTION_DIGITS_MAX = 100;
const DAY_MS = 86_400_000;

/** The reader's locale, or English if `Intl` rejects it, such as `en-US@posix` of a browser on a system without a language. */
const LOCALE = isLocale(navigator.language) ? navigator.language : "en";

/** That of days, whose months are words: English, with the day first for readers of other languages. */
const DAY_LOCALE = /^en\b/i.test(LOCALE) ? LOCALE : "en-GB";

const numberFormat = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: FRACTION_DIGITS_MAX });
const moneyFormats = new Map<string, Intl.NumberFormat>();

/** `Intl` formats decimal texts exactly. */
type DecimalText = Intl.StringNumericLiteral;

/** A quantity or a count. */
export function formatNumber(value: string | number): string {
  return numberFormat.format(value as DecimalText);
}

/** An amount or a rate with all its digits, and the symbol that the locale has for the currency and no other one, else its code. */
export function formatMoney(value: string, currency: string): string {
  return findMoneyFormat(currency, "negative").format(value as DecimalText);
}

/** A difference of amounts, which has a plus or minus sign. */
export function formatDifference(value: string, currency: string): string {
  return findMoneyFormat(currency, "exceptZero")
    .format(value as DecimalText)
    .replace("-", MINUS);
}

function findMoneyFormat(currency: string, signDisplay: "negative" | "exceptZero"): Intl.NumberFormat {
  const key = `${currency} ${signDisplay}`;
  let format = moneyFormats.get(key);
  if (format === undefined) {
    const digits = { minimumFractionDigits: minorUnitDigits(currency), maximumFractionDigits: FRACTION_DIGITS_MAX };
    format = new Intl.NumberFormat(LOCALE, { style: "currency", currency, signDisplay, ...digits });
    moneyFormats.set(key, format);
  }
  return format;
}

/** The minus sign, which is as wide as the plus sign. */
const MINUS = "\u2212";

/** A percentage with one decimal place and its sign. */
export function formatPercent(value: string): string {
  const percentFormat = new Intl.NumberFormat(LOCALE, {
    style: "unit",
    unit: "percent",
    minimumFractionDigits: 1,
    signDisplay: "exceptZero",
  });
  return percentFormat.format(value as DecimalText).replace("-", MINUS);
}

const shareFormat = new Intl.NumberFormat(LOCALE, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  maximumSignificantDigits: 1,
  roundingPriority: "morePrecision",
});

/** A percentage with one decimal place, or one significant digit if it is small. @param share 0 to 1 */
export function formatShare(share: number): string {
  return shareFormat.format(share);
}

const roundedFormat = new Intl.NumberFormat("en", {
  maximumFractionDigits: 2,
  maximumSignificantDigits: 3,
  roundingPriority: "morePrecision",
  useGrouping: false,
});

/** A decimal text with two decimal places, or with three significant digits if it is small. */
export function roundQuantity(value: string): string {
  return roundedFormat.format(value as DecimalText);
}

/** A value of an axis, in compact form. @param currency of an amount */
export function formatAxisValue(value: number, currency?: string): string {
  return new Intl.NumberFormat(LOCALE, {
    ...(currency === undefined ? {} : { style: "currency", currency }),
    notation: "compact",
    maximumSignificantDigits: 3,
  })
    .format(value)
    .replace("-", MINUS);
}

/** The number of decimal places of a decimal text. */
export function countDecimals(value: string): number {
  return value.split(".")[1]?.length ?? 0;
}

/**
 * Splits a formatted number after its last digit, and makes the decimal places that it lacks, so that numbers of a column
 * can be aligned on their decimal point.
 *
 * @param shown the decimal places of the number
 * @param most those of the column
 */
export function padDecimals(text: string, shown: number, most: number): readonly [string, string, string] {
  const end = text.search(/\P{Nd}*$/u);
  const longer = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: Math.max(shown, most) }).format(0);
  const lacking = Math.max(0, most - shown) + (shown === 0 && most > 0 ? 1 : 0);
  return [text.slice(0, end), lacking === 0 ? "" : longer.slice(-lacking), text.slice(end)];
}

const longDayFormat = new Intl.DateTimeFormat(DAY_LOCALE, { dateStyle: "medium", timeZone: "UTC" });
const shortDayFormat = new Intl.DateTimeFormat(DAY_LOCALE, { month: "short", day: "numeric", timeZone: "UTC" });

/** A UTC day, `YYYY-MM-DD`, or the day a number of days later. */
export function formatDay(day: string, after = 0): string {
  return longDayFormat.format(parseDayStart(day) + after * DAY_MS);
}

/** The same without the year, for axes. */
export function formatShortDay(day: string, after = 0): string {
  return shortDayFormat.format(parseDayStart(day) + after * DAY_MS);
}

/** The first and last day of a half-open range of UTC days. */
export function formatDayRange(from: string, until: string): string {
  const start = parseDayStart(from);
  return longDayFormat.formatRange(start, Math.max(start, parseDayStart(until) - DAY_MS));
}

const monthFormat = new Intl.DateTimeFormat(DAY_LOCALE, { month: "long", year: "numeric", timeZone: "UTC" });

/** A half-open range of whole months, such as `October 2026`; else its first and last day. */
export function formatPeriod(from: string, until: string): string {
  if (!from.endsWith("-01") || !until.endsWith("-01") || from >= until) return formatDayRange(from, until);
  return monthFormat.formatRange(parseDayStart(from), parseDayStart(until) - DAY_MS);
}

/** The days from one day to another, the last one exclusive. */
export function countDays(from: string, until: string): number {
  return (parseDayStart(until) - parseDayStart(from)) / DAY_MS;
}

function parseDayStart(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** `1 account`, `1,234 accounts`. */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Localizes the numbers of a sentence. */
export function localizeNumbers(sentence: string): string {
  return formatNumbersIn(sentence, formatNumber);
}

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

/** Negative if `a` is less than `b`, positive if it is greater. Texts are canonical: no exponent, no extra zeros. */
export function compareDecimals(a: string, b: string): number {
  const isNegative = a.startsWith("-");
  if (isNegative !== b.startsWith("-")) return isNegative ? -1 : 1;
  if (isNegative) return compareDecimals(b.slice(1), a.slice(1));
  const [wholeA = "", restA = ""] = a.split(".");
  const [wholeB = "", restB = ""] = b.split(".");
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length;
  const [left, right] = [`${wholeA}.${restA}`, `${wholeB}.${restB}`];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Removes the sign. */
export function removeSign(value: string): string {
  return value.replace(/^-/, "");
}
