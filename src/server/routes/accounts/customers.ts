/**
 * Customers over HTTP.
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../../book/requests/requests.ts";
import { customer } from "../../../book/resources/account.ts";
import type { CustomerSnapshot } from "../../../engine/accounts/customers.ts";
import type { PageOptions } from "../../../engine/pages.ts";
import { answerCreated, type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { pathId, formatTime, success, timestamp, withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { accountShape, toAccountJson } from "../../shapes/account.ts";
import { formatAddressLines, addressShape, toAddressJson } from "../../shapes/address.ts";
import { readBoundedPage, createListShape, answerPage } from "../../shapes/list.ts";

const customerShape = z
  .strictObject({
    id: z.string().max(50),
    togaiCustomerId: z.string().max(50).meta({ description: "The same as `id`." }),
    name: customer.shape.name,
    primaryEmail: z.string().max(255).optional(),
    address: addressShape.meta({ description: "Without fields where there is none." }),
    billingAddress: z.string().meta({ description: "The address in one line; empty where there is none." }),
    status: accountShape.shape.status,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "Customer" });
const createdCustomerShape = customerShape.extend({ account: accountShape }).meta({ id: "CustomerMade" });

/** Over HTTP a customer requires an email address, although a book may omit it. */
const primaryEmail = REQUESTS.customerCreate.shape.primaryEmail.unwrap().unwrap();
const params = z.strictObject({ customer_id: pathId() });

export const CUSTOMER_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/customers",
    id: "createCustomer",
    tag: "Customers",
    summary: "Make a customer and its first account",
    description: "Without `account`, one is made with the customer's id and name; settings are made with both.",
    access: "write",
    body: REQUESTS.customerCreate.extend({ primaryEmail }),
    answers: { 201: createdCustomerShape },
    handle: async ({ engine, body }) => {
      const { id, name } = body;
      const { account, ...newCustomer } = await engine.customers.create({
        ...body,
        account: body.account ?? { id, name },
      });
      const settings = account && (await engine.settings.of("ACCOUNT", [account.id])).get(account.id);
      return answerCreated({
        ...toCustomerJson(newCustomer),
        account: account && toAccountJson(account, { settings }),
      });
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/customers",
    id: "listCustomers",
    tag: "Customers",
    summary: "List customers, newest first",
    access: "read",
    query: listQuery({}),
    answers: { 200: createListShape(customerShape, "CustomerList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "customers", query });
      const list = (page: PageOptions): ReturnType<typeof engine.customers.list> => engine.customers.list({ page });
      return answerPage(request, await readBoundedPage(request, list, toCustomerJson));
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/customers/{customer_id}",
    id: "getCustomer",
    tag: "Customers",
    summary: "Get a customer",
    access: "read",
    params,
    answers: { 200: customerShape },
    handle: async ({ engine, params: { customer_id: id } }) => answerOk(toCustomerJson(await engine.customers.get(id))),
  }),
  defineEndpoint({
    method: "PATCH",
    path: "/customers/{customer_id}",
    id: "updateCustomer",
    tag: "Customers",
    summary: "Change who a customer is",
    access: "write",
    params,
    body: REQUESTS.customerPatch.extend({ primaryEmail: primaryEmail.optional() }),
    answers: { 200: customerShape },
    handle: async ({ engine, params: { customer_id: id }, body }) =>
      answerOk(toCustomerJson(await engine.customers.update(id, body))),
  }),
  defineEndpoint({
    method: "DELETE",
    path: "/customers/{customer_id}",
    id: "archiveCustomer",
    tag: "Customers",
    summary: "Archive a customer and its accounts",
    description: "Refused while an account of it has a plan now or later, or an open draft invoice.",
    access: "write",
    params,
    answers: { 200: success },
    handle: async ({ engine, params: { customer_id: id } }) => {
      await engine.customers.archive(id);
      return SUCCESS;
    },
  }),
];

function toCustomerJson(snapshot: CustomerSnapshot): z.input<typeof customerShape> {
  const { id, name, primaryEmail, address, status, createdAt, updatedAt } = snapshot;
  return withoutAbsent({
    id,
    togaiCustomerId: id,
    name,
    primaryEmail: primaryEmail ?? undefined,
    // Clients of the reference API require an address.
    address: toAddressJson(address) ?? {},
    billingAddress: formatAddressLines(address).join(", "),
    status,
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
  });
}
