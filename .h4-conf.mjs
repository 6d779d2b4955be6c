// src/store/conformance/atomicity.ts
import assert from "node:assert/strict";

// src/store/sleep.ts
function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

// src/store/conformance/case.ts
function defineCase(name, check) {
  return {
    name,
    async run(open) {
      const store = await open();
      try {
        await rejectAfter(DEADLINE_MS, check(store), name);
      } finally {
        await rejectAfter(DEADLINE_MS, store.close(), `${name}: close`);
      }
    }
  };
}
async function commit(store, changes) {
  await store.transact(scopeFor(changes), async () => ({ result: void 0, changes }));
}
function createScope(accountIds, eventIds = []) {
  return { configuration: "shared", accountIds, eventIds };
}
function gate() {
  let open = () => {
  };
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
function moment(milliseconds = 20) {
  return sleep(milliseconds);
}
async function rejectAfter(milliseconds, promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms: ${what}`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
var DEADLINE_MS = 6e4;
function scopeFor(changes) {
  const {
    accounts = [],
    newEvents = [],
    usage = [],
    overage = [],
    entries = [],
    credits = [],
    invoices = [],
    keptUsage = []
  } = changes;
  const events = [...newEvents, ...changes.events ?? []];
  const owned = [...events, ...usage, ...overage, ...entries, ...credits, ...invoices, ...keptUsage];
  return {
    configuration: changes.configurationRevision !== void 0 ? "exclusive" : "shared",
    accountIds: [.../* @__PURE__ */ new Set([...accounts.map(({ id }) => id), ...owned.map(({ accountId }) => accountId)])],
    eventIds: [...new Set(events.map(({ eventId }) => eventId))]
  };
}

// src/errors.ts
var RatebookError = class extends Error {
  name = "RatebookError";
  code;
  details;
  constructor(code, message, details, options) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
  /** The JSON form. */
  toJSON() {
    return { code: this.code, message: this.message, details: this.details };
  }
};
function hasCode(error, code) {
  return error instanceof RatebookError && error.code === code;
}

// src/calendar/civil.ts
var DAYS_BEFORE_1970 = 719528;
var DAYS_OF_400_YEARS = 146097;
var DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
var MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
function isLeapYear(year) {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
function daysInMonth(year, month) {
  if (month === 2 && isLeapYear(year)) return 29;
  return MONTH_DAYS[month - 1] ?? 0;
}
function dayOfDate(year, month, day) {
  const leapDay = month > 2 && isLeapYear(year) ? 1 : 0;
  return firstDayOfYear(year) + (DAYS_BEFORE_MONTH[month - 1] ?? 0) + leapDay + (day - 1);
}
function dateOfDay(day) {
  const sinceYear0 = day + DAYS_BEFORE_1970;
  let year = Math.floor(sinceYear0 * 400 / DAYS_OF_400_YEARS);
  if (firstDayOfYear(year) > day) year -= 1;
  else if (firstDayOfYear(year + 1) <= day) year += 1;
  let rest = day - firstDayOfYear(year);
  if (isLeapYear(year) && rest >= 59) {
    if (rest === 59) return { year, month: 2, day: 29 };
    rest -= 1;
  }
  let month = Math.floor(rest / 31) + 1;
  if (rest >= (DAYS_BEFORE_MONTH[month] ?? 365)) month += 1;
  return { year, month, day: rest - (DAYS_BEFORE_MONTH[month - 1] ?? 0) + 1 };
}
function firstDayOfYear(year) {
  return YEAR_STARTS[year] ?? computedFirstDay(year);
}
function computedFirstDay(year) {
  const leapYears = Math.ceil(year / 4) - Math.ceil(year / 100) + Math.ceil(year / 400);
  return year * 365 + leapYears - DAYS_BEFORE_1970;
}
var YEAR_STARTS = Int32Array.from({ length: 1e4 }, (_, year) => computedFirstDay(year));

// src/calendar/instant.ts
var DAY_MS = 864e5;
var INSTANT_MIN = -621672192e5;
var INSTANT_END = 2534023008e5;
var OFFSET_MINUTES_MAX = 14 * 60;
var MINUTE_MS = 6e4;
var TWO_DIGITS = Array.from({ length: 100 }, (_, value) => String(100 + value).slice(1));
var NONE = -1e6;
var SPACE = 32;
var PLUS = 43;
var COMMA = 44;
var DASH = 45;
var POINT = 46;
var ZERO = 48;
var COLON = 58;
var T = 84;
var Z = 90;
function parseInstant(text, zoneMinutes) {
  const instant = readDateTime(text, zoneMinutes ?? Number.NaN);
  if (Number.isNaN(instant)) throw invalidDate(text, "date-time", explainInvalidDate(text, true));
  return instant;
}
function formatInstant(instant) {
  if (!(instant >= INSTANT_MIN && instant < INSTANT_END)) return new Date(instant).toISOString();
  const day = dayOf(instant);
  const ms = instant - day * DAY_MS;
  const second = Math.floor(ms / 1e3);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  const fraction = String(1e3 + (ms - second * 1e3)).slice(1);
  return `${formatDay(day)}T${formatTwoDigits(hour)}:${formatTwoDigits(minute - hour * 60)}:${formatTwoDigits(second - minute * 60)}.${fraction}Z`;
}
function dayOf(instant) {
  return Math.floor(instant / DAY_MS);
}
function readDateTime(text, zoneMinutes) {
  const length = text.length;
  if (length < 16) return Number.NaN;
  const separator = text.charCodeAt(10);
  const day = readDay(text);
  const minutes = readMinutes(text);
  if (separator !== T && separator !== SPACE || day === NONE || minutes < 0) return Number.NaN;
  let ms = 0;
  let at2 = 16;
  if (length >= 19 && text.charCodeAt(16) === COLON) {
    const seconds = readTwoDigits(text, 17);
    if (seconds < 0 || seconds > 59) return Number.NaN;
    ms = seconds * 1e3;
    at2 = 19;
    if (length > 20 && isPoint(text.charCodeAt(19))) {
      at2 = endOfDigits(text, 20);
      if (at2 === 20) return Number.NaN;
      ms += readMilliseconds(text, at2);
    }
  }
  const offset = at2 === length ? zoneMinutes : readZone(text, at2);
  const instant = day * DAY_MS + (minutes - offset) * MINUTE_MS + ms;
  return instant >= INSTANT_MIN && instant < INSTANT_END ? instant : Number.NaN;
}
function readDay(text) {
  const year = readTwoDigits(text, 0) * 100 + readTwoDigits(text, 2);
  const month = readTwoDigits(text, 5);
  const day = readTwoDigits(text, 8);
  if (year < 0 || text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return NONE;
  if (day < 1 || month < 1 || month > 12 || day > 28 && day > daysInMonth(year, month)) return NONE;
  return dayOfDate(year, month, day);
}
function readMinutes(text) {
  const hour = readTwoDigits(text, 11);
  const minute = readTwoDigits(text, 14);
  return text.charCodeAt(13) === COLON && hour < 24 && minute < 60 ? hour * 60 + minute : NONE;
}
function readMilliseconds(text, end) {
  let ms = 100 * (text.charCodeAt(20) - ZERO);
  if (end > 21) ms += 10 * (text.charCodeAt(21) - ZERO);
  if (end > 22) ms += text.charCodeAt(22) - ZERO;
  return ms;
}
function readZone(text, from) {
  const at2 = text.charCodeAt(from) === SPACE ? from + 1 : from;
  const length = text.length - at2;
  if (length === 1) return text.charCodeAt(at2) === Z ? 0 : Number.NaN;
  if (length === 3 && text.endsWith("UTC")) return 0;
  if (length === 3 || length === 5 || length === 6 && text.charCodeAt(at2 + 3) === COLON)
    return readOffset(text, at2, length);
  return Number.NaN;
}
function readOffset(text, at2, length) {
  const sign = text.charCodeAt(at2);
  const hours = readTwoDigits(text, at2 + 1);
  const minutes = length === 3 ? 0 : readTwoDigits(text, text.length - 2);
  const offset = hours * 60 + minutes;
  if (hours < 0 || minutes < 0 || minutes > 59 || offset > OFFSET_MINUTES_MAX) return Number.NaN;
  if (sign === PLUS) return offset;
  return sign === DASH ? -offset : Number.NaN;
}
function readTwoDigits(text, at2) {
  const tens = text.charCodeAt(at2) - ZERO;
  const ones = text.charCodeAt(at2 + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NONE;
}
function isPoint(code) {
  return code === POINT || code === COMMA;
}
function endOfDigits(text, from) {
  let at2 = from;
  while (at2 < text.length && text.charCodeAt(at2) >= ZERO && text.charCodeAt(at2) < COLON) at2 += 1;
  return at2;
}
function formatDay(day) {
  const date = dateOfDay(day);
  return `${String(1e4 + date.year).slice(1)}-${formatTwoDigits(date.month)}-${formatTwoDigits(date.day)}`;
}
function formatTwoDigits(value) {
  return TWO_DIGITS[value] ?? String(value);
}
var SHAPE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(.*))?$/;
function explainInvalidDate(text, timeNeeded) {
  const expected = `expected ${timeNeeded ? "" : "2024-01-02 or "}a date-time such as 2024-01-02T03:04:05Z`;
  const parts = text.length > 60 ? null : SHAPE.exec(text);
  if (parts === null) return expected;
  const [, year = "", month = "", day = "", hour, minute, second, zone = ""] = parts;
  const days = daysInMonth(Number(year), Number(month));
  if (days === 0) return `there is no month ${month}`;
  if (Number(day) < 1 || Number(day) > days) return `${year}-${month} has days 01 to ${days}, not ${day}`;
  if (hour === void 0) return `it has no time, ${expected}`;
  if (Number(hour) > 23) return `hours are 00 to 23, not ${hour}`;
  if (Number(minute) > 59) return `minutes are 00 to 59, not ${minute}`;
  if (Number(second) > 59) return `seconds are 00 to 59, not ${second}`;
  return explainInvalidZone(zone);
}
function explainInvalidZone(zone) {
  if (zone === "") return "it has no zone; add Z or an offset such as +05:30";
  if (Number.isNaN(readZone(`T${zone}`, 1))) {
    return "expected a zone at the end: Z, UTC or an offset such as +05:30, up to 14:00";
  }
  return "in UTC it is outside the years 0000 to 9999";
}
function invalidDate(text, kind, reason) {
  const excerpt = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}\u2026` : text);
  return new RatebookError(
    "ERR_DATE_INVALID",
    `${excerpt} is not ${kind === "instant" ? "an" : "a"} ${kind}: ${reason}`,
    {}
  );
}

// src/numbers/decimal.ts
import { Decimal as Base } from "decimal.js";
var DIGITS_MAX = 100;
var QUOTIENT_DIGITS = 34;
var VALUE_DIGITS_MAX = 20;
var EXPONENT_MAX = 1e3;
var settings = { rounding: Base.ROUND_HALF_UP, toExpNeg: -9e15, toExpPos: 9e15, defaults: true };
var Decimal = Base.clone({ ...settings, precision: DIGITS_MAX });
var Wide = Base.clone({ ...settings, precision: 4 * EXPONENT_MAX });
var Quotient = Base.clone({ ...settings, precision: QUOTIENT_DIGITS });
var ZERO2 = new Decimal(0);
var ONE = new Decimal(1);
var SMALL = Array.from({ length: 1025 }, (_, value) => new Decimal(value));
function decimalOfInteger(value) {
  return SMALL[value] ?? new Decimal(value);
}
function isDecimalObject(value) {
  return Base.isDecimal(value) && (value instanceof Decimal || !Object.hasOwn(value, "toStringTag"));
}
var TEXT_LENGTH_MAX = 4 * EXPONENT_MAX;
var DECIMAL_TEXT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?$/;
function parseDecimal(value) {
  if (isDecimalObject(value)) return requireInputInRange(new Decimal(value));
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw invalidNumber("NOT_A_DECIMAL", `${value} is not a decimal`);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      throw invalidNumber(
        "UNSAFE_NUMBER",
        `the number ${value} is above 2^53, so its last digits may be lost; write it as text`
      );
    }
    return value === 0 ? ZERO2 : new Decimal(value);
  }
  if (typeof value === "string") {
    if (value.length > TEXT_LENGTH_MAX || !DECIMAL_TEXT.test(value))
      throw invalidNumber("NOT_A_DECIMAL", `${quoteShort(value)} is not a decimal`);
    return requireInputInRange(new Decimal(value));
  }
  throw invalidNumber("NOT_A_NUMBER", `expected a decimal, got ${describeType(value)}`);
}
function describeType(value) {
  if (value === null || value === void 0) return String(value);
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object";
  return `a ${typeof value}`;
}
function parseValue(value) {
  const decimal = parseDecimal(value);
  if (decimal.decimalPlaces() > VALUE_DIGITS_MAX || !decimal.isZero() && decimal.e >= VALUE_DIGITS_MAX) {
    const text = typeof value === "string" ? quoteShort(value) : quoteShort(String(value));
    throw invalidNumber(
      "TOO_MANY_DIGITS",
      `${text} has more than ${VALUE_DIGITS_MAX} digits before the point or ${VALUE_DIGITS_MAX} after it`
    );
  }
  return decimal;
}
function add(a, b) {
  if (a === ZERO2 && b.constructor === Decimal && isNarrowSum(a, b)) return positiveZero(b);
  const total = smallInteger(a) + smallInteger(b);
  if (Math.abs(total) < GROUP) return new Decimal(total);
  return isNarrowSum(a, b) ? positiveZero(a.plus(b)) : narrowResult(Wide.add(a, b));
}
function subtract(a, b) {
  const difference = smallInteger(a) - smallInteger(b);
  if (Math.abs(difference) < GROUP) return new Decimal(difference);
  return isNarrowSum(a, b) ? positiveZero(a.minus(b)) : narrowResult(Wide.sub(a, b));
}
function formatDecimal(value) {
  return value.isZero() ? "0" : value.toFixed();
}
var GROUP = 1e7;
function smallInteger({ d, e, s }) {
  return d.length === 1 && e >= 0 && e < 7 ? s * (d[0] ?? Number.NaN) : Number.NaN;
}
function isNarrowSum(a, b) {
  if (a.constructor !== Decimal) return false;
  const lowest = Math.min(a.e - 7 * a.d.length, b.e - 7 * b.d.length);
  return Math.max(a.e, b.e) + 1 - lowest <= DIGITS_MAX && Math.abs(a.e) < EXPONENT_MAX && Math.abs(b.e) < EXPONENT_MAX;
}
function positiveZero(result) {
  return result.isZero() ? ZERO2 : result;
}
function narrowResult(result) {
  return requireInRange(new Decimal(result));
}
function requireInRange(result) {
  if (result.isZero()) return result.isNegative() ? ZERO2 : result;
  if (result.precision() > DIGITS_MAX || Math.abs(result.e) > EXPONENT_MAX) {
    throw new RatebookError("ERR_ARITHMETIC", `a result needs more than ${DIGITS_MAX} significant digits`, {});
  }
  return result;
}
function requireInputInRange(value) {
  if (!value.isFinite()) throw invalidNumber("NOT_A_DECIMAL", `${value.toString()} is not a decimal`);
  if (value.precision() > DIGITS_MAX || Math.abs(value.e) > EXPONENT_MAX) {
    throw invalidNumber(
      "TOO_MANY_DIGITS",
      `the number has more than ${DIGITS_MAX} significant digits or is beyond 10^${EXPONENT_MAX}`
    );
  }
  return value.isZero() ? ZERO2 : value;
}
function invalidNumber(reason, message) {
  return new RatebookError("ERR_NUMBER_INVALID", message, { reason });
}
function quoteShort(text) {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}\u2026` : text);
}

// src/numbers/exact.ts
var Scaled = class {
  mantissa;
  scale;
  constructor(mantissa, scale) {
    this.mantissa = mantissa;
    this.scale = scale;
  }
};
var SAFE_MAX = Number.MAX_SAFE_INTEGER;
var POWERS = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
var MANTISSA_END = 10n ** BigInt(DIGITS_MAX);
var QUOTIENT_END = 10n ** BigInt(QUOTIENT_DIGITS + 1);
function addExact(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const total = a + b;
    if (total <= SAFE_MAX && total >= -SAFE_MAX) return total;
  }
  return addScaled(a, b, 1);
}
function negateExact(a) {
  if (typeof a === "number") return a === 0 ? 0 : -a;
  return new Scaled(-a.mantissa, a.scale);
}
function isZeroExact(a) {
  const mantissa = mantissaOf(a);
  return mantissa === 0 || mantissa === 0n;
}
var [PLUS2, MINUS, POINT2, ZERO_CODE, NINE_CODE] = [43, 45, 46, 48, 57];
function decimalOfExact(value) {
  return typeof value === "number" ? decimalOfInteger(value) : new Decimal(`${value.mantissa}e${-value.scale}`);
}
function exactOfDecimal(value) {
  const whole = smallWhole(value);
  if (!Number.isNaN(whole)) return whole;
  const [digits = "0", exponent = "0"] = value.toExponential().split("e");
  const [integer = "0", fraction = ""] = digits.split(".");
  return makeExact(BigInt(integer + fraction), fraction.length - Number(exponent));
}
function smallWhole({ d, e, s }) {
  const groups = Math.floor(e / 7) + 1;
  if (e < 0 || e > 14 || d.length > groups) return Number.NaN;
  let whole = 0;
  for (let index = 0; index < groups; index++) whole = whole * 1e7 + (d[index] ?? 0);
  return whole === 0 ? 0 : s * whole;
}
function mantissaOf(value) {
  return typeof value === "number" ? value : value.mantissa;
}
function scaleOf(value) {
  return typeof value === "number" ? 0 : value.scale;
}
function addScaled(a, b, sign) {
  const scaleA = typeof a === "number" ? 0 : a.scale;
  const scaleB = typeof b === "number" ? 0 : b.scale;
  const scale = scaleA > scaleB ? scaleA : scaleB;
  const x = multiplyByPowerOfTen(typeof a === "number" ? a : a.mantissa, scale - scaleA);
  const y = multiplyByPowerOfTen(typeof b === "number" ? b : b.mantissa, scale - scaleB);
  const total = x + sign * y;
  if (total <= SAFE_MAX && total >= -SAFE_MAX) return total === 0 ? 0 : makeFromSafeInteger(total, scale);
  return makeExact(bigMantissaAtScale(a, scale) + BigInt(sign) * bigMantissaAtScale(b, scale), scale);
}
function multiplyByPowerOfTen(mantissa, places) {
  if (typeof mantissa !== "number") return Number.NaN;
  if (places === 0) return mantissa;
  const result = mantissa * (POWERS[places] ?? Number.NaN);
  return result <= SAFE_MAX && result >= -SAFE_MAX ? result : Number.NaN;
}
function bigMantissaAtScale(value, scale) {
  return BigInt(mantissaOf(value)) * 10n ** BigInt(scale - scaleOf(value));
}
function makeFromSafeInteger(mantissa, scale) {
  if (scale === 0) return mantissa;
  return scale <= EXPONENT_MAX ? new Scaled(mantissa, scale) : makeExact(BigInt(mantissa), scale);
}
function makeExact(mantissa, scale) {
  const exact = exactWithinBounds(mantissa, scale);
  if (exact !== void 0) return exact;
  throw outOfRange();
}
function exactWithinBounds(mantissa, scale) {
  const isWithin2 = scale >= 0 && scale <= EXPONENT_MAX && mantissa < MANTISSA_END && mantissa > -MANTISSA_END;
  return isWithin2 ? narrowMantissa(mantissa, scale) : trimZeros(mantissa, scale);
}
function trimZeros(mantissa, scale) {
  if (mantissa === 0n) return 0;
  const digits = mantissa < 0n ? (-mantissa).toString() : mantissa.toString();
  let zeros = 0;
  while (digits.charCodeAt(digits.length - 1 - zeros) === ZERO_CODE) zeros++;
  const exponent = digits.length - 1 - scale;
  if (digits.length - zeros > DIGITS_MAX || Math.abs(exponent) > EXPONENT_MAX) return void 0;
  const removable = Math.max(0, Math.min(scale, zeros));
  const places = scale - removable;
  const remaining = mantissa / 10n ** BigInt(removable);
  return places < 0 ? narrowMantissa(remaining * 10n ** BigInt(-places), 0) : narrowMantissa(remaining, places);
}
function narrowMantissa(mantissa, scale) {
  const double = Number(mantissa);
  const isSafe = double <= SAFE_MAX && double >= -SAFE_MAX;
  if (isSafe && (scale === 0 || double === 0)) return double;
  return new Scaled(isSafe ? double : mantissa, scale);
}
function outOfRange() {
  return new RatebookError("ERR_ARITHMETIC", `a result needs more than ${DIGITS_MAX} significant digits`, {});
}

// src/metering/event-fields.ts
var DIMENSION_LENGTH_MAX = 512;
var { hasOwnProperty: isOwn } = Object.prototype;

// src/ledger/outcome.ts
var INGEST_STATUSES = [
  "INGESTION_REFUSED",
  "INGESTION_FAILED_DUPLICATE_EVENT",
  "INGESTION_FAILED_ACCOUNT_NOT_FOUND",
  "INGESTION_FAILED_SCHEMA_NOT_DEFINED",
  "INGESTION_FAILED",
  "INGESTION_FAILED_PAST_GRACE_PERIOD",
  "INGESTION_FAILED_ENRICHMENT_FAILED",
  "INGESTION_FAILED_UNITS_INVALID",
  "INGESTION_FAILED_INSUFFICIENT_CREDITS",
  "INGESTION_COMPLETED_NO_MATCHING_METERS",
  "INGESTION_COMPLETED_EVENT_NOT_METERED",
  "INGESTION_COMPLETED_EVENT_NOT_BILLED",
  "INGESTION_COMPLETED_EVENT_METERED"
];
function isCompleted(status) {
  return COMPLETED.has(status);
}
var COMPLETED = new Set(
  INGEST_STATUSES.filter((status) => status.startsWith("INGESTION_COMPLETED"))
);
var ACCEPTED_DESCRIPTIONS = /* @__PURE__ */ new Map([
  ["INGESTION_COMPLETED_EVENT_METERED", "The event was metered."],
  ["INGESTION_COMPLETED_EVENT_NOT_BILLED", "The event was metered, but no price plan is in force at its timestamp."],
  [
    "INGESTION_COMPLETED_EVENT_NOT_METERED",
    "The event matches no meter of its schema and consumed no feature credits."
  ],
  ["INGESTION_COMPLETED_NO_MATCHING_METERS", "The event's schema has no active meter and no feature."]
]);
function describeStored(status, stored = "") {
  return ACCEPTED_DESCRIPTIONS.get(status) ?? stored;
}
var METERED = createAccepted("INGESTION_COMPLETED_EVENT_METERED");
var NOT_BILLED = createAccepted("INGESTION_COMPLETED_EVENT_NOT_BILLED");
var NOT_METERED = createAccepted("INGESTION_COMPLETED_EVENT_NOT_METERED");
var NO_METERS = createAccepted("INGESTION_COMPLETED_NO_MATCHING_METERS");
function createAccepted(status) {
  return { status, description: describeStored(status) };
}

// src/ledger/events/new-event.ts
function toEventRecord(event2, number) {
  const { sent, schemaVersion, feature } = event2;
  return {
    referenceId: event2.referenceId,
    accountId: event2.accountId,
    customerId: event2.customerId,
    number,
    eventId: event2.eventId,
    schemaName: event2.schemaName,
    ...schemaVersion === void 0 ? {} : { schemaVersion },
    timestamp: event2.timestamp,
    createdAt: event2.createdAt,
    payload: {
      accountId: sent.accountId,
      attributes: (sent.attributes ?? []).map(attributeAsSent),
      ...dimensionsAsSent(sent.dimensions ?? {})
    },
    status: event2.status,
    description: event2.description,
    reverted: false,
    enriched: event2.enriched ?? NOTHING_ENRICHED,
    units: eventUnits(event2),
    ...feature === void 0 ? {} : { feature }
  };
}
function eventUnits({ meterIds, quantities }) {
  return quantities.flatMap(
    (quantity, place) => quantity === void 0 ? [] : [{ meterId: meterIds[place] ?? "", quantity: decimalOfExact(quantity) }]
  );
}
var NOTHING_ENRICHED = { attributes: [], dimensions: {} };
var ENRICHMENT = INGEST_STATUSES.indexOf("INGESTION_FAILED_ENRICHMENT_FAILED");
function attributeAsSent({ name, value, unit }) {
  return typeof unit === "string" ? { name, value: valueAsSent(value), unit } : { name, value: valueAsSent(value) };
}
function valueAsSent(value) {
  if (typeof value === "number" && Number.isSafeInteger(value)) return decimalOfInteger(value);
  try {
    return parseValue(value);
  } catch (error) {
    if (!hasCode(error, "ERR_NUMBER_INVALID")) throw error;
    return String(value).slice(0, DIMENSION_LENGTH_MAX);
  }
}
function dimensionsAsSent(dimensions) {
  const entries = Object.entries(dimensions);
  const numeric = numericNames(entries);
  return {
    // Created from entries so that own fields with any name are stored, including `__proto__`.
    dimensions: Object.fromEntries(entries.map(([name, value]) => [name, dimensionAsSent(value)])),
    ...numeric === void 0 ? {} : { numericDimensions: numeric }
  };
}
function numericNames(dimensions) {
  const numeric = dimensions.filter(([, value]) => typeof value !== "string" && typeof valueAsSent(value) !== "string");
  return numeric.length === 0 ? void 0 : numeric.map(([name]) => name);
}
function sentDimensions({ dimensions, numericDimensions }) {
  if (numericDimensions === void 0) return dimensions;
  const numeric = new Set(numericDimensions);
  const sent = Object.entries(dimensions).map(([name, text]) => [name, numeric.has(name) ? parseValue(text) : text]);
  return Object.fromEntries(sent);
}
function dimensionAsSent(value) {
  const text = typeof value === "string" ? value : valueAsSent(value);
  return typeof text === "string" ? text : formatDecimal(text);
}

// src/store/conformance/samples.ts
var NOON = 17723664e5;
var TODAY = 20513;
var LONG = new Decimal("12345678901234567890.12345678901234567891");
var ODD_TEXTS = [
  "",
  " ",
  "#1",
  "##",
  "null",
  `a'b"c\\d`,
  "{}",
  "line\nbreak\r	tab",
  "\xE4\xF6\xFC \u6F22\u5B57 \u{1F9FE}",
  "e\u0301",
  "nothing\0here",
  "half \uD83D",
  "\\N",
  "%_?$1"
];
function withOddKeys() {
  return JSON.parse('{"__proto__":"a","constructor":"b","":"c","a b.c":"d"}');
}
function account(id, more = {}) {
  return {
    id,
    name: `Account ${id}`,
    customerId: "c.one",
    status: "ACTIVE",
    invoiceCurrency: "USD",
    aliases: [],
    associations: [],
    licenseUpdates: [],
    caughtUpTo: NOON,
    nextDueAt: NOON + 1,
    createdAt: NOON,
    updatedAt: NOON,
    ...more
  };
}
function event(accountId, number, more = {}) {
  return {
    referenceId: `ref.${accountId}.${String(number).padStart(6, "0")}`,
    accountId,
    customerId: "c.one",
    number,
    eventId: `event.${accountId}.${number}`,
    schemaName: "request",
    schemaVersion: 1,
    timestamp: NOON + number,
    createdAt: NOON + number,
    payload: { accountId, attributes: [{ name: "tokens", value: new Decimal(number) }], dimensions: { region: "eu" } },
    status: "INGESTION_COMPLETED_EVENT_METERED",
    description: "The event was metered.",
    reverted: false,
    enriched: { attributes: [], dimensions: {} },
    units: [{ meterId: "um.tokens", quantity: new Decimal(number) }],
    ...more
  };
}
function newEvent(record) {
  const { schemaName, eventId: id, timestamp, units } = record;
  return {
    ...record,
    sent: {
      ...record.payload,
      dimensions: sentDimensions(record.payload),
      schemaName,
      id,
      timestamp: formatInstant(timestamp)
    },
    meterIds: units.map(({ meterId }) => meterId),
    quantities: units.map(({ quantity }) => exactOfDecimal(quantity)),
    feature: record.feature
  };
}
function use(featureId, overage, entryIds = []) {
  const allocations = entryIds.map((entryId) => ({ entryId, quantity: new Decimal(1) }));
  return { featureId, quantity: new Decimal(overage + allocations.length), allocations, overage: new Decimal(overage) };
}
function cell(accountId, meterOrFeatureId, day, quantity) {
  return { accountId, meterOrFeatureId, day, quantity: exactOfDecimal(new Decimal(quantity)) };
}
function toLedgerCell(delta) {
  return { ...delta, quantity: decimalOfExact(delta.quantity) };
}
function entry(accountId, id, more = {}) {
  return {
    id,
    accountId,
    featureId: "f.one",
    source: "PRICE_PLAN",
    granted: new Decimal(10),
    balance: new Decimal(10),
    effectiveFrom: NOON,
    effectiveUntil: NOON + 1e3,
    createdAt: NOON,
    voided: false,
    ...more
  };
}
function credit(accountId, id, more = {}) {
  return {
    id,
    accountId,
    customerId: "c.one",
    kind: "MANUAL",
    purpose: "goodwill",
    creditAmount: new Decimal(10),
    consumedAmount: new Decimal(0),
    currency: "USD",
    priority: 1,
    effectiveFrom: NOON,
    voided: false,
    createdAt: NOON,
    transactions: [],
    ...more
  };
}
function invoice(accountId, id, invoiceDate = "2026-03-01T00:00:00.000Z") {
  const value = new Decimal("12.30");
  return {
    id,
    accountId,
    finalizedAt: NOON,
    invoice: {
      accountId,
      customerId: "c.one",
      invoiceType: "STANDARD",
      status: "DUE",
      currency: "USD",
      pricePlanId: "pp.one",
      pricePlanVersion: 3,
      startDate: "2026-02-01T00:00:00.000Z",
      endDate: "2026-03-01T00:00:00.000Z",
      invoiceDate,
      dueDate: invoiceDate,
      usageInfo: {
        type: "TOTAL_USAGE",
        lineItems: [{ type: "USAGE_METER_USAGE", id: "um.tokens", description: "Tokens", quantity: LONG }]
      },
      revenueInfo: {
        type: "TOTAL_AMOUNT",
        value,
        lineItems: [{ type: "GROSS_AMOUNT", value, exactValue: "12.2999", quantity: LONG, lineItems: [] }]
      },
      notices: ["", "#1"]
    }
  };
}
function billedUsage(accountId, id, from, days) {
  const cells2 = [
    { meterId: "#m", day: from, quantity: LONG },
    { meterId: "um.tokens", day: from, quantity: LONG.neg() }
  ];
  return { id, accountId, from, until: from + days, cells: cells2, digest: `digest of ${id}`, closedAt: NOON };
}
function document(kind, id, body = {}, createdAt = NOON) {
  return { kind, id, createdAt, updatedAt: createdAt, body };
}

// src/store/conformance/atomicity.ts
function everything(accountId) {
  return {
    documents: [document("setting", "s.one")],
    accounts: [account(accountId, { netTermDays: 1 })],
    newEvents: [newEvent(event(accountId, 2))],
    events: [event(accountId, 1)],
    usage: [cell(accountId, "um.tokens", TODAY, "1")],
    overage: [cell(accountId, "f.one", TODAY, "1")],
    entries: [entry(accountId, "e.one")],
    credits: [credit(accountId, "c.one")],
    invoices: [invoice(accountId, "i.one")],
    keptUsage: [billedUsage(accountId, "i.one", TODAY, 1)]
  };
}
async function findNumbers({ read }, accountId) {
  const ids = [accountId];
  const lists = await Promise.all([
    read.allDocuments("setting"),
    read.accounts(ids),
    read.events({ accountId }, { limit: 10 }),
    read.acceptedIds([`event.${accountId}.1`]),
    read.usage(ids, TODAY, TODAY + 1),
    read.overage(ids, TODAY, TODAY + 1),
    read.entries(ids),
    read.credits(ids),
    read.invoices(ids, Number.NEGATIVE_INFINITY),
    read.keptUsage(ids, TODAY, TODAY + 1)
  ]);
  return lists.map((list) => list.length);
}
var ALL = [1, 1, 2, 1, 1, 1, 1, 1, 1, 1];
var NOTHING = ALL.map(() => 0);
function breakProperty(item, property) {
  return Object.defineProperty({ ...item }, property, {
    enumerable: true,
    get() {
      throw new Error("this record cannot be read");
    }
  });
}
var HALF_WRITTEN = {
  documents: { documents: [...everything("a").documents, breakProperty(document("setting", "s.two"), "id")] },
  accounts: { accounts: [...everything("a").accounts, breakProperty(account("b"), "id")] },
  newEvents: { newEvents: [...everything("a").newEvents, breakProperty(newEvent(event("a", 3)), "sent")] },
  events: { events: [...everything("a").events, breakProperty(event("a", 2), "referenceId")] },
  usage: { usage: [...everything("a").usage, breakProperty(cell("a", "um.tokens", TODAY, "1"), "quantity")] },
  overage: { overage: [...everything("a").overage, breakProperty(cell("a", "f.one", TODAY, "1"), "quantity")] },
  entries: { entries: [...everything("a").entries, breakProperty(entry("a", "e.two"), "id")] },
  credits: { credits: [...everything("a").credits, breakProperty(credit("a", "c.two"), "id")] },
  invoices: { invoices: [...everything("a").invoices, breakProperty(invoice("a", "i.two"), "invoice")] }
};
var atomicityCases = [
  defineCase("a commit with every kind of change is visible completely", async (store) => {
    assert.deepEqual(await findNumbers(store, "a"), NOTHING);
    await commit(store, everything("a"));
    assert.deepEqual(await findNumbers(store, "a"), ALL);
  }),
  defineCase("if the work throws, nothing is written and the error is passed on unchanged", async (store) => {
    const error = new Error("refused by the work");
    const failing = store.transact(createScope(["a"]), () => Promise.reject(error));
    await assert.rejects(failing, (caught) => caught === error);
    assert.deepEqual(await findNumbers(store, "a"), NOTHING);
  }),
  ...Object.entries(HALF_WRITTEN).map(
    ([kind, changes]) => defineCase(`a commit that fails at its last record of ${kind} writes nothing`, async (store) => {
      const scope = createScope(["a", "b"], ["event.a.1", "event.a.2"]);
      const decision = { result: void 0, changes: { ...everything("a"), ...changes } };
      await assert.rejects(store.transact(scope, async () => decision));
      assert.deepEqual(await findNumbers(store, "a"), NOTHING);
      await commit(store, everything("a"));
      assert.deepEqual(await findNumbers(store, "a"), ALL, "a failed commit can be repeated");
    })
  ),
  defineCase("a failed commit leaves existing records unchanged", async (store) => {
    await commit(store, everything("a"));
    const scope = createScope(["a"], ["event.a.2"]);
    const changes = {
      usage: [cell("a", "um.tokens", TODAY, "5")],
      entries: [entry("a", "e.one", { voided: true })],
      invoices: [breakProperty(invoice("a", "i.two"), "invoice")]
    };
    await assert.rejects(store.transact(scope, async () => ({ result: void 0, changes })));
    assert.deepEqual(await store.read.usage(["a"], TODAY, TODAY + 1), [
      toLedgerCell(cell("a", "um.tokens", TODAY, "1"))
    ]);
    assert.deepEqual(await store.read.entries(["a"]), [entry("a", "e.one")]);
  }),
  defineCase("the work reads committed records, and its result is returned", async (store) => {
    await commit(store, everything("a"));
    const result = await store.transact(createScope(["a"]), async (view) => {
      const [record] = await view.accounts(["a"]);
      return { result: { netTermDays: record?.netTermDays }, changes: {} };
    });
    assert.deepEqual(result, { netTermDays: 1 });
  }),
  defineCase("a scope may be empty, and a commit may change nothing", async (store) => {
    assert.equal(await store.transact(createScope([]), async () => ({ result: "done", changes: {} })), "done");
  }),
  defineCase("closing a store twice has no further effect", async (store) => {
    await store.close();
    await store.close();
  })
];

// src/store/conformance/cells.ts
import assert2 from "node:assert/strict";
async function cells(store, kind, accountIds, from, until) {
  const found = await store.read[kind](accountIds, from, until);
  return found.map(
    ({ accountId, meterOrFeatureId, day, quantity }) => `${accountId} ${meterOrFeatureId} ${day - TODAY} ${formatDecimal(quantity)}`
  ).toSorted();
}
function put(store, kind, ...changes) {
  return commit(store, { [kind]: changes });
}
function all(store, kind) {
  return cells(store, kind, ["a"], TODAY - 99, TODAY + 99);
}
function sumCases(kind) {
  return [
    defineCase(`${kind} is added, not replaced`, async (store) => {
      await put(store, kind, cell("a", "m", TODAY, "0.1"));
      await put(store, kind, cell("a", "m", TODAY, "0.2"));
      assert2.deepEqual(await all(store, kind), ["a m 0 0.3"]);
    }),
    defineCase(`${kind} for the same cell twice in a commit is added twice`, async (store) => {
      await put(store, kind, cell("a", "m", TODAY, "1"), cell("a", "m", TODAY, "2.5"), cell("a", "m", TODAY, "-0.5"));
      assert2.deepEqual(await all(store, kind), ["a m 0 3"]);
    }),
    defineCase(`${kind} of 20 digits before and after the point is exact`, async (store) => {
      await put(store, kind, cell("a", "m", TODAY, LONG));
      await put(store, kind, cell("a", "m", TODAY, "87654321098765432109.87654321098765432109"));
      await put(
        store,
        kind,
        cell("a", "n", TODAY, "0.00000000000000000001"),
        cell("a", "n", TODAY, "99999999999999999999")
      );
      assert2.deepEqual(await all(store, kind), [
        "a m 0 100000000000000000000",
        "a n 0 99999999999999999999.00000000000000000001"
      ]);
      const [found] = await store.read[kind](["a"], TODAY, TODAY + 1);
      assert2.ok(Decimal.isDecimal(found?.quantity));
    }),
    defineCase(`sums of ${kind} are exact up to 100 digits; longer ones are rejected`, async (store) => {
      const [whole, fraction] = ["9".repeat(60), "0".repeat(39)];
      const exact = `a m 0 ${whole}.${fraction}3`;
      await put(store, kind, cell("a", "m", TODAY, whole));
      await put(store, kind, cell("a", "m", TODAY, `0.${fraction}3`));
      const refused = { code: "ERR_ARITHMETIC" };
      await assert2.rejects(put(store, kind, cell("a", "m", TODAY, `0.${fraction}01`)), refused);
      await assert2.rejects(put(store, kind, cell("a", "n", TODAY, "5"), cell("a", "m", TODAY, "1")), refused);
      assert2.deepEqual(await all(store, kind), [exact]);
      await put(store, kind, cell("a", "m", TODAY, `-${whole}`), cell("a", "n", TODAY, "1e1000"));
      assert2.deepEqual(await all(store, kind), [`a m 0 0.${fraction}3`, `a n 0 1${"0".repeat(1e3)}`]);
      await assert2.rejects(put(store, kind, cell("a", "n", TODAY, "9e1000")), refused);
    }),
    defineCase(`${kind} can be negative, and a sum of 0 is not listed`, async (store) => {
      await put(store, kind, cell("a", "m", TODAY, "-1.5"), cell("a", "n", TODAY, "2"), cell("a", "o", TODAY, "0"));
      assert2.deepEqual(await all(store, kind), ["a m 0 -1.5", "a n 0 2"]);
      await put(store, kind, cell("a", "m", TODAY, "1.50"), cell("a", "n", TODAY, "-2"));
      assert2.deepEqual(await all(store, kind), []);
      await put(store, kind, cell("a", "n", TODAY, "7"));
      assert2.deepEqual(await all(store, kind), ["a n 0 7"]);
    })
  ];
}
function placeCases(kind) {
  return [
    defineCase(`${kind} is stored by account, item and day`, async (store) => {
      await put(
        store,
        kind,
        cell("a", "m", TODAY - 1, "1"),
        cell("a", "m", TODAY, "2"),
        cell("a", "m", TODAY + 1, "3"),
        cell("a", "n", TODAY, "4"),
        cell("b", "m", TODAY, "5"),
        cell("c", "m", -4e4, "6")
      );
      assert2.deepEqual(await cells(store, kind, ["a"], TODAY, TODAY + 1), ["a m 0 2", "a n 0 4"]);
      assert2.deepEqual(await cells(store, kind, ["a"], TODAY - 1, TODAY + 1), ["a m -1 1", "a m 0 2", "a n 0 4"]);
      assert2.deepEqual(await cells(store, kind, ["b", "a", "b"], TODAY, TODAY + 9), [
        "a m 0 2",
        "a m 1 3",
        "a n 0 4",
        "b m 0 5"
      ]);
      assert2.deepEqual(await cells(store, kind, ["a"], TODAY, TODAY), []);
      assert2.equal((await store.read[kind](["c"], -Infinity, Infinity)).length, 1);
    }),
    defineCase(`${kind} of different ids is separate, whatever the ids contain`, async (store) => {
      const changes = ODD_TEXTS.flatMap((a) => ODD_TEXTS.map((m) => cell(a, m, TODAY, "1")));
      await put(store, kind, ...changes);
      await put(store, kind, ...changes);
      const found = await store.read[kind](ODD_TEXTS, TODAY, TODAY + 1);
      const expected = changes.map((change) => ({ ...change, quantity: new Decimal(2) }));
      const sortCells = (list) => list.toSorted(
        (a, b) => `${a.accountId}	${a.meterOrFeatureId}` < `${b.accountId}	${b.meterOrFeatureId}` ? -1 : 1
      );
      assert2.deepEqual(sortCells(found), sortCells(expected));
    }),
    defineCase(`${kind} from concurrent writers is all counted`, async (store) => {
      const writers = Array.from({ length: 12 }, (_, index) => index);
      await Promise.all(
        writers.map((index) => put(store, kind, cell("a", "m", TODAY, "0.1"), cell(`b${index % 3}`, "m", TODAY, "1")))
      );
      assert2.deepEqual(await cells(store, kind, ["a", "b0", "b1", "b2"], TODAY, TODAY + 1), [
        "a m 0 1.2",
        "b0 m 0 4",
        "b1 m 0 4",
        "b2 m 0 4"
      ]);
    })
  ];
}
var cellCases = [
  ...sumCases("usage"),
  ...sumCases("overage"),
  ...placeCases("usage"),
  ...placeCases("overage"),
  defineCase("usage and overage are stored separately", async (store) => {
    await commit(store, { usage: [cell("a", "m", TODAY, "1")], overage: [cell("a", "m", TODAY, "2")] });
    assert2.deepEqual(await cells(store, "usage", ["a"], TODAY, TODAY + 1), ["a m 0 1"]);
    assert2.deepEqual(await cells(store, "overage", ["a"], TODAY, TODAY + 1), ["a m 0 2"]);
  }),
  defineCase("work that adds what it read sees exact sums", async (store) => {
    await commit(store, { usage: [cell("a", "m", TODAY, LONG)] });
    const total = await store.transact(createScope(["a"]), async (view) => {
      const [found] = await view.usage(["a"], TODAY, TODAY + 1);
      const quantity = found?.quantity ?? new Decimal(0);
      return { result: add(quantity, quantity), changes: { usage: [cell("a", "m", TODAY, quantity)] } };
    });
    assert2.equal(formatDecimal(total), "24691357802469135780.24691357802469135782");
    assert2.deepEqual(await cells(store, "usage", ["a"], TODAY, TODAY + 1), [`a m 0 ${formatDecimal(total)}`]);
  })
];

// src/store/conformance/configuration.ts
import assert3 from "node:assert/strict";

// src/ledger/decision.ts
var DOCUMENT_KINDS = [
  "organization",
  "setting",
  "eventSchema",
  "usageMeter",
  "feature",
  "addOn",
  "pricePlan",
  "customer",
  "alias",
  "invoiceGroup",
  "compositeInvoice",
  "migration",
  "retention",
  "usageElsewhere",
  "apiKey",
  "serverSecret"
];

// src/store/conformance/configuration.ts
var REVISION_MAX = Number.MAX_SAFE_INTEGER;
var EXCLUSIVE = { configuration: "exclusive", accountIds: [], eventIds: [] };
var configurationCases = [
  defineCase("documents of different kinds can have the same id", async (store) => {
    const documents = DOCUMENT_KINDS.map((kind) => document(kind, "same", { kind }));
    await commit(store, { documents });
    for (const kind of DOCUMENT_KINDS) {
      assert3.deepEqual(await store.read.document(kind, "same"), document(kind, "same", { kind }));
      assert3.deepEqual(await store.read.allDocuments(kind), [document(kind, "same", { kind })]);
    }
  }),
  defineCase("a document is read as it was written, whatever text it contains", async (store) => {
    const body = {
      texts: ODD_TEXTS,
      nested: { ...withOddKeys(), list: [1, 0.5, -1e-7, true, null, []] },
      keys: withOddKeys()
    };
    const documents = ODD_TEXTS.map((id) => document("feature", id, { ...body, id }));
    await commit(store, { documents });
    for (const expected of documents) assert3.deepEqual(await store.read.document("feature", expected.id), expected);
    assert3.equal((await store.read.documentsOf("feature", ODD_TEXTS)).length, ODD_TEXTS.length);
  }),
  defineCase("a document replaces the one with its id, and a removed document is not found", async (store) => {
    await commit(store, { documents: [document("alias", "x", { old: true }), document("alias", "y")] });
    const replaced = { ...document("alias", "x", { is: "new" }), updatedAt: NOON + 5 };
    await commit(store, { documents: [replaced], removedDocuments: [{ kind: "alias", id: "y" }] });
    assert3.deepEqual(await store.read.allDocuments("alias"), [replaced]);
    assert3.equal(await store.read.document("alias", "y"), void 0);
    await commit(store, { removedDocuments: [{ kind: "alias", id: "never was" }] });
    await commit(store, { documents: [document("alias", "y", { again: true })] });
    assert3.deepEqual(await store.read.document("alias", "y"), document("alias", "y", { again: true }));
  }),
  defineCase("missing records are read as undefined or an empty list", async ({ read }) => {
    assert3.equal(await read.document("organization", "none"), void 0);
    assert3.deepEqual(await read.documentsOf("customer", ["none", ""]), []);
    assert3.deepEqual(await read.documentsOf("customer", []), []);
    assert3.deepEqual(await read.allDocuments("pricePlan"), []);
    assert3.deepEqual(await read.accounts(["none"]), []);
    assert3.deepEqual(await read.accountsBehind(Infinity, 10), []);
    assert3.deepEqual(await read.acceptedIds(["none"]), []);
    assert3.deepEqual(await read.eventsToUndo("none", {}), []);
    assert3.deepEqual(await read.usage(["none"], -Infinity, Infinity), []);
    assert3.deepEqual(await read.entries([]), []);
    assert3.equal(await read.lastSpent("none", "none"), void 0);
    assert3.equal(await read.credit("none"), void 0);
    assert3.equal(await read.invoice("none"), void 0);
  }),
  defineCase("all documents of a kind are sorted from oldest to newest, then by id", async (store) => {
    const expected = [
      document("addOn", "b", {}, NOON - 1),
      document("addOn", "a", {}, NOON),
      document("addOn", "c", {}, NOON)
    ];
    await commit(store, { documents: expected.toReversed() });
    assert3.deepEqual(await store.read.allDocuments("addOn"), expected);
  }),
  defineCase("the revision is the last one that a commit set, initially 0", async (store) => {
    await commit(store, { documents: [document("setting", "s")] });
    assert3.equal(await store.read.configurationRevision(), 0);
    await commit(store, { documents: [document("setting", "s")], configurationRevision: 16777216 });
    assert3.equal(await store.read.configurationRevision(), 16777216);
    await commit(store, { configurationRevision: REVISION_MAX });
    await commit(store, { documents: [document("setting", "t")] });
    assert3.equal(await store.read.configurationRevision(), REVISION_MAX);
  }),
  defineCase("an exclusive lock on the configuration makes all others wait", async (store) => {
    const started = gate();
    const changing = store.transact(EXCLUSIVE, async () => {
      started.open();
      await moment();
      return { result: void 0, changes: { documents: [document("setting", "s")], configurationRevision: 1 } };
    });
    await started.opened;
    const seen = await store.transact(createScope(["a"]), async (view) => {
      const found = await view.document("setting", "s");
      return { result: [found?.id, await view.configurationRevision()], changes: {} };
    });
    await changing;
    assert3.deepEqual(seen, ["s", await store.read.configurationRevision()]);
  }),
  defineCase("the configuration does not change while it is locked as shared", async (store) => {
    const started = gate();
    const rating = store.transact(createScope(["a"]), async (view) => {
      const before2 = await view.configurationRevision();
      started.open();
      await moment();
      return { result: [before2, await view.configurationRevision()], changes: {} };
    });
    await started.opened;
    const changing = store.transact(EXCLUSIVE, async () => ({
      result: void 0,
      changes: { configurationRevision: 1 }
    }));
    const [[before, after]] = await Promise.all([rating, changing]);
    assert3.equal(after, before);
  }),
  defineCase("changes to the configuration run one after another", async (store) => {
    const add2 = () => store.transact(EXCLUSIVE, async (view) => {
      const { count = 0 } = (await view.document("setting", "s"))?.body ?? {};
      await moment(1);
      const documents = [document("setting", "s", { count: Number(count) + 1 })];
      return { result: void 0, changes: { documents, configurationRevision: 2 } };
    });
    await Promise.all(Array.from({ length: 10 }, add2));
    assert3.deepEqual((await store.read.document("setting", "s"))?.body, { count: 10 });
  })
];

// src/store/conformance/credits.ts
import assert4 from "node:assert/strict";
function accountWithDueCredits(id, credits) {
  return account(id, { drafts: { until: Infinity, places: [], credits } });
}
var FILTERS = [
  [{}, ["endless", "gone", "late", "over", "partly", "spent"]],
  [{ state: "ACTIVE" }, ["endless", "late", "over", "partly"]],
  [{ state: "CONSUMED" }, ["spent"]],
  [{ state: "VOIDED" }, ["gone"]],
  [{ state: "ACTIVE", endsBy: NOON }, ["over"]],
  [{ state: "ACTIVE", endsAfter: NOON }, ["endless", "late", "partly"]],
  [{ endsBy: NOON }, ["over", "spent"]],
  [{ accountId: "b" }, ["late", "spent"]],
  [{ accountId: "b", state: "ACTIVE" }, ["late"]],
  [{ accountId: "b", state: "ACTIVE", endsBy: NOON }, []],
  [{ accountId: "nobody", state: "ACTIVE" }, []]
];
async function listIds(store, filter) {
  const all2 = (await store.read.creditList(filter, { limit: 99 })).map(({ id }) => id);
  const ids = [];
  let [page] = await store.read.creditList(filter, { limit: 1 });
  while (page !== void 0) {
    ids.push(page.id);
    const after = { createdAt: page.createdAt, id: page.id };
    [page] = await store.read.creditList(filter, { limit: 1, after });
  }
  assert4.deepEqual(ids, all2);
  return ids;
}
var creditCases = [
  defineCase("credits are found by state and end date, even after these change", async (store) => {
    await commit(store, {
      credits: [
        credit("a", "endless"),
        credit("a", "gone", { voided: true }),
        credit("b", "late", { effectiveUntil: NOON + 1 }),
        credit("a", "over", { effectiveUntil: NOON }),
        credit("a", "partly", { consumedAmount: new Decimal("9.99") }),
        credit("b", "spent", { consumedAmount: new Decimal(10), effectiveUntil: NOON - 1 })
      ]
    });
    for (const [filter, expected] of FILTERS) assert4.deepEqual(await listIds(store, filter), expected);
    await commit(store, {
      credits: [credit("a", "endless", { voided: true }), credit("a", "partly", { voided: true })]
    });
    assert4.deepEqual(await listIds(store, { state: "ACTIVE" }), ["late", "over"]);
    assert4.deepEqual(await listIds(store, { state: "VOIDED" }), ["endless", "gone", "partly"]);
  }),
  defineCase("due credits in the index are found by id and due date, with their account", async (store) => {
    const [soon, later] = [
      { id: "soon", createdAt: NOON },
      { id: "later", createdAt: NOON + 1 }
    ];
    await commit(store, {
      accounts: [
        accountWithDueCredits("a", [soon, later]),
        accountWithDueCredits("b", [{ id: "other", createdAt: NOON - 1 }])
      ]
    });
    const findDue = async (filter) => (await store.read.dueCreditList(filter, { limit: 9 })).map(({ id }) => id);
    assert4.deepEqual(await findDue({}), ["later", "soon", "other"]);
    assert4.deepEqual(await findDue({ dueBy: NOON }), ["soon", "other"]);
    assert4.deepEqual(await findDue({ dueBy: NOON - 2 }), []);
    assert4.deepEqual(await findDue({ id: "later" }), ["later"]);
    assert4.deepEqual(await findDue({ id: "later", dueBy: NOON }), []);
    assert4.deepEqual(await findDue({ id: "nothing" }), []);
    assert4.deepEqual(await store.read.dueCreditList({ id: "soon" }, { limit: 9 }), [{ ...soon, accountId: "a" }]);
  }),
  defineCase("writing an account replaces its due credits in the index", async (store) => {
    const place = (id) => ({ id, createdAt: NOON });
    await commit(store, {
      accounts: [
        accountWithDueCredits("a", [place("one"), place("two")]),
        accountWithDueCredits("b", [place("three")])
      ]
    });
    await commit(store, { accounts: [accountWithDueCredits("a", [place("two"), place("four")])] });
    const ids = async () => (await store.read.dueCreditList({}, { limit: 9 })).map(({ id }) => id);
    assert4.deepEqual(await ids(), ["four", "three", "two"]);
    await commit(store, { accounts: [account("a"), account("b")] });
    assert4.deepEqual(await ids(), []);
  })
];

// src/store/conformance/events.ts
import assert5 from "node:assert/strict";
var FAILED = { status: "INGESTION_FAILED_INSUFFICIENT_CREDITS", units: [] };
var REVERTED = { reverted: true };
async function holders(store, eventIds) {
  const acceptedIds = await store.read.acceptedIds(eventIds);
  return acceptedIds.map(({ eventId, referenceId }) => `${eventId} ${referenceId}`).toSorted();
}
async function toUndo(store, filter = {}, limit) {
  return (await store.read.eventsToUndo("a", filter, limit)).map(({ number }) => number);
}
async function withOverage(store, from, until) {
  return (await store.read.eventsWithOverage("a", "f.one", from, until)).map(({ number }) => number);
}
var FULL = event("a", 1, {
  payload: {
    accountId: "alias of a",
    attributes: [
      { name: "tokens", value: LONG, unit: "tok" },
      { name: "bad", value: "1,5" },
      { name: "text", value: "12" }
    ],
    dimensions: { ...withOddKeys(), note: ODD_TEXTS.join("|"), zone: formatDecimal(LONG), one: "1" },
    numericDimensions: ["zone", "one"]
  },
  enriched: { attributes: [{ name: "cost", value: LONG.neg() }], dimensions: withOddKeys() },
  units: [
    { meterId: "um.one", quantity: LONG },
    { meterId: "um.two", quantity: LONG.neg() }
  ],
  feature: {
    featureId: "f.one",
    quantity: LONG,
    allocations: [{ entryId: "e.one", quantity: LONG }],
    overage: LONG
  }
});
var eventCases = [
  defineCase("an event is read as it was written", async (store) => {
    const plain = event("a", 2);
    const { schemaVersion: _, ...unknownSchema } = event("", 0, { customerId: "", ...FAILED });
    await commit(store, { events: [FULL, plain, unknownSchema] });
    assert5.deepEqual(await store.read.events({ referenceId: FULL.referenceId }, { limit: 1 }), [FULL]);
    assert5.deepEqual(await store.read.events({ eventId: plain.eventId }, { limit: 1 }), [plain]);
    assert5.deepEqual(await store.read.events({ accountId: "" }, { limit: 9 }), [unknownSchema]);
    assert5.deepEqual(await store.read.eventsToUndo("a", {}), [FULL, plain]);
  }),
  defineCase("different ids stay different, whatever they contain", async (store) => {
    const events = ODD_TEXTS.map(
      (text, index) => event(text, 1, { eventId: text, referenceId: `r${index}`, schemaName: text })
    );
    await commit(store, { events });
    for (const expected of events) {
      const { eventId, accountId, referenceId } = expected;
      assert5.deepEqual(await holders(store, [eventId]), [`${eventId} ${referenceId}`]);
      assert5.deepEqual(await store.read.events({ accountId }, { limit: 9 }), [expected]);
      assert5.deepEqual(await store.read.events({ schemaName: accountId }, { limit: 9 }), [expected]);
    }
  }),
  defineCase("only an accepted event that is not reverted reserves its id", async (store) => {
    const events = INGEST_STATUSES.map((status, index) => event("a", index + 1, { status }));
    await commit(store, { events });
    const acceptedIds = await holders(
      store,
      events.map(({ eventId }) => eventId)
    );
    const completed = events.filter(({ status }) => status.startsWith("INGESTION_COMPLETED"));
    assert5.deepEqual(acceptedIds, completed.map(({ eventId, referenceId }) => `${eventId} ${referenceId}`).toSorted());
  }),
  defineCase("undoing an event releases its id, even for another account", async (store) => {
    await commit(store, { events: [event("a", 1, { eventId: "same" })] });
    await commit(store, { events: [event("a", 1, { eventId: "same", ...REVERTED })] });
    assert5.deepEqual(await holders(store, ["same"]), []);
    await commit(store, { events: [event("b", 1, { eventId: "same" })] });
    assert5.deepEqual(await holders(store, ["same"]), ["same ref.b.000001"]);
    assert5.equal((await store.read.events({ eventId: "same" }, { limit: 9 })).length, 2);
  }),
  defineCase("a repeated id belongs to the event that was ingested last", async (store) => {
    await commit(store, { events: [event("b", 1, { eventId: "same", createdAt: NOON })] });
    await store.transact({ configuration: "shared", accountIds: ["a"], eventIds: ["same"] }, async (view) => {
      assert5.equal((await view.acceptedIds(["same"])).length, 1);
      return { result: void 0, changes: { events: [event("a", 1, { eventId: "same", createdAt: NOON + 9 })] } };
    });
    assert5.deepEqual(await holders(store, ["same"]), ["same ref.a.000001"]);
    await commit(store, { events: [event("a", 1, { eventId: "same", createdAt: NOON + 9, ...REVERTED })] });
    assert5.deepEqual(await holders(store, ["same"]), ["same ref.b.000001"]);
  }),
  defineCase("a deleted event is not listed and releases its id; its usage stays", async (store) => {
    const [first, second] = [event("a", 1, { eventId: "same", feature: use("f.one", 1, ["e.one"]) }), event("a", 2)];
    await commit(store, { events: [first, second], usage: [cell("a", "um.one", TODAY, "2")] });
    const unknown = { referenceId: "ref.unknown", eventId: "unknown" };
    await commit(store, { removedEvents: [first, unknown] });
    assert5.deepEqual(await holders(store, ["same"]), []);
    for (const filter of [{}, { accountId: "a" }]) {
      assert5.deepEqual(await store.read.events(filter, { limit: 9 }), [second]);
    }
    for (const filter of [{ eventId: "same" }, { referenceId: first.referenceId }]) {
      assert5.deepEqual(await store.read.events(filter, { limit: 9 }), []);
    }
    assert5.deepEqual(await store.read.eventsToUndo("a", {}), [second]);
    assert5.deepEqual(await withOverage(store, TODAY - 1, TODAY + 1), []);
    assert5.equal(await store.read.lastSpent("e.one", "a"), void 0);
    const [usageCell] = await store.read.usage(["a"], TODAY, TODAY + 1);
    assert5.equal(usageCell?.quantity.toFixed(), "2");
    await commit(store, { events: [event("b", 1, { eventId: "same" })] });
    assert5.deepEqual(await holders(store, ["same"]), ["same ref.b.000001"]);
  }),
  defineCase("if the first of two events with the same id is deleted, the id belongs to the second", async (store) => {
    await commit(store, { events: [event("b", 1, { eventId: "same", createdAt: NOON })] });
    const again = event("a", 1, { eventId: "same", createdAt: NOON + 9 });
    await commit(store, { events: [again] });
    await commit(store, { removedEvents: [event("b", 1, { eventId: "same" })] });
    const scope = { configuration: "shared", accountIds: ["b"], eventIds: ["same"] };
    await store.transact(scope, async (view) => {
      const isFree = (await view.acceptedIds(["same"])).length === 0;
      const third = newEvent(event("b", 3, { eventId: "same", createdAt: NOON + 10 }));
      return { result: void 0, changes: isFree ? { newEvents: [third] } : {} };
    });
    assert5.deepEqual(await store.read.events({ eventId: "same" }, { limit: 9 }), [again]);
  }),
  defineCase("a new event with an existing reference id is rejected and replaces nothing", async (store) => {
    const first = event("a", 1);
    await commit(store, { events: [first] });
    const { referenceId } = first;
    const again = newEvent(event("b", 1, { referenceId, eventId: "other" }));
    await assert5.rejects(commit(store, { newEvents: [again] }), {
      code: "ERR_TAKEN",
      message: `the reference id "${referenceId}" is taken: the id source returned it twice`,
      details: { resource: "event", id: referenceId }
    });
    assert5.deepEqual(await store.read.events({}, { limit: 9 }), [first]);
    assert5.deepEqual(await holders(store, ["other"]), []);
  }),
  defineCase("the event with an id is found, with its account and both times", async (store) => {
    const { eventId, referenceId, accountId, timestamp, createdAt } = FULL;
    await commit(store, { events: [FULL] });
    const acceptedIds = await store.read.acceptedIds([eventId, "other", eventId]);
    assert5.deepEqual(acceptedIds, [{ eventId, referenceId, accountId, timestamp, createdAt }]);
  }),
  defineCase("an event replaces the one with its reference id, in every list", async (store) => {
    const changed = event("a", 1, { units: [], customerId: "changed" });
    await commit(store, { events: [event("a", 1), event("a", 2)] });
    await commit(store, { events: [changed] });
    assert5.deepEqual(await store.read.events({ accountId: "a" }, { limit: 9 }), [event("a", 2), changed]);
    assert5.deepEqual(await store.read.events({}, { limit: 9 }), [event("a", 2), changed]);
    assert5.deepEqual(await store.read.eventsToUndo("a", {}), [changed, event("a", 2)]);
  }),
  defineCase("events to undo are sorted by number, not time, without reverted events", async (store) => {
    const at2 = (number, more = {}) => event("a", number, { timestamp: NOON - number, ...more });
    await commit(store, { events: [at2(1), at2(2, REVERTED), at2(3, FAILED)] });
    await commit(store, { events: [at2(5), at2(4), event("b", 1)] });
    assert5.deepEqual(await toUndo(store), [1, 3, 4, 5]);
    assert5.deepEqual(await toUndo(store, {}, 2), [1, 3]);
    await commit(store, { events: [at2(1, REVERTED)] });
    assert5.deepEqual(await toUndo(store, {}, 2), [3, 4]);
    assert5.deepEqual(await toUndo(store, { accepted: true }), [4, 5]);
    assert5.deepEqual(await toUndo(store, { accepted: false }), [3]);
    assert5.deepEqual(await toUndo(store, { timestamp: { from: NOON - 4, until: NOON - 3 } }), [4]);
    assert5.deepEqual(await toUndo(store, { createdAt: { from: NOON + 4, until: NOON + 6 } }), [4, 5]);
    assert5.deepEqual(await toUndo(store, { eventId: "event.a.5" }), [5]);
    assert5.deepEqual(await toUndo(store, { referenceId: "ref.a.000004" }), [4]);
    assert5.deepEqual(await toUndo(store, { eventId: "event.b.1" }), []);
    assert5.deepEqual(await toUndo(store, { referenceId: "ref.a.000004", status: "INGESTION_FAILED" }), []);
  }),
  defineCase("numbers and times are sorted by value, not as text", async (store) => {
    const at2 = (number, more = {}) => event("a", number, { timestamp: number, createdAt: number, feature: use("f.one", 1, ["e.one"]), ...more });
    await commit(store, { events: [at2(10), at2(9), at2(100), at2(-5, { number: 1e3 })] });
    assert5.deepEqual(await toUndo(store), [9, 10, 100, 1e3]);
    assert5.deepEqual(await toUndo(store, {}, 2), [9, 10]);
    assert5.deepEqual(await withOverage(store, 0, 1), [9, 10, 100]);
    assert5.equal(await store.read.lastSpent("e.one", "a"), 100);
    const listed = await store.read.events({}, { limit: 9 });
    assert5.deepEqual(
      listed.map(({ createdAt }) => createdAt),
      [100, 10, 9, -5]
    );
    await commit(store, {
      events: [event("b", 1, { eventId: "event.a.9", createdAt: 11, ...FAILED }), at2(9, REVERTED)]
    });
    await commit(store, { events: [at2(9)] });
    assert5.deepEqual(await toUndo(store, { createdAt: { from: 9, until: 100 } }), [9, 10]);
  }),
  defineCase("the first events to undo are found within the given days", async (store) => {
    const on = (number, day, more = {}) => event("a", number, { timestamp: (TODAY + day) * 864e5 + number, ...more });
    await commit(store, { events: [on(1, 2), on(2, 0), on(3, -3), on(4, 0), on(5, -2e4), on(6, 2, REVERTED)] });
    assert5.deepEqual(await toUndo(store, {}, 2), [1, 2]);
    assert5.deepEqual(await toUndo(store, {}, 9), [1, 2, 3, 4, 5]);
    const timestamp = { from: (TODAY - 3) * 864e5 + 3, until: TODAY * 864e5 + 4 };
    assert5.deepEqual(await toUndo(store, { timestamp }, 9), [2, 3]);
    assert5.deepEqual(await toUndo(store, { timestamp }, 1), [2]);
    assert5.deepEqual(
      await toUndo(store, { timestamp: { from: timestamp.from + 1, until: timestamp.until + 1 } }, 9),
      [2, 4]
    );
    await commit(store, { events: [on(1, 2, REVERTED), on(2, 0, REVERTED)] });
    assert5.deepEqual(await toUndo(store, {}, 1), [3]);
  }),
  defineCase("new events get the next numbers, in their order", async (store) => {
    const add2 = (accountId, ...places) => commit(store, { newEvents: places.map((place) => newEvent(event(accountId, place))) });
    await commit(store, { events: [event("a", 1)] });
    await add2("a", 9, 2, 5);
    await add2("b", 1);
    await add2("a", 3, 8);
    const events = await store.read.eventsToUndo("a", {});
    assert5.deepEqual(
      events.map(({ eventId }) => eventId),
      [1, 9, 2, 5, 3, 8].map((place) => `event.a.${place}`)
    );
    const numbers = events.map(({ number }) => number);
    assert5.equal(new Set(numbers).size, numbers.length);
    for (const number of numbers)
      assert5.ok(Number.isSafeInteger(number) && number >= 1, `${number} is not the number of an event`);
    await commit(store, { events: events.map((each) => ({ ...each, customerId: "changed" })) });
    assert5.deepEqual(await toUndo(store), numbers);
  }),
  defineCase("a new event is read with the result of its decision", async (store) => {
    const plain = event("a", 2);
    const { schemaVersion: _, ...unknownSchema } = event("", 0, { customerId: "", ...FAILED });
    const attributes = FULL.payload.attributes.filter(({ value }) => value !== "12");
    const sent = [{ ...FULL, payload: { ...FULL.payload, attributes } }, plain, unknownSchema];
    await commit(store, { newEvents: sent.map(newEvent) });
    for (const record of sent) {
      const [found] = await store.read.events({ referenceId: record.referenceId }, { limit: 1 });
      assert5.deepEqual(found, { ...record, number: found?.number });
    }
  }),
  defineCase("changing an event object after the commit has no effect", async (store) => {
    const row = newEvent(event("a", 1));
    await commit(store, { newEvents: [row] });
    const attributes = row.sent.attributes;
    attributes.push({ name: "more", value: 1 });
    Object.assign(attributes[0] ?? {}, { value: 99 });
    Object.assign(row.sent.dimensions ?? {}, { region: "moon" });
    assert5.deepEqual((await store.read.events({}, { limit: 1 }))[0]?.payload, event("a", 1).payload);
  }),
  defineCase("a reference id can be used by only one new event", async (store) => {
    await commit(store, { newEvents: [newEvent(event("a", 1))] });
    const again = { ...newEvent(event("a", 2)), referenceId: event("a", 1).referenceId };
    await assert5.rejects(commit(store, { newEvents: [again], usage: [cell("a", "m", TODAY, "1")] }));
    assert5.equal((await store.read.events({}, { limit: 9 })).length, 1);
    assert5.deepEqual(await store.read.usage(["a"], TODAY, TODAY + 1), []);
  }),
  defineCase(
    "events with overage are the accepted, not reverted events of the given days, sorted by number",
    async (store) => {
      const on = (number, day, more = {}) => event("a", number, { timestamp: day * 864e5, feature: use("f.one", 2), ...more });
      await commit(store, {
        events: [
          on(1, TODAY + 1),
          on(2, TODAY),
          on(3, TODAY + 2),
          on(4, TODAY, { feature: use("f.one", 0, ["e.one"]) }),
          on(5, TODAY, { feature: use("f.two", 2) }),
          on(6, TODAY, REVERTED),
          on(7, TODAY, FAILED),
          on(8, TODAY + 2, { timestamp: (TODAY + 2) * 864e5 - 1 }),
          event("b", 1, { feature: use("f.one", 2), timestamp: TODAY * 864e5 })
        ]
      });
      assert5.deepEqual(await withOverage(store, TODAY, TODAY + 2), [1, 2, 8]);
      assert5.deepEqual(await withOverage(store, TODAY + 1, TODAY + 3), [1, 3, 8]);
      const page = await store.read.eventsWithOverage("a", "f.one", TODAY, TODAY + 3, { limit: 2, afterNumber: 1 });
      assert5.deepEqual(page, [on(2, TODAY), on(3, TODAY + 2)]);
      await commit(store, {
        events: [on(1, TODAY + 1, { feature: use("f.one", 0, ["e.one"]) }), on(2, TODAY, REVERTED)]
      });
      assert5.deepEqual(await withOverage(store, TODAY, TODAY + 3), [3, 8]);
    }
  ),
  defineCase("an entry was last used by the latest event that is not reverted", async (store) => {
    const spendingEvent = (number, timestamp, more = {}) => event("a", number, { timestamp, feature: use("f.one", 0, ["e.zero", "e.one"]), ...more });
    await commit(store, {
      events: [
        spendingEvent(1, NOON + 5),
        spendingEvent(2, NOON + 3),
        spendingEvent(3, NOON + 7, REVERTED),
        spendingEvent(4, NOON + 8, FAILED),
        spendingEvent(5, NOON + 9, { feature: use("f.one", 0, ["e.two"]) }),
        event("a", 6, { timestamp: NOON + 10 })
      ]
    });
    assert5.equal(await store.read.lastSpent("e.one", "a"), NOON + 5);
    assert5.equal(await store.read.lastSpent("e.two", "a"), NOON + 9);
    assert5.equal(await store.read.lastSpent("e.one", "b"), void 0);
    await commit(store, { events: [spendingEvent(1, NOON + 5, REVERTED)] });
    assert5.equal(await store.read.lastSpent("e.one", "a"), NOON + 3);
  })
];

// src/store/conformance/invoices.ts
import assert6 from "node:assert/strict";
function invoiceFrom(id, start, days = 31, more = {}) {
  const record = invoice(more.accountId ?? "a", id);
  const period = { startDate: formatInstant(start), endDate: formatInstant(start + days * DAY_MS) };
  return { ...record, invoice: { ...record.invoice, ...period, ...more } };
}
function placeFrom(id, start, days = 31, more = {}) {
  const end = start + days * DAY_MS;
  return { id, listedAt: start, start, end, finalAt: end, ...more };
}
function accountWithDrafts(id, places, more = {}) {
  return account(id, { drafts: { until: NOON + 99 * DAY_MS, places, credits: [] }, ...more });
}
var at = (date) => parseInstant(`${date}T00:00:00.000Z`);
var [FEBRUARY, MARCH, APRIL] = [at("2026-02-01"), at("2026-03-01"), at("2026-04-01")];
var within = (from, until) => ({
  period: { from, until }
});
var PERIODS = [
  ["year", at("2025-06-01"), 365],
  ["quarter", at("2026-01-01"), 90],
  ["month", MARCH, 31],
  ["week", at("2026-03-09"), 7],
  ["day", at("2026-03-31"), 1]
];
var DATED = at("2026-03-20");
var TOUCHED = [
  [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, ["day", "adhoc", "week", "month", "quarter", "year"]],
  [FEBRUARY, MARCH, ["adhoc", "quarter", "year"]],
  [MARCH, APRIL, ["day", "adhoc", "week", "month", "quarter", "year"]],
  [at("2026-03-16"), at("2026-03-17"), ["adhoc", "month", "quarter", "year"]],
  [APRIL, at("2026-04-02"), ["year"]],
  [at("2026-06-01"), at("2027-01-01"), []],
  [at("2024-01-01"), at("2025-06-01"), []],
  [at("2024-01-01"), at("2025-06-02"), ["year"]]
];
var INVOICE_FILTERS = [
  [{}, ["z", "x", "y", "w"]],
  [{ accountId: "a" }, ["z", "x"]],
  [{ accountId: "nobody" }, []],
  [{ customerId: "c.two" }, ["y", "w"]],
  [{ status: "DUE" }, ["z", "w"]],
  [{ status: "PAID", accountId: "a" }, ["x"]],
  [{ status: "MERGED" }, ["y"]],
  [{ customerId: "c.two", status: "DUE", ...within(FEBRUARY, MARCH) }, ["w"]],
  [{ accountId: "b", ...within(APRIL, at("2026-05-01")) }, []]
];
var DRAFT_FILTERS = [
  [{}, ["later", "b.now", "a.now", "a.before"]],
  [{ id: "b.now" }, ["b.now"]],
  [{ id: "nothing" }, []],
  [{ id: "b.now", customerId: "c.one" }, []],
  [{ accountId: "a" }, ["a.now", "a.before"]],
  [{ customerId: "c.two" }, ["later", "b.now"]],
  [{ begunBy: MARCH }, ["b.now", "a.now", "a.before"]],
  [{ begunBy: MARCH - 1 }, ["a.before"]],
  [{ final: { from: Number.NEGATIVE_INFINITY, until: APRIL } }, ["a.before"]],
  [{ final: { from: APRIL, until: Number.POSITIVE_INFINITY }, begunBy: MARCH }, ["b.now", "a.now"]],
  [within(at("2026-02-10"), at("2026-02-11")), ["a.before"]]
];
async function collectIds(items) {
  return (await items).map(({ id }) => id);
}
async function checkPages(read, [list, filter], expected) {
  const message = JSON.stringify(filter);
  assert6.deepEqual(await collectIds(read[list](filter, { limit: 99 })), expected, message);
  const seen = [];
  for (let after; ; ) {
    const page = after === void 0 ? { limit: 1 } : { limit: 1, after };
    const [item] = list === "draftList" ? await read.draftList(filter, page) : (await read.invoiceList(filter, page)).map(({ id, invoice: { invoiceType, invoiceDate, startDate } }) => ({
      id,
      listedAt: parseInstant(invoiceType === "AD_HOC" ? invoiceDate : startDate)
    }));
    if (item === void 0) break;
    seen.push(item.id);
    after = { createdAt: item.listedAt, id: item.id };
  }
  assert6.deepEqual(seen, expected, message);
}
var invoiceCases = [
  defineCase("final invoices are found by any combination of account, customer and status", async (store) => {
    const two = { accountId: "b", customerId: "c.two" };
    await commit(store, {
      accounts: [account("a"), account("b", { customerId: "c.two" })],
      invoices: [
        invoiceFrom("x", MARCH, 31, { status: "PAID" }),
        invoiceFrom("y", FEBRUARY, 28, { ...two, status: "MERGED" }),
        invoiceFrom("z", APRIL, 30),
        invoiceFrom("w", at("2026-01-15"), 31, two)
      ]
    });
    for (const [filter, expected] of INVOICE_FILTERS) await checkPages(store.read, ["invoiceList", filter], expected);
    await commit(store, { invoices: [invoiceFrom("z", APRIL, 30, { status: "MERGED" })] });
    await checkPages(store.read, ["invoiceList", { status: "MERGED" }], ["z", "y"]);
    await checkPages(store.read, ["invoiceList", { status: "DUE" }], ["w"]);
  }),
  defineCase("final invoices are found by the days they overlap, whether they cover a day or a year", async (store) => {
    const adhoc = invoiceFrom("adhoc", at("2026-01-01"), 90, {
      invoiceType: "AD_HOC",
      invoiceDate: formatInstant(DATED)
    });
    const invoices = [adhoc, ...PERIODS.map(([id, start, days]) => invoiceFrom(id, start, days))];
    await commit(store, { accounts: [account("a")], invoices });
    for (const [from, until, expected] of TOUCHED) {
      await checkPages(store.read, ["invoiceList", within(from, until)], expected);
      await checkPages(store.read, ["invoiceList", { ...within(from, until), status: "DUE" }], expected);
    }
  }),
  defineCase(
    "drafts in the index are found by the days they overlap, whether they cover a day or a year",
    async (store) => {
      const adhoc = placeFrom("adhoc", at("2026-01-01"), 90, { listedAt: DATED });
      const places = [adhoc, ...PERIODS.map(([id, start, days]) => placeFrom(id, start, days))];
      await commit(store, { accounts: [accountWithDrafts("a", places)] });
      for (const [from, until, expected] of TOUCHED) {
        await checkPages(store.read, ["draftList", within(from, until)], expected);
      }
    }
  ),
  defineCase("drafts in the index are found by each filter and read as they were written", async (store) => {
    const places = { before: placeFrom("a.before", FEBRUARY, 28), now: placeFrom("a.now", MARCH) };
    await commit(store, {
      accounts: [
        accountWithDrafts("a", [places.now, places.before]),
        accountWithDrafts("b", [placeFrom("b.now", MARCH + 1, 31, { start: MARCH }), placeFrom("later", APRIL, 30)], {
          customerId: "c.two"
        })
      ]
    });
    for (const [filter, expected] of DRAFT_FILTERS) await checkPages(store.read, ["draftList", filter], expected);
    const [found] = await store.read.draftList({ id: "a.now" }, { limit: 9 });
    assert6.deepEqual(found, { ...places.now, accountId: "a" });
  }),
  defineCase("writing an account replaces its drafts in the index", async (store) => {
    await commit(store, {
      accounts: [accountWithDrafts("a", [placeFrom("one", MARCH), placeFrom("two", FEBRUARY)]), account("b")]
    });
    await commit(store, {
      accounts: [accountWithDrafts("a", [placeFrom("three", APRIL), placeFrom("one", FEBRUARY)])]
    });
    await checkPages(store.read, ["draftList", {}], ["three", "one"]);
    const [record] = await store.read.accounts(["a"]);
    assert6.ok(record);
    await store.transact({ configuration: "shared", accountIds: ["a"], eventIds: [] }, async (view) => {
      const [read] = await view.accounts(["a"]);
      assert6.ok(read);
      return { result: void 0, changes: { accounts: [{ ...read, name: "Other" }] } };
    });
    await checkPages(store.read, ["draftList", {}], ["three", "one"]);
    await commit(store, { accounts: [account("a")] });
    await checkPages(store.read, ["draftList", {}], []);
  }),
  defineCase("accounts with a stale draft index are found by instant, sorted by id", async (store) => {
    const until = { b: NOON, a: NOON + 1, d: NOON - 1 };
    const accounts = Object.entries(until).map(
      ([id, known]) => account(id, { drafts: { until: known, places: [], credits: [] } })
    );
    await commit(store, { accounts: [...accounts, account("c")] });
    assert6.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON - 2, 9), ["c"]);
    assert6.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON, 9), ["b", "c", "d"]);
    assert6.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON + 1, 2), ["a", "b"]);
    assert6.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON + 1, 2, "b"), ["c", "d"]);
    await commit(store, { accounts: [account("c", { drafts: { until: Infinity, places: [] } })] });
    assert6.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON, 9), ["b", "c", "d"]);
    await commit(store, { accounts: [account("c", { drafts: { until: Infinity, places: [], credits: [] } })] });
    assert6.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON, 9), ["b", "d"]);
  })
];

// src/store/conformance/isolation.ts
import assert7 from "node:assert/strict";
var WRITERS = 12;
var WAIT_MS = 2e3;
var CROSSING_MS = 5e3;
var WAIT_TRANSACTIONS = 200;
async function countOne(store, accountIds, eventIds = []) {
  await store.transact(createScope(accountIds, eventIds), async (view) => {
    const read = await view.accounts(accountIds);
    await moment(1);
    const accounts = accountIds.map((id) => {
      const netTermDays = read.find((record) => record.id === id)?.netTermDays ?? 0;
      return account(id, { netTermDays: netTermDays + 1 });
    });
    return { result: void 0, changes: { accounts } };
  });
}
async function deadlineFor(store, leastMs) {
  const began = performance.now();
  await countOne(store, ["patience"]);
  return Math.max(leastMs, WAIT_TRANSACTIONS * (performance.now() - began));
}
function takeId(store, accountId, eventId, pause = 1) {
  return store.transact(createScope([accountId], [eventId]), async (view) => {
    const acceptedIds = await view.acceptedIds([eventId]);
    await moment(pause);
    const isFree = acceptedIds.length === 0;
    return { result: isFree, changes: isFree ? { events: [event(accountId, 1, { eventId })] } : {} };
  });
}
async function counts(store, ids) {
  const records = await store.read.accounts(ids);
  return ids.map((id) => records.find((record) => record.id === id)?.netTermDays ?? 0);
}
var isolationCases = [
  defineCase("concurrent writers lose no update of an account", async (store) => {
    await commit(store, { accounts: [account("a")] });
    await Promise.all(Array.from({ length: WRITERS }, () => countOne(store, ["a"])));
    assert7.deepEqual(await counts(store, ["a"]), [WRITERS]);
  }),
  defineCase("concurrent writers that create an account lose no update", async (store) => {
    await Promise.all(Array.from({ length: WRITERS }, () => countOne(store, ["a"])));
    assert7.deepEqual(await counts(store, ["a"]), [WRITERS]);
  }),
  defineCase("locked records do not change while the work runs", async (store) => {
    await commit(store, { accounts: [account("a")] });
    const started = gate();
    const seen = store.transact(createScope(["a"]), async (view) => {
      const before2 = await view.accounts(["a"]);
      started.open();
      await moment();
      return { result: [before2, await view.accounts(["a"])], changes: {} };
    });
    await started.opened;
    const other = countOne(store, ["a"]);
    const [[before, after]] = await Promise.all([seen, other]);
    assert7.deepEqual(after, before);
    assert7.deepEqual(await counts(store, ["a"]), [1]);
  }),
  defineCase("an event id is accepted once, even if several accounts send it at the same time", async (store) => {
    const accountIds = Array.from({ length: WRITERS }, (_, index) => `a${index}`);
    const taken = await Promise.all(accountIds.map((id, index) => takeId(store, id, "same", index % 3)));
    assert7.equal(taken.filter((was) => was).length, 1);
    assert7.equal((await store.read.events({ eventId: "same" }, { limit: 10 })).length, 1);
  }),
  defineCase("an event id that a running commit uses is not available", async (store) => {
    const started = gate();
    const first = store.transact(createScope(["a"], ["same"]), async (view) => {
      const isFree = (await view.acceptedIds(["same"])).length === 0;
      started.open();
      await moment();
      return { result: isFree, changes: isFree ? { events: [event("a", 1, { eventId: "same" })] } : {} };
    });
    await started.opened;
    const taken = await Promise.all([first, takeId(store, "b", "same")]);
    assert7.equal(taken.filter((was) => was).length, 1);
  }),
  defineCase("scopes with overlapping accounts do not deadlock", async (store) => {
    const ids = ["a", "b", "c", "d"];
    const patient = await deadlineFor(store, CROSSING_MS);
    const orders = [ids, ids.toReversed(), ["b", "d", "a", "c"], ["c", "a", "d", "b"]];
    const all2 = Promise.all([...orders, ...orders, ...orders].map((order) => countOne(store, order)));
    await rejectAfter(patient, all2, "overlapping scopes");
    assert7.deepEqual(await counts(store, ids), [12, 12, 12, 12]);
  }),
  defineCase("scopes with overlapping event ids do not deadlock", async (store) => {
    const ids = Array.from({ length: 8 }, (_, index) => `same.${index}`);
    const patient = await deadlineFor(store, CROSSING_MS);
    const takeAll = (accountId, eventIds) => store.transact(createScope([accountId], eventIds), async (view) => {
      const acceptedIds = new Set((await view.acceptedIds(eventIds)).map(({ eventId }) => eventId));
      await moment(1);
      const free = eventIds.filter((eventId) => !acceptedIds.has(eventId));
      const events = free.map((eventId) => event(accountId, 1 + ids.indexOf(eventId), { eventId }));
      return { result: void 0, changes: { events } };
    });
    const all2 = Promise.all(
      Array.from({ length: WRITERS }, (_, index) => takeAll(`a${index}`, index % 2 === 0 ? ids : ids.toReversed()))
    );
    await rejectAfter(patient, all2, "overlapping scopes");
    assert7.equal((await store.read.events({}, { limit: 100 })).length, ids.length);
    assert7.equal((await store.read.acceptedIds(ids)).length, ids.length);
  }),
  defineCase("a reader sees all changes of a commit or none", async (store) => {
    const writer = { isDone: false };
    const write = async () => {
      for (let number = 1; number <= 15; number++) {
        await commit(store, {
          accounts: [account("a", { netTermDays: number })],
          events: [event("a", number)],
          usage: [cell("a", "um.tokens", TODAY, "1")]
        });
      }
    };
    const writing = write().finally(() => {
      writer.isDone = true;
    });
    const events = async () => (await store.read.events({ accountId: "a" }, { limit: 100 })).length;
    const usage = async () => (await store.read.usage(["a"], TODAY, TODAY + 1))[0]?.quantity.toNumber() ?? 0;
    const pairs = [
      [events, usage],
      [usage, events],
      [async () => (await counts(store, ["a"]))[0] ?? 0, usage]
    ];
    const torn = [];
    while (!writer.isDone) {
      await moment(0);
      for (const [earlier, later] of pairs) {
        const first = await earlier();
        const second = await later();
        if (second < first) torn.push(`${first} commits were visible in one table, then ${second} in another`);
      }
    }
    await writing;
    assert7.deepEqual(torn, []);
  }),
  defineCase("reads started together see one committed state", async (store) => {
    const writer = { isDone: false };
    const write = async () => {
      for (let number = 1; number <= 30; number++) {
        await commit(store, {
          accounts: [account("a", { netTermDays: number }), account("b", { netTermDays: number })],
          usage: [cell("a", "um.tokens", TODAY, "1")]
        });
        await moment(1);
      }
    };
    const writing = write().finally(() => {
      writer.isDone = true;
    });
    const torn = [];
    while (!writer.isDone) {
      await moment(0);
      const view = store.consistentView();
      const [accounts, usage, again] = await Promise.all([
        view.accounts(["a"]),
        view.usage(["a"], TODAY, TODAY + 1),
        view.accounts(["b"])
      ]);
      const seen = [accounts[0]?.netTermDays ?? 0, usage[0]?.quantity.toNumber() ?? 0, again[0]?.netTermDays ?? 0];
      if (new Set(seen).size > 1) torn.push(seen);
    }
    await writing;
    assert7.deepEqual(torn, []);
  }),
  defineCase("writers of different accounts do not wait for each other", async (store) => {
    const patient = await deadlineFor(store, WAIT_MS);
    const door = gate();
    const started = gate();
    const waiting = store.transact(createScope(["a"], ["e.a"]), async () => {
      started.open();
      await door.opened;
      return { result: void 0, changes: { accounts: [account("a", { netTermDays: 7 })] } };
    });
    await started.opened;
    const other = countOne(store, ["b"], ["e.b"]).then(() => "done");
    const outcome = await Promise.race([other, moment(patient).then(() => "it waits")]);
    const seen = await Promise.race([counts(store, ["a", "b"]), moment(patient).then(() => "reads wait")]);
    door.open();
    await Promise.all([waiting, other]);
    assert7.equal(outcome, "done");
    assert7.deepEqual(seen, [0, 1]);
    assert7.deepEqual(await counts(store, ["a", "b"]), [7, 1]);
  })
];

// src/store/conformance/limits.ts
import assert8 from "node:assert/strict";
var BATCH = 1e3;
var CELLS = 1e4;
var limitCases = [
  defineCase(`a commit can have ${BATCH} events of as many accounts`, async (store) => {
    const ids = Array.from({ length: BATCH }, (_, index) => `account.${index}`);
    await commit(store, {
      accounts: ids.map((id) => account(id)),
      events: ids.map((id) => event(id, 1, { createdAt: NOON })),
      entries: ids.map((id) => entry(id, `e.${id}`))
    });
    const seen = /* @__PURE__ */ new Set();
    let after;
    for (let page = [], first = true; first || page.length > 0; first = false) {
      page = await store.read.events({}, { limit: 300, ...after === void 0 ? {} : { after } });
      for (const { accountId, referenceId, createdAt } of page) {
        seen.add(accountId);
        after = { id: referenceId, createdAt };
      }
    }
    assert8.equal(seen.size, BATCH);
    assert8.equal((await store.read.acceptedIds(ids.map((id) => `event.${id}.1`))).length, BATCH);
    assert8.equal((await store.read.accounts(ids)).length, BATCH);
    assert8.equal((await store.read.entries(ids)).length, BATCH);
  }),
  defineCase(`a commit can have ${CELLS} cells`, async (store) => {
    const changes = Array.from(
      { length: CELLS },
      (_, index) => cell(`a${index % 100}`, `m${Math.floor(index / 100) % 10}`, TODAY + Math.floor(index / 1e3), "0.1")
    );
    await commit(store, { usage: changes });
    await commit(store, { usage: changes.toReversed() });
    const ids = Array.from({ length: 100 }, (_, index) => `a${index}`);
    const found = await store.read.usage(ids, TODAY, TODAY + 10);
    assert8.equal(found.length, CELLS);
    assert8.deepEqual(new Set(found.map(({ quantity }) => quantity.toFixed())), /* @__PURE__ */ new Set(["0.2"]));
  }),
  defineCase("ids of 512 characters and texts of a million characters are stored", async (store) => {
    const ids = ["x".repeat(512), "\u6F22".repeat(511) + "a", "\u6F22".repeat(511) + "b"];
    const accounts = ids.map((id) => account(id, { metadata: { note: "\u6F22".repeat(1e6 / 3) } }));
    const events = ids.map((id) => event(id, 1, { eventId: id, referenceId: id, schemaName: id }));
    const entries = ids.map((id) => entry(id, id, { featureId: id }));
    const usage = ids.map((id) => cell(id, id, TODAY, "1"));
    await commit(store, { accounts, events, entries, usage });
    for (const [index, id] of ids.entries()) {
      assert8.deepEqual(await store.read.accounts([id]), [accounts[index]]);
      assert8.deepEqual(await store.read.events({ eventId: id }, { limit: 9 }), [events[index]]);
      assert8.deepEqual(await store.read.events({ accountId: id, schemaName: id }, { limit: 9 }), [events[index]]);
      assert8.deepEqual(await store.read.entries([id], id), [entries[index]]);
      assert8.deepEqual(await store.read.usage([id], TODAY, TODAY + 1), usage.slice(index, index + 1).map(toLedgerCell));
    }
  })
];

// src/store/conformance/lists.ts
import assert9 from "node:assert/strict";
var eventOf = (id, createdAt) => event("a", createdAt - NOON + 100 * id.length + 1e3, { referenceId: id, eventId: `e ${id}`, createdAt });
var eventKeys = async (store, filter, page) => (await store.read.events(filter, page)).map(({ referenceId, createdAt }) => ({ id: referenceId, createdAt }));
var invoiceKeys = (records) => records.map(({ id, invoice: { startDate } }) => ({ id, createdAt: parseInstant(startDate) }));
var LISTS = [
  {
    name: "documents",
    put: (store, id, createdAt) => commit(store, { documents: [document("feature", id, {}, createdAt)] }),
    read: (store, page) => store.read.documents("feature", page)
  },
  {
    name: "accounts",
    put: (store, id, createdAt) => commit(store, { accounts: [account(id, { createdAt })] }),
    read: (store, page) => store.read.accountList({}, page)
  },
  {
    name: "events",
    put: (store, id, createdAt) => commit(store, { events: [eventOf(id, createdAt)] }),
    read: (store, page) => eventKeys(store, {}, page)
  },
  {
    name: "events of an account",
    put: (store, id, createdAt) => commit(store, { events: [eventOf(id, createdAt)] }),
    read: (store, page) => eventKeys(store, { accountId: "a" }, page)
  },
  {
    name: "entries",
    put: (store, id, createdAt) => commit(store, { entries: [entry("a", id, { createdAt })] }),
    read: (store, page) => store.read.entryList("a", "f.one", page)
  },
  {
    name: "credits",
    put: (store, id, createdAt) => commit(store, { credits: [credit("a", id, { createdAt })] }),
    read: (store, page) => store.read.creditList({}, page)
  },
  {
    name: "credits of an account",
    put: (store, id, createdAt) => commit(store, { credits: [credit("a", id, { createdAt })] }),
    read: (store, page) => store.read.creditList({ accountId: "a" }, page)
  },
  {
    name: "final invoices",
    put: (store, id, createdAt) => commit(store, { invoices: [invoiceFrom(id, createdAt)] }),
    read: async (store, page) => invoiceKeys(await store.read.invoiceList({}, page))
  },
  {
    name: "final invoices of an account",
    put: (store, id, createdAt) => commit(store, { invoices: [invoiceFrom(id, createdAt)] }),
    read: async (store, page) => invoiceKeys(await store.read.invoiceList({ accountId: "a" }, page))
  },
  {
    name: "due credits in the index",
    put: (store, id, createdAt) => commit(store, { accounts: [accountWithDueCredits(`of ${id}`, [{ id, createdAt }])] }),
    read: (store, page) => store.read.dueCreditList({}, page)
  },
  {
    name: "drafts in the index",
    put: (store, id, createdAt) => commit(store, { accounts: [accountWithDrafts(`of ${id}`, [placeFrom(id, createdAt)])] }),
    read: async (store, page) => (await store.read.draftList({}, page)).map(({ id, listedAt: createdAt }) => ({ id, createdAt }))
  }
];
function listCasesFor({ name, put: put2, read }) {
  const idsOf = (items) => items.map(({ id }) => id);
  return [
    defineCase(`${name} are sorted from newest to oldest, then by id in code point order`, async (store) => {
      const ids = ["b", "a", "B", "\u{1F9FE}", "\uFF5E", "\xE9", "a.b", "a-b"];
      for (const id of ids) await put2(store, id, NOON);
      await put2(store, "old", NOON - 1);
      await put2(store, "new", NOON + 1);
      const sorted = ["B", "a", "a-b", "a.b", "b", "\xE9", "\uFF5E", "\u{1F9FE}"];
      assert9.deepEqual(idsOf(await read(store, { limit: 99 })), ["new", ...sorted, "old"]);
    }),
    defineCase(`a page of ${name} has the requested size, and the next one continues after it`, async (store) => {
      for (const id of ["a", "b", "c"]) await put2(store, id, NOON);
      await put2(store, "d", NOON - 5);
      assert9.deepEqual(idsOf(await read(store, { limit: 2 })), ["a", "b"]);
      assert9.deepEqual(idsOf(await read(store, { limit: 2, after: { createdAt: NOON, id: "b" } })), ["c", "d"]);
      assert9.deepEqual(idsOf(await read(store, { limit: 2, after: { createdAt: NOON - 5, id: "d" } })), []);
      const between = { createdAt: NOON - 1, id: "nobody" };
      assert9.deepEqual(idsOf(await read(store, { limit: 9, after: between })), ["d"]);
    }),
    defineCase(`pages of ${name} list each item once while items are added and replaced`, async (store) => {
      const ids = Array.from({ length: 7 }, (_, index) => `item.${index}`);
      for (const [index, id] of ids.entries()) await put2(store, id, NOON + index);
      const seen = [];
      let page = await read(store, { limit: 2 });
      for (let round = 0; page.length > 0; round++) {
        seen.push(...idsOf(page));
        await put2(store, `later.${round}`, NOON + 100 + round);
        await put2(store, "item.3", NOON + 3);
        const { id = "", createdAt = 0 } = page.at(-1) ?? {};
        page = await read(store, { limit: 2, after: { id, createdAt } });
      }
      assert9.deepEqual(seen, ids.toReversed());
    })
  ];
}
var FILTERS2 = [
  [{}, [5, 4, 3, 2, 1]],
  [{ accountId: "a" }, [3, 2, 1]],
  [{ schemaName: "other" }, [4, 2]],
  [{ status: "INGESTION_FAILED" }, [5]],
  [{ status: "INGESTION_COMPLETED_EVENT_METERED" }, [4, 3, 2, 1]],
  [{ accepted: true }, [4, 3, 2, 1]],
  [{ accepted: false }, [5]],
  [{ reverted: true }, [1]],
  [{ reverted: false }, [5, 4, 3, 2]],
  [{ reverted: false, accepted: true, accountId: "a" }, [3, 2]],
  [{ eventId: "same" }, [4, 1]],
  [{ eventId: "same", accountId: "b" }, [4]],
  [{ referenceId: "ref.b.000005" }, [5]],
  [{ referenceId: "ref.b.000005", accountId: "a" }, []],
  [{ timestamp: { from: NOON + 2, until: NOON + 4 } }, [3, 2]],
  [{ createdAt: { from: NOON + 20, until: NOON + 40 } }, [3, 2]],
  [{ createdAt: { from: NOON + 20, until: NOON + 50 }, accountId: "b", schemaName: "other" }, [4]],
  [{ accountId: "nobody" }, []],
  [{ timestamp: { from: NOON, until: NOON } }, []]
];
var listCases = [
  ...LISTS.flatMap(listCasesFor),
  defineCase("events are found by any combination of filters, also page by page", async (store) => {
    const at2 = (accountId, number, more = {}) => event(accountId, number, { createdAt: NOON + 10 * number, ...more });
    await commit(store, {
      events: [
        at2("a", 1, { eventId: "same", reverted: true }),
        at2("a", 2, { schemaName: "other" }),
        at2("a", 3),
        at2("b", 4, { eventId: "same", schemaName: "other" }),
        at2("b", 5, { status: "INGESTION_FAILED" })
      ]
    });
    for (const [filter, expected] of FILTERS2) {
      const all2 = await store.read.events(filter, { limit: 9 });
      assert9.deepEqual(
        all2.map(({ number }) => number),
        expected,
        JSON.stringify(filter)
      );
      for (const [index, { createdAt, referenceId }] of all2.entries()) {
        const next = await store.read.events(filter, { limit: 1, after: { createdAt, id: referenceId } });
        assert9.deepEqual(next, all2.slice(index + 1, index + 2), JSON.stringify(filter));
      }
    }
  }),
  defineCase("accounts are found by customer, status and group", async (store) => {
    await commit(store, {
      accounts: [
        account("a"),
        account("b", { status: "ARCHIVED" }),
        account("c", { customerId: "c.two", invoiceGroupId: "g" })
      ]
    });
    const ids = async (filter) => (await store.read.accountList(filter, { limit: 9 })).map(({ id }) => id);
    assert9.deepEqual(await ids({}), ["a", "b", "c"]);
    assert9.deepEqual(await ids({ customerId: "c.one" }), ["a", "b"]);
    assert9.deepEqual(await ids({ status: "ARCHIVED" }), ["b"]);
    assert9.deepEqual(await ids({ status: "ACTIVE", customerId: "c.one" }), ["a"]);
    assert9.deepEqual(await ids({ invoiceGroupId: "g" }), ["c"]);
    assert9.deepEqual(await ids({ invoiceGroupId: "g", customerId: "c.one" }), []);
    await commit(store, { accounts: [account("c", { customerId: "c.one" })] });
    assert9.deepEqual(await ids({ invoiceGroupId: "g" }), []);
  }),
  defineCase("accounts to catch up are those due at or before an instant, sorted by id", async (store) => {
    const due = { b: NOON, a: NOON + 1, d: NOON - 1, c: NOON + 2 };
    await commit(store, { accounts: Object.entries(due).map(([id, nextDueAt]) => account(id, { nextDueAt })) });
    assert9.deepEqual(await store.read.accountsBehind(NOON - 2, 9), []);
    assert9.deepEqual(await store.read.accountsBehind(NOON, 9), ["b", "d"]);
    assert9.deepEqual(await store.read.accountsBehind(NOON + 1, 2), ["a", "b"]);
    assert9.deepEqual(await store.read.accountsBehind(NOON + 1, 2, "b"), ["d"]);
    await commit(store, { accounts: [account("b", { nextDueAt: NOON + 50 })] });
    assert9.deepEqual(await store.read.accountsBehind(NOON, 9), ["d"]);
  }),
  defineCase(
    "entries and credits of accounts are sorted by creation, then id; entries also by feature",
    async (store) => {
      await commit(store, {
        entries: [
          entry("a", "y", { createdAt: NOON + 1 }),
          entry("b", "x", { createdAt: NOON + 1 }),
          entry("a", "z", { featureId: "f.two" })
        ],
        credits: [
          credit("a", "y", { createdAt: NOON + 1 }),
          credit("b", "x", { createdAt: NOON + 1 }),
          credit("a", "z")
        ]
      });
      const ids = (items) => items.map(({ id }) => id);
      assert9.deepEqual(ids(await store.read.entries(["b", "a"])), ["z", "x", "y"]);
      assert9.deepEqual(ids(await store.read.entries(["a"], "f.one")), ["y"]);
      assert9.deepEqual(ids(await store.read.entryList("a", "f.two", { limit: 9 })), ["z"]);
      assert9.deepEqual(ids(await store.read.credits(["a", "b", "a"])), ["z", "x", "y"]);
      assert9.deepEqual(ids(await store.read.creditList({ accountId: "b" }, { limit: 9 })), ["x"]);
    }
  ),
  defineCase("invoices of accounts are sorted by date, then id, from a given instant", async (store) => {
    const [march, april] = ["2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"];
    await commit(store, { invoices: [invoice("a", "x", april), invoice("b", "z", march), invoice("a", "y", march)] });
    const ids = async (accountIds, since2) => (await store.read.invoices(accountIds, since2)).map(({ id }) => id);
    assert9.deepEqual(await ids(["a", "b"], Number.NEGATIVE_INFINITY), ["y", "z", "x"]);
    assert9.deepEqual(await ids(["a"], Number.NEGATIVE_INFINITY), ["y", "x"]);
    const [from, later] = [parseInstant("2026-02-01T00:00:00.000Z"), parseInstant("2026-02-20T00:00:00.000Z")];
    await commit(store, { invoices: [invoiceFrom("long", from, 28), invoiceFrom("late", later, 28)] });
    const adHoc = { invoiceType: "AD_HOC", invoiceDate: formatInstant(later) };
    await commit(store, { invoices: [invoiceFrom("grown", from, 28, adHoc)] });
    const since = async (instant) => (await ids(["a", "b"], instant)).filter((id) => ["long", "late", "grown"].includes(id)).toSorted();
    assert9.deepEqual(await since(from), ["grown", "late", "long"]);
    assert9.deepEqual(await since(from + 1), ["grown", "late"]);
    assert9.deepEqual(await since(later), ["grown", "late"]);
    assert9.deepEqual(await since(later + 1), []);
  })
];

// src/store/conformance/records.ts
import assert10 from "node:assert/strict";
var RATE = {
  currency: "USD",
  slabRates: [{ order: 1, rate: LONG }]
};
var FULL_ACCOUNT = account("a", {
  aliases: [{ alias: "#1", createdAt: NOON }],
  pastAliases: [{ alias: "#1", createdAt: NOON, removedAt: NOON + 1 }],
  invoiceGroupId: "g.one",
  invoiceGroupFrom: NOON,
  pastInvoiceGroups: [{ invoiceGroupId: "#g", from: -1, until: NOON }],
  netTermDays: 0,
  primaryEmail: "",
  metadata: { ...withOddKeys(), texts: ODD_TEXTS, deep: [{ a: [1, 0.5, null, false] }], long: LONG },
  tags: ODD_TEXTS,
  associations: [
    {
      id: "as.1",
      plan: {
        planId: "pp.one",
        version: 2,
        cycleConfig: { interval: "MONTHLY", dayOffset: "LAST", monthOffset: "NIL" },
        override: { usageRateCards: [{ rateValues: [RATE] }] }
      },
      from: NOON,
      until: 2533707648e5,
      decidedAt: NOON
    },
    { id: "as.2", from: NOON, until: NOON, decidedAt: NOON }
  ],
  licenseUpdates: [
    {
      id: "lu.1",
      licenseId: "l.one",
      updateType: "RELATIVE",
      quantity: LONG.neg(),
      effectiveFrom: NOON,
      fromArrival: true,
      createdAt: NOON,
      idempotencyKey: "key"
    }
  ],
  caughtUpTo: -Infinity,
  nextDueAt: Infinity,
  closedCycles: { until: NOON, at: NOON + 1 },
  drafts: {
    until: Infinity,
    places: [{ id: "inv.1", listedAt: NOON, start: NOON - 1, end: NOON + 9, finalAt: Infinity }],
    credits: [{ id: "credit.1", createdAt: NOON }]
  }
});
var FULL_ENTRY = entry("a", "e.full", {
  source: "PURCHASE",
  granted: LONG,
  balance: new Decimal("0.00000000000000000001"),
  voided: true,
  idempotencyKey: "#key"
});
var FULL_CREDIT = credit("a", "c.full", {
  kind: "NEGATIVE_INVOICE",
  purpose: ODD_TEXTS.join(),
  creditAmount: LONG,
  consumedAmount: new Decimal("0.01"),
  priority: 0,
  effectiveUntil: NOON + 1,
  applicableEntityIds: [],
  cause: "card|1",
  voided: true,
  idempotencyKey: "",
  transactions: [{ invoiceId: "i.one", amount: LONG.neg(), at: NOON }]
});
var recordCases = [
  defineCase("an account is read as it was written, without absent fields", async (store) => {
    const plain = account("b");
    await commit(store, { accounts: [FULL_ACCOUNT, plain] });
    assert10.deepEqual(await store.read.accounts(["a"]), [FULL_ACCOUNT]);
    assert10.deepEqual(await store.read.accounts(["b"]), [plain]);
    assert10.deepEqual(await store.read.accountList({}, { limit: 9 }), [FULL_ACCOUNT, plain]);
  }),
  defineCase("an account completely replaces the one with its id", async (store) => {
    await commit(store, { accounts: [FULL_ACCOUNT] });
    const counted = { ...FULL_ACCOUNT, netTermDays: 4, updatedAt: NOON + 9, nextDueAt: NOON + 9, caughtUpTo: NOON + 8 };
    await commit(store, { accounts: [counted] });
    assert10.deepEqual(await store.read.accounts(["a"]), [counted]);
    await commit(store, { accounts: [account("a")] });
    assert10.deepEqual(await store.read.accounts(["a", "a"]), [account("a")]);
  }),
  defineCase("an entry is read as it was written and completely replaced", async (store) => {
    await commit(store, { entries: [FULL_ENTRY, entry("a", "e.one")] });
    assert10.deepEqual(await store.read.entries(["a"]), [FULL_ENTRY, entry("a", "e.one")]);
    const spent = entry("a", "e.full", { balance: new Decimal("0.5"), effectiveUntil: NOON + 5 });
    await commit(store, { entries: [spent] });
    assert10.deepEqual(await store.read.entryList("a", "f.one", { limit: 1 }), [spent]);
  }),
  defineCase("a credit is read as it was written and completely replaced", async (store) => {
    await commit(store, { credits: [FULL_CREDIT, credit("a", "c.one")] });
    assert10.deepEqual(await store.read.credit("c.full"), FULL_CREDIT);
    assert10.deepEqual(await store.read.credits(["a"]), [FULL_CREDIT, credit("a", "c.one")]);
    await commit(store, { credits: [credit("a", "c.full")] });
    assert10.deepEqual(await store.read.credit("c.full"), credit("a", "c.full"));
  }),
  defineCase("an invoice is read as it was written and can be merged", async (store) => {
    await commit(store, { invoices: [invoice("a", "i.one")] });
    assert10.deepEqual(await store.read.invoice("i.one"), invoice("a", "i.one"));
    const merged = { ...invoice("a", "i.one"), mergedInto: "i.all" };
    await commit(store, { invoices: [merged] });
    assert10.deepEqual(await store.read.invoices(["a"], Number.NEGATIVE_INFINITY), [merged]);
  }),
  defineCase("kept usage is found by the days it overlaps, sorted by its first day", async (store) => {
    const first = billedUsage("a", "k.2", TODAY, 31);
    const none = { ...billedUsage("a", "k.1", TODAY + 31, 1), cells: [] };
    const other = billedUsage("b", "k.3", TODAY, 1);
    await commit(store, { keptUsage: [none, other, first] });
    assert10.deepEqual(await store.read.keptUsage(["a"], TODAY - 9, TODAY + 99), [first, none]);
    assert10.deepEqual(await store.read.keptUsage(["a", "a"], TODAY + 30, TODAY + 31), [first]);
    assert10.deepEqual(await store.read.keptUsage(["a"], TODAY + 31, TODAY + 32), [none]);
    assert10.deepEqual(await store.read.keptUsage(["a"], TODAY - 9, TODAY), []);
    assert10.deepEqual(await store.read.keptUsage(["nobody"], TODAY, TODAY + 99), []);
    assert10.deepEqual(await store.read.keptUsage(["b", "a"], TODAY, TODAY + 1), [first, other]);
  }),
  defineCase("records of different ids stay different, whatever they contain", async (store) => {
    const accounts = ODD_TEXTS.map((id) => account(id, { customerId: id, invoiceGroupId: id }));
    const entries = ODD_TEXTS.map((id) => entry(id, id, { featureId: id }));
    const credits = ODD_TEXTS.map((id) => credit(id, id));
    const invoices = ODD_TEXTS.map((id) => invoice(id, id));
    const usages = ODD_TEXTS.map((id) => billedUsage(id, id, TODAY, 1));
    await commit(store, { accounts, entries, credits, invoices, keptUsage: usages });
    for (const [index, id] of ODD_TEXTS.entries()) {
      assert10.deepEqual(await store.read.accounts([id]), [accounts[index]]);
      assert10.deepEqual(await store.read.accountList({ customerId: id, invoiceGroupId: id }, { limit: 9 }), [
        accounts[index]
      ]);
      assert10.deepEqual(await store.read.entries([id], id), [entries[index]]);
      assert10.deepEqual(await store.read.credit(id), credits[index]);
      assert10.deepEqual(await store.read.creditList({ accountId: id }, { limit: 9 }), [credits[index]]);
      assert10.deepEqual(await store.read.invoices([id], Number.NEGATIVE_INFINITY), [invoices[index]]);
      assert10.deepEqual(await store.read.keptUsage([id], TODAY, TODAY + 1), [usages[index]]);
    }
    const behind = await store.read.accountsBehind(Infinity, 99);
    assert10.deepEqual(new Set(behind), new Set(ODD_TEXTS));
  })
];

// src/store/conformance.ts
var storeConformance = [
  ...atomicityCases,
  ...isolationCases,
  ...configurationCases,
  ...eventCases,
  ...cellCases,
  ...recordCases,
  ...listCases,
  ...invoiceCases,
  ...creditCases,
  ...limitCases
];

// src/store/locks.ts
function createLocks() {
  const configuration = [];
  let exclusives = 0;
  const queues = /* @__PURE__ */ new Map();
  const release = (claim) => {
    for (const key of claim.keys ?? []) {
      const next = removeHead(queues, key, claim);
      if (next !== void 0) unblock(next);
    }
    const place = configuration.indexOf(claim);
    configuration.splice(place, 1);
    if (!claim.shared) exclusives -= 1;
    for (const other of claimsFreedBy(configuration, claim, place)) unblock(other);
  };
  const enqueue = (claim) => {
    claim.keys = lockKeys(claim.scope);
    for (const key of claim.keys) if (join(queues, key, claim)) claim.blockers += 1;
  };
  return {
    take(scope) {
      const claim = {
        scope,
        shared: scope.configuration === "shared",
        keys: void 0,
        blockers: 0,
        start: () => {
        }
      };
      if (claim.shared ? exclusives > 0 : configuration.length > 0) claim.blockers += 1;
      if (!claim.shared) exclusives += 1;
      configuration.push(claim);
      const [first] = configuration;
      if (first !== void 0 && first !== claim) {
        if (first.keys === void 0) enqueue(first);
        enqueue(claim);
      }
      const releaseClaim = () => release(claim);
      if (claim.blockers === 0) return Promise.resolve(releaseClaim);
      return new Promise((resolve) => {
        claim.start = () => resolve(releaseClaim);
      });
    }
  };
}
function lockKeys({ accountIds, eventIds }) {
  return [.../* @__PURE__ */ new Set([...accountIds.map((id) => `a ${id}`), ...eventIds.map((id) => `e ${id}`)])];
}
function unblock(claim) {
  claim.blockers -= 1;
  if (claim.blockers === 0) claim.start();
}
function join(queues, key, claim) {
  const queue = queues.get(key);
  if (queue === void 0) queues.set(key, claim);
  else if (Array.isArray(queue)) queue.push(claim);
  else queues.set(key, [queue, claim]);
  return queue !== void 0;
}
function removeHead(queues, key, claim) {
  const queue = queues.get(key);
  if (!Array.isArray(queue) || queue.length === 1) {
    queues.delete(key);
    return void 0;
  }
  queue.splice(queue.indexOf(claim), 1);
  return queue[0];
}
function claimsFreedBy(queue, left, place) {
  const first = queue[0];
  if (first === void 0 || place > 0) return [];
  if (!first.shared) return [first];
  if (left.shared) return [];
  const exclusive = queue.findIndex((claim) => !claim.shared);
  return exclusive < 0 ? queue : queue.slice(0, exclusive);
}

// src/store/record-json.ts
function serializeRecord(value) {
  return JSON.stringify(markSpecialValues(value));
}
function parseRecord(text) {
  const value = JSON.parse(text);
  return text.includes('"#') ? unmarkSpecialValues(value) : value;
}
function markSpecialValues(value) {
  if (typeof value === "string") return value.startsWith("#") ? `#${value}` : value;
  if (typeof value === "number") return Number.isFinite(value) ? value : `#${value}`;
  if (typeof value !== "object" || value === null) return value;
  if (Decimal.isDecimal(value)) return `#${formatDecimal(value)}`;
  if (Array.isArray(value)) return value.map(markSpecialValues);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, markSpecialValues(part)]));
}
function unmarkSpecialValues(value) {
  if (typeof value === "string") return value.startsWith("#") ? parseMark(value.slice(1)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(unmarkSpecialValues);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unmarkSpecialValues(part)]));
}
function parseMark(text) {
  if (text.startsWith("#")) return text;
  if (text === "Infinity") return Infinity;
  if (text === "-Infinity") return -Infinity;
  return parseDecimal(text);
}

// src/store/memory/former-records.ts
var FORMER_REQUESTED = "asked";
function addCreditKinds(credits, invoices) {
  const withKinds = credits.map((credit2) => ({ ...credit2, kind: creditKind(credit2) }));
  const kinds = new Map(withKinds.map(({ id, kind }) => [id, kind]));
  const convertLine = (line) => ({
    ...line,
    ...line.type === "SUB_CREDITS" ? { creditKind: kinds.get(line.id ?? "") ?? "MANUAL" } : {},
    ...line.lineItems === void 0 ? {} : { lineItems: line.lineItems.map(convertLine) }
  });
  return {
    credits: withKinds,
    invoices: invoices.map((record) => {
      const { invoice: invoice2 } = record;
      return { ...record, invoice: { ...invoice2, revenueInfo: convertLine(invoice2.revenueInfo) } };
    })
  };
}
function convertEntry({ [FORMER_REQUESTED]: requested, ...entry2 }) {
  return requested === void 0 ? entry2 : { ...entry2, requested };
}
function creditKind({ cause, purpose }) {
  if (cause === void 0) return "MANUAL";
  if (cause.startsWith("refund|") && purpose === "refund of what was charged in advance and not served") {
    return "REFUND";
  }
  return cause.startsWith("negative|") && purpose === "invoice below zero" ? "NEGATIVE_INVOICE" : "PLAN";
}

// src/credits/monetary-credits.ts
function creditStatus(credit2) {
  if (credit2.voided) return "VOIDED";
  return credit2.holdAmount.isZero() && availableAmount(credit2).lte(ZERO2) ? "CONSUMED" : "ACTIVE";
}
function availableAmount(credit2) {
  return credit2.voided ? ZERO2 : subtract(subtract(credit2.creditAmount, credit2.holdAmount), credit2.consumedAmount);
}

// src/ledger/refusals.ts
function alreadyTaken(resource, id, message) {
  return new RatebookError("ERR_TAKEN", message, { resource, id });
}
function idCollision(resource, id, what = "id") {
  return alreadyTaken(resource, id, `the ${what} ${quoteText(id)} is taken: the id source returned it twice`);
}
function quoteText(text) {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}\u2026` : text);
}

// src/ledger/account/draft-index.ts
function listingInstant({
  invoiceType,
  invoiceDate,
  startDate
}) {
  return parseInstant(invoiceType === "AD_HOC" ? invoiceDate : startDate);
}
function draftIndexKnownUntil(drafts) {
  return drafts?.credits === void 0 ? Number.NEGATIVE_INFINITY : drafts.until;
}
var UNKNOWN = { until: Number.NEGATIVE_INFINITY, places: [], credits: [] };

// src/ledger/compare-ids.ts
function compareIds(a, b) {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = codeUnitRank(a.charCodeAt(index)) - codeUnitRank(b.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
function codeUnitRank(unit) {
  if (unit < 55296) return unit;
  return unit < 57344 ? unit + 8192 : unit - 2048;
}

// src/store/list-order.ts
function compareNewest(a, b) {
  return b.createdAt - a.createdAt || compareIds(a.id, b.id);
}
function compareOldest(a, b) {
  return a.createdAt - b.createdAt || compareIds(a.id, b.id);
}
function isWithin(at2, range) {
  return range === void 0 || at2 >= range.from && at2 < range.until;
}

// src/store/memory/cells.ts
function createCellTable() {
  const accounts = /* @__PURE__ */ new Map();
  return {
    add: (deltas) => addAll(accounts, deltas),
    between(accountIds, from, until) {
      const cells2 = [];
      for (const accountId of new Set(accountIds)) {
        for (const cell2 of iterateCells(accounts, accountId))
          if (cell2.day >= from && cell2.day < until) cells2.push(cell2);
      }
      return cells2;
    },
    *all() {
      for (const accountId of accounts.keys()) yield* iterateCells(accounts, accountId);
    }
  };
}
function addAll(accounts, deltas) {
  let added = 0;
  const takeBack = () => {
    while (added > 0) {
      const delta = deltas[--added];
      if (delta !== void 0) addOne(accounts, delta, negateExact(delta.quantity));
    }
  };
  try {
    for (const delta of deltas) {
      addOne(accounts, delta, delta.quantity);
      added++;
    }
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
}
function addOne(accounts, { accountId, meterOrFeatureId, day }, quantity) {
  let cells2 = accounts.get(accountId);
  if (cells2 === void 0) accounts.set(accountId, cells2 = /* @__PURE__ */ new Map());
  let days = cells2.get(meterOrFeatureId);
  if (days === void 0) cells2.set(meterOrFeatureId, days = /* @__PURE__ */ new Map());
  const before = days.get(day);
  days.set(day, before === void 0 ? quantity : addExact(before, quantity));
}
function* iterateCells(accounts, accountId) {
  for (const [meterOrFeatureId, days] of accounts.get(accountId) ?? []) {
    for (const [day, quantity] of days) {
      if (!isZeroExact(quantity)) yield { accountId, meterOrFeatureId, day, quantity: decimalOfExact(quantity) };
    }
  }
}

// src/store/memory/sorted-list.ts
function createSortedList(compare) {
  let sorted = [];
  let added = [];
  const removed = /* @__PURE__ */ new Set();
  const dropRemoved = () => {
    const isLeft = (item) => !removed.has(item);
    sorted = sorted.filter(isLeft);
    added = added.filter(isLeft);
    removed.clear();
  };
  return {
    add(item) {
      if (!removed.delete(item)) added.push(item);
    },
    remove(item) {
      removed.add(item);
      if (removed.size * 2 > sorted.length + added.length) dropRemoved();
    },
    read() {
      if (removed.size > 0) dropRemoved();
      const [first] = added.sort(compare);
      if (first === void 0) return sorted;
      const last = sorted.at(-1);
      const all2 = [...sorted, ...added];
      sorted = last === void 0 || compare(last, first) <= 0 ? all2 : all2.sort(compare);
      added = [];
      return sorted;
    }
  };
}
function createNewestFirst(key) {
  const reversed = createSortedList((a, b) => compareNewest(key(b), key(a)));
  return {
    add: (item) => reversed.add(item),
    remove: (item) => reversed.remove(item),
    *after(last) {
      const items = reversed.read();
      const isAfter = (item) => last === void 0 || compareNewest(key(item), last) > 0;
      for (let index = findFirstNot(items, isAfter) - 1; index >= 0; index--) {
        const item = items[index];
        if (item !== void 0) yield item;
      }
    }
  };
}
function createIdsByInstant() {
  const entries = /* @__PURE__ */ new Map();
  const byInstant = createSortedList((a, b) => a.at - b.at);
  return {
    put(id, at2) {
      const before = entries.get(id);
      if (before?.at === at2) return;
      if (before !== void 0) byInstant.remove(before);
      const entry2 = { id, at: at2 };
      entries.set(id, entry2);
      byInstant.add(entry2);
    },
    upTo(instant, limit, afterId) {
      let ids = [];
      for (const { id, at: at2 } of byInstant.read()) {
        if (at2 > instant) break;
        if (afterId !== void 0 && compareIds(id, afterId) <= 0) continue;
        if (ids.push(id) >= 4 * limit) ids = ids.sort(compareIds).slice(0, limit);
      }
      return ids.sort(compareIds).slice(0, limit);
    }
  };
}
function findFirstNot(items, holds) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = low + high >>> 1;
    const item = items[middle];
    if (item !== void 0 && holds(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// src/store/memory/stored-event.ts
function toStoredEvent(event2, number) {
  const { accountId, attributes, dimensions } = event2.sent;
  const sent = {
    // Share the account's string instead of keeping the sender's copy.
    accountId: accountId === event2.accountId ? event2.accountId : accountId,
    attributes: (attributes ?? []).map((each) => ({ ...each })),
    dimensions: { ...dimensions }
  };
  return {
    number,
    referenceId: event2.referenceId,
    eventId: event2.eventId,
    accountId: event2.accountId,
    customerId: event2.customerId,
    schemaName: event2.schemaName,
    schemaVersion: event2.schemaVersion,
    timestamp: event2.timestamp,
    createdAt: event2.createdAt,
    sent,
    status: event2.status,
    description: event2.description,
    meterIds: event2.meterIds,
    quantities: event2.quantities,
    enriched: event2.enriched,
    feature: event2.feature
  };
}
function toRecord(event2) {
  return isNew(event2) ? toEventRecord(event2, event2.number) : event2;
}
function reservesId(event2) {
  return isCompleted(event2.status) && !isReverted(event2);
}
function isReverted(event2) {
  return !isNew(event2) && event2.reverted;
}
function overageFeature(event2) {
  const { feature } = event2;
  return feature === void 0 || feature.overage.isZero() || !reservesId(event2) ? void 0 : feature.featureId;
}
function isNew(event2) {
  return "sent" in event2;
}

// src/store/memory/events.ts
function createEventTable() {
  const events = {
    byReference: /* @__PURE__ */ new Map(),
    byEventId: /* @__PURE__ */ new Map(),
    listed: createNewestFirst(eventKey),
    accounts: /* @__PURE__ */ new Map()
  };
  let lastNumber = 0;
  return {
    lastNumber: () => lastNumber,
    put(event2) {
      const known = events.byReference.get(event2.referenceId);
      if (known !== void 0) removeFromLists(events, known);
      lastNumber = Math.max(lastNumber, event2.number);
      addEvent(events, event2);
    },
    remove(referenceId) {
      const known = events.byReference.get(referenceId);
      if (known === void 0) return;
      removeFromLists(events, known);
      events.byReference.delete(referenceId);
    },
    has: (referenceId) => events.byReference.has(referenceId),
    findAccepted(eventIds) {
      const known = new Set(eventIds.filter((each) => events.byEventId.has(each)));
      return [...known].flatMap((eventId) => findHolder(events, eventId) ?? []);
    },
    list: (filter, page) => listEvents(events, filter, page),
    toUndo: (...query) => listToUndo(events, ...query),
    async withOverage(accountId, featureId, { from, until }, { limit, afterNumber = -1 } = { limit: Infinity }) {
      const records = [];
      const all2 = events.accounts.get(accountId)?.overage.get(featureId)?.read() ?? [];
      const start = findFirstNot(all2, ({ number }) => number <= afterNumber);
      for (let index = start; index < all2.length && records.length < limit; index++) {
        const stored = all2[index];
        if (stored === void 0 || stored.timestamp < from * DAY_MS || stored.timestamp >= until * DAY_MS) continue;
        records.push(toRecord(stored));
      }
      if (records.length === limit) await sleep(0);
      return records;
    },
    lastSpent: (accountId, entryId) => findLastSpent(events, accountId, entryId),
    *all() {
      for (const stored of [...events.byReference.values()].sort(byNumber)) yield toRecord(stored);
    }
  };
}
function addEvent(events, stored) {
  const { eventId } = stored;
  events.byReference.set(stored.referenceId, stored);
  const same = events.byEventId.get(eventId);
  if (same === void 0) events.byEventId.set(eventId, stored);
  else if (Array.isArray(same)) same.push(stored);
  else events.byEventId.set(eventId, [same, stored]);
  events.listed.add(stored);
  const account2 = ensureAccount(events, stored.accountId);
  account2.listed.add(stored);
  const featureId = overageFeature(stored);
  if (featureId === void 0) return;
  const overage = account2.overage.get(featureId) ?? createSortedList(byNumber);
  account2.overage.set(featureId, overage);
  overage.add(stored);
}
function removeFromLists(events, stored) {
  const same = events.byEventId.get(stored.eventId);
  if (Array.isArray(same)) same.splice(same.indexOf(stored), 1);
  else events.byEventId.delete(stored.eventId);
  events.listed.remove(stored);
  const account2 = ensureAccount(events, stored.accountId);
  account2.listed.remove(stored);
  const featureId = overageFeature(stored);
  if (featureId !== void 0) account2.overage.get(featureId)?.remove(stored);
}
function ensureAccount({ accounts }, accountId) {
  const known = accounts.get(accountId);
  if (known !== void 0) return known;
  const account2 = { listed: createNewestFirst(eventKey), overage: /* @__PURE__ */ new Map() };
  accounts.set(accountId, account2);
  return account2;
}
function findHolder({ byEventId }, eventId) {
  const same = byEventId.get(eventId) ?? [];
  let holder;
  for (const stored of Array.isArray(same) ? same : [same]) {
    if (!reservesId(stored)) continue;
    if (holder === void 0 || stored.createdAt >= holder.createdAt) holder = stored;
  }
  if (holder === void 0) return void 0;
  const { referenceId, accountId, timestamp, createdAt } = holder;
  return { eventId, referenceId, accountId, timestamp, createdAt };
}
function findByIds(events, { referenceId, eventId }) {
  if (referenceId !== void 0) return [events.byReference.get(referenceId) ?? []].flat();
  return eventId === void 0 ? void 0 : [events.byEventId.get(eventId) ?? []].flat();
}
function listEvents(events, filter, { limit, after }) {
  const records = [];
  const source = filter.accountId === void 0 ? events : events.accounts.get(filter.accountId);
  const stored = findByIds(events, filter)?.filter((event2) => after === void 0 || compareNewest(eventKey(event2), after) > 0).sort((a, b) => compareNewest(eventKey(a), eventKey(b)));
  const oldest = filter.createdAt?.from ?? -Infinity;
  for (const event2 of stored ?? source?.listed.after(after) ?? []) {
    if (records.length === limit || event2.createdAt < oldest) break;
    if (matchesFilter(event2, filter)) records.push(toRecord(event2));
  }
  return records;
}
function listToUndo(events, accountId, filter, limit) {
  const stored = findByIds(events, filter) ?? events.accounts.get(accountId)?.listed.after() ?? [];
  const accountFilter = { ...filter, accountId, reverted: false };
  return [...stored].filter((event2) => matchesFilter(event2, accountFilter)).sort(byNumber).slice(0, limit).map(toRecord);
}
function findLastSpent({ accounts }, accountId, entryId) {
  let latest;
  for (const stored of accounts.get(accountId)?.listed.after() ?? []) {
    const { allocations = [] } = stored.feature ?? {};
    if (!reservesId(stored) || !allocations.some((each) => each.entryId === entryId)) continue;
    latest = Math.max(latest ?? stored.timestamp, stored.timestamp);
  }
  return latest;
}
var EVENT_FIELDS = ["accountId", "schemaName", "status", "eventId", "referenceId"];
function matchesFilter(event2, filter) {
  if (filter.reverted !== void 0 && isReverted(event2) !== filter.reverted) return false;
  for (const field of EVENT_FIELDS) if (filter[field] !== void 0 && event2[field] !== filter[field]) return false;
  const { accepted, timestamp, createdAt } = filter;
  return (accepted === void 0 || isCompleted(event2.status) === accepted) && isWithin(event2.timestamp, timestamp) && isWithin(event2.createdAt, createdAt);
}
function eventKey({ createdAt, referenceId }) {
  return { createdAt, id: referenceId };
}
function byNumber(a, b) {
  return a.number - b.number;
}

// src/store/memory/records.ts
function createOwnerLists({ owner, compare }) {
  const lists = /* @__PURE__ */ new Map();
  const add2 = (item) => {
    const id = owner(item);
    if (id === void 0) return;
    const items = lists.get(id) ?? [];
    const last = items.at(-1);
    const all2 = [...items, item];
    lists.set(id, last === void 0 || compare(last, item) <= 0 ? all2 : all2.sort(compare));
  };
  const remove = (item) => {
    const id = owner(item);
    if (id !== void 0) lists.set(id, lists.get(id)?.filter((other) => other !== item) ?? []);
  };
  return {
    of: (id) => lists.get(id) ?? [],
    add: add2,
    remove,
    replace(before, after) {
      const id = owner(after);
      const items = id === void 0 || owner(before) !== id ? void 0 : lists.get(id);
      if (id !== void 0 && items !== void 0 && compare(before, after) === 0) {
        lists.set(id, items.with(items.indexOf(before), after));
      } else {
        remove(before);
        add2(after);
      }
    }
  };
}
function createRecordTable(shape) {
  const { key } = shape;
  const slots = /* @__PURE__ */ new Map();
  const listed = createNewestFirst((slot) => slot.key);
  const owned = createOwnerLists(shape);
  const remove = (id) => {
    const slot = slots.get(id);
    if (slot === void 0) return;
    owned.remove(slot.item);
    listed.remove(slot);
    slots.delete(id);
  };
  return {
    get: (id) => slots.get(id)?.item,
    some: (ids) => [...new Set(ids)].flatMap((id) => slots.get(id)?.item ?? []),
    put(item) {
      const { id, createdAt } = key(item);
      const slot = slots.get(id);
      if (slot?.key.createdAt === createdAt) {
        owned.replace(slot.item, item);
        slot.item = item;
        return;
      }
      remove(id);
      const added = { key: { id, createdAt }, item };
      owned.add(item);
      listed.add(added);
      slots.set(id, added);
    },
    remove,
    of: owned.of,
    page({ limit, after }, isMatch, ownerId) {
      if (ownerId !== void 0) {
        const isAfter = (item) => after === void 0 || compareNewest(key(item), after) > 0;
        return owned.of(ownerId).filter((item) => isMatch(item) && isAfter(item)).sort((a, b) => compareNewest(key(a), key(b))).slice(0, limit);
      }
      const items = [];
      for (const { item } of listed.after(after)) {
        if (items.length >= limit) break;
        if (isMatch(item)) items.push(item);
      }
      return items;
    },
    *all() {
      for (const { item } of slots.values()) yield item;
    }
  };
}

// src/store/memory/state.ts
function emptyState() {
  const shared = { key: (item) => item, compare: compareOldest };
  const unowned = { ...shared, owner: () => void 0 };
  const ofAccount = { ...shared, owner: ({ accountId }) => accountId };
  const documentTables = DOCUMENT_KINDS.map((kind) => [kind, createRecordTable(unowned)]);
  return {
    revision: 0,
    documents: Object.fromEntries(documentTables),
    accounts: createRecordTable(unowned),
    dueAccounts: createIdsByInstant(),
    draftIndexEnds: createIdsByInstant(),
    drafts: createRecordTable({
      ...ofAccount,
      key: ({ id, listedAt: createdAt }) => ({ id, createdAt }),
      compare: (a, b) => a.listedAt - b.listedAt
    }),
    dueCredits: createRecordTable(ofAccount),
    events: createEventTable(),
    usage: createCellTable(),
    overage: createCellTable(),
    entries: createRecordTable(ofAccount),
    credits: createRecordTable(ofAccount),
    keptUsage: createRecordTable({
      ...ofAccount,
      key: ({ id, closedAt: createdAt }) => ({ id, createdAt }),
      compare: compareByDays
    }),
    invoices: createRecordTable({
      ...ofAccount,
      key: ({ id, invoice: invoice2 }) => ({ id, createdAt: listingInstant(invoice2) }),
      compare: compareByDate
    })
  };
}
function compareByDate(a, b) {
  return compareIds(a.invoice.invoiceDate, b.invoice.invoiceDate) || compareIds(a.id, b.id);
}
function compareByDays(a, b) {
  return a.from - b.from || compareIds(a.id, b.id);
}
function applyChanges(state, changes) {
  const { newEvents = [], usage: _usage, overage: _overage, configurationRevision, ...records } = changes;
  readAll(records);
  const { events } = state;
  const firstNumber = events.lastNumber() + 1;
  const storedEvents = newEvents.map((event2, index) => toStoredEvent(event2, firstNumber + index));
  for (const { referenceId } of storedEvents) {
    if (events.has(referenceId)) throw idCollision("event", referenceId, "reference id");
  }
  addCells(state, changes);
  const { documents } = state;
  for (const { kind, id } of records.removedDocuments ?? []) documents[kind].remove(id);
  for (const document2 of records.documents ?? []) documents[document2.kind].put(document2);
  for (const account2 of records.accounts ?? []) putAccount(state, account2);
  putAll(events, storedEvents);
  putAll(events, records.events);
  for (const { referenceId } of records.removedEvents ?? []) events.remove(referenceId);
  putAll(state.entries, records.entries);
  putAll(state.credits, records.credits);
  putAll(state.invoices, records.invoices);
  putAll(state.keptUsage, records.keptUsage);
  state.revision = configurationRevision ?? state.revision;
}
function putAll(table, items = []) {
  for (const item of items) table.put(item);
}
function readAll(changes) {
  for (const records of Object.values(changes)) for (const record of records) Object.values(record);
  for (const { invoice: invoice2 } of changes.invoices ?? []) listingInstant(invoice2);
}
function putAccount(state, account2) {
  const { id: accountId, nextDueAt, drafts: index } = account2;
  const before = state.accounts.get(accountId);
  state.accounts.put(account2);
  state.dueAccounts.put(accountId, nextDueAt);
  if (before !== void 0 && before.drafts === index) return;
  const { drafts, dueCredits } = state;
  for (const { id } of drafts.of(accountId)) drafts.remove(id);
  for (const { id } of dueCredits.of(accountId)) dueCredits.remove(id);
  for (const draft of index?.places ?? []) drafts.put({ ...draft, accountId });
  for (const credit2 of index?.credits ?? []) dueCredits.put({ ...credit2, accountId });
  state.draftIndexEnds.put(accountId, draftIndexKnownUntil(index));
}
function addCells({ usage, overage }, changes) {
  const takeBack = usage.add(changes.usage ?? []);
  try {
    overage.add(changes.overage ?? []);
  } catch (error) {
    takeBack();
    throw error;
  }
}

// src/store/memory/snapshot.ts
var FORMAT = "ratebook memory store";
var VERSION = 3;
var VERSIONS = /* @__PURE__ */ new Set([1, 2, VERSION]);
function writeSnapshot(state) {
  const changes = {
    documents: DOCUMENT_KINDS.flatMap((kind) => [...state.documents[kind].all()]),
    accounts: [...state.accounts.all()],
    events: [...state.events.all()],
    usage: [...state.usage.all()],
    overage: [...state.overage.all()],
    entries: [...state.entries.all()],
    credits: [...state.credits.all()],
    invoices: [...state.invoices.all()],
    keptUsage: [...state.keptUsage.all()]
  };
  return serializeRecord({ format: FORMAT, version: VERSION, revision: state.revision, changes });
}
function readSnapshotText(snapshot) {
  const state = emptyState();
  try {
    const { format, version, revision, changes } = parseRecord(snapshot);
    if (format !== FORMAT || !VERSIONS.has(version) || typeof revision !== "number") {
      throw invalidSnapshot(`expected a ${FORMAT} of version ${VERSION}`);
    }
    const { usage = [], overage = [], ...records } = changes;
    const { events = [], entries = [], credits = [], invoices = [] } = records;
    const converted = version === VERSION ? {} : { ...addCreditKinds(credits, invoices), entries: entries.map(convertEntry) };
    applyChanges(state, {
      ...records,
      ...converted,
      events: events.map(toEvent),
      usage: usage.map(toDelta),
      overage: overage.map(toDelta)
    });
    state.revision = revision;
  } catch (error) {
    if (error instanceof RatebookError && error.code === "ERR_JSON_INVALID") throw error;
    throw invalidSnapshot(error instanceof Error ? error.message : String(error), error);
  }
  return state;
}
function toEvent(event2) {
  return { ...event2, description: describeStored(event2.status, event2.description) };
}
function toDelta({ accountId, itemId = "", meterOrFeatureId = itemId, day, quantity }) {
  return { accountId, meterOrFeatureId, day, quantity: exactOfDecimal(quantity) };
}
function invalidSnapshot(reason, cause) {
  const message = `not a snapshot: ${reason.slice(0, 200)}`;
  return new RatebookError("ERR_JSON_INVALID", message, {}, { cause });
}

// src/store/memory/view.ts
function createView(state) {
  const { documents, accounts, drafts, dueCredits, events, usage, overage, entries, credits, invoices } = state;
  return {
    configurationRevision: async () => state.revision,
    document: async (kind, id) => documents[kind].get(id),
    documentsOf: async (kind, ids) => documents[kind].some(ids),
    allDocuments: async (kind) => [...documents[kind].all()].sort(compareOldest),
    documents: async (kind, page) => documents[kind].page(page, () => true),
    accounts: async (ids) => accounts.some(ids),
    accountList: async ({ customerId, status, invoiceGroupId }, page) => accounts.page(
      page,
      (account2) => (customerId === void 0 || account2.customerId === customerId) && (status === void 0 || account2.status === status) && (invoiceGroupId === void 0 || account2.invoiceGroupId === invoiceGroupId)
    ),
    accountsBehind: async (instant, limit, afterId) => state.dueAccounts.upTo(instant, limit, afterId),
    accountsWithStaleDraftIndex: async (instant, limit, afterId) => state.draftIndexEnds.upTo(instant, limit, afterId),
    draftList: async (filter, page) => {
      const customerOf = (accountId) => accounts.get(accountId)?.customerId;
      const isMatch = createDraftFilter(filter, customerOf);
      if (filter.id !== void 0) return drafts.some([filter.id]).filter(isMatch);
      return drafts.page(page, isMatch, filter.accountId);
    },
    acceptedIds: async (eventIds) => events.findAccepted(eventIds),
    events: async (filter, page) => events.list(filter, page),
    eventsToUndo: async (accountId, filter, limit = Infinity) => events.toUndo(accountId, filter, limit),
    eventsWithOverage: (accountId, featureId, from, until, page) => events.withOverage(accountId, featureId, { from, until }, page),
    lastSpent: async (entryId, accountId) => events.lastSpent(accountId, entryId),
    usage: async (accountIds, from, until) => usage.between(accountIds, from, until),
    overage: async (accountIds, from, until) => overage.between(accountIds, from, until),
    keptUsage: async (accountIds, from, until) => mergeInOrder(
      accountIds,
      (id) => state.keptUsage.of(id).filter((billed) => billed.from < until && billed.until > from),
      compareByDays
    ),
    entries: async (accountIds, featureId) => {
      const isMatch = createFeatureFilter(featureId);
      return mergeInOrder(accountIds, (id) => entries.of(id).filter(isMatch), compareOldest);
    },
    entryList: async (accountId, featureId, page) => entries.page(page, createFeatureFilter(featureId), accountId),
    credits: async (accountIds) => mergeInOrder(accountIds, (id) => credits.of(id), compareOldest),
    credit: async (id) => credits.get(id),
    creditList: async (filter, page) => credits.page(page, createCreditFilter(filter), filter.accountId),
    dueCreditList: async ({ id, dueBy = Infinity }, page) => id === void 0 ? dueCredits.page(page, ({ createdAt }) => createdAt <= dueBy) : dueCredits.some([id]).filter(({ createdAt }) => createdAt <= dueBy),
    invoices: async (accountIds, since) => {
      const isListed = ({ invoice: invoice2 }) => since === -Infinity || listingInstant(invoice2) >= since;
      return mergeInOrder(accountIds, (id) => invoices.of(id).filter(isListed), compareByDate);
    },
    invoice: async (id) => invoices.get(id),
    invoiceList: async (filter, page) => invoices.page(page, createInvoiceFilter(filter), filter.accountId)
  };
}
function mergeInOrder(accountIds, of, compare) {
  const ids = [...new Set(accountIds)];
  const [only] = ids;
  return only !== void 0 && ids.length === 1 ? of(only) : ids.flatMap(of).sort(compare);
}
function createFeatureFilter(featureId) {
  return (entry2) => featureId === void 0 || entry2.featureId === featureId;
}
function createCreditFilter({
  state,
  endsBy = Infinity,
  endsAfter
}) {
  return (credit2) => {
    const { effectiveUntil = Infinity } = credit2;
    if (effectiveUntil > endsBy || endsAfter !== void 0 && effectiveUntil <= endsAfter) return false;
    return state === void 0 || creditStatus({ ...credit2, holdAmount: ZERO2 }) === state;
  };
}
function createInvoiceFilter({ customerId, status, period }) {
  const instants = /* @__PURE__ */ new Map();
  const parseCached = (text) => {
    const known = instants.get(text) ?? parseInstant(text);
    instants.set(text, known);
    return known;
  };
  return ({ invoice: invoice2 }) => {
    if (customerId !== void 0 && invoice2.customerId !== customerId) return false;
    if (status !== void 0 && invoice2.status !== status) return false;
    if (period === void 0) return true;
    return overlapsPeriod({ start: parseCached(invoice2.startDate), end: parseCached(invoice2.endDate) }, period);
  };
}
function createDraftFilter({ accountId, customerId, begunBy = Infinity, final, period }, customerOf) {
  return (draft) => (accountId === void 0 || draft.accountId === accountId) && (customerId === void 0 || customerOf(draft.accountId) === customerId) && draft.start <= begunBy && isWithin(draft.finalAt, final) && (period === void 0 || overlapsPeriod(draft, period));
}
function overlapsPeriod({ start, end }, { from, until }) {
  return start < until && end > from;
}

// src/store/memory/memory.ts
function memoryStore({ snapshot } = {}) {
  const state = snapshot === void 0 ? emptyState() : readSnapshotText(snapshot);
  const locks = createLocks();
  const view = createView(state);
  let closed = false;
  return {
    name: "memory",
    read: view,
    // Each call reads everything before it returns, so no commit can come in between.
    consistentView: () => view,
    async transact(scope, work) {
      if (closed) throw new RatebookError("ERR_STORE_UNAVAILABLE", "the store is closed", {});
      const release = await locks.take(scope);
      try {
        const { result, changes } = await work(view);
        applyChanges(state, changes);
        return result;
      } finally {
        release();
      }
    },
    snapshot: () => writeSnapshot(state),
    close: async () => {
      closed = true;
    }
  };
}

// ../../../tmp/h4/conf.ts
for (const { name, run } of storeConformance) {
  console.log(name);
  try {
    await run(async () => memoryStore());
  } catch (e) {
    console.log("FAIL", name, e);
  }
}
