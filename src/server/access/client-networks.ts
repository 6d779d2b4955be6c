/**
 * Client networks: the many addresses that one client can have count as one.
 *
 * @module
 */
import { isIPv6 } from "node:net";

/** The maximum length of an invalid address, which a proxy may send. */
const INVALID_LENGTH_MAX = 64;

/** The network of a client: the IPv4 address, or the /64 of an IPv6 address, which is what one client is assigned. */
export function toClientNetwork(address: string): string {
  const [withoutZone = ""] = address.split("%", 1);
  if (!isIPv6(withoutZone)) return withoutZone.slice(0, INVALID_LENGTH_MAX);
  const groups = parseIpv6(withoutZone);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** The eight groups of an IPv6 address. */
function parseIpv6(address: string): readonly number[] {
  const [head = "", tail] = address.split("::");
  const front = parseIpv6Groups(head);
  if (tail === undefined) return front;
  const back = parseIpv6Groups(tail);
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
}

function parseIpv6Groups(text: string): readonly number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
