/** Whether the accounts of a preview have room for more groups of a meter (S18.1). */
import type { GroupUsageTally } from "../../metering/grouped-usage.ts";
import type { UsageTally } from "../../metering/usage.ts";
import type { AccountParts } from "../account-parts.ts";

/** The usage of all accounts so far. */
export type PreviewUsage = Pick<UsageTally, "cellsOf"> & {
  readonly groups: Pick<GroupUsageTally, "fullness" | "hasRoom">;
};

/** @param account the index of the account */
export function createGroupRoom({ groups: usedGroups }: PreviewUsage, account: number): AccountParts["groupRoom"] {
  return {
    get hasRoomForAnyGroup() {
      return usedGroups.fullness < 1;
    },
    hasRoomForGroup({ measure, groups }, place, day) {
      const meter = measure.meters[place];
      const group = groups[place];
      return meter === undefined || group === undefined || usedGroups.hasRoom(account, meter, day, group);
    },
  };
}
