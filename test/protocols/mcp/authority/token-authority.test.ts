import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCapabilityRequest } from "../../../../src/agent/capability-request.js";
import type { AgentDenials } from "../../../../src/agent/refusal.js";
import type { JsonObject } from "../../../../src/bytes/json.js";
import { attenuate } from "../../../../src/capability/attenuate.js";
import { inspect } from "../../../../src/capability/inspect.js";
import { createIssuer } from "../../../../src/issuer/issuer.js";
import { createKeyring } from "../../../../src/issuer/keyring.js";
import { OwnTokenError } from "../../../../src/protocols/mcp/authority/token-reader.js";
import { createRevocationList } from "../../../../src/revocation/list.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { world } from "./support.js";

const READ = { operations: ["read"], operationConstraints: { read: { path: { path: "/data" } } } };

function readCall(path: string) {
  return { operation: "read", arguments: { path }, method: "tools/call" };
}

function narrowed(token: string, hop: Parameters<typeof attenuate>[1]): string {
  const result = attenuate(token, hop);
  if (!result.ok) throw new Error("it was not narrowed");
  return result.token;
}

test("decide allows a call that the token allows, and refuses any other call with hop and reason", async () => {
  const { authority, mint } = await world();
  const presented = authority.present([mint(READ)]);
  expect(await authority.decide(presented, readCall("/data/a"))).toMatchObject({
    allowed: true,
    capabilities: [{ grant: "mcp" }],
  });
  expect(await authority.decide(presented, readCall("/etc/passwd"))).toMatchObject({
    allowed: false,
    denials: [{ code: "constraint_violated", hop: 1, rule: "operationConstraints.read.path.path" }],
  });
  const write = { operation: "write", arguments: {}, method: "tools/call" };
  expect(await authority.decide(presented, write)).toMatchObject({
    denials: [{ code: "operation_denied", message: expect.stringContaining("no such tool") }],
  });
});

test("every presented token must allow a call: a token in the message cannot widen the gate's own token", async () => {
  const own: string[] = [];
  const { authority, mint } = await world({ ownTokens: () => own });
  own.push(mint(READ));
  const wide = mint({ anyOperation: true });
  const both = authority.present([wide]);
  expect(await authority.decide(both, readCall("/data/a"))).toMatchObject({ allowed: true });
  expect(await authority.decide(both, readCall("/etc/passwd"))).toMatchObject({
    allowed: false,
    denials: [{ code: "constraint_violated", capability: 0 }],
  });
  const narrow = authority.present([narrowed(wide, { operations: ["list"] })]);
  expect(await authority.decide(narrow, readCall("/data/a"))).toMatchObject({
    denials: [{ code: "operation_denied" }],
  });
  expect(authority.holds(narrow, "read")).toBe(false);
  expect(authority.holds(narrow, "list")).toBe(false);
});

test("a refusal suggests no path that leads out of the token's folder through a symbolic link", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "data"));
  symlinkSync("/etc", join(folder, "data", "link"));
  const { authority, mint } = await world({ folderOf: () => folder });
  const path = { in: [join(folder, "data", "link", "passwd")] };
  const token = mint({
    operations: ["read"],
    operationConstraints: { read: { path: { path: join(folder, "data"), ...path } } },
  });
  const decision = await authority.decide(authority.present([token]), readCall("/etc/passwd"));
  expect(decision.allowed).toBe(false);
  expect(JSON.stringify(decision)).not.toContain('"remedy"');
});

test("a call is refused if one of its tokens is malformed, of another issuer or of another grant, or if it has no token", async () => {
  const { authority, mint } = await world();
  const good = mint(READ);
  const stranger = createIssuer({
    name: "gate-home",
    keys: createKeyring(),
    revocations: createRevocationList(),
  }).mint({ grant: "mcp", operations: ["read"] }).token;
  const cases = [
    [[], "capability_missing"],
    [["noise"], "token_malformed"],
    [[good, "noise"], "token_malformed"],
    [[good, stranger], "unknown_key"],
    [[mint({ ...READ, grant: "other" })], "grant_denied"],
    [Array.from({ length: 9 }, () => mint(READ)), "token_too_large"],
  ] as const;
  for (const [tokens, code] of cases) {
    const presented = authority.present(tokens);
    expect(authority.holds(presented, "read"), code).toBe(false);
    expect(await authority.decide(presented, readCall("/data/a")), code).toMatchObject({
      allowed: false,
      denials: [{ code }],
    });
  }
});

test("holds returns true for an operation that the token allows with some arguments, until the token is revoked", async () => {
  const { authority, home, mint } = await world();
  const token = mint(READ);
  const presented = authority.present([token]);
  expect(authority.holds(presented, "read")).toBe(true);
  expect(authority.holds(presented, "write")).toBe(false);
  expect(authority.hops(presented)).toMatchObject([{ operations: ["read"] }]);
  const left = (authority.expiresAt(presented) ?? 0) - Date.now();
  expect(Math.round(left / 60_000)).toBe(15);
  const revocation = home.issuer.revocationOf(token);
  if (revocation.ok) await home.revocations.add(revocation.entry);
  expect(authority.holds(presented, "read")).toBe(false);
  expect(await authority.decide(presented, readCall("/data/a"))).toMatchObject({
    denials: [{ code: "revoked" }],
  });
});

test("holder returns a different value if the token is narrowed, and if a second token is presented", async () => {
  const { authority, mint } = await world();
  const token = mint(READ);
  const child = narrowed(token, { expires: "1m" });
  const holder = (...tokens: readonly string[]): string =>
    authority.holder(authority.present(tokens));
  expect(holder(token)).toBe(holder(token));
  expect(holder(child)).not.toBe(holder(token));
  expect(holder(token, mint(READ))).not.toBe(holder(token));
  expect(holder()).toBe("");
});

test("while the gate's own token cannot be read, every call is refused with the reason", async () => {
  const { authority, mint } = await world({
    ownTokens: () => {
      throw new OwnTokenError("/home/me/t: there is no such file");
    },
  });
  const presented = authority.present([mint(READ)]);
  expect(await authority.decide(presented, readCall("/data/a"))).toMatchObject({
    denials: [{ code: "capability_missing", message: "/home/me/t: there is no such file" }],
  });
});

test("a gate with an audience of its own accepts tokens for this audience, and refuses tokens for the issuer's name", async () => {
  const { authority, mint } = await world({ audience: "files-gate" });
  const of = (audience: string) =>
    authority.decide(
      authority.present([mint({ ...READ, audience: [audience] })]),
      readCall("/data/a"),
    );
  expect(await of("files-gate")).toMatchObject({ allowed: true });
  expect(await of("gate-home")).toMatchObject({ denials: [{ code: "audience_denied" }] });
});

test("the ledger records every decision of each token with the tool, the named arguments, the hop and the reason", async () => {
  const { authority, home, mint } = await world({ recordValues: ["path"] });
  const [first, second] = [mint({ ...READ, principal: "alice" }), mint({ operations: ["read"] })];
  const presented = authority.present([first, second]);
  await authority.decide(presented, {
    ...readCall("/data/a"),
    arguments: { path: "/data/a", secret: 1 },
  });
  await authority.decide(presented, readCall("/etc/passwd"));
  await authority.decide(authority.present([]), readCall("/data/b"));
  authority.refuse(presented, readCall("/data/c"), [
    { code: "arguments_invalid", rule: "uri", message: "not a URI" },
  ]);
  const call = { kind: "invocation", operation: "read", grant: "mcp" };
  const events = await home.ledger.list();
  expect(events).toMatchObject([
    { ...call, decision: "allowed", principal: "alice", values: { path: "/data/a" } },
    { ...call, decision: "allowed" },
    {
      ...call,
      decision: "refused",
      principal: "alice",
      values: { path: "/etc/passwd" },
      codes: ["constraint_violated"],
      denials: [
        { code: "constraint_violated", hop: 1, rule: "operationConstraints.read.path.path" },
      ],
    },
    { decision: "refused", operation: "read", codes: ["capability_missing"] },
    { decision: "refused", codes: ["arguments_invalid"], principal: "alice" },
  ]);
  expect(JSON.stringify(events)).not.toContain("secret");
});

test("onChange reports a revocation, a change of the gate's own token, and the expiry of a token", async () => {
  const own: string[] = [];
  let now = Date.now();
  const revocations = createRevocationList();
  const { clock } = { clock: () => now };
  const issuer = createIssuer({ name: "i", keys: createKeyring(), revocations, clock });
  const { authority } = await world({ issuer, revocations, ownTokens: () => own });
  let heard = 0;
  const stop = authority.onChange(() => heard++);
  let expected = 0;
  const hears = async (change: () => void): Promise<void> => {
    change();
    await expect.poll(() => heard).toBe(++expected);
  };
  const hearsNothing = async (change: () => void): Promise<void> => {
    change();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(heard).toBe(expected);
  };
  const mint = () => issuer.mint({ grant: "mcp", operations: ["read"], expires: "1h" }).token;
  await hears(() => own.push(mint()));
  await hearsNothing(() => {});
  await hears(() => own.splice(0, 1, mint()));
  const revoke = () => {
    const revocation = issuer.revocationOf(mint());
    if (revocation.ok) revocations.add(revocation.entry);
  };
  await hears(revoke);
  await hears(() => {
    now += 2 * 60 * 60 * 1000;
  });
  stop();
  await hearsNothing(() => own.splice(0));
});

/** Applies the changes of arguments that a refusal suggests. */
function repaired(given: JsonObject, denials: AgentDenials): JsonObject {
  const changes = denials.flatMap(({ remedy }) =>
    remedy?.kind === "set_argument" ? [[remedy.pointer.slice(1), remedy.value] as const] : [],
  );
  return { ...given, ...Object.fromEntries(changes) };
}

test("a refusal says with which arguments all tokens would allow the call", async () => {
  const { authority, mint } = await world();
  const wide = mint({ operations: ["pay"], constraints: { amount: { max: 50 } } });
  const small = mint({ operations: ["pay"], constraints: { amount: { max: 20 }, to: "acc_1" } });
  const presented = authority.present([wide, small]);
  const call = { operation: "pay", arguments: { amount: 90, to: "acc_2" }, method: "tools/call" };
  const refused = await authority.decide(presented, call);
  if (refused.allowed) throw new Error("it is allowed");
  // The first token alone would allow an amount of 50.
  expect(refused.denials.map(({ rule, remedy }) => [rule, remedy])).toEqual([
    ["constraints.amount.max", { kind: "set_argument", pointer: "/amount", value: 20 }],
    ["constraints.amount.max", { kind: "set_argument", pointer: "/amount", value: 20 }],
    ["constraints.to", { kind: "set_argument", pointer: "/to", value: "acc_1" }],
  ]);
  expect(refused.remedies).toBe(undefined);
  const again = { ...call, arguments: repaired(call.arguments, refused.denials) };
  expect(await authority.decide(presented, again)).toMatchObject({ allowed: true });
  // The path of a resource is not an argument of the message, so the refusal does not suggest another path.
  const read = { ...call, method: "resources/read" };
  expect(JSON.stringify(await authority.decide(presented, read))).not.toContain("set_argument");
});

test("a refusal names a token of the host that would suffice alone, but never suggests leaving out the gate's own token", async () => {
  const own: string[] = [];
  const free = await world();
  const bound = await world({ ownTokens: () => own });
  for (const { authority, mint } of [free, bound]) {
    const reader = mint(READ);
    const limited = mint({ operations: ["read"], constraints: { path: "/x" } });
    if (authority === bound.authority) own.push(limited);
    const refused = await authority.decide(
      authority.present([limited, reader]),
      readCall("/data/a"),
    );
    if (refused.allowed) throw new Error("it is allowed");
    const kinds = refused.remedies?.map(({ kind }) => kind);
    expect(kinds).toEqual(authority === free.authority ? ["use_token", "request"] : ["request"]);
    if (authority !== free.authority) continue;
    const id = inspect(reader).capability?.id;
    expect(refused.remedies?.[0]).toEqual({ kind: "use_token", capability: id });
    const alone = authority.present([reader]);
    expect(await authority.decide(alone, readCall("/data/a"))).toMatchObject({ allowed: true });
  }
});

test("a capability made from the request in a refusal allows the refused call, and no other", async () => {
  const { authority, mint } = await world();
  const given = {
    to: ["b", "a"],
    "a/b": { "c~": null, d: { e: 1.5 } },
    note: "x",
    parts: [[1]],
    none: {},
  };
  const call = { operation: "send", arguments: given, method: "tools/call" };
  const limited = mint({ operations: ["send"], constraints: { note: { not_in: ["x"] } } });
  const refused = await authority.decide(authority.present([limited]), call);
  if (refused.allowed) throw new Error("it is allowed");
  const [remedy] = refused.remedies ?? [];
  if (remedy?.kind !== "request") throw new Error("it says nothing of a request");
  const reading = readCapabilityRequest(remedy.request);
  if (!reading.ok) throw new Error(reading.denial.message);
  const { grants, restrictions } = reading.request;
  expect(grants).toEqual(["mcp"]);
  const got = authority.present([mint({ ...restrictions, operations: ["send"] })]);
  expect(await authority.decide(got, call)).toMatchObject({ allowed: true });
  const others: readonly JsonObject[] = [
    { note: "y" },
    { to: ["b"] },
    { "a/b": {} },
    { more: 1 },
    { parts: [] },
  ];
  for (const other of others) {
    const changed = { ...call, arguments: { ...given, ...other } };
    expect(await authority.decide(got, changed)).toMatchObject({ allowed: false });
  }
  // A request that would be too long names only the operation.
  const long = { ...call, arguments: { note: "x", text: "x".repeat(3000) } };
  expect(await authority.decide(authority.present([limited]), long)).toMatchObject({
    remedies: [{ kind: "request", request: { grants: ["mcp"], operations: ["send"] } }],
  });
});
