/**
 * Creates, voids and reads monetary credits (S12).
 *
 * @module
 */
import { readRequest } from "../../book/reading/read-request.ts";
import { CARD_KIND_WORDS } from "../../book/resolving/resolve-plan.ts";
import type { CreditRequest } from "../../book/resources/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import type { AccountState } from "../../ledger/account-state.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { matchesId, isShortId } from "../../ledger/account/due-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import * as creditCommands from "../../ledger/commands/credits.ts";
import { type CreditSnapshot, creditSnapshots } from "../../ledger/commands/credits.ts";
import type { CreditRecord } from "../../ledger/records.ts";
import { invalidInputError, notFoundError } from "../../ledger/refusals.ts";
import { runWithPauses } from "../../store/yielder.ts";
import { findAccountsInId, accountsWithStaleDrafts } from "../all-accounts.ts";
import type { EngineContext } from "../context.ts";
import { decideOnAccount, lockAccounts, runOperation } from "../operation.ts";
import { projectAccount } from "../projected-accounts.ts";
import { collectSkipped, retryPerAccount } from "./skipped-accounts.ts";

/** Creates credits for accounts, all or none (S12). */
export async function createCredits(
  context: EngineContext,
  input: readonly CreditRequest[],
): Promise<readonly CreditSnapshot[]> {
  const requests = readRequest("creditCreate", input).map(
    ({ effectiveUntil, applicableEntityIds, idempotencyKey, ...request }) => ({
      ...request,
      effectiveUntil: effectiveUntil ?? undefined,
      applicableEntityIds: applicableEntityIds ?? undefined,
      idempotencyKey: idempotencyKey ?? undefined,
    }),
  );
  const accountIds = [...new Set(requests.map(({ accountId }) => accountId))];
  return runOperation(context, {
    scope: lockAccounts(accountIds),
    catchUp: "all",
    async decide({ catalog, workspace, now }) {
      checkEntities(catalog, requests);
      const createdCredits = creditCommands.createCredits(catalog, workspace, requests, now, context.ids);
      const byId = new Map<string, CreditSnapshot>();
      for (const id of accountIds) {
        const snapshots = await runWithPauses(creditSnapshots(catalog, workspace.account(id), now));
        for (const each of snapshots) byId.set(each.credit.id, each);
      }
      return { result: createdCredits.map(({ id }) => requireSnapshot(byId.get(id))) };
    },
  });
}

/** Voids a credit (S12.5). */
export async function voidCredit(context: EngineContext, id: string): Promise<CreditSnapshot> {
  const accountId = await accountOfCredit(context, id);
  return decideOnAccount(context, accountId, (catalog, work, now) =>
    findSnapshot(catalog, work, creditCommands.voidCredit(catalog, work, id, now), now),
  );
}

/** Reads a credit with the amount reserved by drafts (S12.4). */
export async function readCredit(context: EngineContext, id: string): Promise<CreditSnapshot> {
  const accountId = await accountOfCredit(context, id);
  return projectAccount(context, accountId, function* (catalog, work, now) {
    catchUp(catalog, work, now);
    const snapshot = (yield* creditSnapshots(catalog, work, now)).find(({ credit }) =>
      matchesId(accountId, credit.id, id),
    );
    if (snapshot === undefined) throw notFoundError("credit", id);
    return snapshot;
  });
}

/** The account of a credit; a due credit that is not stored yet is found in the draft indexes. */
async function accountOfCredit(context: EngineContext, id: string): Promise<string> {
  const { read } = context.store;
  const storedCredit = await read.credit(id);
  if (storedCredit !== undefined) return storedCredit.accountId;
  for await (const accountId of findAccountsThatMayHave(context, id)) {
    const matchingCredits = await retryPerAccount([accountId], collectSkipped(), () =>
      projectAccount(context, accountId, function* (catalog, work, now) {
        yield;
        catchUp(catalog, work, now);
        return work.credits().filter((credit) => matchesId(accountId, credit.id, id));
      }),
    );
    if (matchingCredits.length > 0) return accountId;
  }
  throw notFoundError("credit", id);
}

async function* findAccountsThatMayHave(
  { store: { read }, clock }: EngineContext,
  creditId: string,
): AsyncGenerator<string> {
  yield* await findAccountsInId(read, creditId);
  if (!isShortId("credit", creditId)) return;
  for (const { accountId } of await read.dueCreditList({ id: creditId }, { limit: 1 })) yield accountId;
  yield* accountsWithStaleDrafts(read, clock());
}

async function findSnapshot(
  catalog: Catalog,
  work: AccountState,
  credit: CreditRecord,
  now: Instant,
): Promise<CreditSnapshot> {
  const snapshots = await runWithPauses(creditSnapshots(catalog, work, now));
  return requireSnapshot(snapshots.find((each) => each.credit.id === credit.id));
}

function requireSnapshot(snapshot: CreditSnapshot | undefined): CreditSnapshot {
  invariant(snapshot !== undefined, "S12.4: a credit is among those of its account");
  return snapshot;
}

/** Checks that the applicableEntityIds of a credit exist (S12.2). */
function checkEntities(
  { book }: Catalog,
  requests: readonly { readonly applicableEntityIds?: readonly string[] | undefined }[],
): void {
  const existingIds = new Set([...book.usageMeters, ...book.addOns, ...book.features].map(({ id }) => id));
  for (const [index, { applicableEntityIds = [] }] of requests.entries()) {
    const unknown = applicableEntityIds.findIndex((id) => !existingIds.has(id) && !CARD_KIND_WORDS.has(id));
    if (unknown < 0) continue;
    const path = `[${index}].applicableEntityIds[${unknown}]`;
    throw invalidInputError(
      path,
      "UNKNOWN_ID",
      "expected the id of a usage meter, add-on or feature, or ALL_…_RATE_CARDS",
    );
  }
}
