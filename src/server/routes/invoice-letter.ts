/**
 * Invoices as pages: what ids stand for, and what settings say of seller and buyer.
 *
 * @module
 */
import type { Address } from "../../book/model/account.ts";
import { formatInstant } from "../../calendar/instant.ts";
import type { InvoiceSnapshot } from "../../engine/billing/invoices.ts";
import type { Engine } from "../../engine/engine.ts";
import type { CompositeSnapshot } from "../../engine/events/usage.ts";
import { unlessUnknown } from "../../errors.ts";
import { invoiceNumber } from "../../pages/invoice/invoice-number.ts";
import { compositePage, type InvoiceLetter, invoicePage, PAGE_POLICY } from "../../pages/invoice/invoice-page.ts";
import type { Answer } from "../http/endpoint.ts";
import { joinPieces } from "../http/pieces.ts";
import { addressLines } from "../shapes/address.ts";

/** An invoice as a page. */
export async function invoiceLetter(engine: Engine, shown: InvoiceSnapshot): Promise<Answer> {
  const { accountId, customerId, pricePlanId, invoiceDate } = shown.invoice;
  const [account, customer, pricePlan] = await Promise.all([
    engine.accounts.get(accountId),
    engine.customers.get(customerId),
    engine.pricePlans.get(pricePlanId),
  ]);
  const buyer = [...new Set([customer.name, ...linesOf(account.address ?? customer.address)])];
  const letter = await letterOf(engine, buyer, [`ACCOUNT.${accountId}`, `CUSTOMER.${customerId}`]);
  const mergedInto = shown.mergedInto === undefined ? undefined : invoiceNumber(shown.mergedInto, invoiceDate);
  const onPage = { id: shown.id, invoice: shown.invoice, account: account.name, pricePlan: pricePlan.item.name };
  return html(invoicePage({ ...onPage, mergedInto }, letter));
}

/** The invoice of a group as a page. */
export async function compositeLetter(engine: Engine, composite: CompositeSnapshot): Promise<Answer> {
  const { invoiceGroupId, invoices, invoiceDate } = composite;
  const accountIds = [...new Set(invoices.map(({ accountId }) => accountId))];
  const [group, ...accounts] = await Promise.all([
    engine.invoiceGroups.get(invoiceGroupId),
    ...accountIds.map((id) => engine.accounts.get(id)),
  ]);
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const held = invoices.map(({ invoiceId, accountId, total }) => ({
    number: invoiceNumber(invoiceId, formatInstant(invoiceDate)),
    account: names.get(accountId) ?? accountId,
    total,
  }));
  const letter = await letterOf(
    engine,
    [group.item.name, ...linesOf(group.item.billingAddress ?? group.item.address)],
    [],
  );
  return html(compositePage({ ...composite, group: group.item.name, invoices: held }, letter));
}

/** What settings in the namespace `invoice` say: those of the account, else of the customer, else of the organization. */
async function letterOf(engine: Engine, buyer: readonly string[], entities: readonly string[]): Promise<InvoiceLetter> {
  const { name } = await engine.organization.get();
  const said = (id: string): Promise<string | undefined> => settingOf(engine, `setting.invoice.${id}`, entities);
  const [seller, to, logo, notes, reference] = await Promise.all([
    said("seller"),
    said("buyer"),
    said("logo"),
    said("notes"),
    said("reference"),
  ]);
  return {
    seller: seller?.split("\n") ?? (name ? [name] : []),
    buyer: to?.split("\n") ?? buyer,
    logo,
    notes,
    reference,
  };
}

async function settingOf(engine: Engine, key: string, entities: readonly string[]): Promise<string | undefined> {
  for (const id of [...entities.map((entity) => `${key}.${entity}`), key]) {
    const found = await unlessUnknown(engine.settings.get(id));
    if (found !== undefined) return found.item.value;
  }
  return undefined;
}

/** Where somebody is reached, a line each. */
function linesOf(address: Address | null | undefined): readonly string[] {
  return [...addressLines(address), address?.phoneNumber ?? ""].filter((line) => line !== "");
}

async function html(page: Iterable<string>): Promise<Answer> {
  return {
    status: 200,
    body: await joinPieces(page),
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": PAGE_POLICY },
  };
}
