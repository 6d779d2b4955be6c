/**
 * `ratebook/testing`: what authors of storage adapters run against their own.
 *
 * @module
 */
export { storeConformance } from "./store/conformance.ts";
export type { ConformanceCase, OpenStore } from "./store/conformance/case.ts";
