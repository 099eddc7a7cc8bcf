import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createKeyring, createRevocationList, importKeyring } from "../../../src/issuer/index.js";
import {
  createRevocationFeed,
  type RevocationFeedOptions,
} from "../../../src/protocols/revocations/index.js";
import { misuse } from "../../caveats/support.js";
import { AT, NOW, pair, SERVICE } from "./support.js";

const URL_OF_FEED = "https://agent.example/revocations";

function credentialOf(kid: string, secret: Buffer): string {
  const proof = createHmac("sha256", secret).update("proviso-revocation-feed-v1");
  return `${Buffer.from(kid).toString("base64url")}.${proof.digest("base64url")}`;
}

function asked(authorization?: string, more: object = {}, query = ""): Request {
  const headers = { ...(authorization === undefined ? {} : { authorization }), ...more };
  return new Request(URL_OF_FEED + query, { headers });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function secretOf(keys: { readonly keys: readonly { readonly k: string }[] }): Buffer {
  return Buffer.from(keys.keys.at(-1)?.k ?? "", "base64url");
}

describe("the revocation feed", () => {
  test("answers with the bytes and headers that the specification defines", async () => {
    const { root, feed, list, follower } = pair();
    follower.close();
    list.add({ kind: "principal", id: "alice", before: AT, at: AT, reason: "left \ud800" });
    const set = root.serviceKeys(SERVICE);
    const secret = secretOf(set);
    const credential = `Bearer ${credentialOf(set.keys[0]?.kid ?? "", secret)}`;
    const nonce = { "Proviso-Feed-Nonce": "n-1" };
    const answer = await feed.fetch(asked(credential, nonce));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Cache-Control")).toBe("private, no-store");
    expect(answer.headers.get("Vary")).toBe("Authorization");
    const text = await answer.text();
    const entries = `[{"at":"${AT}","before":"${AT}","id":"alice","kind":"principal","reason":"left \ufffd"}]`;
    const name = sha256(entries);
    expect(text).toBe(`{"version":1,"trustedUntil":"2030-01-01T00:05:00Z","pages":["${name}"]}`);
    const digest = sha256(`["${name}"]`);
    const mac = createHmac("sha256", secret)
      .update(`proviso-revocation-feed-answer-v1 1 2030-01-01T00:05:00Z ${digest} n-1`)
      .digest("base64url");
    expect(answer.headers.get("Proviso-Feed-MAC")).toBe(mac);
    expect(answer.headers.get("ETag")).toBe(`"1-${digest}"`);

    const unchanged = await feed.fetch(
      asked(credential, { ...nonce, "If-None-Match": `"1-${digest}"` }),
    );
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ""]);
    expect(unchanged.headers.get("Proviso-Trusted-Until")).toBe("2030-01-01T00:05:00Z");
    expect(unchanged.headers.get("Proviso-Feed-MAC")).toBe(mac);

    const page = await feed.fetch(asked(credential, {}, `?page=${name}`));
    expect([page.status, await page.text()]).toEqual([200, entries]);
    expect(page.headers.get("Cache-Control")).toBe("private, no-store");

    // A MAC for a request without a nonce would fit every such request, so a service always sends a nonce.
    const unasked = await feed.fetch(asked(credential));
    expect([unasked.status, unasked.headers.get("Proviso-Feed-MAC") === mac]).toEqual([200, false]);
    for (const wrong of ["a b", "é", "n".repeat(65)]) {
      const refused = await feed.fetch(asked(credential, { "Proviso-Feed-Nonce": wrong }));
      expect([refused.status, await refused.text()]).toEqual([
        400,
        expect.stringContaining("NONCE_INVALID"),
      ]);
    }
  });

  test("serves pages of the current and the previous list, but of no older list", async () => {
    const { root, feed, list, follower } = pair();
    follower.close();
    const set = root.serviceKeys(SERVICE);
    const credential = `Bearer ${credentialOf(set.keys[0]?.kid ?? "", secretOf(set))}`;
    const pageOf = async (name: string, of = feed): Promise<number> =>
      (await of.fetch(asked(credential, {}, `?page=${name}`))).status;
    const names: string[] = [];
    for (const id of ["key_1", "key_2", "key_3"]) {
      list.add({ kind: "key", id, at: AT });
      const { pages } = JSON.parse(await (await feed.fetch(asked(credential))).text());
      names.push(...pages);
    }
    const [first = "", second = "", third = ""] = names;
    expect([await pageOf(first), await pageOf(second), await pageOf(third)]).toEqual([
      404, 200, 200,
    ]);
    const beside = createRevocationFeed({ keys: root, revocations: list });
    expect([await pageOf(third, beside), await pageOf(first, beside)]).toEqual([200, 404]);
    const unknown = await feed.fetch(asked(undefined, {}, `?page=${third}`));
    expect(unknown.status).toBe(401);
  });

  test("reads an asynchronous list once for concurrent requests, and reads the list again after a failure", async () => {
    const keys = createKeyring();
    const list = createRevocationList();
    list.add({ kind: "key", id: "key_1", at: AT });
    let reads = 0;
    const feed = createRevocationFeed({
      keys,
      clock: () => NOW,
      revocations: {
        version: 1,
        find: (query) => list.find(query),
        isCurrent: () => true,
        async snapshot(trustedUntil) {
          reads++;
          if (reads === 1) throw new Error("the disk is gone");
          return list.snapshot(trustedUntil);
        },
      },
    });
    const set = keys.serviceKeys(SERVICE);
    const credential = `Bearer ${credentialOf(set.keys[0]?.kid ?? "", secretOf(set))}`;
    const ask = () => feed.fetch(asked(credential));
    const failures = await Promise.allSettled([ask(), ask()]);
    expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const answers = await Promise.all([ask(), ask()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(reads).toBe(2);
  });

  test("answers with no later trustedUntil than the list's own, and answers 503 from that time on", async () => {
    const keys = createKeyring();
    const original = createRevocationList();
    const revocations = createRevocationList(original.snapshot("2030-01-01T00:01:00Z"));
    let now = NOW;
    const feed = createRevocationFeed({ keys, revocations, clock: () => now });
    const set = keys.serviceKeys(SERVICE);
    const credential = `Bearer ${credentialOf(set.keys[0]?.kid ?? "", secretOf(set))}`;
    const copied = await (await feed.fetch(asked(credential))).json();
    expect(copied).toMatchObject({ trustedUntil: "2030-01-01T00:01:00Z" });
    now += 60_000;
    const late = await feed.fetch(asked(credential));
    expect([late.status, late.headers.get("Retry-After")]).toEqual([503, "5"]);
  });
});

describe("a feed request without a valid credential", () => {
  test("gets 401 and no entries, whatever is wrong with the credential", async () => {
    const { root, feed, list, follower } = pair();
    follower.close();
    const set = root.serviceKeys(SERVICE);
    const kid = set.keys[0]?.kid ?? "";
    const other = secretOf(root.serviceKeys("other"));
    const rootSecret = secretOf(root.exportJwkSet());
    const wrong: readonly (string | undefined)[] = [
      undefined,
      "Basic YWxpY2U6",
      "Bearer ",
      "Bearer x",
      `Bearer ${credentialOf(kid, other)}`,
      `Bearer ${credentialOf(root.minting.kid, rootSecret)}`,
      `Bearer ${credentialOf(`key_gone@${SERVICE}`, secretOf(set))}`,
      `Bearer ${credentialOf(kid, secretOf(set))}.AAAA`,
      `Bearer ${credentialOf(kid, secretOf(set)).slice(0, -1)}`,
      `Bearer ${"A".repeat(3000)}`,
    ];
    for (const authorization of wrong) {
      const answer = await feed.fetch(asked(authorization));
      expect(answer.status, authorization ?? "none").toBe(401);
      expect(answer.headers.get("WWW-Authenticate")).toMatch(/^Bearer realm="proviso-revocations"/);
      expect(await answer.text()).not.toContain("entries");
    }
    const good = `Bearer ${credentialOf(kid, secretOf(set))}`;
    expect((await feed.fetch(asked(good))).status).toBe(200);
    expect((await feed.fetch(new Request(URL_OF_FEED, { method: "POST" }))).status).toBe(405);
    for (const id of [kid, root.minting.kid]) {
      const revoked = createRevocationList();
      revoked.add({ kind: "key", id, at: AT });
      const strict = createRevocationFeed({ keys: root, revocations: revoked });
      expect((await strict.fetch(asked(good))).status).toBe(401);
    }
    expect(list.version).toBe(0);
  });
});

test("createRevocationFeed refuses unknown and wrong options, and the error names the option", () => {
  const [keys, revocations] = [createKeyring(), createRevocationList()];
  const feed = (change: object) => () =>
    createRevocationFeed({ keys, revocations, ...change } as RevocationFeedOptions);
  expect(misuse(feed({ keys: {} }))).toContain("keys must be a Keyring");
  expect(misuse(feed({ revocations: {} }))).toContain("revocations must be");
  expect(misuse(feed({ maxage: 1 }))).toContain('did you mean "maxAge"');
  for (const maxAge of [0, 1.5, 86_401, "5m"]) {
    expect(misuse(feed({ maxAge }))).toContain("maxAge must be 1 to 86400 whole seconds");
  }
  const own = importKeyring(keys.serviceKeys("a"));
  expect(misuse(feed({ keys: own }))).toBe("accepted");
});
