/**
 * `ratebook/postgres`: stores in PostgreSQL.
 *
 * @module
 */
export type { ConnectionPool, PooledConnection, PostgresClient, SingleConnection } from "./store/postgres/client.ts";
export { openDatabase } from "./store/open-database.ts";
export { postgresStore, type PostgresStoreOptions } from "./store/postgres/postgres.ts";
export { openPrivateServer, type PrivateServer } from "./store/embedded/private-server.ts";
