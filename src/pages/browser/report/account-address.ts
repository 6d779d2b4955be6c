/**
 * The open part of the report. It is kept in the address, so that one can go back from it and link to it.
 *
 * @module
 */
import { useEffect, useState } from "preact/hooks";

/** The account that is open. */
export function readAccountInAddress(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get("account") ?? undefined;
}

/** An address that opens an account. */
export function toAccountAddress(accountId: string): string {
  return `#${new URLSearchParams({ account: accountId }).toString()}`;
}

/** The account that is open, while it changes. */
export function useAccountInAddress(): string | undefined {
  const [account, setAccount] = useState(readAccountInAddress);
  useEffect(() => {
    const update = (): void => {
      setAccount(readAccountInAddress());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return account;
}
