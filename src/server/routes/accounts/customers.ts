/** Customers over HTTP. */
import * as z from "zod";

import { customer } from "../../../book/resources/account.ts";
import { REQUESTS } from "../../../book/resources/requests.ts";
import type { CustomerSnapshot } from "../../../engine/accounts/customers.ts";
import { formatAddressLines, addressShape, toAddressJson, toAnswer } from "../../http/answers.ts";
import { answerCreated, type Endpoint, defineEndpoint } from "../../http/endpoint.ts";
import { formatTime, timestamp } from "../../http/fields.ts";
import {
  defineGetEndpoint,
  defineListEndpoint,
  defineRemoveEndpoint,
  defineUpdateEndpoint,
  type ItemSpec,
} from "../resource-endpoints.ts";
import { accountShape, toAccountJson } from "./accounts.ts";

const customerShape = z
  .strictObject({
    id: z.string().max(50),
    togaiCustomerId: z.string().max(50).meta({ description: "Equal to `id`." }),
    name: customer.shape.name,
    primaryEmail: z.string().max(255).optional(),
    address: addressShape.meta({ description: "An empty object if there is none." }),
    billingAddress: z.string().meta({ description: "The address in one line; empty if there is none." }),
    status: accountShape.shape.status,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "Customer" });
const createdCustomerShape = customerShape.extend({ account: accountShape }).meta({ id: "CreatedCustomer" });

/** Over HTTP a customer requires an email address, although a book may omit it. */
const primaryEmail = REQUESTS.customerCreate.shape.primaryEmail.unwrap().unwrap();
const CUSTOMERS: ItemSpec<CustomerSnapshot> = {
  tag: "Customers",
  path: "/customers",
  idName: "customer_id",
  shape: customerShape,
  toJson: toCustomerJson,
};

export const CUSTOMER_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/customers",
    id: "createCustomer",
    tag: CUSTOMERS.tag,
    summary: "Create a customer and its first account",
    description:
      "Without `account`, an account with the customer's id and name is created. Settings are created with both.",
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
  defineListEndpoint(CUSTOMERS, {
    id: "listCustomers",
    summary: "List customers, newest first",
    answerId: "CustomerList",
    run: (engine, _, page) => engine.customers.list({ page }),
  }),
  defineGetEndpoint(CUSTOMERS, {
    id: "getCustomer",
    summary: "Get a customer",
    run: (engine, id) => engine.customers.get(id),
  }),
  defineUpdateEndpoint(CUSTOMERS, {
    id: "updateCustomer",
    summary: "Change a customer",
    body: REQUESTS.customerPatch.extend({ primaryEmail: primaryEmail.optional() }),
    run: (engine, id, body) => engine.customers.update(id, body),
  }),
  defineRemoveEndpoint(CUSTOMERS, {
    id: "archiveCustomer",
    summary: "Archive a customer and its accounts",
    description: "Rejected while one of its accounts has a current or future plan, or an open draft invoice.",
    run: (engine, id) => engine.customers.archive(id),
  }),
];

function toCustomerJson(customerSnapshot: CustomerSnapshot): z.input<typeof customerShape> {
  const { id, address, createdAt, updatedAt } = customerSnapshot;
  return toAnswer(customerShape, {
    ...customerSnapshot,
    togaiCustomerId: id,
    // Clients of the reference API require an address.
    address: toAddressJson(address) ?? {},
    billingAddress: formatAddressLines(address).join(", "),
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
  });
}
