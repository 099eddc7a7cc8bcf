import { beforeEach, expect, test } from "vitest";
import { ClearanceLostError } from "../../src/agent/clearance.js";
import { expandGrants } from "../../src/agent/grant.js";
import { revocationId } from "../../src/index.js";
import {
  createIssuer,
  createKeyring,
  createRevocationList,
  importKeyring,
} from "../../src/issuer/index.js";
import { createCapabilityMiddleware } from "../../src/middleware/fetch.js";
import { createRevocationFeed, followRevocations } from "../../src/protocols/revocations/index.js";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import { ALICE, granted, NOW, type World, world } from "./support.js";

// Every asynchronous call reads new revocations before it answers. In these tests, only `catchUp` updates the
// list.

const AT = "2026-01-01T00:00:00Z";
const GRANTS = [{ id: "notes:write", description: "Write notes", operations: ["note"] }];
const OPERATIONS = [{ operation: "note", reach: "none" }] as const;
const RULES = {
  rules: [{ principal: ALICE.principal, grant: "notes:write", operations: ["note"] }],
};

const keys = createKeyring();
let list = createRevocationList();
/** Revocations by other processes that this process has not read yet. */
let unseen: RevocationEntry[] = [];
let duringPolicy = (): void => {};
let made: World;
let token: string;

const behind = {
  find: (...asked: Parameters<typeof list.find>) => list.find(...asked),
  isCurrent: () => true,
  get version() {
    return list.version;
  },
  snapshot: (until: string) => list.snapshot(until),
  async catchUp() {
    await new Promise(setImmediate);
    for (const entry of unseen.splice(0)) list.add(entry);
  },
};

beforeEach(async () => {
  list = createRevocationList();
  unseen = [];
  duringPolicy = () => {};
  const issuer = createIssuer({
    name: "documents-agent",
    keys,
    revocations: behind,
    clock: () => NOW,
    grants: expandGrants(GRANTS, OPERATIONS),
  });
  made = await world({
    grants: GRANTS,
    skills: [],
    rules: RULES,
    operations: OPERATIONS,
    issuer,
    policy: {
      permissions: () => {
        duringPolicy();
        return [{ operations: "*", resources: { collections: "*" } }];
      },
    },
  });
  const [capability] = await granted(made.agent, { grants: ["notes:write"] });
  token = capability?.token ?? "";
});

const revokeElsewhere = (): void => {
  unseen.push({ kind: "link", id: revocationId(token), at: AT });
};
const call = () => ({ operation: "note", arguments: {}, capabilities: [{ token }] });
const codes = (answer: { readonly denials?: readonly { readonly code: string }[] }) =>
  answer.denials?.map(({ code }) => code);

test("agent.clearOperation refuses a token that was revoked in another process", async () => {
  revokeElsewhere();
  const answer = await made.agent.clearOperation(ALICE, call());
  expect(answer.allowed ? [] : codes(answer)).toEqual(["revoked"]);
});

test("agent.clearOperation refuses a token that was revoked after agent.authenticate had accepted the token", async () => {
  const capabilities = await made.agent.authenticate(ALICE, [{ token }]);
  revokeElsewhere();
  const answer = await made.agent.clearOperation(ALICE, { ...call(), capabilities });
  expect(answer.allowed ? [] : codes(answer)).toEqual(["revoked"]);
});

test("agent.clearOperation refuses a token that was revoked while the policy was asked", async () => {
  duringPolicy = revokeElsewhere;
  const answer = await made.agent.clearOperation(ALICE, call());
  expect(answer.allowed ? [] : codes(answer)).toEqual(["revoked"]);
});

test("agent.begin throws ClearanceLostError if another process has revoked the token since the clearance", async () => {
  const leave = await made.agent.clearOperation(ALICE, call());
  if (!leave.allowed) throw new Error("it is allowed");
  revokeElsewhere();
  const begun = made.agent.begin(leave, ALICE);
  await expect(begun).rejects.toThrow(ClearanceLostError);
  await expect(begun).rejects.toMatchObject({ denials: [{ code: "revoked" }] });
});

test("agent.admit, introspect, attenuate and revoke treat a token as revoked if another process revoked the token", async () => {
  const { agent } = made;
  revokeElsewhere();
  const admission = await agent.admit(ALICE, [{ token }]);
  expect(admission.allowed ? [] : codes(admission)).toEqual(["revoked"]);
  list = createRevocationList();
  const known = await agent.authenticate(ALICE, [{ token }]);
  revokeElsewhere();
  expect((await agent.admit(ALICE, known)).allowed).toBe(false);
  list = createRevocationList();
  revokeElsewhere();
  expect(await agent.introspect(ALICE, { token })).toMatchObject({ active: false });
  list = createRevocationList();
  revokeElsewhere();
  expect(await agent.attenuate(ALICE, { token }, {})).toMatchObject({ ok: false });
  list = createRevocationList();
  revokeElsewhere();
  expect(await agent.revoke(ALICE, { token })).toMatchObject({ needless: "revoked" });
});

test("a resource server refuses a request whose token was revoked in another process", async () => {
  const read = createCapabilityMiddleware(made.agent.issuer)(
    { grant: "notes:write", operation: "note" },
    () => new Response("written"),
  );
  ({ token } = made.agent.issuer.mint({ grant: "notes:write", operations: ["note"] }));
  const headers = { "Proviso-Capability": token };
  const ask = () => read(new Request("https://notes.example/", { headers }));
  expect(await (await ask()).text()).toBe("written");
  revokeElsewhere();
  expect((await ask()).status).toBe(401);
});

test("the revocation feed serves a revocation made in another process, and refuses a service whose key was revoked", async () => {
  const feed = createRevocationFeed({ keys, revocations: behind });
  const own = importKeyring(keys.serviceKeys("notes"));
  const service = followRevocations({
    url: "https://agent.example/revocations",
    keys: own,
    fetch: (input, init) => feed.fetch(new Request(input, init)),
  });
  await service.refresh();
  revokeElsewhere();
  await service.refresh();
  expect(service.size).toBe(1);
  unseen.push({ kind: "key", id: own.minting.kid, at: AT });
  await expect(service.refresh()).rejects.toMatchObject({ status: 401 });
  service.close();
});
