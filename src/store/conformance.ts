/** The conformance suite of the storage interface: an adapter that passes it is complete. */
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
 * Every requirement of the storage interface as a case for any test runner. Each opens its own empty store and closes it.
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
