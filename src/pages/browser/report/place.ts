/**
 * The open part of the report. It is kept in the address, so that one can go back from it and link to it.
 *
 * @module
 */
import { useEffect, useState } from "preact/hooks";

/** The account that is open. */
export function accountInAddress(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get("account") ?? undefined;
}

/** An address that opens an account. */
export function addressOf(accountId: string): string {
  return `#${new URLSearchParams({ account: accountId }).toString()}`;
}

/** The account that is open, while it changes. */
export function useAccountInAddress(): string | undefined {
  const [account, setAccount] = useState(accountInAddress);
  useEffect(() => {
    const change = (): void => {
      setAccount(accountInAddress());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return account;
}
