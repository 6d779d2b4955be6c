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

const plain = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: FRACTION_DIGITS_MAX });
const amounts = new Map<string, Intl.NumberFormat>();

/** A decimal text is what `Intl` reads without loss. */
type DecimalText = Intl.StringNumericLiteral;

/** A quantity, a rate or a count. */
export function numberText(value: string | number): string {
  return plain.format(value as DecimalText);
}

/** How an amount is written. */
interface MoneyOptions {
  /** The digits of the currency's minor unit; more are printed where the amount has them. */
  readonly digits: number;
  /** Absent in a column that says it. */
  readonly currency?: string;
  /** Whether amounts above 0 have a plus. */
  readonly signed?: boolean;
}

/** An amount. */
export function moneyText(value: string, { digits, currency, signed = false }: MoneyOptions): string {
  const key = `${currency ?? ""} ${digits} ${signed}`;
  let format = amounts.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(LOCALE, {
      ...(currency === undefined ? {} : { style: "currency", currency, currencyDisplay: "code" }),
      minimumFractionDigits: digits,
      maximumFractionDigits: FRACTION_DIGITS_MAX,
      signDisplay: signed ? "exceptZero" : "negative",
    });
    amounts.set(key, format);
  }
  return format.format(value as DecimalText);
}

/** A percentage to a tenth, with its sign. */
export function percentText(value: string): string {
  const tenths = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 1, signDisplay: "exceptZero" });
  return `${tenths.format(value as DecimalText)} %`;
}

/** A round number of an axis: compact, as nothing is read off it. */
export function axisText(value: number): string {
  return new Intl.NumberFormat(LOCALE, { notation: "compact", maximumSignificantDigits: 3 }).format(value);
}

const longDays = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeZone: "UTC" });
const shortDays = new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", timeZone: "UTC" });

/** A UTC day, `YYYY-MM-DD`, or so many days after it. */
export function dayText(day: string, after = 0): string {
  return longDays.format(instantOf(day) + after * DAY_MS);
}

/** The same for an axis, without the year. */
export function shortDayText(day: string, after = 0): string {
  return shortDays.format(instantOf(day) + after * DAY_MS);
}

/** A half-open range of UTC days by its first and its last day. */
export function rangeText(from: string, until: string): string {
  const start = instantOf(from);
  return longDays.formatRange(start, Math.max(start, instantOf(until) - DAY_MS));
}

function instantOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** `1 account`, `1,234 accounts`. */
export function counted(count: number, thing: string): string {
  return `${numberText(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** A sentence of ratebook with its numbers as the reader writes them; dates stay. */
export function sentenceText(sentence: string): string {
  return sentence.replaceAll(/\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?|\d+(?:,\d{3})*(?:\.\d+)?/g, (figure) =>
    figure.includes("-") ? figure : numberText(figure.replaceAll(",", "")),
  );
}
