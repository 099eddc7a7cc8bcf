import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { digestOf } from "../../src/agent/parties/digests.js";
import type { Approval } from "../../src/agent/parties/records.js";
import type { AuthorizationServer } from "../support/authorization-server.js";
import { FULL } from "../support/size.js";
import {
  consoleWith,
  loginAt,
  nextSecond,
  signInUrl,
  startProvider,
  UserAgent,
} from "./at-provider.js";
import type { TestConsole } from "./support.js";
import { formIn, type Page, words } from "./visitor.js";

let provider: AuthorizationServer;
let console: TestConsole;

beforeAll(async () => {
  // This provider always returns `auth_time`.
  provider = await startProvider({ authTime: true });
  console = await consoleWith(await loginAt(provider), { running: true });
});

afterAll(async () => {
  await console.close();
  await provider.close();
});

async function signedIn(user: string, at: TestConsole = console): Promise<UserAgent> {
  const one = new UserAgent(at, provider);
  await one.signIn(user);
  return one;
}

/** Presses Approve on the page of a request. */
function approve(one: UserAgent, { id }: Approval, fields = {}): Promise<Page> {
  const at = `/requests/${id}`;
  return one.visitor.post(at, { answer: "approve", ...fields }, at);
}

async function stateOf({ id }: Approval, at: TestConsole = console): Promise<string | undefined> {
  return (await at.parties.approvals.get(id))?.state;
}

describe("approving a request", () => {
  test("requires a new sign-in with credentials, and keeps the limits that the user entered", async () => {
    const { approval, agent } = await console.askInList("alice");
    const alice = await signedIn("alice");
    expect(alice.asked).toBe(1);
    const limits = { "g-0-0-max": "1000", "g-0-1-in": ["0", "2"], lifetime: "15" };
    const shown = words((await alice.visitor.get(`/requests/${approval.id}`)).text);
    expect(shown).toContain(`To approve, you sign in once more at ${provider.issuer}`);

    const leads = await approve(alice, approval, limits);
    expect(leads.status).toBe(200);
    expect(words(leads.text)).toContain("Nothing is done yet. Sign in once more");
    const asked = new URL(signInUrl(leads)).searchParams;
    expect(asked.get("prompt")).toBe("login");
    expect(asked.get("max_age")).toBe("0");
    const refresh = signInUrl(leads).replaceAll("&", "&amp;");
    expect(leads.text).toContain(`<meta http-equiv="refresh" content="0; url=${refresh}">`);
    expect(await stateOf(approval)).toBe("pending");

    const back = await alice.confirm(leads, "alice");
    expect(alice.asked).toBe(2);
    expect(back.path).toBe(`/approvals/requests/${approval.id}`);
    expect(words(back.text)).toContain("You have signed in to approve.");
    expect(words(back.text)).toMatch(/With your limits, this is left .*amount at most 1000/);
    expect(back.text).toMatch(/name="g-0-0-max"[^>]* value="1000"/);
    expect(await stateOf(approval)).toBe("pending");

    // The form on the page is filled in as the user left it.
    const form = formIn(back.text, new URL(`${console.url}/requests/${approval.id}`));
    form.set("answer", "approve");
    form.set("unit", "minutes");
    const done = await alice.visitor.submit(`/requests/${approval.id}`, form);
    expect(words(done.text)).toContain("You approved");
    const [grant] = await console.parties.grantsOf(agent);
    expect(grant?.status).toBe("active");
    expect(grant?.hops.at(-1)?.hop.constraints).toEqual({
      amount: { max: 1000 },
      currency: { in: ["EUR", "USD"] },
    });
  });

  test("that was found by a user code requires a new sign-in too", async () => {
    const asked = await console.ask();
    const alice = await signedIn("alice");
    await alice.visitor.post("/device", { user_code: asked.userCode }, "/device");
    const leads = await approve(alice, asked.approval);
    expect(await stateOf(asked.approval)).toBe("pending");
    await alice.confirm(leads, "alice");
    expect(words((await approve(alice, asked.approval)).text)).toContain("You approved");
    expect((await console.parties.host(asked.host))?.principal).toBe("alice");
  });

  test("that has changed is refused before the sign-in", async () => {
    const { approval } = await console.askInList("alice");
    const alice = await signedIn("alice");
    const at = `/requests/${approval.id}`;
    const page = await alice.visitor.post(at, { answer: "approve", digest: "A".repeat(43) }, at);
    expect(page.status).toBe(409);
    expect(await console.recorded()).toContain("approval.refused digest_mismatch");
  });

  test("with limits too long for a cookie asks for the limits again, and approves nothing until they are entered", async () => {
    const { approval } = await console.askInList("alice");
    const alice = await signedIn("alice");
    const payees = Array.from({ length: 90 }, (_, at) => `acc_${String(at).padStart(30, "0")}`);
    const leads = await approve(alice, approval, { "g-0-2-in": payees.join("\n") });
    const back = await alice.confirm(leads, "alice");
    expect(words(back.text)).toContain("What you entered was too long to be kept");
    expect(await stateOf(approval)).toBe("pending");
    await approve(alice, approval, { "g-0-2-in": payees.join("\n") });
    expect(await stateOf(approval)).toBe("used");
  });
});

test("denying a request requires no new sign-in", async () => {
  const { approval } = await console.askInList("alice");
  const alice = await signedIn("alice");
  const at = `/requests/${approval.id}`;
  const page = await alice.visitor.post(at, { answer: "deny" }, at);
  expect(words(page.text)).toContain("You denied");
  expect(alice.asked).toBe(1);
});

describe("a program that strips the parameters with which the console asks for credentials", () => {
  test.each([["prompt"], ["max_age"]])(
    "cannot stop the provider from asking by stripping %s alone",
    async (name) => {
      const { approval } = await console.askInList("alice");
      const alice = await signedIn("alice");
      const url = new URL(signInUrl(await approve(alice, approval)));
      url.searchParams.delete(name);
      await alice.visitor.get(`/callback${await alice.authorize(url.href, "alice")}`);
      expect(alice.asked).toBe(2);
      await approve(alice, approval);
      expect(await stateOf(approval)).toBe("used");
    },
  );

  test("can strip both parameters, but then the old auth_time confirms nothing", async () => {
    const { approval } = await console.askInList("alice");
    const alice = await signedIn("alice");
    await nextSecond();
    const url = new URL(signInUrl(await approve(alice, approval)));
    for (const name of ["prompt", "max_age"]) url.searchParams.delete(name);
    const page = await alice.visitor.get(`/callback${await alice.authorize(url.href, "alice")}`);
    expect(alice.asked).toBe(1);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("did not ask you to sign in again");
    expect(page.text).toContain(`href="/approvals/requests/${approval.id}"`);
    expect(await console.recorded()).toContain("approval.refused auth_time_stale");
    expect(words((await approve(alice, approval)).text)).toContain("Nothing is done yet");
    expect(await stateOf(approval)).toBe("pending");
  });

  test("is refused, with an explanation, if the provider gives no auth_time", async () => {
    const silent = await startProvider();
    const own = await consoleWith(await loginAt(silent), { running: true });
    try {
      const { approval } = await own.askInList("alice");
      const alice = new UserAgent(own, silent);
      await alice.signIn("alice");
      const url = new URL(signInUrl(await approve(alice, approval)));
      for (const name of ["prompt", "max_age"]) url.searchParams.delete(name);
      const page = await alice.visitor.get(`/callback${await alice.authorize(url.href, "alice")}`);
      expect(page.status).toBe(403);
      expect(words(page.text)).toContain('does not say when you signed in (the claim "auth_time"');
      expect(await own.recorded()).toContain("approval.refused auth_time_missing");
      expect(await stateOf(approval, own)).toBe("pending");
    } finally {
      await own.close();
      await silent.close();
    }
  });
});

describe("a confirming sign-in", () => {
  test("has a callback that cannot be replayed, even with a copy of the cookie", async () => {
    const { approval } = await console.askInList("alice");
    const alice = await signedIn("alice");
    const leads = await approve(alice, approval);
    const before = new Map(alice.visitor.cookies);
    const search = await alice.authorize(signInUrl(leads), "alice");
    await alice.visitor.get(`/callback${search}`);
    const again = await alice.visitor.get(`/callback${search}`);
    expect(again.status).toBe(400);
    const copy = console.visitor();
    for (const [name, value] of before) copy.cookies.set(name, value);
    const page = await copy.get(`/callback${search}`);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("did not accept the code");
    expect(copy.cookies.has("proviso-confirmation")).toBe(false);
  });

  test("approves only the request for which the user signed in", async () => {
    const [one, other] = [await console.askInList("alice"), await console.askInList("alice")];
    const alice = await signedIn("alice");
    await alice.confirm(await approve(alice, one.approval), "alice");
    const page = await approve(alice, other.approval);
    expect(words(page.text)).toContain("Nothing is done yet");
    // The console does not accept the form of one request at the address of another request, either.
    await alice.confirm(await approve(alice, one.approval), "alice");
    const at = `/requests/${one.approval.id}`;
    const form = formIn((await alice.visitor.get(at)).text, new URL(`${console.url}${at}`));
    form.set("answer", "approve");
    const swapped = await alice.visitor.submit(`/requests/${other.approval.id}`, form);
    expect(swapped.status).toBe(409);
    expect(await stateOf(other.approval)).toBe("pending");
  });

  test("that was begun for two requests confirms only the latest", async () => {
    const [one, other] = [await console.askInList("alice"), await console.askInList("alice")];
    const alice = await signedIn("alice");
    const first = await approve(alice, one.approval);
    const second = await approve(alice, other.approval);
    const page = await alice.confirm(first, "alice");
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("does not belong to this sign-in");
    await alice.confirm(await approve(alice, other.approval), "alice");
    expect(signInUrl(second)).not.toBe(signInUrl(first));
    await approve(alice, other.approval);
    expect([await stateOf(one.approval), await stateOf(other.approval)]).toEqual([
      "pending",
      "used",
    ]);
  });

  test("cannot be used for another request by a program with copies of the cookies", async () => {
    const [own, users] = [await console.askInList("alice"), await console.askInList("alice")];
    const alice = await signedIn("alice");
    const url = new URL(signInUrl(await approve(alice, own.approval)));
    const program = console.visitor();
    for (const [name, value] of alice.visitor.cookies) program.cookies.set(name, value);
    // The user signs in for another request, so the session at the provider looks recent.
    await alice.confirm(await approve(alice, users.approval), "alice");
    for (const name of ["prompt", "max_age"]) url.searchParams.delete(name);
    const search = await alice.authorize(url.href, "alice");
    expect(alice.asked).toBe(2);
    const page = await program.get(`/callback${search}`);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("has been used already, to open the console or to confirm");
    expect(await console.recorded()).toContain("approval.refused authentication_used");
    expect(await stateOf(own.approval)).toBe("pending");
    await approve(alice, users.approval);
    expect(await stateOf(users.approval)).toBe("used");
  });

  test("cannot confirm a second action with a copy of its cookie", async () => {
    const alice = await signedIn("alice");
    const leads = await alice.visitor.post("/hosts", { name: "Laptop" }, "/hosts");
    expect(await console.parties.hostsOf("alice")).not.toContainEqual(
      expect.objectContaining({ name: "Laptop" }),
    );
    const back = await alice.confirm(leads, "alice");
    expect(back.path).toBe("/approvals/hosts");
    expect(back.text).toContain('value="Laptop"');
    const copy = alice.visitor.cookies.get("proviso-confirmation") ?? "";
    const made = await alice.visitor.post("/hosts", {}, "/hosts");
    expect(made.text).toContain('class="secret"');
    alice.visitor.cookies.set("proviso-confirmation", copy);
    const again = await alice.visitor.post("/hosts", { name: "Laptop" }, "/hosts");
    expect(words(again.text)).toContain("Nothing is done yet. Sign in once more");
    const named = (await console.parties.hostsOf("alice")).filter(({ name }) => name === "Laptop");
    expect(named).toHaveLength(1);
  });

  test("for a new host with one name adds no host with another name", async () => {
    const alice = await signedIn("alice");
    const leads = await alice.visitor.post("/hosts", { name: "Phone" }, "/hosts");
    await alice.confirm(leads, "alice");
    const page = await alice.visitor.post("/hosts", { name: "Server of Mallory" }, "/hosts");
    expect(words(page.text)).toContain("Nothing is done yet");
    const names = (await console.parties.hostsOf("alice")).map(({ name }) => name);
    expect(names).not.toContain("Phone");
    expect(names).not.toContain("Server of Mallory");
  });

  test("confirms nothing if the request has changed since", async () => {
    const { approval } = await console.askInList("alice");
    const alice = await signedIn("alice");
    await alice.confirm(await approve(alice, approval), "alice");
    const subject = { ...approval.subject, purpose: "Something else" };
    const changed = { ...approval, subject, digest: digestOf({ ...approval, subject }) };
    await console.store.change(async (draft) => {
      await draft.approvals.get(approval.id);
      await draft.put("approvals", changed);
    });
    const page = await approve(alice, approval);
    expect(words(page.text)).toContain("Nothing is done yet");
    expect(await stateOf(approval)).toBe("pending");
  });

  test("expires 5 minutes after it began", async () => {
    const settings = { lifetimes: { approval: 3600, grant: 3600 } };
    const own = await consoleWith(await loginAt(provider), { running: true, settings });
    try {
      const { approval } = await own.askInList("alice");
      const alice = await signedIn("alice", own);
      const search = await alice.authorize(signInUrl(await approve(alice, approval)), "alice");
      own.advance(301_000);
      const late = await alice.visitor.get(`/callback${search}`);
      expect(late.status).toBe(400);
      expect(words(late.text)).toContain("it took too long");
      own.advance(-301_000);
      await alice.confirm(await approve(alice, approval, { "g-0-0-max": "7" }), "alice");
      own.advance(301_000);
      const page = await approve(alice, approval);
      expect(words(page.text)).toContain("Nothing is done yet");
      expect(await stateOf(approval, own)).toBe("pending");
    } finally {
      await own.close();
    }
  });
});

describe("the check of a confirming sign-in", () => {
  test("refuses a sign-in by another user, and leaves the session to the first user", async () => {
    const { approval } = await console.askInList("alice");
    const alice = await signedIn("alice");
    const url = signInUrl(await approve(alice, approval));
    const search = await new UserAgent(console, provider).authorize(url, "bob");
    const page = await alice.visitor.get(`/callback${search}`);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("You signed in as another user");
    expect(page.text).toContain("<bdi>alice</bdi>");
    expect(await console.recorded()).toContain("approval.refused confirmation_by_other_user");
    await approve(alice, approval);
    expect(await stateOf(approval)).toBe("pending");
  });

  test("refuses a sign-in for a session that has ended meanwhile", async () => {
    const { approval } = await console.askInList("alice");
    const alice = await signedIn("alice");
    const search = await alice.authorize(signInUrl(await approve(alice, approval)), "alice");
    await alice.visitor.post("/logout", {}, "/grants");
    const page = await alice.visitor.get(`/callback${search}`);
    expect(words(page.text)).toContain("Your session in the console ended");
    // A new session does not have the confirmation of the old one.
    await alice.signIn("alice");
    await alice.confirm(await approve(alice, approval), "alice");
    const kept = alice.visitor.cookies.get("proviso-confirmation") ?? "";
    await alice.visitor.post("/logout", {}, "/grants");
    await alice.signIn("alice");
    alice.visitor.cookies.set("proviso-confirmation", kept);
    expect(words((await approve(alice, approval)).text)).toContain("Nothing is done yet");
    expect(await stateOf(approval)).toBe("pending");
  });

  const differing = [
    [
      "refuses a provider whose clock is behind by more than the allowed difference",
      0,
      3000,
      "auth_time_stale",
    ],
    ["accepts a provider whose clock is behind by the allowed difference", 5, 3000, undefined],
    [
      "refuses a provider whose clock is ahead by more than the allowed difference",
      0,
      -4000,
      "auth_time_ahead",
    ],
    ["accepts a provider whose clock is ahead by the allowed difference", 5, -4000, undefined],
  ] as const;
  test.each(FULL ? differing : differing.slice(0, 1))("%s", async (_, clockSkew, ahead, code) => {
    const own = await consoleWith(await loginAt(provider, { clockSkew }), { running: true });
    try {
      own.advance(ahead);
      const { approval } = await own.askInList("alice");
      const alice = await signedIn("alice", own);
      const page = await alice.confirm(await approve(alice, approval), "alice");
      await approve(alice, approval);
      expect(page.status).toBe(code === undefined ? 200 : 403);
      expect(await stateOf(approval, own)).toBe(code === undefined ? "used" : "pending");
      if (code !== undefined) expect(await own.recorded()).toContain(`approval.refused ${code}`);
    } finally {
      await own.close();
    }
  });

  const wrong: readonly [about: string, changed: (seconds: number) => number, code: string][] = [
    ["that is not a number", () => Number.NaN, "auth_time_stale"],
    ["from before the request", (seconds) => seconds - 60, "auth_time_stale"],
    ["in milliseconds", (seconds) => seconds * 1000, "auth_time_ahead"],
  ];
  test.each(FULL ? wrong : wrong.slice(0, 1))(
    "refuses an auth_time %s",
    async (_, changed, code) => {
      const login = await loginAt(provider);
      const broken: typeof login = {
        ...login,
        async finish(answer, state) {
          const outcome = await login.finish(answer, state);
          if (!outcome.ok || outcome.authTime === undefined) return outcome;
          return { ...outcome, authTime: changed(outcome.authTime) };
        },
      };
      const own = await consoleWith(broken, { running: true });
      try {
        const { approval } = await own.askInList("alice");
        const alice = await signedIn("alice", own);
        const page = await alice.confirm(await approve(alice, approval), "alice");
        expect(page.status).toBe(403);
        expect(await own.recorded()).toContain(`approval.refused ${code}`);
        await approve(alice, approval);
        expect(await stateOf(approval, own)).toBe("pending");
      } finally {
        await own.close();
      }
    },
  );
});

describe("proof of presence at the confirming sign-in", () => {
  let keys: AuthorizationServer;
  let checking: TestConsole;
  beforeAll(async () => {
    const password = { acr: "pwd", amr: ["pwd"] };
    keys = await startProvider({
      methodsOf: (user) => (user === "alice" ? { acr: "phr", amr: ["hwk", "user"] } : password),
    });
    const presence = { acr: ["phr", "phrh"], amr: ["hwk"] };
    checking = await consoleWith(await loginAt(keys, { presence }), { running: true });
  });
  afterAll(async () => {
    await checking.close();
    await keys.close();
  });

  test("is required to approve a capability that changes data; a password alone is refused", async () => {
    const { approval } = await checking.askInList("bob");
    const bob = new UserAgent(checking, keys);
    await bob.signIn("bob");
    const shown = words((await bob.visitor.get(`/requests/${approval.id}`)).text);
    expect(shown).toContain("in a way that shows that you are there");
    expect(shown).not.toContain("does not check that you are there");
    const leads = await approve(bob, approval);
    expect(new URL(signInUrl(leads)).searchParams.get("acr_values")).toBe("phr phrh");
    const page = await bob.confirm(leads, "bob");
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("such as a security key, so nothing was confirmed");
    expect(await checking.recorded()).toContain("approval.refused presence_missing");
    await approve(bob, approval);
    expect(await stateOf(approval, checking)).toBe("pending");
  });

  test("is not required for a read-only grant on a linked host", async () => {
    const { approval } = await checking.askInList("bob", { capabilities: ["read_balance"] });
    const bob = new UserAgent(checking, keys);
    await bob.signIn("bob");
    const leads = await approve(bob, approval);
    expect(new URL(signInUrl(leads)).searchParams.get("acr_values")).toBeNull();
    await bob.confirm(leads, "bob");
    await approve(bob, approval);
    expect(await stateOf(approval, checking)).toBe("used");
  });

  test("is required to link a host, and to add a host", async () => {
    const asked = await checking.ask({ capabilities: ["read_balance"] });
    const bob = new UserAgent(checking, keys);
    await bob.signIn("bob");
    await bob.visitor.post("/device", { user_code: asked.userCode }, "/device");
    expect((await bob.confirm(await approve(bob, asked.approval), "bob")).status).toBe(403);
    const leads = await bob.visitor.post("/hosts", { name: "Laptop" }, "/hosts");
    expect((await bob.confirm(leads, "bob")).status).toBe(403);
    await bob.visitor.post("/hosts", { name: "Laptop" }, "/hosts");
    expect(await checking.parties.hostsOf("bob")).not.toContainEqual(
      expect.objectContaining({ name: "Laptop" }),
    );
    expect(await stateOf(asked.approval, checking)).toBe("pending");
  });

  test("by a security key approves a capability that changes data", async () => {
    const { approval } = await checking.askInList("alice");
    const alice = new UserAgent(checking, keys);
    await alice.signIn("alice");
    await alice.confirm(await approve(alice, approval), "alice");
    await approve(alice, approval);
    expect(await stateOf(approval, checking)).toBe("used");
  });

  test("is not checked if login.presence is not set, and the pages and a warning at startup say that it is not checked", async () => {
    const { approval } = await console.askInList("alice");
    const reading = await console.askInList("alice", { capabilities: ["read_balance"] });
    const alice = await signedIn("alice");
    const unchecked = "This server does not check that you are there in person";
    expect(words((await alice.visitor.get(`/requests/${approval.id}`)).text)).toContain(unchecked);
    const other = words((await alice.visitor.get(`/requests/${reading.approval.id}`)).text);
    expect(other).not.toContain(unchecked);
    expect(words((await alice.visitor.get("/hosts")).text)).toContain(unchecked);
    expect(console.warnings).toEqual([expect.stringContaining("presence is not checked")]);
    expect(checking.warnings).toEqual([]);
  });
});

describe("an allowed clock difference", () => {
  test("does not let the sign-in to the console confirm an approval", async () => {
    const own = await consoleWith(await loginAt(provider, { clockSkew: 60 }), { running: true });
    try {
      const { approval } = await own.askInList("alice");
      const alice = await signedIn("alice", own);
      // A program that controls the browser removes the parameters with which the provider would ask for
      // credentials.
      const url = new URL(signInUrl(await approve(alice, approval)));
      for (const name of ["prompt", "max_age"]) url.searchParams.delete(name);
      const page = await alice.visitor.get(`/callback${await alice.authorize(url.href, "alice")}`);
      expect(alice.asked).toBe(1);
      expect(page.status).toBe(403);
      expect(await own.recorded()).toContain("approval.refused authentication_used");
      await approve(alice, approval);
      expect(await stateOf(approval, own)).toBe("pending");
      // A new sign-in can confirm the action.
      await alice.confirm(await approve(alice, approval), "alice");
      await approve(alice, approval);
      expect(await stateOf(approval, own)).toBe("used");
    } finally {
      await own.close();
    }
  });
});

describe("if the memory of used sign-ins is full", () => {
  test("the console answers 503, and does not say that the sign-in was used", async () => {
    // The memory has space for two sign-ins: the one to the console, and the one that confirms.
    const own = await consoleWith(await loginAt(provider), { running: true, mostUsed: 2 });
    try {
      const { approval } = await own.askInList("alice");
      const alice = await signedIn("alice", own);
      await alice.confirm(await approve(alice, approval), "alice");
      const page = await approve(alice, approval);
      expect(page.status).toBe(503);
      expect(words(page.text)).toContain("no room to note that your sign-in has been used");
      expect(await stateOf(approval, own)).toBe("pending");
      const bob = new UserAgent(own, provider);
      const refused = await bob.signIn("bob");
      expect(refused.status).toBe(503);
      expect(words(refused.text)).not.toContain("has been used already");
    } finally {
      await own.close();
    }
  });
});
