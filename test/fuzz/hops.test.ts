import { describe } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import { checkInvocation, type Invocation } from "../../src/caveats/invocation.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { meetOf } from "../../src/caveats/meet.js";
import { readHop } from "../../src/caveats/read-hop.js";
import { encodeHop } from "../../src/caveats/write-hop.js";
import {
  addFirstPartyCaveat,
  createMacaroon,
  macaroonToText,
  parseMacaroon,
} from "../../src/macaroon/index.js";
import { allows } from "../exhaustive/model.js";
import { editBytes } from "./byte-mutations.js";
import { issuer, keyring, NOW } from "./corpus.js";
import { anyText, anyValue, nearlyHop, object, type Value } from "./garbage.js";
import { canonicalObject, canonicalText, isHop, isIdentifier } from "./hop-grammar.js";
import { fuzz, type Random } from "./random.js";

const utf8 = new TextEncoder();
const START = issuer.mint({ grant: "documents:read", anyOperation: true }).token;

/** Writes a value, usually in canonical form; sometimes in another spelling, or damaged. */
function written(random: Random, value: Value): Uint8Array {
  const canonical = random.once(30) ? JSON.stringify(value) : canonicalText(value);
  const bytes = utf8.encode(canonical ?? "");
  return random.once(12) ? editBytes(random, bytes, utf8.encode('{"operations":["get"]}')) : bytes;
}

function anyCall(random: Random): Invocation {
  const name = (): string => random.pick(["amount", "to", "other", "", "__proto__", "a.b"]);
  const named = random.many(random.below(4), () => [name(), anyValue(random, 2)] as const);
  return {
    grant: "documents:read",
    operation: random.pick(["get", "put", anyText(random)]),
    resourceHandles: random.many(random.below(3), () => random.pick(["rh_1", "rh_2", "a"])),
    arguments: object(named),
    time: new Date(NOW + random.pick([0, 0, 1000, -1000, 300_000])),
    ...(random.once(2) ? {} : { invoker: random.pick(["agent:a", "a", ""]) }),
    ...(random.once(2) ? {} : { audience: random.pick(["documents", "get"]) }),
  };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

describe("every random caveat is read and judged as an independent implementation of the specification does", () => {
  fuzz("hops", (random) => {
    const bytes = written(random, random.once(8) ? anyValue(random) : nearlyHop(random));
    const reading = readHop(bytes);
    const value = canonicalObject(bytes);
    const expected = value !== undefined && isHop(value);
    if (reading.ok !== expected)
      throw new Error(`read: ${reading.ok}, ${new TextDecoder().decode(bytes)}`);
    if (!reading.ok) {
      const [problem] = reading.problems;
      if (problem === undefined) throw new Error("refused without a reason");
      return problem.code;
    }
    const { hop } = reading;
    if (!same(encodeHop(hop), bytes)) throw new Error("written otherwise than it was read");
    const asked = checkInvocation(anyCall(random), () => NOW);
    const furtherLinks = random.below(4);
    const failures = judgeHop(hop, asked, furtherLinks);
    if ((failures.length === 0) !== allows(hop, asked, furtherLinks)) {
      throw new Error(`judged: ${JSON.stringify({ hop, asked, failures })}`);
    }
    const other = readHop(written(random, nearlyHop(random)));
    if (other.ok) {
      const authority = meetOf([[hop, other.hop]]);
      overreaches(authority, intersectHop(authority, other.hop));
    }
    return failures.length === 0 ? "a hop that allows" : "a hop that refuses";
  });

  fuzz("hops in tokens", (random) => {
    const caveats = random
      .many(1 + random.below(3), () => written(random, nearlyHop(random)))
      .filter((caveat) => caveat.length > 0);
    const token = macaroonToText(caveats.reduce(addFirstPartyCaveat, parseMacaroon(START)));
    const call = anyCall(random);
    const decision = issuer.authorize(token, call);
    const { allowed } = decision;
    const asked = checkInvocation({ audience: "documents", ...call }, () => NOW);
    const expected = caveats.every((caveat, at) => {
      const reading = readHop(caveat);
      return reading.ok && allows(reading.hop, asked, caveats.length - at - 1);
    });
    const expired = Number(call.time) >= NOW + 15 * 60_000;
    if (allowed !== (expected && !expired)) throw new Error(`allowed: ${allowed}, ${token}`);
    return decision.allowed ? "allowed" : decision.denials[0].code;
  });

  fuzz("identifiers", (random) => {
    const { kid } = keyring.minting;
    const right: { [name: string]: Value } = {
      v: 1,
      iss: "documents-agent",
      kid,
      id: "cap_AAAAAAAAAAAAAAAA",
      grant: "g",
      issued: "2030-01-01T00:00:00Z",
      principal: "user:alice",
    };
    const members = Object.entries(right).filter(() => !random.once(15));
    const changed = members.map(
      ([name, value]) => [name, random.once(10) ? anyValue(random, 1) : value] as const,
    );
    const extra = random.once(10) ? [[anyText(random), anyValue(random, 1)] as const] : [];
    const identifier = written(random, object([...changed, ...extra]));
    if (identifier.length === 0) return "empty";
    const bare = createMacaroon(keyring.minting.root, { identifier });
    const token = macaroonToText(addFirstPartyCaveat(bare, '{"expires":"2030-01-01T00:05:00Z"}'));
    const value = canonicalObject(identifier);
    const expected =
      value !== undefined &&
      isIdentifier(value) &&
      value["iss"] === right["iss"] &&
      value["grant"] === right["grant"] &&
      value["kid"] === kid;
    const decision = issuer.authorize(token, { grant: "g", operation: "get" });
    if (decision.allowed !== expected) throw new Error(`allowed: ${decision.allowed}, ${token}`);
    return decision.allowed ? "allowed" : decision.denials[0].code;
  });
});
