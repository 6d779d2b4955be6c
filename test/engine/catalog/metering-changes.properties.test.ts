/**
 * Schema versions, settings and meters change between events: an event counts by what was in force at its ingest, and
 * the same is undone (S4.2, S4.4, S5.3, S14.1, S15.3). The model follows only the rulebook.
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import { monthlyWithGrace, perUnit } from "../../book/builder.ts";
import { runs } from "../../support/runs.ts";
import { stepArbitrary } from "../../support/step-kinds.ts";
import { callEvent, collectStatuses, engineAt } from "../support.ts";

const DAY = 86_400_000;
const START = Date.parse("2024-01-01T00:00:00Z");
const GRACE_DAYS = 2;
const ACCOUNTS = ["a", "b"] as const;
const OWNERS = ["organization", "customer", "account"] as const;

const operation = stepArbitrary(
  {
    ingest: {
      id: fc.nat(25),
      account: fc.nat(1),
      // Hours before now; a negative number is in the future.
      back: fc.oneof(fc.integer({ min: -30, max: 72 }), fc.integer({ min: 0, max: 24 * 45 })),
      count: fc.integer({ min: -3, max: 20 }),
    },
    undo: { id: fc.nat(25), account: fc.nat(1) },
    setting: { owner: fc.nat(2), value: fc.integer({ min: -2, max: 5 }) },
    rule: { factor: fc.boolean(), plus: fc.integer({ min: 0, max: 3 }) },
    meter: { isActive: fc.boolean() },
    wait: { hours: fc.integer({ min: 1, max: 24 * 9 }) },
    finalize: {},
  },
  { ingest: 8, undo: 2, setting: 2, rule: 2, meter: 2, wait: 3 },
);
type Operation = typeof operation extends fc.Arbitrary<infer Drawn> ? Drawn : never;

interface ModelEvent {
  readonly id: string;
  readonly account: string;
  readonly timestamp: number;
  readonly status: string;
  readonly weight: number;
  readonly isCounted: boolean;
  isReverted: boolean;
}

/** The end of the month of an instant. */
function cycleEnd(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** The schema's computed field. */
function computedField({ factor, plus }: { readonly factor: boolean; readonly plus: number }) {
  const count = { var: "attribute.count" };
  const value = { "+": [factor ? { "*": [count, { var: "dependencies.factor" }] } : count, plus] };
  return { name: "weighted", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC", order: 1, value } as const;
}

/**
 * An engine with one schema, two meters and a plan that prices the first, and what the rulebook requires for its
 * events.
 */
class World {
  now = START;
  readonly #subject = engineAt(new Date(START).toISOString());
  readonly engine = this.#subject.engine;
  sum = "";
  extra = "";
  readonly events: ModelEvent[] = [];
  readonly #settings = new Map<string, number>([["organization", 2]]);
  #current = { factor: true, plus: 0 };
  #isExtraActive = true;
  #version = 1;

  async setUp(): Promise<void> {
    const { engine } = this;
    await engine.settings.create({ id: "factor", name: "factor", dataType: "NUMERIC", value: "2" });
    await engine.eventSchemas.create({
      name: "call",
      attributes: [{ name: "count" }],
      enrichments: { dependencies: [{ key: "factor", name: "factor" }], fields: [computedField(this.#current)] },
    });
    await engine.eventSchemas.activate("call");
    [this.sum, this.extra] = [await this.#meter("sum"), await this.#meter("extra")];
    const { item: plan } = await engine.pricePlans.create({
      name: "Plan",
      pricePlanDetails: {
        ...monthlyWithGrace(GRACE_DAYS),
        usageRateCards: [{ usageMeterId: this.sum, ...perUnit("0.25") }],
      },
    });
    await engine.pricePlans.activate(plan.id);
    await engine.customers.create({ id: "acme", name: "Acme" });
    for (const id of ACCOUNTS) {
      await engine.accounts.create({ id, name: `Account ${id}`, customerId: "acme" });
      await engine.associate(id, { pricePlanId: plan.id, effectiveFrom: "2024-01-01" });
    }
  }

  async #meter(name: string): Promise<string> {
    const { item } = await this.engine.usageMeters.create({
      name,
      aggregation: "SUM",
      eventSchemaName: "call",
      computations: [{ order: 1, computation: { var: "attribute.weighted" } }],
    });
    await this.engine.usageMeters.activate(item.id);
    return item.id;
  }

  wait(ms: number): void {
    this.now += ms;
    this.#subject.at(new Date(this.now).toISOString());
  }

  async apply(each: Operation): Promise<void> {
    this.wait(60_000);
    switch (each.kind) {
      case "wait":
        return this.wait(each.hours * 3_600_000);
      case "finalize":
        await this.engine.finalize();
        return;
      case "setting":
        return this.#set(OWNERS[each.owner] ?? "organization", each.value);
      case "rule":
        return this.#changeRule(each);
      case "meter":
        return this.#switchExtra(each.isActive);
      case "ingest":
        return this.#ingest(each);
      case "undo":
        return this.#undo(`e${each.id}`, ACCOUNTS[each.account] ?? "a");
    }
  }

  /** Sets the factor of an owner, creating the setting if necessary. */
  async #set(owner: (typeof OWNERS)[number], value: number): Promise<void> {
    const isNew = !this.#settings.has(owner);
    this.#settings.set(owner, value);
    const entities = { organization: [], customer: ["CUSTOMER", "acme"], account: ["ACCOUNT", "a"] } as const;
    const [entityType, entityId] = entities[owner];
    const id = ["setting.user.factor", ...entities[owner]].join(".");
    const request = { id: "factor", name: `factor ${owner}`, dataType: "NUMERIC", value: String(value) } as const;
    if (isNew) await this.engine.settings.create({ ...request, entityType, entityId });
    else await this.engine.settings.update(id, { value: String(value) });
  }

  async #changeRule({ factor, plus }: { readonly factor: boolean; readonly plus: number }): Promise<void> {
    if (factor !== this.#current.factor || plus !== this.#current.plus) this.#version++;
    this.#current = { factor, plus };
    await this.engine.eventSchemas.update("call", { enrichments: { fields: [computedField(this.#current)] } });
  }

  async #switchExtra(isActive: boolean): Promise<void> {
    if (isActive === this.#isExtraActive) return;
    this.#isExtraActive = isActive;
    await (isActive ? this.engine.usageMeters.activate(this.extra) : this.engine.usageMeters.deactivate(this.extra));
  }

  async #ingest(each: Operation & { readonly kind: "ingest" }): Promise<void> {
    const timestamp = this.now - each.back * 3_600_000;
    const [id, account] = [`e${each.id}`, ACCOUNTS[each.account] ?? "a"];
    const status = this.#expectedStatus(id, timestamp);
    const { dimensions: _, ...event } = callEvent(id, new Date(timestamp).toISOString(), each.count, account);
    expect(await collectStatuses(this.engine, event)).toEqual([status]);
    if (status === "INGESTION_FAILED_DUPLICATE_EVENT") return;
    const weight = each.count * this.#factorFor(account) + this.#current.plus;
    this.events.push({ id, account, timestamp, status, weight, isCounted: this.#isExtraActive, isReverted: false });
    const [stored] = await this.engine.events.get(id);
    expect(stored?.schemaVersion).toBe(this.#version);
  }

  /** The first row of S14.1 that applies; every rule of these schemas can be evaluated. */
  #expectedStatus(id: string, timestamp: number): string {
    if (this.events.some((event) => event.id === id && isCounted(event))) return "INGESTION_FAILED_DUPLICATE_EVENT";
    if (timestamp > this.now + DAY) return "INGESTION_FAILED";
    if (!this.#isOpen(timestamp)) return "INGESTION_FAILED_PAST_GRACE_PERIOD";
    return timestamp < START ? "INGESTION_COMPLETED_EVENT_NOT_BILLED" : "INGESTION_COMPLETED_EVENT_METERED";
  }

  /** The setting of the account, else of its customer, else of the organization (S4.2); 1 if the rule has none. */
  #factorFor(account: string): number {
    if (!this.#current.factor) return 1;
    const own = account === "a" ? this.#settings.get("account") : undefined;
    return own ?? this.#settings.get("customer") ?? this.#settings.get("organization") ?? 0;
  }

  #isOpen(timestamp: number): boolean {
    return timestamp < START || this.now < cycleEnd(timestamp) + GRACE_DAYS * DAY;
  }

  async #undo(id: string, account: string): Promise<void> {
    const revertible = this.events.filter(
      (event) => event.id === id && event.account === account && isCounted(event) && this.#isOpen(event.timestamp),
    );
    const undone = await this.engine.undo({ account, eventId: id });
    expect(undone.filter(({ status }) => status === "REVERTED")).toHaveLength(revertible.length);
    for (const event of revertible) event.isReverted = true;
  }

  /** Compares the usage of each day, and the total of every invoice. */
  async check(): Promise<void> {
    const countedEvents = this.events.filter(isCounted);
    const expected = new Map<string, number>();
    for (const event of countedEvents) {
      for (const meterId of event.isCounted ? [this.sum, this.extra] : [this.sum]) {
        const key = `${event.account} ${meterId} ${new Date(event.timestamp).toISOString().slice(0, 10)}`;
        expected.set(key, (expected.get(key) ?? 0) + event.weight);
      }
    }
    const range = { from: START - 90 * DAY, until: this.now + 40 * DAY };
    const usage = await this.engine.usage({ accountIds: [...ACCOUNTS], ...range });
    const foundUsage = usage.map(
      ({ accountId, meterId, date, quantity }) =>
        [`${accountId} ${meterId} ${date}`, Number(quantity.toFixed())] as const,
    );
    expect(withoutZeros(foundUsage)).toEqual(withoutZeros(expected));
    for (const { invoice } of (await this.engine.invoices.list({ page: { limit: 1000 } })).items) {
      const [from, until] = [Date.parse(invoice.startDate), Date.parse(invoice.endDate)];
      const units = countedEvents
        .filter(({ account, timestamp }) => account === invoice.accountId && from <= timestamp && timestamp < until)
        .reduce((total, { weight }) => total + weight, 0);
      expect(Number(invoice.revenueInfo.value.toFixed())).toBe(Math.max(units, 0) * 0.25);
    }
  }
}

function isCounted({ status, isReverted }: ModelEvent): boolean {
  return status.startsWith("INGESTION_COMPLETED") && !isReverted;
}

function withoutZeros(cells: Iterable<readonly [string, number]>): readonly (readonly [string, number])[] {
  return [...cells].filter(([, quantity]) => quantity !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
}

test("S4.2, S4.4, S5.3: events count by the versions, settings and meters in force at their ingest", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
      const world = new World();
      await world.setUp();
      for (const each of operations) await world.apply(each);
      await world.check();
    }),
    { numRuns: runs(500) },
  );
});
