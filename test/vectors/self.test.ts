import { expect, test } from "vitest";
import { judge } from "../../cli/vectors/answer.js";
import {
  answerHere,
  type CheckRequest,
  keyringOf,
  type OwnRequest,
} from "../../cli/vectors/self.js";
import { CAPABILITY_LIMITS } from "../../src/capability/limits.js";
import { readToken } from "../../src/capability/read-token.js";
import { verifySignatures } from "../../src/macaroon/signatures.js";
import { VECTORS } from "./support.js";

const bySubject = new Map<string, typeof VECTORS>();
for (const vector of VECTORS) {
  const name = `${vector.file}: ${vector.subject}`;
  bySubject.set(name, [...(bySubject.get(name) ?? []), vector]);
}

test.each([...bySubject])("proviso answers as the vectors say: %s", (_, vectors) => {
  const failed = vectors.flatMap((vector) => {
    const value = answerHere(vector.request as OwnRequest);
    const { tcId, comment } = vector.test;
    const outcome = judge(vector, { kind: "answer", value });
    return outcome.status === "passed" ? [] : [{ tcId, comment, outcome }];
  });
  expect(failed).toEqual([]);
});

test("the tags of each vector in check.json are the tags that verifySignatures returns", () => {
  let compared = 0;
  for (const { file, test: vector, request } of VECTORS) {
    if (file !== "check.json" || !("tags" in vector)) continue;
    const { keys, token } = request as CheckRequest;
    const [root, ...discharges] = readToken(token, CAPABILITY_LIMITS);
    const { kid } = JSON.parse(Buffer.from(root.identifier).toString());
    const key = keyringOf(keys).find(kid);
    if (key === undefined) throw new Error(`${vector.tcId}: tags without a key`);
    const result = verifySignatures(root, key, discharges, CAPABILITY_LIMITS.nesting);
    if (!result.ok) continue;
    const tags = result.chains.map((chain) =>
      chain.tags.map((tag) => Buffer.from(tag).toString("hex")),
    );
    expect(tags, `${vector.tcId}`).toEqual(vector.tags);
    compared++;
  }
  expect(compared).toBeGreaterThan(250);
});
