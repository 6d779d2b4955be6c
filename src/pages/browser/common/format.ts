/** Formats numbers, money and days in the reader's locale. Numbers are exact decimal texts and never doubles. */

/** The maximum number of decimal places; shown decimals never have more. */
const FRACTION_DIGITS_MAX = 100;
const DAY_MS = 86_400_000;

/** The reader's locale, or English if `Intl` rejects it, such as `en-US@posix` of a browser on a system without a language. */
const LOCALE = isLocale(navigator.language) ? navigator.language : "en";

const numberFormat = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: FRACTION_DIGITS_MAX });
const moneyFormats = new Map<string, Intl.NumberFormat>();

/** `Intl` formats decimal texts exactly. */
type DecimalText = Intl.StringNumericLiteral;

/** A quantity, a rate or a count. */
export function formatNumber(value: string | number): string {
  return numberFormat.format(value as DecimalText);
}

interface MoneyOptions {
  /** The minor-unit digits of the currency. Amounts with more digits show all of them. */
  readonly digits: number;
  /** Absent in columns whose header names it. */
  readonly currency?: string;
  /** Whether positive amounts have a plus sign. */
  readonly hasPlusSign?: boolean;
}

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

/** A percentage with one decimal place and its sign. */
export function formatPercent(value: string): string {
  const percentFormat = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 1, signDisplay: "exceptZero" });
  return `${percentFormat.format(value as DecimalText)} %`;
}

/** A value of an axis, in compact form. */
export function formatAxisValue(value: number): string {
  return new Intl.NumberFormat(LOCALE, { notation: "compact", maximumSignificantDigits: 3 }).format(value);
}

const longDayFormat = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeZone: "UTC" });
const shortDayFormat = new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", timeZone: "UTC" });

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

function parseDayStart(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** `1 account`, `1,234 accounts`. */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Localizes the numbers of a sentence; dates, and names with digits such as `gpt-4-32000`, are unchanged. */
export function localizeNumbers(sentence: string): string {
  const part = /\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?|\p{L}[\p{L}\p{N}_.-]*|\d+(?:,\d{3})*(?:\.\d+)?/gu;
  return sentence.replaceAll(part, (text) => (/^[\d,.]+$/.test(text) ? formatNumber(text.replaceAll(",", "")) : text));
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
