import type { Random } from "../../../../fuzz/random.js";
import { CAPABILITIES } from "../bank.js";
import { keyBody, newKey, type Sending } from "../party.js";
import { drawBodyFault } from "./bodies.js";
import { drawCredential, type Signer } from "./credentials.js";
import { ROLES, type World } from "./world.js";

/** A request that is sent to every server, each time with the ids and keys of that server. */
export interface GeneratedRequest {
  /** A description of the request: that it is valid, or its fault. */
  readonly about: string;
  readonly method: string;
  /** `true` if the request changes the state when it succeeds. */
  readonly changes: boolean;
  readonly make: (world: World) => Promise<{ path: string; sending: Sending }>;
}

type InWorld<T> = (world: World) => T;

/**
 * Draws the parameters of a query or the properties of a body. `about` describes a fault in them, or a JWT among them.
 */
type Drawn = InWorld<Promise<Record<string, unknown>>> & { readonly about?: string };

interface Endpoint {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly who: "host" | "agent" | "none";
  readonly changes?: boolean;
  /** Draws the parameters of the query, or the properties of the body. */
  readonly draw?: (random: Random) => Drawn;
}

export function drawRequest(random: Random): GeneratedRequest {
  if (random.once(25)) return drawLost(random);
  const endpoint = random.pick(ENDPOINTS);
  const { method, path, who, changes = false } = endpoint;
  const members: Drawn = endpoint.draw?.(random) ?? (async () => ({}));
  const bad = random.below(10);
  const [aboutJwt, credential] = drawCredential(random, who !== "none" && bad < 4);
  const faulty = bad >= 3 && bad < 8;
  const [aboutMembers, shape] =
    method === "GET"
      ? drawQueryFault(random, faulty)
      : faulty
        ? drawBodyFault(random, MEMBERS[path] ?? [])
        : GOOD_BODY;
  const registers = path === "/agent/register";
  return {
    about: [who === "none" ? undefined : aboutJwt, members.about, aboutMembers]
      .filter((part) => part !== undefined)
      .join(", "),
    method,
    changes,
    async make(world) {
      const given = await members(world);
      const sent = shape(given);
      const signer = who === "none" ? undefined : await signerOf(world, who, registers);
      const authorization = signer === undefined ? {} : await credential(signer);
      if (typeof sent === "string") return { path: path + sent, sending: authorization };
      return { path, sending: { ...sent, ...authorization } };
    },
  };
}

async function signerOf(world: World, who: "host" | "agent", registers: boolean): Promise<Signer> {
  const { server, host, agents, otherHost } = world;
  const others = {
    host: otherHost.hostId ?? "",
    agent: agents.foreign.id ?? "",
    revoked: agents.revoked.id ?? "",
  };
  if (who === "agent") {
    const { key } = agents.acting;
    return { server, typ: "agent+jwt", key, claims: agents.acting.claims(), host, others };
  }
  const agentKey = registers ? { agent_public_key: (await newKey()).public } : {};
  const claims = { ...host.claims(), ...agentKey };
  return { server, typ: "host+jwt", key: host.key, claims, host, others };
}

const GOOD_BODY: [string, (body: Record<string, unknown>) => Sending] = [
  "good body",
  (body) => ({ body }),
];

/** Draws a request to an endpoint that does not exist. */
function drawLost(random: Random): GeneratedRequest {
  const { method, path } = random.pick(ENDPOINTS);
  const other = random.pick(["PUT", "DELETE", "PATCH", method === "GET" ? "POST" : "GET"]);
  const [about, sentMethod, sentPath] = random.pick([
    ["another method", other, path],
    ["a slash at the end", method, `${path}/`],
    ["another case", method, path.toUpperCase()],
    ["an unknown path", method, `${path}-all`],
  ] as const);
  return {
    about,
    method: sentMethod,
    changes: false,
    make: async () => ({
      path: sentPath,
      sending: sentMethod === "GET" ? {} : { body: {} },
    }),
  };
}

function drawQueryFault(
  random: Random,
  faulty: boolean,
): [string, (given: Record<string, unknown>) => string] {
  const query = (given: object) =>
    new URLSearchParams(
      Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]),
    );
  const good = (given: object) => `?${query(given)}`;
  if (!faulty) return ["good query", good];
  return random.pick<[string, (given: Record<string, unknown>) => string]>([
    ["no query", () => ""],
    ["each parameter twice", (given) => `?${query(given)}&${query(given)}`],
    ["an unknown parameter", (given) => `?${query({ ...given, colour: "red" })}`],
    [
      "empty parameters",
      (given) => `?${query(Object.fromEntries(Object.keys(given).map((name) => [name, ""])))}`,
    ],
    ["a query that cannot be decoded", (given) => `?${query(given)}&colour=%E0%A4%A`],
    [
      "odd parameters",
      (given) =>
        `?${query(Object.fromEntries(Object.keys(given).map((name) => [name, "\u0000🏦"])))}`,
    ],
  ]);
}

/**
 * Draws the id of an agent: usually of the host's own agents, in any state; sometimes of another host's agent, or an
 * unknown id.
 */
function drawAgentId(random: Random, mostly: "acting" | "spare"): InWorld<string> {
  if (random.once(8)) return () => "unknown";
  const role = random.once(2) ? mostly : random.pick(ROLES.filter((any) => any !== "acting"));
  return ({ agents }) => agents[role].id ?? "";
}

const NAMES = CAPABILITIES.map(({ name }) => name);

const drawName = (random: Random): string => (random.once(10) ? "fly" : random.pick(NAMES));

const drawArguments = (random: Random): Record<string, unknown> => ({
  ...(random.once(5) ? {} : { account_id: "acc_1" }),
  ...(random.once(4)
    ? {}
    : { amount: random.pick([0, 1, 50, 100, 101, -1, 1e308, 0.5, "5", null]) }),
  ...(random.once(5) ? {} : { to: random.pick(["acc_1", "acc_2", "", 7]) }),
  ...(random.once(4) ? {} : { currency: random.pick(["USD", "EUR", "GBP", "usd", null]) }),
});

const CONSTRAINTS: readonly unknown[] = [
  { max: 50 },
  { min: 1 },
  { min: 1, max: 50 },
  { in: [1, 2] },
  { not_in: [3] },
  5,
  "x",
  true,
];

const BAD_CONSTRAINTS: readonly unknown[] = [
  { maximum: 5 },
  { const: 5 },
  { max: "5" },
  { in: 5 },
  {},
  null,
  [1],
  { min: 9, max: 1 },
  { in: [] },
];

function drawCapability(random: Random): unknown {
  const name = drawName(random);
  if (random.once(2)) return name;
  if (random.once(8)) return { name };
  const values: readonly unknown[] = random.once(3) ? BAD_CONSTRAINTS : CONSTRAINTS;
  const field = random.pick(["amount", "to", "currency", "account_id"]);
  return { name, constraints: { [field]: random.pick(values) } };
}

const drawCapabilities = (random: Random): unknown[] =>
  random.many(1 + random.below(3), () => drawCapability(random));

const ENDPOINTS: readonly Endpoint[] = [
  { method: "GET", path: "/capability/list", who: "agent", draw: drawListing },
  { method: "GET", path: "/capability/list", who: "host", draw: drawListing },
  { method: "GET", path: "/capability/describe", who: "agent", draw: drawDescription },
  { method: "GET", path: "/capability/describe", who: "host", draw: drawDescription },
  { method: "GET", path: "/agent/status", who: "host", draw: drawAgent("acting") },
  { method: "GET", path: "/agent/status", who: "agent", draw: drawAgent("acting") },
  { method: "POST", path: "/agent/register", who: "host", draw: drawRegistration },
  { method: "POST", path: "/agent/register", who: "host", draw: drawRegistration },
  {
    method: "POST",
    path: "/agent/request-capability",
    who: "agent",
    changes: true,
    draw: (random) => {
      return oddOrNot({ capabilities: drawCapabilities(random), reason: "to pay the rent" });
    },
  },
  { method: "POST", path: "/capability/execute", who: "agent", draw: drawExecution },
  { method: "POST", path: "/capability/execute", who: "agent", draw: drawExecution },
  { method: "POST", path: "/capability/execute", who: "agent", draw: drawExecution },
  {
    method: "POST",
    path: "/capability/batch-execute",
    who: "agent",
    draw: (random) => {
      const requests = random.many(1 + random.below(3), () => ({
        capability: drawName(random),
        arguments: drawArguments(random),
      }));
      return async () => ({ requests });
    },
  },
  {
    method: "POST",
    path: "/agent/introspect",
    who: "none",
    draw: (random) => {
      const [about, credential] = drawCredential(random, random.once(2));
      const members = async (world: World) => {
        const sending = await credential(await signerOf(world, "agent", false));
        return { token: sending.token ?? sending.authorization ?? "" };
      };
      return Object.assign(members, { about });
    },
  },
  {
    method: "POST",
    path: "/agent/reactivate",
    who: "host",
    changes: true,
    draw: drawAgent("acting"),
  },
  { method: "POST", path: "/agent/revoke", who: "host", changes: true, draw: drawAgent("spare") },
  {
    method: "POST",
    path: "/agent/revoke-capability",
    who: "host",
    changes: true,
    draw: (random) => {
      const agent = drawAgentId(random, "spare");
      const capabilities = random.many(1 + random.below(2), () => drawName(random));
      return async (world) => ({ agent_id: agent(world), capabilities });
    },
  },
  {
    method: "POST",
    path: "/agent/rotate-key",
    who: "host",
    changes: true,
    draw: (random) => {
      const agent = drawAgentId(random, "spare");
      const proves = random.once(2);
      return async (world) => {
        const id = agent(world);
        const key = await newKey();
        if (!proves) return { agent_id: id, public_key: key.public };
        return { agent_id: id, ...(await keyBody(world.server, "/agent/rotate-key", key, id)) };
      };
    },
  },
  { method: "POST", path: "/agent/claim", who: "host", draw: drawAgent("spare") },
  {
    method: "POST",
    path: "/host/enroll",
    who: "none",
    draw: (random) => {
      const proves = random.once(2);
      return async (world) => {
        const key = await newKey();
        const token = "x".repeat(43);
        if (!proves) return { token, public_key: key.public };
        return { token, ...(await keyBody(world.server, "/host/enroll", key)) };
      };
    },
  },
];

/** The properties that the body of a request can have, by endpoint. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  "/agent/register": ["name", "capabilities", "reason", "mode", "preferred_method", "host_name"],
  "/agent/request-capability": ["capabilities", "reason", "preferred_method", "binding_message"],
  "/capability/execute": ["capability", "arguments"],
  "/capability/batch-execute": ["requests"],
  "/agent/introspect": ["token"],
  "/agent/reactivate": ["agent_id"],
  "/agent/revoke": ["agent_id"],
  "/agent/revoke-capability": ["agent_id", "capabilities"],
  "/agent/rotate-key": ["agent_id", "public_key"],
  "/agent/claim": ["agent_id"],
  "/host/enroll": ["token", "public_key", "name"],
};

function drawListing(random: Random): InWorld<Promise<Record<string, unknown>>> {
  const given = {
    ...(random.once(2) ? { limit: random.pick([1, 3, 7, 50]) } : {}),
    ...(random.once(2) ? { query: random.pick(["payee", "report", "transfer", "zzz"]) } : {}),
  };
  return async () => given;
}

function drawDescription(random: Random): InWorld<Promise<Record<string, unknown>>> {
  const name = drawName(random);
  return async () => ({ name });
}

function drawAgent(mostly: "acting" | "spare"): NonNullable<Endpoint["draw"]> {
  return (random) => {
    const agent = drawAgentId(random, mostly);
    return async (world) => ({ agent_id: agent(world) });
  };
}

function drawRegistration(random: Random): Drawn {
  const body = {
    name: random.pick(["helper", "<b>helper</b>", "é"]),
    ...(random.once(3) ? {} : { capabilities: drawCapabilities(random) }),
    ...(random.once(3) ? { reason: "to pay the rent" } : {}),
    ...(random.once(6) ? { mode: random.pick(["delegated", "autonomous", "sleepy"]) } : {}),
    ...(random.once(6) ? { preferred_method: random.pick(["ciba", "pigeon"]) } : {}),
  };
  return oddOrNot(body);
}

function oddOrNot(body: Record<string, unknown>): Drawn {
  const { capabilities } = body;
  const about = hasOdd(capabilities)
    ? "odd constraints"
    : namesTwice(capabilities)
      ? "a capability twice"
      : undefined;
  return Object.assign(async () => body, about === undefined ? {} : { about });
}

function namesTwice(capabilities: unknown): boolean {
  if (!Array.isArray(capabilities)) return false;
  const names = capabilities.map((one) => (typeof one === "string" ? one : one.name));
  return new Set(names).size < names.length;
}

function hasOdd(capabilities: unknown): boolean {
  const odd = BAD_CONSTRAINTS.map((one) => JSON.stringify(one));
  return (
    Array.isArray(capabilities) &&
    capabilities.some(({ constraints = {} }) =>
      Object.values(constraints).some((one) => odd.includes(JSON.stringify(one))),
    )
  );
}

function drawExecution(random: Random): InWorld<Promise<Record<string, unknown>>> {
  const body = { capability: drawName(random), arguments: drawArguments(random) };
  return async () => body;
}
