import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createIssuer,
  createKeyring,
  createRevocationList,
  importKeyring,
} from "../../../src/issuer/index.js";
import {
  createRevocationFeed,
  type FollowRevocationsOptions,
  followRevocations,
} from "../../../src/protocols/revocations/index.js";
import { codes } from "../../capability/support.js";
import { misuse } from "../../caveats/support.js";
import { FULL } from "../../support/size.js";
import { AT, NOW, pair, SERVICE } from "./support.js";

const MINUTE = 60_000;
const CALL = { grant: "files", operation: "get" } as const;

/** Returns the message with which a refresh fails. */
async function problemOf(refresh: Promise<void>): Promise<string> {
  return refresh.then(
    () => "none",
    (error: unknown) => (error instanceof Error ? error.message : "no error"),
  );
}

describe("a follower's copy of the revocation list", () => {
  test("is stale before the first answer, then current until its age limit, and stale from that limit on", async () => {
    const made = pair();
    const { follower, root, own } = made;
    const clock = (): number => made.now;
    const agent = createIssuer({ name: "agent", keys: root, revocations: made.list, clock });
    const service = createIssuer({
      name: "agent",
      keys: own,
      revocations: follower,
      audience: SERVICE,
      clock,
    });
    const { token } = agent.mint({ grant: "files", operations: ["get"], service: SERVICE });
    expect(codes(service.authorize(token, CALL))).toEqual(["revocation_stale"]);
    await follower.refresh();
    expect(codes(service.authorize(token, CALL))).toEqual([]);
    made.now += 5 * MINUTE - 1000;
    expect(codes(service.authorize(token, CALL))).toEqual([]);
    made.now += 1000;
    expect(codes(service.authorize(token, CALL))).toEqual(["revocation_stale"]);
    // A new answer extends the time of trust, even if the list has not changed.
    await follower.refresh();
    expect(made.answers.map(({ status }) => status)).toEqual([200, 304]);
    expect(codes(service.authorize(token, CALL))).toEqual([]);

    const revocation = agent.revocationOf(token);
    if (revocation.ok) made.list.add(revocation.entry);
    await follower.refresh();
    expect(codes(service.authorize(token, CALL))).toEqual(["revoked"]);
    expect([follower.version, follower.size]).toEqual([1, 1]);
    follower.close();
    expect(await problemOf(follower.refresh())).toBe("this list is closed");
  });

  test("is fetched by catchUp at the start, and again after the process was blocked", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const made = pair({ interval: 10 });
    const { follower, list } = made;
    await Promise.all(Array.from({ length: 10 }, () => follower.catchUp()));
    expect(made.answers).toHaveLength(1);
    list.add({ kind: "key", id: "key_1", at: AT });
    vi.advanceTimersByTime(31_000);
    expect(follower.size).toBe(0);
    await follower.catchUp();
    expect(follower.size).toBe(1);
    follower.close();
    await follower.catchUp();
  });

  test("is not requested again by catchUp while the issuer is unreachable, and catchUp returns within five seconds", async () => {
    const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.reject(new TypeError("no")));
    const { follower } = pair({ fetch });
    await follower.catchUp();
    const asked = fetch.mock.calls.length;
    for (let at = 0; at < 10; at++) await follower.catchUp();
    expect(fetch.mock.calls.length).toBe(asked);
    follower.close();
    const silent = pair({ fetch: () => new Promise(() => {}) });
    const began = performance.now();
    await silent.follower.catchUp();
    // Five seconds, and the time that a busy machine adds.
    expect(performance.now() - began).toBeLessThan(15_000);
    silent.follower.close();
  });

  test("is trusted no longer than the follower's maxAge, whatever the issuer says", async () => {
    const made = pair({ maxAge: 60 });
    await made.follower.refresh();
    expect(made.follower.isCurrent(NOW + MINUTE - 1)).toBe(true);
    expect(made.follower.isCurrent(NOW + MINUTE)).toBe(false);
    made.follower.close();
  });

  test("is requested once for concurrent refreshes", async () => {
    const { follower, requests } = pair();
    await Promise.all([follower.refresh(), follower.refresh()]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.headers.get("Authorization")).toMatch(/^Bearer [\w-]+\.[\w-]{43}$/);
    follower.close();
  });
});

describe("a wrong answer of the revocation feed", () => {
  const FORGED = "was not made for this question of this service";

  test("is refused if it is changed or malformed, and the follower keeps its copy", async () => {
    const made = pair();
    const { follower, list, feed } = made;
    list.add({ kind: "key", id: "key_1", at: AT });
    await follower.refresh();
    list.add({ kind: "key", id: "key_2", at: AT });
    /** Returns a function that answers a request with a changed version of the issuer's answer. */
    const answer =
      (change: object, more: Readonly<Record<string, string>> = {}) =>
      async (request: Request): Promise<Response> => {
        const answered = await feed.fetch(request);
        const body: object = JSON.parse(await answered.text());
        const headers = new Headers(answered.headers);
        for (const [name, value] of Object.entries(more)) headers.set(name, value);
        return Response.json({ ...body, ...change }, { headers });
      };
    const forged: [string, NonNullable<typeof made.between>, string][] = [
      ["with no page", answer({ pages: [] }), FORGED],
      ["with names that are none", answer({ pages: ["\ud800"] }), "not of a feed"],
      ["with another version", answer({ version: 9 }), FORGED],
      ["with a later end", answer({}, { "Proviso-Trusted-Until": "2031-01-01T00:00:00Z" }), FORGED],
      ["without a MAC", answer({}, { "Proviso-Feed-MAC": "" }), FORGED],
      ["with what is no MAC", answer({}, { "Proviso-Feed-MAC": "!" }), FORGED],
      ["with no end", answer({}, { "Proviso-Trusted-Until": "soon" }), "not of a feed"],
      ["of another shape", () => Response.json([]), "not of a feed"],
      ["that is no JSON", () => new Response("<p>", { status: 200 }), "not with JSON"],
      ["that leads elsewhere", () => Response.redirect("https://b.example/", 302), "redirects"],
      [
        "that is an error",
        () => Response.json({ error: { message: "no" } }, { status: 500 }),
        "no",
      ],
    ];
    const page = (text: string): NonNullable<typeof made.between> => {
      return (request) =>
        request.url.includes("?page=") ? new Response(text) : feed.fetch(request);
    };
    forged.push(
      ["with a page of its own", page("[]"), "a page is not the one that was asked for"],
      ["with a page that is no JSON", page("<p>"), "not with JSON"],
    );
    for (const [about, respond, message] of forged) {
      made.between = respond;
      expect(await problemOf(follower.refresh()), about).toContain(message);
      expect(follower.problem?.message, about).toContain(message);
      expect(follower.size).toBe(1);
    }
    made.between = (request) => feed.fetch(request);
    await follower.refresh();
    expect(follower.problem).toBeUndefined();
    follower.close();
  });

  test("is refused if it was made for another service", async () => {
    const made = pair();
    await made.follower.refresh();
    const other = importKeyring(made.root.serviceKeys("other"));
    const own = made.feed;
    made.between = async (asked) => {
      let answer = new Response();
      const theirs = followRevocations({
        url: "https://agent.example/revocations",
        keys: other,
        fetch: async (input, init) => {
          const request = new Request(input, init);
          const nonce = asked.headers.get("Proviso-Feed-Nonce") ?? "";
          request.headers.set("Proviso-Feed-Nonce", nonce);
          answer = await own.fetch(request);
          return answer.clone();
        },
      });
      await theirs.refresh().catch(() => {});
      theirs.close();
      return answer;
    };
    expect(await problemOf(made.follower.refresh())).toContain(FORGED);
    made.follower.close();
  });

  test("is refused if it is a replayed earlier answer, and does not extend the trust in the copy", async () => {
    const made = pair({ maxAge: 60, interval: 20 });
    const { follower, list } = made;
    await follower.refresh();
    list.add({ kind: "key", id: "key_1", at: AT });
    await follower.refresh();
    await follower.refresh();
    expect(made.answers.map(({ status }) => status)).toEqual([200, 200, 200, 304]);
    // Each of these is a genuine answer of the issuer. The issuer would let a service trust it for longer than
    // the service itself does.
    made.now += 2 * MINUTE;
    const { age } = follower;
    const indexes = made.answers.filter(({ headers }) => headers.has("Proviso-Feed-MAC"));
    expect(indexes).toHaveLength(3);
    for (const earlier of indexes) {
      made.between = () => earlier.clone();
      expect(await problemOf(follower.refresh())).toContain(FORGED);
      expect(follower.isCurrent(made.now)).toBe(false);
      expect([follower.size, follower.version]).toEqual([1, 1]);
      expect(follower.age).toBeGreaterThanOrEqual(age);
    }
    follower.close();
  });

  test("is refused if its list has an earlier version than the follower's copy", async () => {
    const made = pair();
    made.list.add({ kind: "key", id: "key_1", at: AT });
    await made.follower.refresh();
    const restored = createRevocationFeed({
      keys: made.root,
      revocations: createRevocationList(),
      clock: () => made.now,
    });
    made.between = (request) => restored.fetch(request);
    const problem = await problemOf(made.follower.refresh());
    expect(problem).toContain("version 0 is older than 1, the one known here");
    expect(made.follower.size).toBe(1);
    made.follower.close();
  });
});

describe("a revocation list of many pages", () => {
  if (FULL) {
    const LINKS = 160_000;
    const until = "2031-01-01T00:00:00Z";
    const entries = Array.from({ length: LINKS }, (_, at) => {
      const id = `rv_${Buffer.from(new Uint32Array([at, 0, 0, 7]).buffer).toString("base64url")}`;
      return { kind: "link", id, at: AT, until } as const;
    });

    test("is fetched whole at first, and later only its new pages are fetched", async () => {
      const made = pair({ list: createRevocationList({ version: 1, entries }) });
      await made.follower.refresh();
      const read = made.answers.map(async (answer) => (await answer.arrayBuffer()).byteLength);
      const sizes = await Promise.all(read);
      // The pages together are larger than one answer that a service accepts.
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(16 * 1024 * 1024);
      expect(Math.max(...sizes)).toBeLessThan(5 * 1024 * 1024);
      expect([made.follower.size, made.follower.version]).toEqual([LINKS, 1]);
      const links = [entries[0], entries[LINKS - 1]].map((entry) => entry?.id ?? "");
      const query = { links, capability: "", keys: ["key_1"], issued: NOW };
      expect(made.follower.find(query)).toHaveLength(2);

      const before = made.requests.length;
      made.list.add({ kind: "key", id: "key_1", at: "2030-01-01T00:00:01Z" });
      await made.follower.refresh();
      expect(made.requests.length - before).toBe(2);
      expect(made.follower.find(query)).toHaveLength(3);
      expect(made.follower.size).toBe(LINKS + 1);
      made.follower.close();
    });

    test("whose fetch failed at one page is fetched from that page on at the next refresh", async () => {
      const some = entries.slice(0, 120_000);
      const made = pair({ list: createRevocationList({ version: 1, entries: some }) });
      let asked = 0;
      made.between = (request) => {
        const isPage = request.url.includes("?page=");
        if (isPage) asked++;
        return isPage && asked === 3
          ? new Response(null, { status: 500 })
          : made.feed.fetch(request);
      };
      expect(await problemOf(made.follower.refresh())).not.toBe("none");
      expect([made.follower.size, made.follower.isCurrent(NOW)]).toEqual([0, false]);
      const pages = asked;
      await made.follower.refresh();
      expect(made.follower.size).toBe(some.length);
      // The service has already fetched two pages. It fetches the failed page again, then the remaining pages.
      const whole = JSON.parse((await made.answers[0]?.text()) ?? "").pages.length;
      expect([pages, asked]).toEqual([3, whole + 1]);
      made.follower.close();
    });
  }

  test("is fetched at most three times in one refresh if the list changes during each fetch", async () => {
    const made = pair();
    await made.follower.refresh();
    let added = 0;
    made.between = async (request) => {
      if (!request.url.includes("?page=")) {
        made.list.add({ kind: "key", id: `key_${added++}`, at: AT });
        return made.feed.fetch(request);
      }
      return Response.json({ error: { code: 404, message: "gone" } }, { status: 404 });
    };
    const requests = made.requests.length;
    expect(await problemOf(made.follower.refresh())).toContain(
      "changes faster than it can be read",
    );
    expect(made.requests.length - requests).toBe(6);
    expect(made.follower.size).toBe(0);
    made.between = undefined;
    await made.follower.refresh();
    expect(made.follower.size).toBe(3);
    made.follower.close();
  });
});

test("a follower refuses an HTTP 304 without the feed's headers, whether or not it has a copy of the list", async () => {
  const made = pair();
  const none = pair({ fetch: async () => new Response(null, { status: 304 }) });
  expect(await problemOf(none.follower.refresh())).toContain("redirects are not followed");
  none.follower.close();
  await made.follower.refresh();
  made.between = () => new Response(null, { status: 304 });
  expect(await problemOf(made.follower.refresh())).toContain("not of a feed");
  made.follower.close();
});

test("a follower refreshes by itself every 30 seconds, and 5 seconds after a failed refresh", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const made = pair();
  await made.follower.refresh();
  await vi.advanceTimersByTimeAsync(30_000);
  await expect.poll(() => made.answers.length).toBe(2);
  made.between = () => new Response(null, { status: 500 });
  await made.follower.refresh().catch(() => {});
  const asked = made.requests.length;
  await vi.advanceTimersByTimeAsync(5000);
  expect(made.requests.length).toBe(asked + 1);
  made.follower.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(made.requests.length).toBe(asked + 1);
});

test("a refresh with a key that the issuer no longer has fails with the status 401", async () => {
  const made = pair();
  await made.follower.refresh();
  const elsewhere = createRevocationFeed({ keys: createKeyring(), revocations: made.list });
  made.between = (request) => elsewhere.fetch(request);
  await expect(made.follower.refresh()).rejects.toMatchObject({ name: "AgentFault", status: 401 });
  made.follower.close();
});

test("followRevocations refuses unknown and wrong options, and the error names the option", () => {
  const root = createKeyring();
  const keys = importKeyring(root.serviceKeys(SERVICE));
  const url = "https://agent.example/revocations";
  const follow = (change: object) => () =>
    followRevocations({ url, keys, ...change } as FollowRevocationsOptions).close();
  expect(misuse(follow({ keys: root }))).toContain("keys must be a service's own");
  expect(misuse(follow({ keys: {} }))).toContain("keys must be a Keyring");
  expect(misuse(follow({ url: 7 }))).toContain("url must be a string");
  expect(misuse(follow({ maxAge: 0 }))).toContain("maxAge must be 1 to 86400");
  expect(misuse(follow({ interval: 101 }))).toContain("a third of maxAge");
  expect(misuse(follow({ fetch: 7 }))).toContain("fetch must be a function");
  expect(misuse(follow({ intervall: 1 }))).toContain('did you mean "interval"');
  expect(follow({ url: "http://agent.example/revocations" })).toThrow(/in clear/);
});
