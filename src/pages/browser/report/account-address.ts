/**
 * The open account of the report, kept in the URL for the back button and for links.
 *
 * @module
 */
import { useEffect, useState } from "preact/hooks";

export function readAccountInAddress(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get("account") ?? undefined;
}

/** The URL that opens an account. */
export function toAccountAddress(accountId: string): string {
  return `#${new URLSearchParams({ account: accountId }).toString()}`;
}

/** The open account, updated when it changes. */
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
