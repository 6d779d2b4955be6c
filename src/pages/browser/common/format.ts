/**
 * Numbers, money and days as the reader's locale writes them. A number is the decimal that its text says, with all its
 * digits: none goes through a double.
 *
 * @module
 */

/** So many digits after a point are printed at most: no decimal of ratebook that is shown has more. */
const FRACTION_DIGITS_MAX = 100;
const DAY_MS = 86_400_000;

/** The locale of who looks. */
const LOCALE = navigator.language;

const numberFormat = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: FRACTION_DIGITS_MAX });
const moneyFormats = new Map<string, Intl.NumberFormat>();

/** A decimal text is what `Intl` reads without loss. */
type DecimalText = Intl.StringNumericLiteral;

/** A quantity, a rate or a count. */
export function formatNumber(value: string | number): string {
  return numberFormat.format(value as DecimalText);
}

/** How an amount is written. */
interface MoneyOptions {
  /** The digits of the currency's minor unit; more are printed where the amount has them. */
  readonly digits: number;
  /** Absent in a column that says it. */
  readonly currency?: string;
  /** Whether amounts above 0 have a plus. */
  readonly hasPlusSign?: boolean;
}

/** An amount. */
export function formatMoney(value: string, { digits, currency, hasPlusSign = false }: MoneyOptions): string {
  const key = `${currency ?? ""} ${digits} ${hasPlusSign}`;
  let format = moneyFormats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(LOCALE, {
      ...(currency === undefined ? {} : { style: "currency", currency, currencyDisplay: "code" }),
      minimumFractionDigits: digits,
      maximumFractionDigits: FRACTION_DIGITS_MAX,
      signDisplay: hasPlusSign ? "exceptZero" : "negative",
    });
    moneyFormats.set(key, format);
  }
  return format.format(value as DecimalText);
}

/** A percentage to a tenth, with its sign. */
export function formatPercent(value: string): string {
  const percentFormat = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 1, signDisplay: "exceptZero" });
  return `${percentFormat.format(value as DecimalText)} %`;
}

/** A round number of an axis: compact, as nothing is read off it. */
export function formatAxisValue(value: number): string {
  return new Intl.NumberFormat(LOCALE, { notation: "compact", maximumSignificantDigits: 3 }).format(value);
}

const longDayFormat = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeZone: "UTC" });
const shortDayFormat = new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", timeZone: "UTC" });

/** A UTC day, `YYYY-MM-DD`, or so many days after it. */
export function formatDay(day: string, after = 0): string {
  return longDayFormat.format(parseDayStart(day) + after * DAY_MS);
}

/** The same for an axis, without the year. */
export function formatShortDay(day: string, after = 0): string {
  return shortDayFormat.format(parseDayStart(day) + after * DAY_MS);
}

/** A half-open range of UTC days by its first and its last day. */
export function formatDayRange(from: string, until: string): string {
  const start = parseDayStart(from);
  return longDayFormat.formatRange(start, Math.max(start, parseDayStart(until) - DAY_MS));
}

function parseDayStart(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** `1 account`, `1,234 accounts`. */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A sentence of ratebook with its numbers as the reader writes them; dates stay. */
export function localizeNumbers(sentence: string): string {
  return sentence.replaceAll(/\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?|\d+(?:,\d{3})*(?:\.\d+)?/g, (figure) =>
    figure.includes("-") ? figure : formatNumber(figure.replaceAll(",", "")),
  );
}
