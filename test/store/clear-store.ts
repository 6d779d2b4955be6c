/** Empty stores over the same tables: creating the tables for each takes a hundred times as long as emptying them. */
import type { PostgresClient } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";

const SCHEMA = "emptied";

/** All written rows except the version of the tables. */
const EMPTY = `do $$
  declare written text;
  begin
    for written in select tablename from pg_tables
      where schemaname = '${SCHEMA}' and tablename not in ('migration', 'configuration')
    loop
      execute format('delete from ${SCHEMA}.%I', written);
    end loop;
    update ${SCHEMA}.configuration set revision = 0;
    alter sequence ${SCHEMA}.event_number restart;
  end $$`;

/** Opens a store after emptying the tables of the previous one, which must be closed. */
export async function emptiedStore(client: PostgresClient & { query(text: string): Promise<unknown> }): Promise<Store> {
  const store = await postgresStore(client, { schema: SCHEMA });
  await client.query(EMPTY);
  return store;
}
