/** A month of calls of four models, for a plan with a price cut on 15 October and a free million that all models share. */
import { readFileSync } from "node:fs";

import type { Call } from "../../warehouse/call-invoices.ts";

/** The text of the book. */
export const TOKEN_BOOK = readFileSync(new URL("book.json", import.meta.url), "utf8");

const callOf = (time: string, model: string, kind: string, tokens: number): Call => ({
  timestamp: `2026-10-${time}Z`,
  accountId: "acme",
  tokens,
  dimensions: { model, kind, region: "eu" },
});

/** Every model with every kind of tokens, and the last and the first instant of a price. */
export const TOKEN_CALLS: readonly Call[] = [
  callOf("01T00:00:00.000", "nova-large", "input", 3_000_000),
  callOf("04T09:30:00.000", "nova-large", "output", 400_000),
  callOf("05T10:00:00.000", "nova-large", "cached", 2_000_000),
  callOf("06T11:15:00.000", "nova-mini", "input", 9_000_000),
  callOf("07T12:00:00.000", "nova-mini", "output", 3_000_000),
  callOf("08T13:00:00.000", "nova-mini", "cached", 2_000_000),
  callOf("09T14:45:00.000", "nova-code", "input", 750_000),
  callOf("10T15:00:00.000", "nova-code", "output", 125_001),
  callOf("11T16:00:00.000", "nova-code", "cached", 300_000),
  callOf("12T17:00:00.000", "nova-vision", "input", 600_000),
  callOf("13T18:20:00.000", "nova-vision", "output", 50_000),
  callOf("14T19:00:00.000", "nova-vision", "cached", 40_000),
  callOf("14T23:59:59.999", "nova-large", "input", 1_000_000),
  callOf("15T00:00:00.000", "nova-large", "input", 1_000_000),
  callOf("20T08:00:00.000", "nova-large", "input", 1_500_500),
  callOf("31T23:59:59.999", "nova-large", "output", 100_001),
];
