/** Many concurrent clients with mixed operations, and the invariants of their accounts afterwards. */
import { expect } from "vitest";

import type { BookInput } from "../../src/book/resources/book.ts";
import { type Engine } from "../../src/engine/engine.ts";
import { sumMeter } from "../book/builder.ts";

/** The number of clients, and how long they run: at least a number of steps, and at least a time. */
export interface Crowd {
  readonly clients: number;
  readonly steps: number;
  /** Milliseconds. */
  readonly during: number;
  readonly url: string;
  readonly key: string;
}

/** The operations confirmed to the clients. */
export interface ClientRecords {
  /** The units that count, by account: of accepted events that were not undone. */
  readonly usage: Map<string, number>;
  /** Credits that were consumed and not returned, by account. */
  readonly takenByAccount: Map<string, number>;
  /** Ids of accepted events that count. */
  readonly counting: Set<string>;
  /** How many answers had each status. */
  readonly statuses: Map<number, number>;
}

/** Records without operations. */
export function createRecords(): ClientRecords {
  return { usage: new Map(), takenByAccount: new Map(), counting: new Set(), statuses: new Map() };
}

/** Accounts that all clients share. */
const ACCOUNTS = 8;
/** Credits granted to each account: fewer than the clients request. */
const GRANTED = 100;
const DAY = "2024-06-10";
const JUNE = { effectiveFrom: "2024-06-01", effectiveUntil: "2024-07-01" };

/** A book whose accounts are metered by calls, and have credits for chats. */
export const CROWD_BOOK = {
  eventSchemas: [
    { name: "calls", attributes: [{ name: "n" }], status: "ACTIVE" },
    { name: "chat", attributes: [{ name: "tokens" }], status: "ACTIVE" },
  ],
  features: [{ id: "chat", name: "Chat", schemaAssociations: ["chat"] }],
  usageMeters: [sumMeter("um.calls", "calls", "n")],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: Array.from({ length: ACCOUNTS }, (_, index) => ({
    id: accountAt(index),
    name: `Account ${index}`,
    customerId: "acme",
    featureCredits: [{ id: `fc${index}`, featureId: "chat", granted: GRANTED, ...JUNE }],
  })),
} satisfies BookInput;

/**
 * Runs the clients for a while.
 *
 * @throws if an answer is a 500, or does not match its request
 */
export async function crowd({ clients, steps, during, url, key }: Crowd): Promise<ClientRecords> {
  const records = createRecords();
  const until = Date.now() + during;
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const client = createClient(index, { url, key }, records);
      for (let step = 0; step < steps || Date.now() < until; step++) await client();
    }),
  );
  return records;
}

/** The accounts contain exactly what was confirmed to the clients. */
export async function checkAccounts(engine: Engine, { usage, takenByAccount, counting }: ClientRecords): Promise<void> {
  const accountIds = Array.from({ length: ACCOUNTS }, (_, index) => accountAt(index));
  const cells = await engine.usage({ accountIds, from: DAY, until: "2024-06-11T00:00:00Z" });
  const countsByAccount = new Map(cells.map(({ accountId, quantity }) => [accountId, quantity.toNumber()]));
  for (const accountId of accountIds) {
    expect([accountId, countsByAccount.get(accountId) ?? 0]).toEqual([accountId, usage.get(accountId) ?? 0]);
    const { balance, granted } = await engine.entries.balance({ accountId, featureId: "chat" });
    expect([accountId, granted.toNumber() - balance.toNumber()]).toEqual([
      accountId,
      takenByAccount.get(accountId) ?? 0,
    ]);
    expect(balance.isNegative()).toBe(false);
  }
  const storedIds = new Set<string>();
  let page: Awaited<ReturnType<Engine["events"]["list"]>> | undefined;
  do {
    page = await engine.events.list({ filter: { accepted: true }, page: { limit: 1000, after: page?.next } });
    for (const { eventId, reverted } of page.items) {
      if (reverted) continue;
      if (storedIds.has(eventId)) throw new Error(`${eventId} counts twice`);
      storedIds.add(eventId);
    }
  } while (page.next !== undefined);
  expect(storedIds).toEqual(counting);
}

/** One client: it sends one request after another, and records the answers. */
function createClient(client: number, to: Pick<Crowd, "url" | "key">, records: ClientRecords): () => Promise<void> {
  let step = 0;
  /** Its own events that count, which it may undo. */
  const own: { readonly id: string; readonly accountId: string; readonly n: number; readonly chat: boolean }[] = [];
  const sendRequest = (line: string, body?: object): Promise<Answer> => request(to, line, body, records);
  return async () => {
    step += 1;
    const accountId = accountAt(client + step);
    const n = 1 + ((client * 31 + step * 17) % 9);
    const id = `c${client}.${step}`;
    switch (step % 7) {
      case 0: {
        // The same event twice at once: both succeed, and one counts.
        const event = callOf(id, accountId, n);
        const both = await Promise.all([
          sendRequest("POST /ingest", { event }),
          sendRequest("POST /ingest", { event }),
        ]);
        expect(both.map(({ status, json }) => [status, json.success])).toEqual([
          [202, true],
          [202, true],
        ]);
        note(records.usage, accountId, n);
        records.counting.add(id);
        break;
      }
      case 1:
      case 2: {
        const event = chatOf(id, accountId, n);
        const { status } = await sendRequest("POST /entitled", { event });
        expect([200, 422]).toContain(status);
        if (status !== 200) break;
        note(records.takenByAccount, accountId, n);
        records.counting.add(id);
        own.push({ id, accountId, n, chat: true });
        break;
      }
      case 3: {
        const { events, record } = createBatch(id, client, n, records);
        const { status, json } = await sendRequest("POST /ingestBatch", { events });
        expect([status, json.success]).toEqual([202, true]);
        record();
        own.push({ id: `${id}.0`, accountId: accountAt(client), n, chat: false });
        break;
      }
      case 4: {
        const event = own.shift();
        if (event === undefined) break;
        const { json } = await sendRequest(`DELETE /events?account_id=${event.accountId}&event_id=${event.id}`);
        expect(json.data?.map((each) => each.status)).toEqual(["REVERTED"]);
        note(event.chat ? records.takenByAccount : records.usage, event.accountId, -event.n);
        records.counting.delete(event.id);
        break;
      }
      case 5: {
        const { json } = await sendRequest(`GET /accounts/${accountId}/features/chat`);
        expect(json.balance).toBeGreaterThanOrEqual(0);
        expect(json.balance).toBeLessThanOrEqual(GRANTED);
        break;
      }
      default:
        expect((await sendRequest(`GET /events?account_id=${accountId}&pageSize=5`)).status).toBe(200);
    }
  };
}

/** A client that repeats each request until it is answered, which must not count anything twice. */
export function steadyClient(
  client: number,
  to: Pick<Crowd, "url" | "key">,
  records: ClientRecords,
): () => Promise<void> {
  let step = 0;
  const insist = async (line: string, body: object): Promise<{ readonly status: number; readonly again: boolean }> => {
    for (let tries = 0; ; tries++) {
      const { status } = await request(to, line, body, records);
      if (status !== 503) return { status, again: tries > 0 };
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  return async () => {
    step += 1;
    const n = 1 + ((client * 31 + step * 17) % 9);
    const id = `s${client}.${step}`;
    const accountId = accountAt(client + step);
    if (step % 3 === 0) {
      const event = chatOf(id, accountId, n);
      const { status, again } = await insist("POST /entitled", { event });
      // A first request whose answer was lost may have consumed the credits: then the second one is told so.
      if (status !== 200 && !(status === 409 && again)) return;
      note(records.takenByAccount, accountId, n);
      records.counting.add(id);
      return;
    }
    const { events, record } = createBatch(id, client, n, records);
    await insist("POST /ingestBatch", { events });
    record();
  };
}

/** Adds units to those of an account. */
function note(of: Map<string, number>, accountId: string, n: number): void {
  of.set(accountId, (of.get(accountId) ?? 0) + n);
}

/** Ten calls of different accounts, and what records that they count. */
function createBatch(id: string, client: number, n: number, records: ClientRecords) {
  const calls = Array.from({ length: 10 }, (_, place) => ({
    id: `${id}.${place}`,
    accountId: accountAt(client + place),
  }));
  return {
    events: calls.map((each) => callOf(each.id, each.accountId, n)),
    record: (): void => {
      for (const each of calls) {
        note(records.usage, each.accountId, n);
        records.counting.add(each.id);
      }
    },
  };
}

interface Answer {
  readonly status: number;
  readonly json: {
    readonly success?: boolean;
    readonly balance?: number;
    readonly data?: readonly { readonly status: string }[];
  };
}

async function request(
  { url, key }: Pick<Crowd, "url" | "key">,
  line: string,
  body: object | undefined,
  records: ClientRecords,
): Promise<Answer> {
  const [method = "", path = ""] = line.split(" ");
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  records.statuses.set(response.status, (records.statuses.get(response.status) ?? 0) + 1);
  const text = await response.text();
  if (response.status >= 500 && response.status !== 503)
    throw new Error(`${line} was answered ${response.status}: ${text}`);
  return { status: response.status, json: JSON.parse(text) as Answer["json"] };
}

function chatOf(id: string, accountId: string, n: number): object {
  return { ...callOf(id, accountId, n), schemaName: "chat", attributes: [{ name: "tokens", value: n }] };
}

/** An event of calls. */
export function callOf(id: string, accountId: string, n: number): object {
  return { schemaName: "calls", id, accountId, timestamp: `${DAY}T08:00:00Z`, attributes: [{ name: "n", value: n }] };
}

function accountAt(index: number): string {
  return `account-${index % ACCOUNTS}`;
}
