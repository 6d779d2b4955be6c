/**
 * The conformance suite of the storage port: what is not in it is not promised, and an adapter is done when it passes.
 *
 * @module
 */
import { atomicityCases } from "./conformance/atomicity.ts";
import type { ConformanceCase } from "./conformance/case.ts";
import { cellCases } from "./conformance/cells.ts";
import { configurationCases } from "./conformance/configuration.ts";
import { creditCases } from "./conformance/credits.ts";
import { eventCases } from "./conformance/events.ts";
import { invoiceCases } from "./conformance/invoices.ts";
import { isolationCases } from "./conformance/isolation.ts";
import { limitCases } from "./conformance/limits.ts";
import { listCases } from "./conformance/lists.ts";
import { recordCases } from "./conformance/records.ts";

/**
 * Every promise of the storage port as a case to run with any test runner. Each opens a store of its own that holds
 * nothing, and closes it.
 *
 * @example
 * ```ts
 * import { storeConformance } from "ratebook/testing";
 *
 * for (const { name, run } of storeConformance) test(name, () => run(async () => openMyStore()));
 * ```
 */
export const storeConformance: readonly ConformanceCase[] = [
  ...atomicityCases,
  ...isolationCases,
  ...configurationCases,
  ...eventCases,
  ...cellCases,
  ...recordCases,
  ...listCases,
  ...invoiceCases,
  ...creditCases,
  ...limitCases,
];
