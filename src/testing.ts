/**
 * `ratebook/testing`: arbitraries and laws to test your plans and books with fast-check, and the conformance suite of
 * storage adapters.
 *
 * @module
 */
export { storeConformance } from "./store/conformance.ts";
export type { ConformanceCase, OpenStore } from "./store/conformance/case.ts";
export { type BookArbitraryOptions, bookArbitrary } from "./testing/book-arbitrary.ts";
export {
  linesAddUp,
  orderOfEventsDoesNotMatter,
  previewMatchesInvoices,
  type RevenueBounds,
  revenueWithin,
  type BookWithShuffledEvents,
  undoRestoresUsage,
  type BookWithUndo,
  type BookWithEvents,
} from "./testing/book-laws.ts";
export {
  type BookWithSomeEvents,
  moreEventsNeverCostLess,
  repeatedMeasurementsDoNotMatter,
} from "./testing/price-laws.ts";
export {
  type EventContent,
  type EventOptions,
  eventsArbitrary,
  type GeneratedEvent,
} from "./testing/events-arbitrary.ts";
export type { ValueOrArbitrary } from "./testing/report.ts";
export {
  type HistoryEvent,
  historyArbitrary,
  type HistoryOptions,
  type HistoryStep,
  type HistoryRun,
  startHistory,
} from "./testing/history.ts";
export { planArbitrary, type PlanOptions } from "./testing/plan-arbitrary.ts";
export { neverDecreases, noJumpAbove, type PriceEdge, type QuantityPair } from "./testing/price-laws.ts";
export { type PlanInput, type QuantityCard, quantitiesArbitrary } from "./testing/report.ts";
export { rateTableArbitrary } from "./testing/price-arbitrary.ts";
export { type BookWithShuffledRows, orderOfRowsDoesNotMatter } from "./testing/price-laws.ts";
