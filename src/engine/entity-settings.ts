/** Settings of customers and accounts: created with them (S4.2) and read with them. */
import type { Setting } from "../book/resources/catalog-items.ts";
import type { AccountRequest } from "../book/resources/requests.ts";
import type { Instant } from "../calendar/instant.ts";
import { hasCode, inputError } from "../errors.ts";
import type { DocumentRecord } from "../ledger/decision.ts";
import { invalidInputError } from "../ledger/refusals.ts";
import { groupBy } from "../numbers/ids.ts";
import { quoteText } from "../problem-table.ts";
import type { Configuration } from "./configuration.ts";
import { listAllConfigured, checkDocuments, newDocument, type StoredResource } from "./configured-resources.ts";
import type { EngineContext } from "./methods.ts";

/** A stored setting. */
export type StoredSetting = StoredResource<Setting>;

/** The kinds of entity that have settings. */
export type SettingEntity = "CUSTOMER" | "ACCOUNT";

/** An entity created together with its settings. */
interface EntityWithSettings {
  readonly entityType: SettingEntity;
  readonly id: string;
  readonly settings: AccountRequest["settings"];
  /** The path prefix of its fields in messages: empty, or `account.`. */
  readonly pathPrefix: "" | "account.";
}

/** The settings of new entities. */
interface PreparedSettings {
  readonly documents: readonly DocumentRecord[];
  /** The configuration after the commit; undefined if there are no settings. */
  readonly newConfiguration: Configuration | undefined;
}

/**
 * Prepares settings for the commit that creates their entities. Each is checked against the configuration and the
 * settings before it.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with the path of the problem (`account.settings[1].value`)
 */
export async function prepareSettings(
  configuration: Configuration,
  entities: readonly EntityWithSettings[],
  now: Instant,
): Promise<PreparedSettings> {
  const documents: DocumentRecord[] = [];
  let current = configuration;
  for (const { entityType, id: entityId, settings, pathPrefix } of entities) {
    for (const [index, setting] of (settings ?? []).entries()) {
      const path = `${pathPrefix}settings[${index}]`;
      const document = newDocument("setting", { ...setting, entityType, entityId }, now);
      if (current.documents.setting.some(({ id }) => id === document.id)) {
        throw invalidInputError(`${path}.id`, "REPEATED_ITEM", `the setting ${quoteText(setting.id)} is repeated`);
      }
      try {
        const checked = await checkDocuments("setting", current, [document]);
        documents.push(...checked.documents);
        current = checked.after;
      } catch (error) {
        const [problem] = hasCode(error, "ERR_INPUT_INVALID") ? error.details.problems : [];
        if (problem === undefined) throw error;
        throw inputError([{ ...problem, path: `$.${path}${problem.path.slice(1)}` }]);
      }
    }
  }
  return { documents, newConfiguration: documents.length === 0 ? undefined : current };
}

/** The settings of customers or accounts by id, each oldest first. */
export async function readEntitySettings(
  context: EngineContext,
  entityType: SettingEntity,
  entityIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StoredSetting[]>> {
  const wantedIds = new Set<unknown>(entityIds);
  const settings = await listAllConfigured(
    context,
    "setting",
    ({ body }) => body.entityType === entityType && wantedIds.has(body.entityId),
  );
  return groupBy(settings, ({ item }) => item.entityId);
}
