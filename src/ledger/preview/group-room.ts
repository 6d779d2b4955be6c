/** Whether the accounts of a preview have room for more groups of a meter (S18.1). */
import type { GroupUsageTally } from "../../metering/grouped-usage.ts";
import type { UsageTally } from "../../metering/usage.ts";
import type { GroupRoom } from "../account-parts.ts";

/** The usage of all accounts so far. */
export type PreviewUsage = Pick<UsageTally, "cellsOf"> & {
  readonly groups: Pick<GroupUsageTally, "fullness" | "hasRoom">;
};

/** One object for all accounts, which is faster than one for each. @param indexes of the accounts by id */
export function createGroupRoom({ groups: usedGroups }: PreviewUsage, indexes: ReadonlyMap<string, number>): GroupRoom {
  return {
    get hasRoomForAnyGroup() {
      return usedGroups.fullness < 1;
    },
    hasRoomForGroup(accountId, { measure, groups }, place, day) {
      const [account, meter, group] = [indexes.get(accountId), measure.meters[place], groups[place]];
      if (account === undefined || meter === undefined || group === undefined) return true;
      return usedGroups.hasRoom(account, meter, day, group);
    },
  };
}
