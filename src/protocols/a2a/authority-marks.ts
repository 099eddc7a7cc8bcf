import { LEGACY_NOTICE } from "../../agent/issuance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthorityKind } from "../../agent/ledger.js";
import type { Permit } from "./call.js";

/** The authority of a call, as stated in a response. */
export interface AuthorityMarks {
  readonly authority: AuthorityKind;
  readonly capability?: string;
  /** `true` if the caller declared ambient authority, `false` if it did not; absent if the call had other authority. */
  readonly declared?: boolean;
  readonly notice?: string;
}

const NOTICES: Readonly<Partial<Record<AuthorityKind, string>>> = {
  ambient: "done with the caller's ambient authority: no capability limits this call",
  legacy: LEGACY_NOTICE,
};

/** Returns the authority of an admitted call, as stated in its response. */
export function authorityMarks(permit: Permit, agent: IssuingAgent): AuthorityMarks {
  if (permit.kind !== "text") {
    const { authority, capability, declared } = permit.clearance;
    return marks(authority, capability?.id, declared);
  }
  const { capabilities, declared } = permit.admission;
  const [first] = capabilities;
  if (first === undefined) return marks("ambient", undefined, declared);
  const { id, grant } = first.capability;
  return marks(agent.grants.get(grant)?.legacy === true ? "legacy" : "capability", id);
}

function marks(authority: AuthorityKind, capability?: string, declared?: boolean): AuthorityMarks {
  const notice = NOTICES[authority];
  const said: { -readonly [Name in keyof AuthorityMarks]: AuthorityMarks[Name] } = { authority };
  if (capability !== undefined) said.capability = capability;
  if (declared !== undefined) said.declared = declared;
  if (notice !== undefined) said.notice = notice;
  return said;
}
