import { type ArgumentCheck, compileArgumentChecks } from "../../agent/arguments.js";
import type { Operation } from "../../agent/skill.js";
import { assertKnown, meant } from "../../checks/members.js";
import type { Grant } from "../../issuer/grant.js";
import {
  CAPABILITY_NAMES,
  type CapabilityName,
  capabilityOf,
  grantOf,
  isCapabilityName,
  isOperation,
  namingOf,
  OPERATION_FORM,
  type PluginOperation,
  reservedReason,
  type SdkHandler,
  type SessionPlugin,
} from "./plugin.js";
import { sdkMembers } from "./sdk/types.js";

/** Metadata of a capability: the properties of its first plugin. Peers can read the metadata. */
export interface PluginMetadata {
  readonly name: string;
  readonly type: CapabilityName;
  readonly priority: number;
  readonly exclusive: boolean;
}

export interface Handler {
  readonly plugin: SessionPlugin;
  readonly operation: PluginOperation;
  readonly check: ArgumentCheck;
}

/** A capability with its plugins. */
interface Served {
  readonly metadata: PluginMetadata;
  /** In order of precedence. */
  readonly plugins: readonly SessionPlugin[];
  readonly handlers: ReadonlyMap<string, readonly Handler[]>;
}

const MEMBERS = [
  "name",
  "type",
  "priority",
  "exclusive",
  "operations",
  "sdk",
  "endSession",
  "close",
];
const OPERATION_MEMBERS = ["handles", "input", "listing", "run"];
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** The plugins of a host, by capability. */
export class Registry {
  readonly plugins: readonly SessionPlugin[];
  readonly #served: ReadonlyMap<CapabilityName, Served>;

  private constructor(served: ReadonlyMap<CapabilityName, Served>) {
    this.#served = served;
    this.plugins = [...served.values()].flatMap(({ plugins }) => plugins);
  }

  /** @throws TypeError naming the value that is wrong, such as `plugins[1].type`. */
  static async open(plugins: readonly SessionPlugin[]): Promise<Registry> {
    checkPlugins(plugins);
    const served = new Map<CapabilityName, Served>();
    for (const type of CAPABILITY_NAMES) {
      const own = plugins.filter((plugin) => plugin.type === type).sort(byOrder);
      const [first] = own;
      if (first === undefined) continue;
      served.set(type, {
        metadata: metadataOf(first),
        plugins: own,
        handlers: await handlersOf(own, plugins),
      });
    }
    return new Registry(served);
  }

  /** Returns the metadata of a capability; `undefined` if it has no plugin. */
  metadata(name: CapabilityName): PluginMetadata | undefined {
    return this.#served.get(name)?.metadata;
  }

  pluginsOf(name: CapabilityName): readonly SessionPlugin[] {
    return this.#served.get(name)?.plugins ?? [];
  }

  /** Returns the operations that at least one plugin of a capability has. */
  operationsOf(name: CapabilityName): readonly string[] {
    return [...(this.#served.get(name)?.handlers.keys() ?? [])];
  }

  /** Returns whether at least one plugin has an operation, and each of these plugins declares it as `listing`. */
  isListing(capability: CapabilityName, operation: string): boolean {
    const handlers = this.#served.get(capability)?.handlers.get(operation) ?? [];
    return handlers.length > 0 && handlers.every(({ operation: { listing } }) => listing === true);
  }

  /** Returns the handler for a type of SDK message, from the first plugin that has one. */
  sdkHandler(capability: CapabilityName, type: string): SdkHandler | undefined {
    const all = this.pluginsOf(capability).map(({ sdk = {} }) => sdk);
    return all.find((sdk) => Object.hasOwn(sdk, type))?.[type];
  }

  /** Returns the handler of `operation` from the first plugin that handles `name`. */
  find(capability: CapabilityName, operation: string, name?: string): Handler | undefined {
    const handlers = this.#served.get(capability)?.handlers.get(operation) ?? [];
    return handlers.find(({ operation: { handles } }) => handles === undefined || handles(name));
  }
}

/**
 * Returns the operations of plugins, for the option `operations` of `createIssuingAgent`.
 *
 * @throws TypeError naming what is wrong with a plugin.
 */
export function pluginOperations(plugins: readonly SessionPlugin[]): readonly Operation[] {
  checkPlugins(plugins);
  const names = new Set(plugins.flatMap(({ operations }) => Object.keys(operations)));
  return [...names].sort().map((operation) => ({ operation, reach: "none" }));
}

/**
 * Returns one grant for each capability that the plugins serve, for the option `grants` of `createIssuer`. A grant
 * includes all operations that the plugins have for its capability.
 *
 * @throws TypeError naming what is wrong with a plugin.
 */
export function pluginGrants(plugins: readonly SessionPlugin[]): readonly Grant[] {
  const all = pluginOperations(plugins).map(({ operation }) => operation);
  const types = CAPABILITY_NAMES.filter((type) => plugins.some((plugin) => plugin.type === type));
  return types.map((type) => ({
    id: grantOf(type),
    description: `Messages of the A2E capability ${type}`,
    operations: all.filter((operation) => capabilityOf(operation) === type),
  }));
}

function checkPlugins(plugins: readonly SessionPlugin[]): void {
  if (!Array.isArray(plugins)) throw new TypeError("plugins: must be an array");
  const names = new Set<string>();
  const exclusive = new Map<string, string>();
  for (const [at, plugin] of plugins.entries()) {
    const where = `plugins[${at}]`;
    checkPlugin(plugin, where);
    const { name, type, operations } = plugin;
    const key = `${type}/${name}`;
    if (names.has(key)) throw new TypeError(`${where}.name: "${name}" is taken, of type ${type}`);
    names.add(key);
    if (plugin.exclusive !== true) continue;
    for (const operation of Object.keys(operations)) {
      const other = exclusive.get(operation);
      if (other !== undefined) {
        throw new TypeError(
          `${where}.exclusive: "${other}" has "${operation}" for itself; of two, neither could`,
        );
      }
      exclusive.set(operation, name);
    }
  }
}

function checkPlugin(plugin: SessionPlugin, where: string): void {
  assertKnown(plugin, MEMBERS, where);
  const { name, type, priority = 0, exclusive = false, operations, sdk = {} } = plugin;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new TypeError(`${where}.name: must be 1 to 64 letters, digits, "_", "." or "-"`);
  }
  if (!isCapabilityName(type)) {
    throw new TypeError(
      `${where}.type: no such capability${meant(String(type), CAPABILITY_NAMES)}`,
    );
  }
  const reserved = reservedReason(type);
  if (reserved !== undefined) throw new TypeError(`${where}.type: ${reserved}`);
  if (!Number.isFinite(priority)) throw new TypeError(`${where}.priority: must be a number`);
  if (typeof exclusive !== "boolean") throw new TypeError(`${where}.exclusive: must be a boolean`);
  if (typeof operations !== "object" || operations === null) {
    throw new TypeError(`${where}.operations: must be an object`);
  }
  if (Object.keys(operations).length === 0) {
    throw new TypeError(`${where}.operations: there must be at least one`);
  }
  for (const [operation, one] of Object.entries(operations)) {
    checkOperation(operation, one, type, `${where}.operations["${operation}"]`);
  }
  for (const [message, handler] of Object.entries(sdk)) {
    const place = `${where}.sdk["${message}"]`;
    if (sdkMembers(message) === undefined || capabilityOf(message) !== type) {
      throw new TypeError(`${place}: the SDK has no such message of ${type}`);
    }
    if (typeof handler !== "function") throw new TypeError(`${place}: must be a function`);
  }
}

function checkOperation(
  operation: string,
  one: PluginOperation,
  type: CapabilityName,
  where: string,
): void {
  if (!isOperation(operation)) throw new TypeError(`${where}: must be ${OPERATION_FORM}`);
  if (capabilityOf(operation) !== type) {
    const { namespace } = namingOf(type);
    throw new TypeError(`${where}: operations of ${type} begin with "${namespace}/"`);
  }
  assertKnown(one, OPERATION_MEMBERS, where);
  if (typeof one.run !== "function") throw new TypeError(`${where}.run: must be a function`);
  if (one.listing !== undefined && typeof one.listing !== "boolean") {
    throw new TypeError(`${where}.listing: must be a boolean`);
  }
  if (one.handles !== undefined && typeof one.handles !== "function") {
    throw new TypeError(`${where}.handles: must be a function`);
  }
  if (one.input !== undefined && one.input["type"] !== "object") {
    throw new TypeError(`${where}.input: must be a JSON Schema with "type": "object"`);
  }
}

/**
 * Compares two plugins: exclusive plugins come first, then plugins with a higher priority, then plugins in the order of
 * their names.
 */
function byOrder(a: SessionPlugin, b: SessionPlugin): number {
  const alone = Number(b.exclusive ?? false) - Number(a.exclusive ?? false);
  if (alone !== 0) return alone;
  const rank = (b.priority ?? 0) - (a.priority ?? 0);
  if (rank !== 0) return rank;
  return a.name < b.name ? -1 : 1;
}

function metadataOf({
  name,
  type,
  priority = 0,
  exclusive = false,
}: SessionPlugin): PluginMetadata {
  return { name, type, priority, exclusive };
}

/** Returns the handlers by operation. An operation of an exclusive plugin has no other handler. */
async function handlersOf(
  own: readonly SessionPlugin[],
  all: readonly SessionPlugin[],
): Promise<ReadonlyMap<string, readonly Handler[]>> {
  const handlers = new Map<string, Handler[]>();
  const taken = new Set<string>();
  for (const plugin of own) {
    const entries = Object.entries(plugin.operations);
    const checks = await compileArgumentChecks(
      entries.map(([id, { input = { type: "object" } }]) => ({ id, input })),
      `plugins[${all.indexOf(plugin)}].operations`,
    );
    for (const [name, operation] of entries) {
      if (taken.has(name)) continue;
      const check = checks.get(name) ?? (() => []);
      handlers.set(name, [...(handlers.get(name) ?? []), { plugin, operation, check }]);
      if (plugin.exclusive === true) taken.add(name);
    }
  }
  return handlers;
}
