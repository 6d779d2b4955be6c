/**
 * Aliases over HTTP: alternative account names in events (S16.6).
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../../book/resources/requests.ts";
import type { AliasSnapshot } from "../../../engine/accounts/aliases.ts";
import { answerCreated, type Endpoint, defineEndpoint } from "../../http/endpoint.ts";
import { formatTime, timestamp, withoutAbsent } from "../../http/fields.ts";
import { withWireNames } from "../../http/wire-names.ts";
import {
  defineGetEndpoint,
  defineListEndpoint,
  defineRemoveEndpoint,
  type ResourceSpec,
} from "../resource-endpoints.ts";

const aliasShape = z
  .strictObject({
    value: z.string(),
    accountId: z.string().optional().meta({ description: "The id of the account; absent if the alias has none." }),
    createAt: timestamp,
    createdAt: timestamp.meta({ description: "Equal to `createAt`." }),
  })
  .meta({ id: "Alias" });

const ALIASES: ResourceSpec<AliasSnapshot> = {
  tag: "Aliases",
  path: "/aliases",
  idName: "alias",
  shape: aliasShape,
  toJson: toAliasJson,
};

export const ALIAS_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/aliases",
    id: "createAliases",
    tag: ALIASES.tag,
    summary: "Create several aliases, all or none",
    access: "write",
    body: z.strictObject({ aliases: REQUESTS.aliasCreate }),
    answers: { 201: z.strictObject({ data: z.array(aliasShape) }).meta({ id: "CreatedAliases" }) },
    handle: async ({ engine, body: { aliases } }) => {
      const newAliases = await withWireNames({ "": "aliases" }, engine.aliases.create(aliases));
      return answerCreated({ data: newAliases.map(toAliasJson) });
    },
  }),
  defineListEndpoint(ALIASES, {
    id: "listAliases",
    summary: "List aliases, newest first",
    filters: {},
    answerId: "AliasList",
    run: (engine, _, page) => engine.aliases.list({ page }),
  }),
  defineGetEndpoint(ALIASES, {
    id: "getAlias",
    summary: "Get an alias",
    run: (engine, alias) => engine.aliases.get(alias),
  }),
  defineRemoveEndpoint(ALIASES, {
    id: "removeAlias",
    summary: "Remove an alias",
    run: (engine, alias) => engine.aliases.remove(alias),
  }),
];

function toAliasJson({ value, accountId, createdAt }: AliasSnapshot): z.input<typeof aliasShape> {
  const at = formatTime(createdAt);
  return withoutAbsent({ value, accountId, createAt: at, createdAt: at });
}
