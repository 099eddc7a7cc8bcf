import type { Constraint } from "../../../src/caveats/hop.js";
import type { Need } from "../need.js";
import type { Service } from "../world/people.js";

/** Returns the need to read resources of a collection. */
export function reading(service: Service, collection: string, ...titles: string[]): Need {
  return { service, operations: ["read"], collection, titles };
}

/** Returns the need to change resources of a collection. */
export function updating(service: Service, collection: string, ...titles: string[]): Need {
  return { service, operations: ["update"], collection, titles };
}

/** Returns the need to send messages to one address. */
export function sendingTo(to: string): Need {
  return { service: "email", operations: ["send"], constraints: { to } };
}

/** Returns the need to run jobs within limits. */
export function running(constraints: { readonly [argument: string]: Constraint }): Need {
  return { service: "code", operations: ["run"], constraints };
}

export const BOSS = "boss@company.example";
export const VENDOR = "accounts@vendor.example";
