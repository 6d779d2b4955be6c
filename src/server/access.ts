/**
 * Who may call what, and how often: what the server asks of whatever identifies its callers.
 *
 * @module
 */
import type { Access, Caller, Endpoint, Role } from "./endpoint.ts";

/** Identifies callers and counts their requests. */
export interface AccessControl {
  /**
   * Who sent this credential.
   *
   * @throws {Refusal} 401 for none or a bad one, 429 for the sixth bad one from an address
   */
  identify(request: { readonly authorization: string | undefined; readonly address: string }): Promise<Identified>;
  /**
   * Counts a request in the bucket of its caller, or of its address where it has none.
   *
   * @throws {Refusal} 429 with the seconds after which to try again
   */
  admit(from: { readonly keyId: string } | { readonly address: string }, bucket: Endpoint["bucket"]): void;
}

/** A caller with the bearer text that told who it is. */
export interface Identified {
  readonly caller: Caller;
  readonly credential: string;
}

/** What each role may call. */
const ROLES: Readonly<Record<Role, ReadonlySet<Access>>> = {
  admin: new Set<Access>(["public", "any", "ingest", "read", "write", "keys"]),
  full: new Set<Access>(["public", "any", "ingest", "read", "write"]),
  ingest: new Set<Access>(["public", "any", "ingest"]),
  read: new Set<Access>(["public", "any", "read"]),
};

/** Whether a role may call an endpoint of this access. */
export function mayCall(role: Role, access: Access): boolean {
  return ROLES[role].has(access);
}
