import { isObject } from "../bytes/json.js";
import { notA } from "../checks/kinds.js";
import { assertMembers, meant } from "../checks/members.js";
import type { CapabilityRegistry, RegisteredCapability } from "./registry.js";

const ENTRY: { readonly [Name in keyof RegisteredCapability]-?: "text" | "tier" | "mark" } = {
  name: "text",
  tier: "tier",
  description: "text",
  introduced: "text",
  deprecated: "text",
  removed: "text",
  supersededBy: "text",
  propagates: "mark",
  needs: "text",
  isOwnFlag: "mark",
};
const REQUIRED: readonly (keyof RegisteredCapability)[] = ["name", "tier", "introduced"];
const TIERS = ["implicit", "declared"];

/**
 * Throws unless a value has a registry's form, such as one that comes from a file. What its versions and names
 * say is left to the rules of stability.
 *
 * @throws TypeError naming the member.
 */
export function assertRegistry(
  value: unknown,
  where = "registry",
): asserts value is CapabilityRegistry {
  if (!isObject(value)) throw notA(where, "an object with version and capabilities", value);
  assertMembers(value, ["version", "capabilities"], where);
  if (typeof value["version"] !== "string") {
    throw new TypeError(`${where}.version: expected a version such as "1.0"`);
  }
  const { capabilities } = value;
  if (!Array.isArray(capabilities)) {
    throw new TypeError(`${where}.capabilities: expected an array`);
  }
  for (const [at, entry] of capabilities.entries()) {
    assertEntry(entry, `${where}.capabilities[${at}]`);
  }
}

function assertEntry(entry: unknown, where: string): void {
  if (!isObject(entry)) throw new TypeError(`${where}: expected an object`);
  assertMembers(entry, Object.keys(ENTRY), where);
  const absent = REQUIRED.find((name) => entry[name] === undefined);
  if (absent !== undefined) throw new TypeError(`${where}.${absent}: is missing`);
  for (const [name, form] of Object.entries(ENTRY)) {
    const member = entry[name];
    if (member === undefined) continue;
    if (form === "text" && (typeof member !== "string" || member === "")) {
      throw new TypeError(`${where}.${name}: expected a string that is not empty`);
    }
    if (form === "mark" && member !== true) {
      throw new TypeError(`${where}.${name}: expected true, or nothing`);
    }
    if (form === "tier" && !TIERS.includes(String(member))) {
      const hint = typeof member === "string" ? meant(member, TIERS) : "";
      throw new TypeError(`${where}.${name}: expected "implicit" or "declared"${hint}`);
    }
  }
}
