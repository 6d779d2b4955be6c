/** Every list whose items requests create: newest first, page by page, with its default page size. */
import { expect, test } from "vitest";

import { ACME, activePlan, addOn, CALLS, DETAILS, SUM, withAccount } from "../requests.ts";
import type { TestApi } from "../support.ts";

/** What a request for the next item may need. */
interface Ids {
  readonly feature: string;
  readonly license: string;
  readonly plans: readonly [string, string];
}

/** The body of the request for the nth item; the last value tells whether the last page has `nextToken: null`. */
type ListRow = readonly [
  list: string,
  pageSize: number,
  path: string,
  body: (n: number, ids: Ids) => object,
  hasNull: boolean,
];

const MONTH = { effectiveFrom: "2024-06-01", effectiveUntil: "2024-07-01" };
const CREDIT = { accountId: "prod", purpose: "Goodwill", effectiveFrom: "2024-06-01", creditAmount: 100 };
const MIGRATION = { sourceVersion: 1, targetVersion: 1, migrationMode: "IMMEDIATE" };
const GROUP = { email: "bills@acme.test", dailyInvoiceConsolidation: true };
const SETTING = { value: "2", namespace: "USER", name: "Factor", dataType: "STRING" };

const LISTS: readonly ListRow[] = [
  ["/customers", 20, "/customers", (n) => ({ ...ACME, id: `c-${n}` }), true],
  ["/accounts", 20, "/accounts", (n) => ({ id: `a-${n}`, name: "Acme", customerId: "acme" }), true],
  ["/aliases", 20, "/aliases", (n) => ({ aliases: [{ value: `v-${n}` }] }), true],
  ["/invoice_groups", 20, "/invoice_groups", (n) => ({ ...GROUP, name: `g-${n}`, accountIds: [`p-${n}`] }), true],
  ["/event_schema", 20, "/event_schema", (n) => ({ ...CALLS, name: `s-${n}` }), true],
  ["/usage_meters", 20, "/usage_meters", (n) => ({ ...SUM, name: `m-${n}` }), true],
  ["/features", 20, "/features", (n) => ({ name: `f-${n}` }), true],
  ["/addons", 20, "/addons", (n) => ({ name: `o-${n}`, type: "LICENSE" }), true],
  ["/price_plans", 20, "/price_plans", (n) => ({ name: `pp-${n}`, pricePlanDetails: DETAILS }), true],
  ["/settings", 20, "/settings", (n) => ({ ...SETTING, id: `k-${n}` }), true],
  [
    "/migrations",
    20,
    "/migrations/price_plan",
    (_, { plans: [sourceId, targetId] }) => ({ ...MIGRATION, sourceId, targetId }),
    true,
  ],
  ["/credits", 50, "/credits", (n) => ({ creditRequests: [{ ...CREDIT, priority: n }] }), false],
  [
    "/license_updates",
    50,
    "/license_updates",
    (n, { license: licenseId }) => ({ accountId: "prod", licenseId, updateType: "ABSOLUTE", quantity: n }),
    false,
  ],
  [
    "/accounts/prod/features/FEATURE/entries",
    50,
    "/accounts/prod/features/FEATURE/entries",
    (n) => ({ granted: n, ...MONTH }),
    true,
  ],
];

/** An API with what the requests refer to. */
async function startFilled(): Promise<{ readonly api: TestApi; readonly ids: Ids }> {
  const api = await withAccount();
  for (const n of [1, 2, 3]) await api.send("POST /accounts", { id: `p-${n}`, name: "Acme part", customerId: "acme" });
  await api.send("POST /event_schema", CALLS);
  const feature = (await api.send("POST /features", { name: "Calls" })).id;
  const license = await addOn(api.send, "LICENSE");
  const plans = [await activePlan(api.send, DETAILS, "Source"), await activePlan(api.send, DETAILS, "Target")] as const;
  return { api, ids: { feature, license, plans } };
}

test.each(LISTS)(
  "GET %s is newest first, with %i on a page by default",
  async (list, pageSize, path, body, hasNull) => {
    const { api, ids } = await startFilled();
    const fill = (url: string): string => url.replace("FEATURE", ids.feature);
    const get = async (query = ""): Promise<ReturnType<TestApi["send"]>> => api.send(`GET ${fill(list)}${query}`);
    const newest: unknown[] = [];
    for (const n of [1, 2, 3]) {
      api.at(`2024-06-15T13:00:0${n}Z`);
      await api.send(`POST ${fill(path)}`, body(n, ids));
      newest.unshift((await get()).data[0]);
    }
    const whole = await get();
    expect([whole.data.slice(0, 3), whole.context]).toEqual([newest, { pageSize }]);
    let page = await get("?pageSize=2");
    expect(page.data).toEqual(newest.slice(0, 2));
    const items = [...page.data];
    while (typeof page.nextToken === "string") {
      page = await get(`?nextToken=${page.nextToken}`);
      expect(page.context).toEqual({ pageSize: 2 });
      items.push(...page.data);
    }
    expect(items).toEqual(whole.data);
    expect([page.nextToken, Object.hasOwn(page, "nextToken")]).toEqual([hasNull ? null : undefined, hasNull]);
  },
);
