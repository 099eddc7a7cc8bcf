import { isObject, quotedName } from "../bytes/json.js";
import { assertMembers, meant } from "../checks/members.js";
import {
  CAPABILITY_REGISTRY,
  type CapabilityRegistry,
  isVendorCapability,
  registeredName,
} from "./registry.js";
import { type ProtocolVersion, parseVersion } from "./versions.js";

/** The bindings that A2A 1.0 names. */
export type Binding = "JSONRPC" | "HTTP+JSON" | "GRPC";

export const BINDINGS: readonly Binding[] = ["JSONRPC", "HTTP+JSON", "GRPC"];

/** A grant that the task needs. */
export interface GrantRequirement {
  /** The id of the grant, such as `documents:read`. */
  readonly grant: string;
  /** Operations that the grant must include; none unless given. */
  readonly operations?: readonly string[];
  /** Requires that the holder can narrow the capability and pass it on; false unless given. */
  readonly attenuable?: boolean;
}

/** The requirements that an agent must meet before it is given a task. */
export interface DiscoveryRequirements {
  /** The caller's protocol version; `1.0` unless given. */
  readonly protocolVersion?: string;
  /**
   * Required capabilities: names in the registry (in camelCase or snake_case), URIs of extensions, or vendors'
   * names in reverse-domain notation.
   */
  readonly capabilities?: readonly string[];
  /** Capabilities that the agent and every agent that it delegates to must have. */
  readonly endToEnd?: readonly string[];
  readonly grants?: readonly GrantRequirement[];
  /** The binding to use; unless given, any binding that A2A 1.0 names. */
  readonly binding?: Binding;
  /** Accepts legacy grants, with a warning; false unless given. */
  readonly allowLegacy?: boolean;
  /** Accepts deprecated capabilities, with a warning; true unless given. */
  readonly allowDeprecated?: boolean;
  /** Requires a signature by a key that the caller trusts; false unless given. */
  readonly requireSignature?: boolean;
}

/** Requirements, completed with their defaults. */
export interface SettledRequirements {
  readonly version: ProtocolVersion;
  readonly capabilities: readonly string[];
  readonly endToEnd: readonly string[];
  readonly grants: readonly Required<GrantRequirement>[];
  readonly binding: Binding | undefined;
  readonly allowLegacy: boolean;
  readonly allowDeprecated: boolean;
  readonly requireSignature: boolean;
}

const MEMBERS: { readonly [Name in keyof DiscoveryRequirements]-?: true } = {
  protocolVersion: true,
  capabilities: true,
  endToEnd: true,
  grants: true,
  binding: true,
  allowLegacy: true,
  allowDeprecated: true,
  requireSignature: true,
};

/**
 * Checks and completes requirements.
 *
 * @param registry - The capabilities that can be required in addition to vendors' capabilities.
 * @throws TypeError naming the property that is invalid.
 */
export function settleRequirements(
  requirements: DiscoveryRequirements,
  registry: CapabilityRegistry = CAPABILITY_REGISTRY,
): SettledRequirements {
  assertObject(requirements, "requirements");
  assertMembers(requirements, Object.keys(MEMBERS), "requirements");
  const { protocolVersion = "1.0", binding, grants = [] } = requirements;
  const version = typeof protocolVersion === "string" ? parseVersion(protocolVersion) : undefined;
  if (version === undefined) {
    throw new TypeError('requirements.protocolVersion: expected a version such as "1.0"');
  }
  if (binding !== undefined && !BINDINGS.includes(binding)) {
    const hint = typeof binding === "string" ? meant(binding, BINDINGS) : "";
    throw new TypeError(`requirements.binding: not a binding of A2A 1.0${hint}`);
  }
  if (!Array.isArray(grants)) throw new TypeError("requirements.grants: expected an array");
  return {
    version,
    binding,
    capabilities: capabilityNames(requirements.capabilities, "requirements.capabilities", registry),
    endToEnd: capabilityNames(requirements.endToEnd, "requirements.endToEnd", registry),
    grants: grants.map(settleGrant),
    allowLegacy: flag(requirements.allowLegacy, false, "requirements.allowLegacy"),
    allowDeprecated: flag(requirements.allowDeprecated, true, "requirements.allowDeprecated"),
    requireSignature: flag(requirements.requireSignature, false, "requirements.requireSignature"),
  };
}

function settleGrant(requirement: GrantRequirement, at: number): Required<GrantRequirement> {
  const where = `requirements.grants[${at}]`;
  assertObject(requirement, where);
  assertMembers(requirement, ["grant", "operations", "attenuable"], where);
  const { grant, operations = [], attenuable } = requirement;
  if (typeof grant !== "string" || grant === "") {
    throw new TypeError(`${where}.grant: expected the id of a grant, such as "documents:read"`);
  }
  return {
    grant,
    operations: texts(operations, `${where}.operations`),
    attenuable: flag(attenuable, false, `${where}.attenuable`),
  };
}

/** Validates names of capabilities: each must be in the registry, or be a vendor's name. */
function capabilityNames(
  value: unknown,
  where: string,
  registry: CapabilityRegistry,
): readonly string[] {
  const known = registry.capabilities.map(({ name }) => name);
  const names = texts(value ?? [], where).map((name) => registeredName(name, registry));
  for (const [at, name] of names.entries()) {
    if (known.includes(name) || isVendorCapability(name)) continue;
    throw new TypeError(
      `${where}[${at}]: no capability is called ${quotedName(name)}, and a vendor's is a URI or has a dot` +
        meant(name, known),
    );
  }
  return [...new Set(names)];
}

function texts(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError(`${where}: expected an array of strings`);
  return value.map((item: unknown, at) => {
    if (typeof item !== "string" || item === "") {
      throw new TypeError(`${where}[${at}]: expected a string that is not empty`);
    }
    return item;
  });
}

function flag(value: unknown, otherwise: boolean, where: string): boolean {
  if (value === undefined) return otherwise;
  if (typeof value !== "boolean") throw new TypeError(`${where}: expected true or false`);
  return value;
}

function assertObject(value: unknown, where: string): asserts value is object {
  if (!isObject(value)) throw new TypeError(`${where}: expected an object`);
}
