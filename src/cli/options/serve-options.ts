/** Reads the options and environment variables of `ratebook serve`. */
import { isIP } from "node:net";

import { organizationRequest } from "../../book/resources/book.ts";
import { DAY_MS } from "../../calendar/instant.ts";
import { quoteText } from "../../event-files/input-error.ts";
import { ID_MEMORY_MS } from "../../ledger/catalog.ts";
import type { RateLimitOptions, RateLimits } from "../../server/access/rate-limits.ts";
import { LOG_LEVELS, type LogLevel } from "../../server/http/log.ts";
import type { ServeOptions } from "../../server/serve.ts";
import type { Arguments } from "../arguments.ts";
import { UsageError } from "../errors.ts";

export interface ServeArguments {
  readonly server: Omit<ServeOptions, "engine" | "log" | "clock">;
  readonly logLevel: LogLevel | undefined;
  /** Undefined if not set. */
  readonly organization: { readonly id: string | undefined; readonly baseCurrency: string | undefined } | undefined;
  /** The retention of events in milliseconds; undefined means unlimited. */
  readonly keepEventsMs: number | undefined;
  /** How many years in the past the first plan of an account may start. */
  readonly associationYearsMax: number;
  /** The first key, from the environment. */
  readonly apiKey: string | undefined;
}

const LIMIT_NAMES = ["ingest", "ingestBatch", "entitled", "rest"] as const satisfies readonly (keyof RateLimits)[];
const MS_BY_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const SECRET_BYTES_MIN = 32;
const ASSOCIATION_YEARS_DEFAULT = 10;
const API_KEY_PATTERN = /^rb_[0-9A-Za-z]{43}$/;

/** @throws {UsageError} for the first invalid option or variable */
export function readServeArguments(args: Arguments, env: Readonly<Record<string, string | undefined>>): ServeArguments {
  const [extra] = args.positionals;
  if (extra !== undefined) throw new UsageError(`serve takes only options, got ${quoteText(extra)}`);
  const id = readOption(args, "organization", (text) => parseOrganizationField("id", text));
  const baseCurrency = readOption(args, "currency", (text) => parseOrganizationField("baseCurrency", text));
  return {
    server: {
      host: args.value("host"),
      port: readOption(args, "port", parsePort),
      prefix: readOption(args, "prefix", parsePrefix),
      publicUrl: readOption(args, "public-url", parseUrl),
      rateLimits: readOption(args, "rate-limits", parseRateLimits),
      trustProxy: readOption(args, "trust-proxy", parseProxies),
      billRunInterval: readOption(args, "bill-run-interval", parseInterval),
      jwtSecret: readVariable(env, "RATEBOOK_JWT_SECRET", (text) =>
        Buffer.byteLength(text) < SECRET_BYTES_MIN ? `at least ${SECRET_BYTES_MIN} bytes` : undefined,
      ),
    },
    keepEventsMs: readRetention(args),
    associationYearsMax: readOption(args, "association-years", parseYears) ?? ASSOCIATION_YEARS_DEFAULT,
    logLevel: LOG_LEVELS.find((level) => level === args.value("log-level")),
    organization: id === undefined && baseCurrency === undefined ? undefined : { id, baseCurrency },
    apiKey: readVariable(env, "RATEBOOK_API_KEY", (text) =>
      API_KEY_PATTERN.test(text) ? undefined : "rb_ and 43 letters or digits",
    ),
  };
}

function readOption<Value>(
  args: Arguments,
  name: string,
  parse: (text: string) => Value | undefined,
): Value | undefined {
  const text = args.value(name);
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value === undefined)
    throw new UsageError(`--${name}: expected ${EXPECTATIONS[name] ?? "another value"}, got ${quoteText(text)}`);
  return value;
}

const EXPECTATIONS: Readonly<Record<string, string>> = {
  organization: "an id of at most 50 characters without spaces or slashes",
  currency: "an ISO 4217 currency code such as USD",
  port: "a whole number from 0 to 65535",
  prefix: "a path such as /v1",
  "public-url": "an address such as https://billing.example.com/v1",
  "rate-limits": "off, or limits such as ingest=50/500,rest=10/200 (ingest, ingestBatch, entitled, rest)",
  "trust-proxy": "a number of proxies, or addresses such as 10.0.0.0/8,192.168.1.1",
  "keep-events": "forever, or days such as 400d, at least 45d",
  "association-years": "a whole number from 1 to 999",
  "bill-run-interval": "off, or a time such as 90s, 10m or 1h, of at most 24h",
};

/** Parses a field of the organization. */
function parseOrganizationField(field: "id" | "baseCurrency", text: string): string | undefined {
  return organizationRequest.safeParse({ [field]: text }).success ? text : undefined;
}

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function parsePrefix(text: string): string | undefined {
  return /^(?:\/[\w.~-]+)+$/.test(text) ? text : undefined;
}

function parseUrl(text: string): string | undefined {
  const isHttp = /^https?:\/\//.test(text) && URL.canParse(text);
  return isHttp ? text : undefined;
}

function parseRateLimits(text: string): RateLimitOptions | undefined {
  if (text === "off") return "off";
  const limits: Partial<Record<keyof RateLimits, RateLimits["rest"]>> = {};
  for (const part of text.split(",")) {
    const [, name, perSecond, burst] = /^(\w+)=(\d{1,9}(?:\.\d{1,3})?)\/(\d{1,9})$/.exec(part) ?? [];
    const limitName = LIMIT_NAMES.find((each) => each === name);
    if (limitName === undefined || limits[limitName] !== undefined) return undefined;
    if (!(Number(perSecond) > 0) || Number(burst) < 1) return undefined;
    limits[limitName] = { perSecond: Number(perSecond), burst: Number(burst) };
  }
  return limits;
}

function parseProxies(text: string): number | string | undefined {
  if (text === "") return 1;
  if (/^\d+$/.test(text)) return Number(text) >= 1 && Number(text) <= 100 ? Number(text) : undefined;
  return text.split(",").every(isAddressRange) ? text : undefined;
}

/** Whether a text is an IP address, or a range in CIDR notation. */
function isAddressRange(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function parseInterval(text: string): number | undefined {
  if (text === "off") return 0;
  const [, count, unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const milliseconds = Number(count) * (MS_BY_UNIT[unit] ?? Number.NaN);
  return milliseconds > 0 && milliseconds <= 86_400_000 ? milliseconds : undefined;
}

/** The retention of events in milliseconds; undefined means unlimited. */
function readRetention(args: Arguments): number | undefined {
  const days = readOption(args, "keep-events", parseRetentionDays);
  return days === undefined || days === "forever" ? undefined : days * DAY_MS;
}

function parseRetentionDays(text: string): number | "forever" | undefined {
  if (text === "forever") return text;
  const [, count] = /^(\d{1,5})d$/.exec(text) ?? [];
  return Number(count) * DAY_MS >= ID_MEMORY_MS ? Number(count) : undefined;
}

function parseYears(text: string): number | undefined {
  return /^[1-9]\d{0,2}$/.test(text) ? Number(text) : undefined;
}

/** Reads an environment variable; empty means unset. Messages never contain its value. */
function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  explainInvalid: (text: string) => string | undefined,
): string | undefined {
  const text = env[name];
  if (text === undefined || text === "") return undefined;
  const expectation = explainInvalid(text);
  if (expectation !== undefined) throw new UsageError(`${name}: expected ${expectation}`);
  return text;
}
