import type { RegistryCode, RegistryRefusal } from "../../agent/registry/outcomes.js";
import { type AgentAuthCode, type Fault, refuse } from "./errors.js";

/** What the registry calls otherwise than this protocol, which has fewer words and another spelling. */
const OTHERWISE = {
  hosts_not_allowed: "dynamic_host_registration_disabled",
  enrolment_token_invalid: "enrollment_token_invalid",
  enrolment_token_expired: "enrollment_token_expired",
  request_reused: "invalid_request",
  grant_not_found: "capability_not_granted",
} as const satisfies { readonly [Code in RegistryCode]?: AgentAuthCode };

/** What the registry refuses, in the words of this protocol. */
export function registryFault({ code, ...refusal }: RegistryRefusal): Fault {
  const { message, path, capabilities, operators } = refusal;
  const named = capabilities === undefined || code !== "invalid_capabilities";
  return refuse(isOtherwise(code) ? OTHERWISE[code] : code, message, {
    more: {
      ...(path === undefined ? {} : { path }),
      ...(named ? {} : { invalid_capabilities: capabilities }),
      ...(operators === undefined ? {} : { unknown_operators: operators }),
    },
  });
}

function isOtherwise(code: RegistryCode): code is keyof typeof OTHERWISE {
  return Object.hasOwn(OTHERWISE, code);
}
