/**
 * `ratebook/testing`: arbitraries and laws for one's own plans and books, on fast-check, and what authors of storage adapters
 * run against their own.
 *
 * @module
 */
export { storeConformance } from "./store/conformance.ts";
export type { ConformanceCase, OpenStore } from "./store/conformance/case.ts";
export { type BookArbitraryOptions, bookArbitrary } from "./testing/book-arbitrary.ts";
export {
  linesAddUp,
  orderOfEventsDoesNotMatter,
  previewIsInvoice,
  type RevenueBounds,
  revenueWithin,
  type ShuffledBook,
  undoRestores,
  type UndoneBook,
  type UsedBook,
} from "./testing/book-laws.ts";
export { type EventContent, type EventOptions, eventsFor, type SentEvent } from "./testing/events-arbitrary.ts";
export type { OneOrRandom } from "./testing/given.ts";
export {
  type HistoryEvent,
  historyFor,
  type HistoryOptions,
  type HistoryStep,
  type PlayedHistory,
  startHistory,
} from "./testing/history.ts";
export { planArbitrary, type PlanInput, type PlanOptions } from "./testing/plan-arbitrary.ts";
export { neverDecreases, noJumpAbove, type PriceEdge, type QuantityPair } from "./testing/plan-laws.ts";
export { type QuantityCard, quantitiesFor } from "./testing/quantities.ts";
