import type { JsonObject } from "../../../bytes/json.js";
import { ClientError } from "../../../client/client-error.js";
import { objectIn, objectsIn, textIn } from "../../../client/received.js";

/** The parts of the discovery document that a client needs. */
export interface Discovery {
  readonly issuer: string;
  readonly defaultLocation: string;
  /** Absolute URLs by the name of the endpoint. */
  readonly endpoints: ReadonlyMap<string, string>;
  /** The whole document as received. */
  readonly document: JsonObject;
}

/** A capability as described by a server. */
export interface CapabilityDefinition {
  readonly name: string;
  readonly description: string;
  readonly location?: string;
  readonly input?: JsonObject;
  readonly output?: JsonObject;
  readonly granted?: boolean;
}

/** A grant as described by a server. */
export interface ReceivedGrant {
  readonly capability: string;
  /** `active`, `pending` or `denied`. */
  readonly status: string;
  /** Limits on the arguments. */
  readonly constraints?: JsonObject;
  /** The reason for the denial. */
  readonly reason?: string;
  /** The token of the granted capability, if the answer contains a token. */
  readonly token?: string;
  readonly tokenExpires?: string;
}

/** The way in which the user approves. */
export interface ReceivedApproval {
  /** The method of the approval: `device_authorization` or `ciba`. */
  readonly method: string;
  readonly verificationUri?: string;
  readonly verificationUriComplete?: string;
  readonly userCode?: string;
  /** Seconds until the approval expires. */
  readonly expiresIn: number;
  /** Seconds between two status requests. */
  readonly interval: number;
}

/** An agent as described by a server. */
export interface ReceivedAgent {
  readonly id: string;
  readonly hostId?: string;
  /** `pending`, `active`, `expired`, `revoked`, `rejected` or `claimed`. */
  readonly status: string;
  readonly grants: readonly ReceivedGrant[];
  readonly approval?: ReceivedApproval;
}

/** A page of a list of capabilities. */
export interface Listing {
  readonly capabilities: readonly CapabilityDefinition[];
  /** The cursor for the next page; absent on the last page. */
  readonly cursor?: string;
}

const VERSIONS: readonly string[] = ["1.0-draft", "1.0"];
const SPOKEN = `this client speaks ${VERSIONS.join(" and ")}`;

/**
 * @throws ClientError `answer_malformed` if the document is malformed, or if the client does not support its version.
 */
export function discoveryIn(document: JsonObject, origin: string): Discovery {
  const { version, issuer, endpoints, default_location: location } = document;
  if (typeof version !== "string" || typeof issuer !== "string" || !URL.canParse(issuer)) {
    throw malformed(origin, 'has no "version", or no "issuer" that is a URL');
  }
  // A later version could change the meaning of requests (section 5.1).
  if (!VERSIONS.includes(version)) {
    throw malformed(origin, `is of version ${JSON.stringify(version.slice(0, 32))}: ${SPOKEN}`);
  }
  // In the specification, paths are relative to the issuer. The reference implementation sends absolute URLs.
  const base = issuer.replace(/\/$/, "");
  const named = Object.entries(objectIn(endpoints)).flatMap(([name, path]) => {
    const url = typeof path === "string" && path.startsWith("/") ? `${base}${path}` : path;
    return typeof url === "string" && URL.canParse(url) ? [[name, url] as const] : [];
  });
  const known = new Map(named);
  const execute = textIn(location) ?? known.get("execute");
  if (execute === undefined || !URL.canParse(execute) || known.size === 0) {
    throw malformed(origin, "names no endpoints");
  }
  return { issuer, defaultLocation: execute, endpoints: known, document };
}

function malformed(origin: string, what: string): ClientError {
  return new ClientError("answer_malformed", `the discovery document of ${origin} ${what}`, origin);
}

/** Reads a capability in a list or a description; `undefined` if it has no name. */
export function definitionIn(value: JsonObject): CapabilityDefinition | undefined {
  const { name, description, location, input, output, grant_status: granted } = value;
  if (typeof name !== "string") return undefined;
  return {
    name,
    description: textIn(description) ?? "",
    ...(typeof location === "string" ? { location } : {}),
    ...(isGiven(input) ? { input: objectIn(input) } : {}),
    ...(isGiven(output) ? { output: objectIn(output) } : {}),
    ...(typeof granted === "string" ? { granted: granted === "granted" } : {}),
  };
}

function isGiven(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** @throws ClientError `answer_malformed` if the answer names no agent. */
export function agentIn(body: JsonObject, origin: string): ReceivedAgent {
  const { agent_id: id, host_id: hostId, status, approval } = body;
  if (typeof id !== "string") {
    const message = `the answer of ${origin} names no agent`;
    throw new ClientError("answer_malformed", message, origin);
  }
  return {
    id,
    status: textIn(status) ?? "unknown",
    grants: objectsIn(body["agent_capability_grants"]).flatMap(grantIn),
    ...(typeof hostId === "string" ? { hostId } : {}),
    ...(isGiven(approval) ? { approval: approvalIn(objectIn(approval)) } : {}),
  };
}

function grantIn(one: JsonObject): readonly ReceivedGrant[] {
  const { capability, status, constraints, reason, token, token_expires_at: expires } = one;
  if (typeof capability !== "string" || typeof status !== "string") return [];
  const grant: ReceivedGrant = {
    capability,
    status,
    ...(isGiven(constraints) ? { constraints: objectIn(constraints) } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof token === "string" ? { token } : {}),
    ...(typeof expires === "string" ? { tokenExpires: expires } : {}),
  };
  return [grant];
}

function approvalIn(one: JsonObject): ReceivedApproval {
  const { method, verification_uri: uri, verification_uri_complete: complete } = one;
  const { user_code: code, expires_in: expiresIn, interval } = one;
  return {
    method: textIn(method) ?? "unknown",
    expiresIn: typeof expiresIn === "number" ? expiresIn : 300,
    interval: typeof interval === "number" && interval > 0 ? interval : 5,
    ...(typeof uri === "string" ? { verificationUri: uri } : {}),
    ...(typeof complete === "string" ? { verificationUriComplete: complete } : {}),
    ...(typeof code === "string" ? { userCode: code } : {}),
  };
}

/** Reads a page of a list of capabilities. */
export function listingIn(body: JsonObject): Listing {
  const cursor = textIn(body["next_cursor"]);
  return {
    capabilities: objectsIn(body["capabilities"]).flatMap((one) => definitionIn(one) ?? []),
    cursor,
  };
}
