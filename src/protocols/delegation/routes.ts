import type { Request, RequestHandler, Response } from "express";
import type { Authenticator } from "../../agent/caller.js";
import type { Delegations } from "../../agent/delegation/delegations.js";
import type { DelegationCaller } from "../../agent/delegation/holdings.js";
import { wwwAuthenticate } from "../../auth/bearer.js";
import { answerFault, answerInvalid, answerRefusal } from "./errors.js";
import { type CallerReading, readCaller } from "./identity.js";
import {
  type BodyReading,
  delegationAnswer,
  readDelegation,
  readVerification,
  scopesAnswer,
  verdictAnswer,
} from "./shapes.js";

const CHAIN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the request handlers of the routes. Mount them after the handlers that authenticate callers and read
 * bodies.
 *
 * @param identity - The authenticator that makes the challenge for callers that are not identified.
 */
export function routesOf(
  delegations: Delegations,
  identity: Authenticator,
): { readonly [Route in "delegate" | "verify" | "revoke" | "introspect"]: RequestHandler } {
  /**
   * Requires an identified caller. A bound capability identifies nobody: the agent that presents it must
   * authenticate.
   */
  const known =
    (
      answer: (by: DelegationCaller, req: Request, res: Response) => Promise<void>,
    ): RequestHandler =>
    async (req, res) => {
      const reading = readCaller(req);
      if (!reading.ok) return answerInvalid(res, "Proviso-Capability", reading.message);
      if (!reading.bound) return answer(reading.by, req, res);
      const denial = { code: "token_invalid", message: BOUND } as const;
      res.setHeader("WWW-Authenticate", wwwAuthenticate(denial, identity));
      return answerFault(res, { status: 401, reason: "capability_bound", message: BOUND });
    };
  return {
    async delegate(req, res) {
      const reading: CallerReading = readCaller(req);
      if (!reading.ok) return answerInvalid(res, "Proviso-Capability", reading.message);
      const body = readDelegation(req.body);
      if (!body.ok) return answerBody(res, body);
      const outcome = await delegations.delegate(reading.by, body.read);
      if (!outcome.ok) return answerRefusal(res, outcome, reading.header);
      res.status(201).json(delegationAnswer(outcome));
    },
    verify: known(async (by, req, res) => {
      const body = readVerification(req.body);
      if (!body.ok) return answerBody(res, body);
      res.json(verdictAnswer(await delegations.verify(by, body.read)));
    }),
    revoke: known(async (by, req, res) => {
      const id = String(req.params["chainId"]);
      // A malformed id is treated as an unknown id.
      const known = CHAIN_ID.test(id) ? id.toLowerCase() : "";
      const outcome = await delegations.revoke(by, known);
      if (!outcome.ok) return answerRefusal(res, outcome);
      res.status(204).end();
    }),
    introspect: known(async (by, _req, res) => {
      const { agent, held } = await delegations.introspect(by);
      res.json(scopesAnswer(held, agent));
    }),
  };
}

const BOUND =
  "the capability is bound to an agent, and does not identify its presenter; send an access token";

function answerBody(
  res: Response,
  { field, message }: Extract<BodyReading<never>, { ok: false }>,
): void {
  answerInvalid(res, field, message);
}
