import { describe, expect, test } from "vitest";

import { createPreview, type Preview, type PreviewOptions, preview } from "../../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { accountOn, calls, feeCards, perUnit, planOfMonths, sumMeter, tokenCards } from "../../book/builder.ts";
import { catalogBook, bookWithPlans, CATALOG } from "../../book/catalog-book.ts";
import { headOf } from "../../support/invoice-lines.ts";

const planWithCalls = (id: string, more: object = {}): object => planOfMonths(id, { ...calls(2), ...more });

const accounts = [
  { ...accountOn("acc", "ann", "plan", "2024-06-01"), aliases: ["alias-1"] },
  accountOn("bare", "ann"),
  { ...accountOn("yen", "ann", "plan.jpy", "2024-06-01"), invoiceCurrency: "JPY" },
  { ...accountOn("gone", "ann"), status: "ARCHIVED" },
];
const yenPlan = planWithCalls("plan.jpy", { supportedCurrencies: ["JPY"], usageRateCards: [] });
const draftPlan = planWithCalls("draft", feeCards(7));
const book = bookWithPlans([planWithCalls("plan"), yenPlan, draftPlan], { accounts });
const draft = book.pricePlans[2];

let ids = 0;
function nextCall(timestamp: string, n: number | string = 1, accountId = "acc"): EventInput {
  return { schemaName: "call", id: `call-${++ids}`, accountId, timestamp, attributes: [{ name: "n", value: n }] };
}

function headsIn({ invoices }: Preview): readonly string[] {
  return invoices.map((invoice) => `${invoice.accountId} ${headOf(invoice)} = ${invoice.revenueInfo.value.toFixed()}`);
}

function headsOf(events: readonly EventInput[], options?: PreviewOptions): readonly string[] {
  return headsIn(preview(book, events, options));
}

const june = nextCall("2024-06-05T00:00:00Z", 3);
const august = nextCall("2024-08-05T00:00:00Z", 4);

describe("the range of a preview", () => {
  test("is every cycle from the first event's to the last one's", () => {
    expect(headsOf([june, august])).toEqual([
      "acc STANDARD 2024-06-01/2024-07-01 on 2024-07-01 = 6",
      "acc STANDARD 2024-08-01/2024-09-01 on 2024-09-01 = 8",
    ]);
  });

  test("is the cycles that contain an instant", () => {
    expect(headsOf([june, august], { at: "2024-08-31T23:59:59.999Z" })).toEqual([
      "acc STANDARD 2024-08-01/2024-09-01 on 2024-09-01 = 8",
    ]);
    expect(headsOf([june, august], { at: "2024-09-01T00:00:00Z" })).toEqual([]);
  });

  test("S2.1 is the cycles that overlap [from, until)", () => {
    expect(headsOf([june, august], { from: "2024-06-30", until: "2024-08-01" })).toEqual([
      "acc STANDARD 2024-06-01/2024-07-01 on 2024-07-01 = 6",
    ]);
  });

  test("is empty without events", () => {
    expect(preview(book, [])).toEqual({ invoices: [], events: { read: 0 }, problems: [], notices: [] });
  });

  test.each<[string, PreviewOptions, string, string?]>([
    ["at together with from", { at: 0, from: 0 }, "use either `at`, or `from` and `until`"],
    ["from alone", { from: 0 }, "`from` and `until` must be given together"],
    [
      "an empty range",
      { from: "2024-06-01", until: "2024-06-01" },
      "`until` (2024-06-01) must be later than `from` (2024-06-01)",
    ],
    [
      "a range beyond the end of time",
      { from: "9998-01-01", until: "9999-06-01" },
      "`until`: expected a date up to 9999-01-01, which stands for no end, got 9999-06-01",
    ],
    ["an unknown account", { accounts: ["nobody"] }, 'no account has the id or alias "nobody"'],
    [
      "30 February",
      { from: "2024-02-30", until: "2024-03-01" },
      '"2024-02-30" is not a date: 2024-02 has days 01 to 29, not 30',
      "ERR_DATE_INVALID",
    ],
  ])("rejects %s", (_, options, message, code = "ERR_OPTION_INVALID") => {
    expect(() => preview(book, [], options)).toThrow(expect.objectContaining({ code, message }));
  });
});

describe("the range of the events", () => {
  const longBook = bookWithPlans([planWithCalls("plan")], {
    accounts: [accountOn("acc", "ann", "plan", "2024-01-01")],
  });
  const callWithId = (id: string, timestamp: string): EventInput => ({ ...nextCall(timestamp), id });
  const first = callWithId("one", "2024-01-05T00:00:00Z");
  // Ten years with the leap days of 2024, 2028 and 2032.
  const tenYears = callWithId("last", "2034-01-04T23:59:59.999Z");
  const later = callWithId("later", "2034-01-05T00:00:00Z");

  test("S13.5 is shown completely up to ten years", () => {
    const drafts = preview(longBook, [first, tenYears]);
    expect(drafts.notices).toEqual([]);
    expect(drafts.invoices.map(({ startDate }) => startDate.slice(0, 7))).toEqual(["2024-01", "2034-01"]);
  });

  test.each([
    ["a millisecond more", [first, later], "2034-01-05T00:00:00.000Z", "later"],
    ["the year 9998", [tenYears, callWithId("far", "9998-12-30T00:00:00Z"), first], "9998-12-30T00:00:00.000Z", "far"],
    [
      "two events of the last instant",
      [first, callWithId("far", "9998-12-30T00:00:00Z"), callWithId("too", "9998-12-30T00:00:00Z")],
      "9998-12-30T00:00:00.000Z",
      "far",
    ],
  ])("S13.5 is rejected beyond ten years, naming the first event and the last: %s", (_, events, last, id) => {
    expect(() => preview(longBook, events)).toThrow(
      expect.objectContaining({
        code: "ERR_OPTION_INVALID",
        message: `the events span more than ten years, from 2024-01-05T00:00:00.000Z (event "one") to ${last} (event "${id}"); if both dates are right, set \`at\`, or \`from\` and \`until\``,
      }),
    );
    expect(preview(longBook, events, { at: "2024-01-05" }).invoices).toHaveLength(1);
  });

  test("S13.5 is not extended by a rejected event, nor by a single distant one", () => {
    const badEvent = { ...(nextCall("9998-12-30T00:00:00Z") as object), accountId: "nobody" };
    expect(preview(longBook, [first, badEvent] as Iterable<EventInput>).invoices).toHaveLength(1);
    expect(preview(longBook, [nextCall("9998-12-30T00:00:00Z")]).invoices).toHaveLength(1);
  });
});

describe("the accounts of a preview", () => {
  test("S16.6 are named by id or alias", () => {
    const events = [june, nextCall("2024-06-06T00:00:00Z", 1, "bare")];
    expect(headsOf(events, { accounts: ["alias-1"] })).toEqual(headsOf(events, { accounts: ["acc"] }));
    expect(headsOf(events, { accounts: ["bare"] })).toEqual([]);
  });
});

describe("an account whose bill can't be calculated", () => {
  /** 20 digits before the point and 20 after it: its square has 80, and at a rate of 40 digits the amount has 120. */
  const longest = "99999999999999999999.99999999999999999999";
  const n = { var: "attribute.n" };
  const square = { ...sumMeter("um.square", "call", "n"), computations: [{ order: 1, computation: { "*": [n, n] } }] };
  const squares = planOfMonths("squares", { usageRateCards: [{ usageMeterId: "um.square", ...perUnit(longest) }] });
  const { usageMeters } = CATALOG.book as { readonly usageMeters: readonly object[] };
  const both = bookWithPlans([planWithCalls("plan"), squares], {
    usageMeters: [...usageMeters, square],
    accounts: [accountOn("long", "ann", "squares", "2024-06-01"), accountOn("acc", "ann", "plan", "2024-06-01")],
  });
  const long = nextCall("2024-06-04T00:00:00Z", longest, "long");
  const message = 'the account "long" cannot be billed: a result needs more than 100 significant digits';
  const without = { skipped: [{ accountId: "long", message }], notices: [`left out: ${message}`] };

  test("S1.4 S13.5 is skipped and named, and the others have their invoices", () => {
    const drafts = preview(both, [long, june]);
    expect(headsIn(drafts)).toEqual(["acc STANDARD 2024-06-01/2024-07-01 on 2024-07-01 = 6"]);
    expect(drafts).toMatchObject(without);
    expect(drafts.events).toEqual({ read: 2, INGESTION_COMPLETED_EVENT_METERED: 2 });
    const alone = preview(both, [long, june], { accounts: ["acc"] });
    expect(alone.invoices).toEqual(drafts.invoices);
    expect([alone.notices, alone.skipped]).toEqual([[], undefined]);
  });

  test("S1.4 S13.5 is an error with its name if it is requested explicitly", () => {
    for (const accountIds of [["long"], ["acc", "long"]]) {
      expect(() => preview(both, [long, june], { accounts: accountIds })).toThrow(
        expect.objectContaining({ code: "ERR_ARITHMETIC", message }),
      );
    }
  });

  test("S13.5 is skipped in later cycles too, in which it accepts no events", () => {
    const later = nextCall("2024-07-05T00:00:00Z", 1, "long");
    const drafts = preview(both, [long, june, later, nextCall("2024-07-06T00:00:00Z", 2)], {
      from: "2024-07-01",
      until: "2024-08-01",
    });
    expect(headsIn(drafts)).toEqual(["acc STANDARD 2024-07-01/2024-08-01 on 2024-08-01 = 4"]);
    expect(drafts).toMatchObject(without);
    expect(drafts.events).toEqual({ read: 4, INGESTION_COMPLETED_EVENT_METERED: 3, INGESTION_FAILED: 1 });
  });

  test("S13.5 is named for twenty accounts, and counted beyond; all are in `skipped`", () => {
    const many = Array.from({ length: 22 }, (_, place) => `long-${place}`);
    const crowd = bookWithPlans([squares], {
      usageMeters: [...usageMeters, square],
      accounts: many.map((id) => accountOn(id, "ann", "squares", "2024-06-01")),
    });
    const { notices, skipped } = preview(
      crowd,
      many.map((id) => nextCall("2024-06-04T00:00:00Z", longest, id)),
    );
    expect(skipped?.map(({ accountId }) => accountId)).toEqual(many);
    expect(notices).toHaveLength(21);
    expect(notices.at(-1)).toBe("left out: 2 more accounts that cannot be billed");
  });
});

describe("a draft plan", () => {
  test("replaces the accounts' plans, at their dates", () => {
    expect(headsOf([june], { plan: draft, accounts: ["acc"] })).toEqual([
      "acc STANDARD 2024-06-01/2024-07-01 on 2024-07-01 = 13",
    ]);
  });

  test("is assigned to an account without one from its first event's natural cycle on", () => {
    const first = nextCall("2024-05-20T00:00:00Z", 5, "bare");
    expect(headsOf([first, nextCall("2024-06-20T00:00:00Z", 1, "bare")], { plan: draft, accounts: ["bare"] })).toEqual([
      "bare STANDARD 2024-05-01/2024-06-01 on 2024-06-01 = 17",
      "bare STANDARD 2024-06-01/2024-07-01 on 2024-07-01 = 9",
    ]);
  });

  test("S14.1 does not start with an event whose id is in use by another account's event", () => {
    const first = { ...nextCall("2024-05-20T00:00:00Z"), id: "taken" };
    const repeat = { ...nextCall("2024-05-21T00:00:00Z", 5, "bare"), id: "taken" };
    const own = nextCall("2024-07-20T00:00:00Z", 1, "bare");
    expect(headsOf([first, repeat, own], { plan: draft, accounts: ["bare"] })).toEqual([
      "bare STANDARD 2024-07-01/2024-08-01 on 2024-08-01 = 9",
    ]);
  });

  test("S11.1 S11.3 starts with an event that consumes its grant, but not with one that needs more", () => {
    // Ten tokens a month for free, and 3 a month: 11 are too many, 4 start the plan in July and leave 6.
    const granting = bookWithPlans([planWithCalls("grants", { ...feeCards(3), ...tokenCards(10) })], {
      accounts: [accountOn("bare", "ann")],
    });
    const events = [
      nextCall("2024-05-20T00:00:00Z", 11, "bare"),
      nextCall("2024-07-20T00:00:00Z", 4, "bare"),
      nextCall("2024-07-21T00:00:00Z", 6, "bare"),
      nextCall("2024-07-22T00:00:00Z", 1, "bare"),
    ].map((event) => ({ ...event, schemaName: "token" }));
    const result = preview(granting, events, { plan: granting.pricePlans[0] });
    expect(result.problems.map(({ event, status, message }) => `${event} ${status} ${message}`)).toEqual([
      '1 INGESTION_FAILED_INSUFFICIENT_CREDITS The event needs 11 of the feature "feature.tokens"; the account has 0 left.',
      '4 INGESTION_FAILED_INSUFFICIENT_CREDITS The event needs 1 of the feature "feature.tokens"; the account has 0 left.',
    ]);
    expect(headsIn(result)).toEqual(["bare STANDARD 2024-07-01/2024-08-01 on 2024-08-01 = 3"]);
  });

  test("S7.7 skips accounts in a currency that it does not support, and reports them", () => {
    const { invoices, notices } = preview(book, [june], { plan: draft });
    expect(new Set(invoices.map(({ accountId }) => accountId))).toEqual(new Set(["acc"]));
    expect(notices).toEqual(["1 account is left out: the plan supports USD, not the invoice currency of yen (JPY)"]);
  });

  test.each([
    [
      "an account that is named",
      draft,
      ["acc", "yen"],
      'the plan "draft" supports USD, not the invoice currency of yen (JPY)',
    ],
    [
      "every account",
      draft && { ...draft, pricePlanDetails: { ...draft.pricePlanDetails, supportedCurrencies: ["EUR", "GBP"] } },
      undefined,
      'the plan "draft" supports EUR, GBP, not the invoice currency of acc (USD), bare (USD), yen (JPY)',
    ],
  ])("S7.7 is rejected if it does not support the currency of %s", (_, plan, accountIds, message) => {
    expect(() => preview(book, [june], { plan, accounts: accountIds })).toThrow(
      expect.objectContaining({ code: "ERR_OPTION_INVALID", message, details: { option: "plan" } }),
    );
  });
});

describe("the events of a preview", () => {
  test("S14.1 are counted by outcome, with a problem for each failed one", () => {
    const { events, problems } = preview(book, [
      june,
      june,
      nextCall("2024-06-05T00:00:00Z", 1, "nobody"),
      nextCall("2024-06-05T00:00:00Z", "three"),
      nextCall("2024-05-05T00:00:00Z"),
    ]);
    expect(events).toEqual({
      read: 5,
      INGESTION_COMPLETED_EVENT_METERED: 1,
      INGESTION_COMPLETED_EVENT_NOT_BILLED: 1,
      INGESTION_FAILED_DUPLICATE_EVENT: 1,
      INGESTION_FAILED_ACCOUNT_NOT_FOUND: 1,
      INGESTION_FAILED: 1,
    });
    expect(problems.map(({ event, status }) => [event, status])).toEqual([
      [2, "INGESTION_FAILED_DUPLICATE_EVENT"],
      [3, "INGESTION_FAILED_ACCOUNT_NOT_FOUND"],
      [4, "INGESTION_FAILED"],
    ]);
  });

  test("S14.1 are counted again without deduplication", () => {
    expect(headsOf([june, june], { ids: false })).toEqual(["acc STANDARD 2024-06-01/2024-07-01 on 2024-07-01 = 12"]);
  });

  test("one by one give the same result as together, and finishing twice has no effect", () => {
    const run = createPreview(book, {});
    for (const event of [june, august]) run.add(event);
    const { invoices } = preview(book, [june, august]);
    expect(run.finish().invoices).toEqual(invoices);
    expect(run.finish().invoices).toEqual(invoices);
  });

  test("may continue after reading an intermediate result", () => {
    const run = createPreview(book, {});
    run.add(june);
    expect(run.finish().invoices).toEqual(preview(book, [june]).invoices);
    run.add(august);
    expect(run.finish()).toMatchObject({ events: { read: 2 }, invoices: preview(book, [june, august]).invoices });
  });
});

describe("a caller without types", () => {
  const book = catalogBook({ pricePlans: [planWithCalls("plan"), yenPlan], accounts });
  const callPreview = preview as unknown as (...args: readonly unknown[]) => unknown;

  test.each<readonly [string, readonly unknown[], string]>([
    ["gives no events", [book], "events: expected a list or another iterable of events"],
    ["gives one event", [book, { id: "a" }], "events: expected a list or another iterable of events"],
    ["gives null as options", [book, [], null], "options: expected an object"],
    ["names one account", [book, [], { accounts: "acc" }], "accounts: expected a list of ids"],
    [
      "gives a plan as JSON",
      [book, [], { plan: { id: "x" } }],
      "plan: expected a price plan from checkPlan or readBook",
    ],
    ["asks for ids with true", [book, [], { ids: true }], "ids: expected false or an object with has() and admit()"],
  ])("who %s gets a one-sentence message", (_, args, sentence) => {
    expect(() => callPreview(...args)).toThrow(
      expect.objectContaining({ code: "ERR_OPTION_INVALID", message: sentence }) as Error,
    );
  });
});
