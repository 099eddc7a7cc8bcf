import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createIssuer,
  createRevocationList,
  importKeyring,
  type Keyring,
} from "../../src/issuer/index.js";
import { startConsole, type TestConsole } from "./support.js";
import { formIn, type Visitor, words } from "./visitor.js";

let console: TestConsole;

beforeAll(async () => {
  console = await startConsole();
});

afterAll(() => console.close());

describe("the console", () => {
  test("forbids scripts, framing and caching in the answer for every page", async () => {
    const alice = await console.signedIn("alice");
    for (const path of [
      "",
      "/device",
      "/grants",
      "/hosts",
      "/history",
      "/nowhere",
      "/signed-out",
    ]) {
      const { headers, text } = await alice.get(path);
      const policy = headers.get("content-security-policy") ?? "";
      for (const rule of [
        "default-src 'none'",
        "style-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ]) {
        expect(policy).toContain(rule);
      }
      expect(policy).not.toMatch(/unsafe|script-src/);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(text).not.toMatch(/<script|<style| style="| on[a-z]+="/i);
    }
    const style = await alice.get("/style.css");
    expect(style.headers.get("content-type")).toContain("text/css");
    const tag = style.headers.get("etag") ?? "";
    expect((await alice.get("/style.css", { "If-None-Match": tag })).status).toBe(304);
  });

  test("sets a session cookie that scripts cannot read and other sites' forms do not send", async () => {
    const one = console.visitor();
    const body = new URLSearchParams({ token: "development-token-of-alice" });
    const { origin } = new URL(console.url);
    const answer = await one.once("/login", { method: "POST", body, headers: { origin } });
    expect(answer.status).toBe(303);
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^proviso-approvals=[\w-]+; Max-Age=3600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
  });

  test("behind https sets a secure sign-in cookie for this host only, and uses a callback URL below publicUrl", async () => {
    const secure = await startConsole({
      publicUrl: "https://agent.example/pay",
      login: {
        kind: "openid",
        issuer: "x",
        checksPresence: false,
        clockSkew: 0,
        begin: async (callback) => ({
          url: callback,
          state: { state: "s", nonce: "n", verifier: "v" },
        }),
        finish: async () => ({ ok: true, principal: "alice" }),
      },
    });
    try {
      const answer = await secure.visitor().once("/login?to=/pay/approvals/grants");
      expect(answer.headers.get("location")).toBe("https://agent.example/pay/approvals/callback");
      expect(answer.headers.getSetCookie()[0]).toMatch(
        /^__Host-proviso-approvals-login=.*; Secure/,
      );
    } finally {
      await secure.close();
    }
  });

  test("refuses development tokens at a public address", async () => {
    await expect(startConsole({ publicUrl: "https://agent.example" })).rejects.toThrow(
      /options.login: development tokens are for loopback/,
    );
  });
});

describe("a visitor who is not signed in", () => {
  test("is sent to the sign-in page, and after the sign-in to the requested page", async () => {
    const one = console.visitor();
    const page = await one.get("/device?user_code=BCDF-GHJK");
    expect(page.path).toContain("/approvals/login?to=");
    expect(words(page.text)).toContain("Development only.");
    const to = /name="to" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
    expect(to).toBe("/device?user_code=BCDF-GHJK");
    const form = { token: "development-token-of-alice", to };
    const back = await one.post("/login", form, "/");
    expect(back.path).toBe("/approvals/device?user_code=BCDF-GHJK");
    expect(back.text).toContain('value="BCDF-GHJK"');
  });

  test.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "/approvals/../elsewhere",
    "javascript:alert(1)",
  ])("is not redirected to %s after the sign-in", async (to) => {
    const one = console.visitor();
    const page = await one.get(`/login?${new URLSearchParams({ to })}`);
    expect(page.text).toContain('name="to" value=""');
    const body = new URLSearchParams({ token: "development-token-of-alice", to });
    const headers = { origin: new URL(console.url).origin };
    const answer = await one.once("/login", { method: "POST", body, headers });
    const location = new URL(answer.headers.get("location") ?? "", console.url);
    expect(location.origin).toBe(headers.origin);
    expect(location.pathname).toMatch(/^\/approvals/);
  });

  test("is refused with a wrong development token, and the attempt is recorded", async () => {
    const one = console.visitor();
    const page = await one.post("/login", { token: "development-token-of-mallory" }, "/");
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("not one of this agent's development tokens");
    expect(await console.recorded()).toContain("approval.refused login_refused");
  });

  test("cannot send a form that was loaded while signed in", async () => {
    const asked = await console.askInList("alice");
    const at = `/requests/${asked.approval.id}`;
    const alice = await console.signedIn("alice");
    const form = formIn((await alice.get(at)).text, new URL(`${console.url}${at}`));
    form.set("answer", "approve");
    alice.cookies.clear();
    const page = await alice.submit(at, form);
    expect(page.status).toBe(401);
    expect(words(page.text)).toContain("Your session is over");
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
  });

  test("cannot use a copy of the cookie after signing out", async () => {
    const alice = await console.signedIn("alice");
    const copy = console.visitor();
    for (const [name, value] of alice.cookies) copy.cookies.set(name, value);
    expect((await copy.get()).path).toBe("/approvals");
    const page = await alice.post("/logout", {}, "/grants");
    expect(words(page.text)).toContain("You are signed out");
    expect((await copy.get()).path).toContain("/approvals/login");
  });

  test("is asked to sign in again when the session's lifetime is over", async () => {
    const brief = await startConsole({ lifetime: 60 });
    try {
      const alice = await brief.signedIn("alice");
      brief.advance(59_000);
      expect((await alice.get("/grants")).path).toBe("/approvals/grants");
      brief.advance(1_000);
      expect((await alice.get("/grants")).path).toContain("/approvals/login");
    } finally {
      await brief.close();
    }
  });

  test("stays signed out with a changed cookie, or with the cookie of another agent", async () => {
    const other = await startConsole();
    try {
      const foreign = await other.signedIn("alice");
      const one = console.visitor();
      for (const [name, value] of foreign.cookies) one.cookies.set(name, value);
      expect((await one.get()).path).toContain("/approvals/login");
      const alice = await console.signedIn("alice");
      const [[name, value] = ["", ""]] = alice.cookies;
      alice.cookies.set(name, `${value.slice(0, -2)}${value.endsWith("A") ? "BB" : "AA"}`);
      expect((await alice.get()).path).toContain("/approvals/login");
    } finally {
      await other.close();
    }
  });

  test("cannot forge a session with a service's derived key", async () => {
    const asked = await console.askInList("alice");
    const at = `/requests/${asked.approval.id}`;
    const withSessionOf = (keys: Keyring): Visitor => {
      const clock = console.now;
      const revocations = createRevocationList();
      const maker = createIssuer({ name: "payments", keys, revocations, clock });
      const ends = clock() + 60_000;
      const session = { id: "made", principal: "alice", csrf: "known", ends, codes: [] };
      const one = console.visitor();
      const value = maker.seal("console-session", JSON.stringify(session), new Date(ends));
      one.cookies.set("proviso-approvals", value);
      return one;
    };
    // A session that is sealed with the root key works. The other key is thus the only reason for the refusal.
    const root = withSessionOf(console.keys);
    const { text } = await root.get(at);
    const form = formIn(text, new URL(`${console.url}${at}`));
    form.set("answer", "approve");

    const forger = withSessionOf(importKeyring(console.keys.serviceKeys("files.example")));
    expect((await forger.get(at)).path).toContain("/approvals/login");
    expect((await forger.submit(at, form)).status).toBe(401);
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
    await root.submit(at, form);
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("used");
  });
});

describe("protection against cross-site requests", () => {
  const from = [
    ["from another site (according to Origin)", { Origin: "https://evil.example" }],
    ["from another site (according to Sec-Fetch-Site)", { "Sec-Fetch-Site": "cross-site" }],
    [
      "from another port of this machine",
      { Origin: "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site" },
    ],
    ["from a page with a null origin", { Origin: "null" }],
    ["from a program without an Origin", {}],
  ] as const;
  test.each(from)(
    "a form sent %s is refused, although the session and the CSRF token are right",
    async (_, headers) => {
      const asked = await console.askInList("alice");
      const at = `/requests/${asked.approval.id}`;
      const alice = await console.signedIn("alice");
      const form = formIn((await alice.get(at)).text, new URL(`${console.url}${at}`));
      form.set("answer", "approve");
      const page = await alice.submit(at, form, headers);
      expect(page.status).toBe(403);
      expect(words(page.text)).toContain("Sent from another site");
      expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
      expect(await console.recorded()).toContain("approval.refused cross_site");
    },
  );

  test.each([
    ["without a CSRF token", undefined],
    ["with another session's CSRF token", "another"],
  ])("a form sent %s is refused, although the origin is right", async (_, token) => {
    const asked = await console.askInList("alice");
    const at = `/requests/${asked.approval.id}`;
    const [alice, other] = [await console.signedIn("alice"), await console.signedIn("alice")];
    const to = new URL(`${console.url}${at}`);
    const form = formIn((await alice.get(at)).text, to);
    const foreign = formIn((await other.get(at)).text, to).get("csrf") ?? "";
    form.set("answer", "approve");
    if (token === undefined) form.delete("csrf");
    else form.set("csrf", foreign);
    const page = await alice.submit(at, form);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("This page is out of date");
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
    expect(await console.recorded()).toContain("approval.refused csrf");
  });

  test.each(["iframe", "frame", "embed", "object"])(
    "a page loaded in the element %s is refused, and the attempt is recorded",
    async (dest) => {
      const alice = await console.signedIn("alice");
      const page = await alice.get("/grants", { "Sec-Fetch-Dest": dest });
      expect(page.status).toBe(403);
      expect(words(page.text)).toContain("tried to show the approvals console inside itself");
      expect(page.text).not.toContain("What agents may do");
      expect((await console.events()).at(-1)).toMatchObject({
        decision: "refused",
        change: "approval.refused",
        codes: ["framed"],
        principal: "alice",
      });
    },
  );
});

describe("a request body", () => {
  test.each([
    ["a JSON body", "{}", { "Content-Type": "application/json" }, 415],
    ["a body that is too large", `a=${"x".repeat(200_000)}`, {}, 413],
    ["too many fields", "a=1&".repeat(3000), {}, 400],
    ["one field twice", "csrf=a&csrf=b", {}, 400],
    ["a compressed body", "a=1", { "Content-Encoding": "gzip" }, 400],
    [
      "a body in another charset",
      "a=1",
      { "Content-Type": "application/x-www-form-urlencoded; charset=utf-7" },
      400,
    ],
  ])("is refused with an error page: %s", async (_, body, headers, status) => {
    const alice = await console.signedIn("alice");
    const { origin: Origin } = new URL(console.url);
    const page = await alice.submit("/hosts", body, { Origin, ...headers });
    expect(page.status).toBe(status);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.text).toContain("<h1>Not understood</h1>");
  });
});

describe("a request that the visitor may not answer", () => {
  test("is not shown at its address, and the attempt is recorded", async () => {
    const asked = await console.askInList("alice", { purpose: "Alice's own business" });
    const bob = await console.signedIn("bob");
    const at = `/requests/${asked.approval.id}`;
    const page = await bob.get(at);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("This request is for another user to decide.");
    expect(page.text).not.toContain("own business");
    expect(page.text).toContain("/approvals/login?again=1");
    const last = (await console.events()).at(-1);
    expect(last).toMatchObject({
      codes: ["approver_denied"],
      principal: "bob",
      record: asked.approval.id,
    });
  });

  test("cannot be answered with a form from the visitor's own session", async () => {
    const asked = await console.askInList("alice");
    const bob = await console.signedIn("bob");
    const own = formIn((await bob.get("/device")).text, new URL(`${console.url}/device`));
    const form = new URLSearchParams({ csrf: own.get("csrf") ?? "", answer: "approve" });
    const page = await bob.submit(`/requests/${asked.approval.id}`, form);
    expect(page.status).toBe(403);
    expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
  });

  test("that needs a code is not shown without the code", async () => {
    const asked = await console.ask();
    const alice = await console.signedIn("alice");
    const page = await alice.get(`/requests/${asked.approval.id}`);
    expect(page.status).toBe(403);
    expect(page.text).not.toContain("transfer_funds");
  });

  test("cannot be answered by its code once another user has linked the agent", async () => {
    const asked = await console.ask();
    const [alice, bob] = [await console.signedIn("alice"), await console.signedIn("bob")];
    const first = await alice.post("/device", { user_code: asked.userCode }, "/device");
    const second = await bob.post("/device", { user_code: asked.userCode }, "/device");
    const at = first.path.replace("/approvals", "");
    const form = formIn(second.text, new URL(`${console.url}${at}`));
    await alice.post(at, { answer: "approve" }, at);
    form.set("answer", "approve");
    const page = await bob.submit(at, form);
    expect(page.status).toBe(403);
    expect(words(page.text)).toContain("For another user");
    expect((await console.parties.host(asked.host))?.principal).toBe("alice");
  });
});

describe("a request that cannot be answered", () => {
  test("because its time is over is shown as expired, and grants nothing", async () => {
    const asked = await console.askInList("carol");
    const carol = await console.signedIn("carol");
    const at = `/requests/${asked.approval.id}`;
    const form = formIn((await carol.get(at)).text, new URL(`${console.url}${at}`));
    form.set("answer", "approve");
    console.advance(301_000);
    const page = await carol.submit(at, form);
    expect(page.status).toBe(410);
    expect(words(page.text)).toContain("The time to answer is over, so nothing was granted.");
    expect(words((await carol.get(at)).text)).toContain("Expired: no decision came in time");
    expect(await console.recorded()).toContain("approval.refused approval_expired");
    const [grant] = await console.parties.grantsOf(asked.agent);
    expect(grant?.status).not.toBe("active");
  });

  test("because its time is over is not shown by its code", async () => {
    const asked = await console.ask();
    const carol = await console.signedIn("carol");
    console.advance(301_000);
    const page = await carol.post("/device", { user_code: asked.userCode }, "/device");
    expect(page.status).toBe(410);
    expect(words(page.text)).toContain("Too late");
    expect(page.text).not.toContain("transfer_funds");
  });

  test("because it never existed gets 404", async () => {
    const carol = await console.signedIn("carol");
    expect((await carol.get("/requests/approval_none")).status).toBe(404);
    expect((await carol.get("/requests/%E0%A4%A")).status).toBe(404);
  });
});

describe("limits on attempts", () => {
  test("after 3 wrong codes in a session or 5 by a user, every code is refused with 429", async () => {
    const strict = await startConsole({ codes: { session: 3, user: 5 } });
    try {
      const asked = await strict.ask();
      const alice = await strict.signedIn("alice");
      for (const code of ["BCDF-GHJK", "", "' OR 1=1"]) {
        const page = await alice.post("/device", { user_code: code }, "/device");
        expect(page.status).toBe(400);
        expect(words(page.text)).toContain("No request has this code now.");
      }
      const right = await alice.post("/device", { user_code: asked.userCode }, "/device");
      expect(right.status).toBe(429);
      expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(60);
      // In a new session, a user has only the attempts that remain of the user's own limit.
      const again = await strict.signedIn("alice");
      for (let attempt = 1; attempt <= 2; attempt++) {
        const page = await again.post("/device", { user_code: "BCDF-GHJK" }, "/device");
        expect(page.status).toBe(400);
      }
      expect((await again.post("/device", { user_code: "BCDF-GHJK" }, "/device")).status).toBe(429);
      // Another user has a limit of their own.
      const bob = await strict.signedIn("bob");
      const page = await bob.post("/device", { user_code: asked.userCode }, "/device");
      expect(page.status).toBe(200);
      const recorded = await strict.recorded();
      expect(recorded.filter((one) => one.endsWith("user_code_invalid"))).toHaveLength(5);
      expect(recorded).toContain("approval.refused code_attempts");
    } finally {
      await strict.close();
    }
  });

  test("after too many requests of one user, the console answers 429", async () => {
    const busy = await startConsole({ rate: { requests: 6, seconds: 600 } });
    try {
      const alice = await busy.signedIn("alice");
      const states: number[] = [];
      for (let at = 0; at < 8; at++) states.push((await alice.get("/device")).status);
      expect(states.at(0)).toBe(200);
      expect(states.at(-1)).toBe(429);
      const page = await alice.get("/device");
      expect(words(page.text)).toContain("Too many requests");
      expect(page.headers.get("retry-after")).toMatch(/^\d+$/);
    } finally {
      await busy.close();
    }
  });
});
