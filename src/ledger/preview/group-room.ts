/** Whether the accounts of a preview have room for more groups of a meter (S18.1). */
import type { Day } from "../../calendar/instant.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { GroupUsageTally } from "../../metering/grouped-usage.ts";
import type { UsageTally } from "../../metering/usage.ts";
import type { AccountParts } from "../account-parts.ts";

/** The usage of all accounts so far. */
export type PreviewUsage = Pick<UsageTally, "cellsOf"> & {
  readonly groups: Pick<GroupUsageTally, "fullness" | "hasRoom">;
};

/** The room of one account. A class, because a getter of an object literal would be another function for each account. */
export class GroupRoom implements NonNullable<AccountParts["groupRoom"]> {
  readonly #groups: PreviewUsage["groups"];
  readonly #account: number;

  /** @param account the index of the account */
  constructor({ groups }: PreviewUsage, account: number) {
    this.#groups = groups;
    this.#account = account;
  }

  get hasRoomForAnyGroup(): boolean {
    return this.#groups.fullness < 1;
  }

  hasRoomForGroup({ measure, groups }: SchemaProgram, place: number, day: Day): boolean {
    const meter = measure.meters[place];
    const group = groups[place];
    return meter === undefined || group === undefined || this.#groups.hasRoom(this.#account, meter, day, group);
  }
}
