/** The conformance suite of the storage interface: an adapter that passes it is complete. */
import type { ConformanceCase } from "./conformance/case.ts";
import { historyCases } from "./conformance/histories.ts";
import { isolationCases } from "./conformance/isolation.ts";
import { ruleCases } from "./conformance/rules.ts";

/**
 * Every requirement of the storage interface as a case for any test runner. Each opens its own empty store and closes
 * it; a case of random changes and reads that fails opens further ones, to find the fewest steps that fail.
 *
 * @example
 * ```ts
 * import { storeConformance } from "ratebook/testing";
 *
 * for (const { name, run } of storeConformance) test(name, () => run(async () => openMyStore()));
 * ```
 */
export const storeConformance: readonly ConformanceCase[] = [...ruleCases, ...historyCases, ...isolationCases];
