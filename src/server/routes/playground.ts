/**
 * The playground with the organization's price plans.
 *
 * @module
 */
import type { Engine } from "../../engine/engine.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { readPage } from "../../pages/page-file.ts";
import { findFirstPlanDay, createStateFromBook } from "../../pages/play/play-state.ts";
import { readPolicy, embedData } from "../../pages/self-contained-page.ts";
import { type Endpoint, defineEndpoint } from "../http/endpoint.ts";

/** The page, for callers with read permission. It is a single file and sends nothing back. */
export const PLAYGROUND_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "GET",
    path: "/play",
    id: "playground",
    tag: "Service",
    summary: "Get the playground with the organization's price plans",
    description:
      "An HTML page in which you change plans and usage and see the invoice. It contains the products, the newest account " +
      "that has a price plan, with its customer and credits, that account's plans, and the newest other plans, up to " +
      "1 MiB of plans in total. It contains no usage, and sends nothing.",
    access: "read",
    answers: { 200: "html" },
    handle: async ({ engine }) => {
      const html = embedData(await readPage("play"), JSON.stringify({ state: await readPageState(engine) }));
      return {
        status: 200,
        body: html,
        contentType: "text/html; charset=utf-8",
        headers: { "content-security-policy": readPolicy(html) },
      };
    },
  }),
];

/** The maximum length of the price plans in the page, as JSON. The page can only edit a few of them. */
const PRICE_PLANS_LENGTH = 1 << 20;

async function readPageState(engine: Engine): Promise<ReturnType<typeof createStateFromBook>> {
  const { book } = await engine.exportBook({ accountsMax: 1, pricePlansLength: PRICE_PLANS_LENGTH });
  // Groups refer to accounts that are not included.
  const bookWithoutGroups = { ...book, invoiceGroups: undefined };
  return createStateFromBook(stringifyJson(bookWithoutGroups, 2), "", findFirstPlanDay(bookWithoutGroups));
}
