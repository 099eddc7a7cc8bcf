import { attenuate, inspect, revocationId } from "proviso";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { verifyMacaroon } from "proviso/macaroon";

const issuer = createIssuer({
  name: "documents-agent",
  keys: createKeyring(),
  revocations: createRevocationList(),
});
const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve", "search"] });

const child = attenuate(token, { operations: ["retrieve"], expires: "5m" });
if (!child.ok) throw new Error(child.overreaches.map(({ message }) => message).join("; "));
const { operations } = inspect(child.token).authority;
const decision = issuer.authorize(child.token, { grant: "documents:read", operation: "search" });
const codes = decision.allowed ? [] : decision.denials.map(({ code }) => code);
const answer = {
  operations: operations ?? null,
  codes,
  same: revocationId(child.token) === child.revocationId,
  verify: typeof verifyMacaroon,
};
console.log(JSON.stringify(answer));
