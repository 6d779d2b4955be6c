/** Associates, dissociates and migrates the plans of accounts (S16.1, S16.2, S16.5). */
import { readRequest } from "../../book/reading/read-request.ts";
import type { PricePlanDetailsOverride, PricingCycleConfig } from "../../book/resources/price-plan.ts";
import type {
  AssociationRequest,
  DissociationRequest,
  MigrationRequest,
  RequestOutput,
} from "../../book/resources/requests.ts";
import { type CycleConfig, resolveCycleConfig } from "../../calendar/cycle.ts";
import type { Instant } from "../../calendar/instant.ts";
import { hasCode, invariant } from "../../errors.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { findAccountPlan, toStoredCycles } from "../../ledger/account/account-plan.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import {
  requireActivePlan,
  associate,
  type AssociateRequest,
  dissociate,
  type DissociateRequest,
} from "../../ledger/commands/associate.ts";
import { isOnSource, migrate, type MigrateRequest, type Migration } from "../../ledger/commands/migrate.ts";
import type { DocumentRecord } from "../../ledger/decision.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { invalidInputError, notFoundError } from "../../ledger/refusals.ts";
import { runWithPauses } from "../../store/yielder.ts";
import { listMatchingAccountIds } from "../all-accounts.ts";
import { type Configuration, readOverride } from "../configuration.ts";
import type { EngineContext } from "../methods.ts";
import { type DecisionState, decideOnAccount, lockAccounts, type OperationState, runOperation } from "../operation.ts";
import { type Page, pageKey, type PageOptions, readPage } from "../pages.ts";

/** A period in which an account has one version of a plan (S16.1). */
export interface PricingSchedule {
  /** The association's id. */
  readonly id: string;
  readonly pricePlanId: string;
  readonly version: number;
  readonly from: Instant;
  /** Exclusive; absent without an end. */
  readonly until?: Instant;
  /** When its cycles begin: from the plan, derived from an anniversary, or retained (S6.3, S16.5). */
  readonly cycleConfig: CycleConfig;
  /** Whole days, if retained from the previous plan. */
  readonly gracePeriodDays?: number;
  /** The association's override (S16.2). */
  readonly override?: PricePlanDetailsOverride;
}

/** A migration in a list. */
export type MigrationSnapshot = Readonly<Record<string, unknown>> & Pick<Migration, "id" | "createdAt">;

export async function associatePlan(
  context: EngineContext,
  accountId: string,
  input: AssociationRequest,
): Promise<readonly PricingSchedule[]> {
  const association = readRequest("associate", input);
  return runOperation(context, {
    scope: lockAccounts([accountId]),
    catchUp: "all",
    decide({ configuration, catalog, workspace, now }) {
      const account = workspace.account(accountId);
      const request: AssociateRequest = {
        planId: association.pricePlanId,
        version: association.version ?? undefined,
        from: association.effectiveFrom,
        until: association.effectiveUntil ?? undefined,
        override: readOverrideFor(configuration, account.record, association),
        retainStartOffsets: association.retainStartOffsets ?? undefined,
      };
      associate(catalog, account, request, now, context.ids);
      return { result: listAccountSchedules(catalog, account.record) };
    },
  });
}

export async function dissociatePlan(
  context: EngineContext,
  accountId: string,
  input: DissociationRequest,
): Promise<readonly PricingSchedule[]> {
  const dissociation = readRequest("dissociate", input);
  const request: DissociateRequest = {
    from: dissociation.effectiveFrom,
    until: dissociation.effectiveUntil ?? undefined,
    planId: dissociation.pricePlanId ?? undefined,
    version: dissociation.version ?? undefined,
  };
  return decideOnAccount(context, accountId, (catalog, account, now) => {
    dissociate(catalog, account, request, now, context.ids);
    return listAccountSchedules(catalog, account.record);
  });
}

/** The past, current and future plans of an account, earliest first. @throws {RatebookError} ERR_NOT_FOUND */
export async function listSchedules(context: EngineContext, accountId: string): Promise<readonly PricingSchedule[]> {
  const { catalog } = await context.configuration(context.store.read);
  const [record] = await context.store.read.accounts([accountId]);
  if (record === undefined) throw notFoundError("account", accountId);
  return listAccountSchedules(catalog, record);
}

export async function migratePlan(context: EngineContext, input: MigrationRequest): Promise<Migration> {
  const request = readRequest("migrate", input);
  if (request.pricingCycleConfig) checkCycles(request.pricingCycleConfig);
  const { store, clock, configuration } = context;
  return runOperation(context, {
    async scope() {
      // Read before the lock only to find the accounts to lock; under the exclusive lock there is no other writer.
      const { catalog } = await configuration(store.read);
      const accountIds = await accountsOnSource({ catalog, view: store.read, now: clock() }, [request]);
      return lockAccounts(accountIds, "exclusive")();
    },
    async needs(state) {
      const accountIds = await accountsOnSource(state, [request]);
      return { accountIds, decisionInput: accountIds };
    },
    async decide(state, accountIds) {
      const { migrations, documents } = await decideMigrations(context, state, accountIds, [request]);
      const [migration] = migrations;
      invariant(migration !== undefined, "S16.5: a request makes one migration");
      return { result: migration, changes: { documents } };
    },
  });
}

/** Checks cycles even if no account migrates. @throws {RatebookError} ERR_INPUT_INVALID */
function checkCycles(config: PricingCycleConfig): void {
  try {
    resolveCycleConfig(config, 0);
  } catch (error) {
    if (!hasCode(error, "ERR_CYCLE_INVALID")) throw error;
    throw invalidInputError(`pricingCycleConfig.${error.details.field}`, "INVALID_CYCLE", error.details.reason);
  }
}

/** The accounts that migrate with at least one of the requests. */
export async function accountsOnSource(
  { catalog, view, now }: Pick<OperationState, "catalog" | "view" | "now">,
  requests: readonly MigrateRequest[],
): Promise<readonly string[]> {
  return listMatchingAccountIds(view, (record) =>
    requests.some((request) => isOnSource(catalog, record, request, now)),
  );
}

/** Decides migrations in sequence; the operation must have the exclusive lock. */
export async function decideMigrations(
  { ids }: EngineContext,
  { catalog, workspace, now }: Pick<DecisionState, "catalog" | "workspace" | "now">,
  accountIds: readonly string[],
  requests: readonly MigrateRequest[],
): Promise<{ readonly migrations: readonly Migration[]; readonly documents: readonly DocumentRecord[] }> {
  const accounts = accountIds.map((id) => workspace.account(id));
  const migrations: Migration[] = [];
  const documents: DocumentRecord[] = [];
  for (const request of requests) {
    const { migration, document } = await runWithPauses(migrate(catalog, accounts, request, now, ids));
    migrations.push(migration);
    documents.push(document);
  }
  return { migrations, documents };
}

export async function listMigrations(context: EngineContext, options: PageOptions): Promise<Page<MigrationSnapshot>> {
  const page = await readPage(options, (request) => context.store.read.documents("migration", request), pageKey);
  return { ...page, items: page.items.map(({ id, createdAt, body }) => ({ ...body, id, createdAt })) };
}

function readOverrideFor(
  { catalog, documents, bookCache }: Configuration,
  { invoiceCurrency }: AccountRecord,
  { pricePlanDetailsOverride: override, pricePlanId, effectiveFrom, ...requested }: RequestOutput<"associate">,
): PricePlanDetailsOverride | undefined {
  if (override === undefined || override === null) return undefined;
  const { version } = requireActivePlan(catalog, pricePlanId, requested.version ?? undefined);
  return readOverride({ documents, bookCache }, { pricePlanId, version, effectiveFrom, invoiceCurrency, override });
}

function listAccountSchedules(catalog: Catalog, record: AccountRecord): readonly PricingSchedule[] {
  const { decisions, timeline } = findAccountPlan(catalog, record);
  return timeline.flatMap(({ from, until, plan }) => {
    // Decisions correspond to associations one to one, in the same order.
    const association = record.associations[decisions.findIndex((decision) => decision.plan === plan)];
    const override = association?.plan?.override;
    const { planId: pricePlanId, version } = plan;
    const cycles = toStoredCycles(plan, plan.details);
    const end = until >= NO_END ? {} : { until };
    const schedule = { id: association?.id ?? "", pricePlanId, version, from, ...end, ...cycles };
    return [override === undefined ? schedule : { ...schedule, override }];
  });
}
