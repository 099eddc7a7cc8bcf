import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createJwtAuthenticator } from "../../../src/auth/index.js";
import { attenuate, createNonce } from "../../../src/index.js";
import { parseMacaroon } from "../../../src/macaroon/index.js";
import { withCapability } from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../../support/authorization-server.js";
import {
  BINDINGS,
  callOf,
  first,
  handleOf,
  LISTING,
  messageOf,
  quietConsole,
  request,
  sdkClient,
  send,
  taskIn,
  textAt,
} from "./callers.js";

const AUDIENCE = "https://documents.example/";

let login: AuthorizationServer;
let agent: TestAgent;
/** The console output of the agent and the SDK. */
let said: readonly string[];

beforeAll(async () => {
  said = quietConsole();
  const users = ["alice"];
  login = await startAuthorizationServer({ users, clients: ["orchestrator"], resource: AUDIENCE });
  agent = await startAgent({
    authenticator: await createJwtAuthenticator({
      issuer: login.issuer,
      audience: AUDIENCE,
      jwks: login.jwksUri,
    }),
    // A careless runner, which returns all that it knows about its capabilities.
    runTask: async (task) => {
      const passed = task.delegate({ operations: ["wait"] });
      tokens.add(passed[0]?.token ?? "");
      const outcome = await task.invoke("wait", { milliseconds: 1 });
      return { outcome: outcome.ok, capabilities: task.capabilities.map(({ id }) => id) };
    },
  });
});

afterAll(async () => {
  await agent.remove();
  await login.close();
});

/** Every token that the test has used. Neither a token nor its signature may appear in any output or file. */
const tokens = new Set<string>();
const accessTokens = new Set<string>();

interface Secret {
  readonly what: string;
  readonly bytes: Buffer;
}

function secrets(): readonly Secret[] {
  const found: Secret[] = [];
  for (const token of tokens) {
    const signature = Buffer.from(parseMacaroon(token).signature);
    found.push({ what: "token", bytes: Buffer.from(token) });
    found.push({ what: "signature", bytes: signature });
    // In base64, the encoding of bytes depends on their offset in the whole string. So the search uses the
    // middle of the encoding at each offset.
    for (const at of [0, 1, 2]) {
      const text = signature.subarray(at).toString("base64url").slice(0, -4);
      found.push({ what: "signature as base64url", bytes: Buffer.from(text) });
      const plain = signature.subarray(at).toString("base64").slice(0, -6);
      found.push({ what: "signature as base64", bytes: Buffer.from(plain) });
    }
    found.push({ what: "signature as hex", bytes: Buffer.from(signature.toString("hex")) });
  }
  for (const token of accessTokens) {
    found.push({ what: "access token", bytes: Buffer.from(token) });
    const signature = token.split(".")[2] ?? "";
    found.push({ what: "access token's signature", bytes: Buffer.from(signature) });
  }
  return found;
}

/** Returns the secrets that the bytes contain. */
function leaks(where: string, bytes: string | Uint8Array): readonly string[] {
  const text = Buffer.from(bytes);
  return secrets()
    .filter((secret) => text.includes(secret.bytes))
    .map(({ what }) => `${where}: ${what}`);
}

function child(token: string): string {
  const attenuation = attenuate(token, { nonce: createNonce() });
  if (!attenuation.ok) throw new Error("not narrowed");
  tokens.add(attenuation.token);
  return attenuation.token;
}

test("no token or token signature appears in the database, the log, the metrics, a task or a refusal", {
  timeout: 60_000,
}, async () => {
  const answers: string[] = [];
  const accessToken = await login.tokenFor("alice", "orchestrator");
  accessTokens.add(accessToken);
  const headers = {
    Authorization: `Bearer ${accessToken}`,
    "Content-Type": "application/json",
    "A2A-Version": "1.0",
  };
  const rpc = async (method: string, params: object, more: Record<string, string> = {}) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    return send(agent.server.rpcUrl, { method: "POST", headers: { ...headers, ...more }, body });
  };

  for (const binding of BINDINGS) {
    const client = await sdkClient(agent.server.url, binding, accessToken);
    const granted = await request(client, {
      grants: ["documents:read"],
      purpose: "a full run",
      resourceQuery: { collection: "reports" },
    });
    const work = await request(client, { grants: ["work:do"] });
    for (const { token } of [granted, work]) tokens.add(token);
    const holder = await withCapability(client, [child(granted.token), child(work.token)]);
    const resourceHandle = handleOf(granted, "First quarter");
    const sent = taskIn(await holder.sendMessage(callOf("retrieve_document", { resourceHandle })));
    for await (const event of holder.sendMessageStream(
      callOf("search_documents", { query: "R" }),
    )) {
      answers.push(JSON.stringify(event));
    }
    const text = taskIn(await holder.sendMessage(messageOf(["wait for me"])));
    const failed = taskIn(await holder.sendMessage(callOf("fail", {})));
    answers.push(JSON.stringify([sent, text, failed]));
    answers.push(JSON.stringify(await holder.getTask({ tenant: "", id: sent.id })));
    answers.push(JSON.stringify(await holder.listTasks(LISTING)));

    // These tokens are refused. The test presents them in every way that a request can.
    const broken = child(work.token).slice(0, -8);
    const wrong = `${child(work.token).slice(0, -4)}AAAA`;
    for (const bad of [broken, wrong, accessToken, child(granted.token)]) {
      const misled = await withCapability(client, bad);
      const call = callOf("wait", { milliseconds: 1 });
      answers.push(await saidBy(misled.sendMessage(call)));
      answers.push(await saidBy(first(misled.sendMessageStream(call))));
      answers.push(await saidBy(misled.getTask({ tenant: "", id: sent.id })));
    }
    const inMessage = callOf("wait", { milliseconds: 1 });
    if (inMessage.message !== undefined) {
      inMessage.message.metadata = { "urn:proviso:a2a:capabilities:1": { token: work.token } };
    }
    answers.push(await saidBy(holder.sendMessage(inMessage)));
    // These tokens, in both base64 alphabets, are in places where a request presents no capability.
    for (const alphabet of ["base64url", "base64"] as const) {
      const written = (token: string): string => Buffer.from(token, "base64url").toString(alphabet);
      const [unseen, whole] = [written(child(work.token)), written(granted.token)];
      answers.push(await saidBy(holder.sendMessage(messageOf([`keep ${unseen} for later`]))));
      const data = { note: [whole], [whole]: unseen };
      answers.push(await saidBy(holder.sendMessage(messageOf([{ data }]))));
      const more = { contextId: unseen };
      answers.push(await saidBy(holder.sendMessage(messageOf(["hello"], more))));
    }
    answers.push(JSON.stringify(await holder.listTasks(LISTING)));
  }

  const asked = await rpc("a2a/capabilities/request", { grants: ["work:do"] });
  const token = textAt(asked.body, "result", "capabilities", 0, "token");
  tokens.add(token);
  const narrowed = await rpc("a2a/capabilities/attenuate", {
    token,
    constraints: { operations: ["wait"] },
  });
  tokens.add(textAt(narrowed.body, "result", "capability", "token"));
  const call = { skill: "wait", arguments: { milliseconds: 1 } };
  const message = { role: "user", parts: [{ type: "text", text: "wait" }] };
  for (const [method, params] of [
    ["a2a/skill/invoke", { ...call, token }],
    ["a2a/task/send", { message, capabilities: [{ token }] }],
    ["a2a/capabilities/introspect", { token }],
    // These calls have a token in the place of an id.
    ["a2a/capabilities/introspect", { capabilityId: token }],
    ["a2a/skill/invoke", { ...call, capabilityId: token }],
    ["a2a/skill/invoke", { ...call, skill: token, token }],
    ["a2a/task/send", { message, capabilities: [token], attenuations: { [token]: {} } }],
    ["a2a/task/send", { message, capabilities: [], attenuations: { [token]: {} } }],
    [token, {}],
    ["a2a/capabilities/revoke", { token }],
    ["a2a/skill/invoke", { ...call, token }],
  ] as const) {
    answers.push((await rpc(method, params)).text);
  }
  answers.push(
    (await rpc("GetTask", { id: "x" }, { "Proviso-Capability": `${token},${token}x` })).text,
  );
  answers.push((await send(`${agent.server.restUrl}/tasks/${token}`, { headers })).text);
  answers.push((await send(`${agent.server.restUrl}/tasks?token=${token}`, { headers })).text);
  answers.push(
    (
      await send(agent.server.rpcUrl, {
        method: "POST",
        headers: { ...headers, Authorization: `Bearer ${token}` },
      })
    ).text,
  );
  const metrics = await agent.metrics.read();

  expect(agent.ran).toContain("retrieve_document");
  expect(agent.ran.length).toBeGreaterThan(8);
  await agent.stop();
  expect(tokens.size).toBeGreaterThan(12);
  const found = [
    ...answers.flatMap((answer, at) => leaks(`answer ${at}: ${answer.slice(0, 160)}`, answer)),
    ...leaks("log", agent.logged()),
    ...leaks("console", said.join("\n")),
    ...leaks("metrics", metrics.text),
    ...readdirSync(agent.home)
      .filter((name) => /\.(db|db-wal|json)$/.test(name))
      .flatMap((name) => leaks(name, readFileSync(join(agent.home, name)))),
  ];
  expect(found).toEqual([]);
  expect(metrics.text).toMatch(
    /proviso_decisions_total\{kind="invocation",decision="refused",code="\w+"/,
  );
  expect(agent.logged()).toContain('"denials"');
});

async function saidBy(action: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await action);
  } catch (error) {
    const { message, ...more } =
      error instanceof Error ? { ...error, message: error.message } : { message: "" };
    return JSON.stringify({ message, more, headers: undefined });
  }
}
