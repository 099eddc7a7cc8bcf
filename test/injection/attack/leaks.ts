import type { GrantedCapability } from "../../../src/agent/issuance.js";
import { isJsonObject, type Json } from "../../../src/bytes/json.js";
import { attenuate, createNonce } from "../../../src/capability/attenuate.js";
import { CapabilityClient } from "../../../src/protocols/a2a/client/capability-client.js";
import { withCapability } from "../../../src/protocols/a2a/client/interceptor.js";
import { listSkill, type ModeName } from "../authority.js";
import { dataPart, messageOf } from "../world/connection.js";
import type { Invoker, Principal, Service } from "../world/people.js";
import type { World } from "../world/world.js";
import type { Seen } from "./knowledge.js";

/**
 * Data that is not secret but helps an attacker: ids of other tasks and capabilities, and handles, from logs, links and
 * answers. Also tokens that leaked by mistake, which are bound to other agents.
 */
export interface Leaks {
  readonly handles: readonly Seen[];
  readonly capabilities: readonly Seen[];
  readonly tasks: readonly Seen[];
  /** Tokens that are bound to agents other than the compromised one. */
  readonly bound: readonly string[];
  /** Links of the capabilities from which these tokens were made. */
  readonly links: readonly string[];
}

interface Bystander {
  readonly principal: Principal;
  readonly invoker: Invoker;
  readonly service: Service;
  readonly collection: string;
  readonly title: string;
  /** The invoker to whom the leaked token is bound. */
  readonly bound: Invoker;
}

const BYSTANDERS: readonly Bystander[] = [
  {
    principal: "bob",
    invoker: "console",
    service: "documents",
    collection: "notes",
    title: "Bob's notes",
    bound: "console",
  },
  {
    principal: "alice",
    invoker: "orchestrator",
    service: "documents",
    collection: "confidential",
    title: "Payroll",
    bound: "console",
  },
  {
    principal: "alice",
    invoker: "orchestrator",
    service: "email",
    collection: "inbox",
    title: "Security code",
    bound: "console",
  },
];

/** The text of a task that waits until the end of the scenario. */
export const WAIT = "Wait until you are told to stop.";

/** Makes other users work at the same time as the scenario. They leave finished and unfinished tasks behind. */
export async function bystanders(world: World, mode: ModeName): Promise<Leaks> {
  const seen = { handles: [] as Seen[], capabilities: [] as Seen[], tasks: [] as Seen[] };
  const bound: string[] = [];
  const links: string[] = [];
  for (const one of BYSTANDERS) {
    const { principal, invoker, service, collection, title } = one;
    const plain = await world.connect(service, principal, invoker).client();
    const client = new CapabilityClient(plain);
    const granted =
      mode === "ambient" ? undefined : await granting(client, service, collection, title);
    const handle = granted?.resourceHandles?.[0]?.handle ?? (await listed(client, service, title));
    seen.handles.push({ service, value: handle });
    if (granted !== undefined) {
      seen.capabilities.push({ service, value: granted.id });
      links.push(granted.revocationId);
      const hop = { invokers: [one.bound], nonce: createNonce() };
      const narrowed = attenuate(granted.token, hop);
      if (narrowed.ok && mode === "task") bound.push(narrowed.token);
    }
    const skill = { documents: "read_document", email: "read_message" }[String(service)] ?? "";
    const { taskId } = await client.invoke(skill, { resource: handle }, granted?.token);
    seen.tasks.push({ service, value: taskId });
    const waiting = granted === undefined ? plain : await withCapability(plain, granted.token);
    const message = messageOf([dataPart({ text: WAIT })], { immediately: true });
    const task = await waiting.sendMessage(message);
    if ("contextId" in task && "status" in task) seen.tasks.push({ service, value: task.id });
  }
  return { ...seen, bound, links };
}

async function granting(
  client: CapabilityClient,
  service: Service,
  collection: string,
  title: string,
): Promise<GrantedCapability | undefined> {
  const resourceQuery = { collection, filter: { title } };
  const { capabilities } = await client.request({ grants: [`${service}:read`], resourceQuery });
  return capabilities[0];
}

async function listed(client: CapabilityClient, service: Service, title: string): Promise<string> {
  const { result } = await client.invoke(listSkill(service), {});
  const items: readonly Json[] = Array.isArray(result) ? result : [];
  const item = items.find((one) => isJsonObject(one) && one["title"] === title);
  return item !== undefined && isJsonObject(item) ? String(item["handle"]) : "";
}
