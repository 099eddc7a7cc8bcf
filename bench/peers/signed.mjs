// Tokens of other kinds with the same claims, which are judged too. JSON Web Tokens by `jose`: their issuer would have
// to sign each narrowing. A chain of Ed25519 signatures by node:crypto: each link signs its restrictions and the key of
// the next link.
import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import { each, here } from "../measure.mjs";
import { ALLOWED, GRANT, hopsOf, SECRET } from "../workload.mjs";

/** @import { HopInit } from "proviso" */

/** Judges the claims of these tokens by proviso's rules, with as little code as possible. @param {unknown} hops */
function judge(hops) {
  const now = new Date().toISOString();
  if (!Array.isArray(hops)) throw new Error("no hops");
  for (const hop of /** @type {HopInit[]} */ (hops)) {
    const { operations, resourceHandles, invokers, audience, constraints, expires } = hop;
    const holds =
      operations?.includes(ALLOWED.operation) !== false &&
      ALLOWED.resourceHandles.every((one) => resourceHandles?.includes(one) !== false) &&
      invokers?.includes("summariser") !== false &&
      audience?.includes("documents-agent") !== false &&
      (typeof expires !== "string" || now < expires);
    if (!holds) throw new Error("refused");
    for (const [name, limit] of Object.entries(constraints ?? {})) {
      const given = ALLOWED.arguments?.[name];
      const { min, max } = /** @type {{ min?: number, max?: number }} */ (limit);
      if (typeof limit === "object") {
        if (typeof given !== "number" || !(given >= (min ?? 0) && given <= (max ?? 0)))
          throw new Error("out of bounds");
      } else if (given !== limit) throw new Error("another value");
    }
  }
}

/** @param {number} hops @param {number} count */
export async function webTokens(hops, count) {
  const pair = generateKeyPairSync("ed25519");
  const make = async (/** @type {"HS256" | "EdDSA"} */ alg) => {
    const key = alg === "HS256" ? SECRET : pair.privateKey;
    const tokens = [];
    for (let at = 0; at < count; at++) {
      const claims = { grant: GRANT, hops: hopsOf(hops), jti: `cap_${at}` };
      tokens.push(
        await new SignJWT(claims)
          .setProtectedHeader({ alg, kid: "bench" })
          .setIssuer("documents-agent")
          .setSubject("alice@example.com")
          .setIssuedAt()
          .setExpirationTime("90d")
          .sign(key),
      );
    }
    return tokens;
  };
  const options = { issuer: "documents-agent" };
  const all = { HS256: await make("HS256"), EdDSA: await make("EdDSA") };
  return {
    bytes: { HS256: all.HS256[0]?.length ?? 0, EdDSA: all.EdDSA[0]?.length ?? 0 },
    contenders: [
      here(
        "jose HS256",
        each(all.HS256, async (token) => {
          const { payload } = await jwtVerify(token, SECRET, { ...options, algorithms: ["HS256"] });
          judge(payload["hops"]);
        }),
      ),
      here(
        "jose EdDSA",
        each(all.EdDSA, async (token) => {
          const keys = { ...options, algorithms: ["EdDSA"] };
          const { payload } = await jwtVerify(token, pair.publicKey, keys);
          judge(payload["hops"]);
        }),
      ),
    ],
  };
}

/** @param {number} hops @param {number} count */
export function signatureChain(hops, count) {
  const root = generateKeyPairSync("ed25519");
  const text = (/** @type {import("node:crypto").KeyObject} */ key) =>
    key.export({ format: "jwk" }).x ?? "";
  const make = () => {
    let { privateKey } = root;
    return hopsOf(hops)
      .map((hop) => {
        const next = generateKeyPairSync("ed25519");
        const body = Buffer.from(JSON.stringify({ hop, next: text(next.publicKey) }));
        const signature = sign(null, body, privateKey);
        privateKey = next.privateKey;
        return `${body.toString("base64url")}.${signature.toString("base64url")}`;
      })
      .join("~");
  };
  const tokens = Array.from({ length: count }, make);
  const check = (/** @type {string} */ token) => {
    let key = root.publicKey;
    const read = [];
    for (const link of token.split("~")) {
      const [body = "", signature = ""] = link.split(".");
      const bytes = Buffer.from(body, "base64url");
      if (!verify(null, bytes, key, Buffer.from(signature, "base64url"))) throw new Error("forged");
      const { hop, next } = JSON.parse(bytes.toString());
      key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: next }, format: "jwk" });
      read.push(hop);
    }
    judge(read);
  };
  return {
    bytes: tokens[0]?.length ?? 0,
    contenders: [here("Ed25519 chain", each(tokens, check))],
  };
}
