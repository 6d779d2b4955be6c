/**
 * Looks up settings for rules, from the most specific level to the least, and parses them (S4.2).
 *
 * @module
 */
import type { Setting } from "../book/resources/catalog-items.ts";
import { parseValue } from "../numbers/decimal.ts";
import { exactOfDecimal } from "../numbers/exact.ts";
import { parseJson } from "../numbers/json.ts";
import type { RuleValue } from "../rules/value.ts";
import { toRuleValue } from "../rules/value.ts";

/** The account and customer whose settings apply. */
export interface SettingOwner {
  readonly accountId: string;
  readonly customerId: string;
}

/**
 * Finds a setting by `setting.<namespace>.<id>` in lower case or by its bare id: the account's own, else its
 * customer's, else the organization's; undefined if there is none.
 */
export type FindSetting = (key: string, owner: SettingOwner) => Setting | undefined;

/** The key of a setting in the dependencies of event schemas. */
export function fullKey({ namespace, id }: Pick<Setting, "namespace" | "id">): string {
  return `setting.${namespace}.${id}`.toLowerCase();
}

/** Indexes the settings of a book. */
export function createSettingFinder(settings: readonly Setting[]): FindSetting {
  const byOwner = new Map<string, Map<string, Setting>>();
  for (const setting of settings) {
    const owner = setting.entityType === "ORGANIZATION" ? "" : `${setting.entityType} ${setting.entityId}`;
    const byKey = byOwner.get(owner) ?? new Map<string, Setting>();
    byOwner.set(owner, byKey);
    const key = fullKey(setting);
    if (!byKey.has(key)) byKey.set(key, setting);
    if (!byKey.has(setting.id)) byKey.set(setting.id, setting);
  }
  return (key, { accountId, customerId }) => {
    for (const owner of [`ACCOUNT ${accountId}`, `CUSTOMER ${customerId}`, ""]) {
      const setting = byOwner.get(owner)?.get(key) ?? byOwner.get(owner)?.get(key.toLowerCase());
      if (setting !== undefined) return setting;
    }
    return undefined;
  };
}

/**
 * The value of a setting in a rule: NUMERIC is a decimal, JSON is its data, everything else a text (S4.2).
 *
 * @throws {RatebookError} ERR_NUMBER_INVALID or ERR_JSON_INVALID if the text does not match the data type
 */
export function parseSettingValue(setting: Setting): RuleValue {
  switch (setting.dataType) {
    case "NUMERIC":
      return exactOfDecimal(parseValue(setting.value));
    case "JSON":
      return toRuleValue(parseJson(setting.value));
    case "STRING":
    case "JSON_LOGIC":
      return setting.value;
  }
}
