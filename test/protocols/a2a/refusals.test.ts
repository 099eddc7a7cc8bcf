import type { Client } from "@a2a-js/sdk/client";
import { A2A_ERROR_CODE, isJsonRpcError, isRestError } from "@a2a-js/sdk/errors";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GrantedCapability } from "../../../src/agent/issuance.js";
import type { Json } from "../../../src/bytes/json.js";
import {
  EXTENSION_URI,
  refusalOf,
  withCapability,
} from "../../../src/protocols/a2a/client/index.js";
import { ERROR_CODES, ERROR_DOMAIN } from "../../../src/protocols/a2a/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  BINDINGS,
  callOf,
  clientOf,
  failureOf,
  first,
  handleOf,
  LISTING,
  quietConsole,
  request,
  textAt,
} from "./callers.js";
import { REFUSED } from "./refused.js";

let agent: TestAgent;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent();
});

afterAll(() => agent.remove());

describe.each(BINDINGS)("refusals over %s", (binding) => {
  let alice: Client;
  let capability: GrantedCapability;
  let handle: string;
  /** A handle of the same document, sealed for another capability. */
  let elsewhere: string;

  beforeEach(async () => {
    alice = await clientOf(agent, binding, "alice");
    const reports = { grants: ["documents:read"], resourceQuery: { collection: "reports" } };
    capability = await request(alice, reports);
    handle = handleOf(capability, "First quarter");
    elsewhere = handleOf(await request(alice, reports), "First quarter");
  });

  /** Checks everything that a client can see of a refusal. */
  async function refused(action: Promise<unknown>, codes: readonly string[]): Promise<void> {
    const runs = agent.ran.length;
    const error = await failureOf(action);
    expect(agent.ran.length).toBe(runs);
    const refusal = refusalOf(error);
    expect([...new Set(refusal?.denials.map(({ code }) => code))]).toEqual(codes);
    expect(refusal).toMatchObject({ code: codes[0], message: expect.stringContaining("refused") });
    if (binding === "HTTP+JSON") {
      expect(isRestError(error) && error.statusCode).toBe(403);
      return;
    }
    if (!isJsonRpcError(error)) throw error;
    const data: Json = JSON.parse(JSON.stringify(error.data));
    expect(error.envelopeCode).toBe(ERROR_CODES.denied);
    const reserved = Object.values(A2A_ERROR_CODE).map(Number);
    expect(reserved).not.toContain(error.envelopeCode);
    expect(data).toEqual([
      expect.objectContaining({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: codes[0],
        domain: ERROR_DOMAIN,
        metadata: {
          codes: codes.join(","),
          denials: expect.stringContaining(`"code":"${codes[0]}"`),
        },
      }),
      {
        "@type": "type.googleapis.com/google.protobuf.Struct",
        value: { denials: JSON.parse(textAt(data, 0, "metadata", "denials")) },
      },
    ]);
  }

  test("every operation refuses a request without a capability", async () => {
    const given = { resourceHandle: handle };
    const holder = await withCapability(alice, capability.token);
    const sent = await holder.sendMessage(callOf("retrieve_document", given));
    const id = "id" in sent ? sent.id : "";
    const known = { serviceParameters: { "A2A-Extensions": EXTENSION_URI } };
    const missing = ["capability_missing"];
    await refused(alice.sendMessage(callOf("retrieve_document", given), known), missing);
    await refused(
      first(alice.sendMessageStream(callOf("retrieve_document", given), known)),
      missing,
    );
    await refused(alice.getTask({ tenant: "", id }), missing);
    await refused(alice.listTasks(LISTING), missing);
    await refused(alice.cancelTask({ tenant: "", id, metadata: undefined }), missing);
    await refused(first(alice.resubscribeTask({ tenant: "", id })), missing);
  });

  test.each(REFUSED)("a skill call is refused because of $about, and runs nothing", async (one) => {
    const { codes, skill = "retrieve_document" } = one;
    const given = one.given?.(handle, elsewhere) ?? { resourceHandle: handle };
    const token = (await one.token?.(agent, capability, handle)) ?? capability.token;
    const holder = await withCapability(alice, token);
    one.before?.(agent);
    try {
      await refused(holder.sendMessage(callOf(skill, given)), codes);
      await refused(first(holder.sendMessageStream(callOf(skill, given))), codes);
    } finally {
      one.after?.(agent);
    }
  });

  test("a request without the A2A-Extensions header also needs a capability", async () => {
    const { transport } = alice;
    const bare = { serviceParameters: { "A2A-Version": "1.0" } };
    const call = callOf("retrieve_document", { resourceHandle: handle });
    const missing = ["capability_missing"];
    await refused(transport.sendMessage(call, bare), missing);
    await refused(first(transport.sendMessageStream(call, bare)), missing);
    await refused(transport.getTask({ tenant: "", id: "any" }, bare), missing);
    await refused(transport.listTasks(LISTING, bare), missing);
    await refused(first(transport.resubscribeTask({ tenant: "", id: "any" }, bare)), missing);
  });
});
