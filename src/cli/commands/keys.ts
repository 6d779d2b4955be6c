/** `ratebook keys`: creates, lists and revokes the API keys of a database. */
import { formatInstant } from "../../calendar/instant.ts";
import { toPrintable } from "../../pages/printable.ts";
import { quoteText } from "../../problem-table.ts";
import type { ApiKey, ApiKeys } from "../../server/access/credentials.ts";
import type { Role } from "../../server/http/endpoint.ts";
import type { Arguments, Command } from "../arguments.ts";
import {
  databaseOption,
  databaseVariable,
  isMissingDirectory,
  requireDatabase,
  resolvePersistentDatabase,
  withStore,
} from "../database-option.ts";
import { UsageError } from "../errors.ts";
import { write } from "../io.ts";

const ROLES = ["admin", "full", "ingest", "read"] as const satisfies readonly Role[];
const PAGE_SIZE = 1000;
const NAME_MAX = 255;

/** Manages API keys; a server may have the database open meanwhile. */
export const keysCommand: Command = {
  usage: "create --name NAME --role ROLE | list | revoke ID  [--database DIR|URL|pglite:DIR]",
  options: {
    name: { kind: "one", value: "NAME", help: "create: name of the key" },
    role: {
      kind: "one",
      choices: ROLES,
      help: "create: admin may do everything; full, everything except managing keys; ingest, only ingest events; read, only read",
    },
    ...databaseOption,
  },
  variables: databaseVariable,
  run: async (args, io) => {
    const runAction = parseAction(args);
    // A first key can be created before the first start; other actions need an existing database.
    const isCreate = args.positionals[0] === "create";
    const database = (isCreate ? resolvePersistentDatabase : requireDatabase)(args, io);
    if (isMissingDirectory(database)) await write(io.stderr, `ratebook: creating database ${toPrintable(database)}\n`);
    const { manageApiKeys } = await import("../../server/access/credentials.ts");
    await write(io.stdout, await withStore(database, (store) => runAction(manageApiKeys({ store }))));
    return "done";
  },
};

type KeyAction = (keys: ApiKeys) => Promise<string>;

/** Parses the action. @throws {UsageError} before a database is opened */
function parseAction(args: Arguments): KeyAction {
  const [action, id, ...more] = args.positionals;
  const name = args.value("name");
  const role = ROLES.find((each) => each === args.value("role"));
  const isCreate = action === "create";
  if (!isCreate && (name !== undefined || role !== undefined)) {
    throw new UsageError("--name and --role only apply to keys create");
  }
  switch (action) {
    case "create":
      if (id !== undefined) throw new UsageError(`keys create takes no argument, got ${quoteText(id)}`);
      if (name === undefined || role === undefined) {
        throw new UsageError(`keys create needs --name NAME and --role ${ROLES.join("|")}`);
      }
      if (name.length > NAME_MAX) throw new UsageError(`--name: expected at most ${NAME_MAX} characters`);
      return async (keys) => {
        const newKey = await keys.create({ name, role });
        return `${newKey.id}\nAPI key: ${newKey.key}\n`;
      };
    case "list":
      if (id !== undefined) throw new UsageError(`keys list takes no argument, got ${quoteText(id)}`);
      return async (keys) => formatKeyTable(await readAllKeys(keys));
    case "revoke":
      if (id === undefined || more.length > 0)
        throw new UsageError("keys revoke needs one ID; list them with keys list");
      return async (keys) => {
        const { id: revokedId, role: keyRole, name: keyName } = await keys.revoke(id);
        return `revoked ${revokedId} (${keyRole}, ${toPrintable(keyName)})\n`;
      };
    default:
      throw new UsageError(
        action === undefined
          ? "expected keys create, keys list or keys revoke"
          : `unknown action ${quoteText(action)}: expected keys create, keys list or keys revoke`,
      );
  }
}

async function readAllKeys(keys: ApiKeys): Promise<readonly ApiKey[]> {
  const all: ApiKey[] = [];
  for (
    let page = await keys.list({ limit: PAGE_SIZE });
    ;
    page = await keys.list({ limit: PAGE_SIZE, after: page.next })
  ) {
    all.push(...page.items);
    if (page.next === undefined) return all;
  }
}

/** One line per key, in aligned columns. */
function formatKeyTable(keys: readonly ApiKey[]): string {
  const rows = [
    ["ID", "ROLE", "STATUS", "CREATED", "NAME"],
    ...keys.map(({ id, role, createdAt, revokedAt, name }) => [
      id,
      role,
      revokedAt === undefined ? "active" : "revoked",
      formatInstant(createdAt),
      toPrintable(name),
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`).join("");
}
