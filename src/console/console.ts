import { hash } from "node:crypto";
import type { ErrorRequestHandler, RequestHandler } from "express";
import express from "express";
import type { Ledger } from "../agent/ledger.js";
import type { Parties } from "../agent/parties/parties.js";
import { assertMembers } from "../checks/members.js";
import { isLoopback } from "../client/address.js";
import type { RateLimit } from "../http/callers.js";
import { failureFault } from "../http/fault.js";
import { DENIAL_HEADER } from "../http/headers.js";
import { refuseWhileDraining } from "../http/listen.js";
import { type AgentLog, failureLog, requestLog } from "../http/log.js";
import type { AgentMetrics } from "../http/metrics.js";
import type { Mounted, MountPoint } from "../http/serve.js";
import { CODE_LIMITS, CodeAttempts, type CodeLimits } from "./code-attempts.js";
import { Confirmations, SignIns } from "./confirmations.js";
import { type Desk, sendRefusal } from "./desk.js";
import { FormError, readForms } from "./form.js";
import {
  faultPages,
  limitRequests,
  refuseCrossSite,
  refuseForgedForms,
  refuseFrames,
  requireUser,
  secureHeaders,
} from "./guards.js";
import { argumentsOf, type DescribedSkill } from "./limits/arguments.js";
import { onlyReadsBy } from "./limits/asked-view.js";
import type { ConsoleLogin } from "./login/login.js";
import { NewHosts } from "./new-hosts.js";
import { deviceRoutes } from "./pages/device.js";
import { grantRoutes } from "./pages/grants.js";
import { hostRoutes } from "./pages/hosts.js";
import { loginRoutes, logoutRoute } from "./pages/login.js";
import { requestRoutes } from "./pages/requests.js";
import { type Seal, Sessions } from "./sessions.js";
import { STYLE } from "./style.js";

/** Options of the approvals console. */
export interface ConsoleOptions {
  /** The name of the agent. */
  readonly name: string;
  /** The hosts and agents, with the approvals that the console's users decide. */
  readonly parties: Parties;
  /** Seals the cookies of the console, such as those of its sessions. */
  readonly issuer: Seal;
  /** The way in which users sign in. */
  readonly login: ConsoleLogin;
  /** The agent's skills. Their schemas determine the arguments that users can limit. */
  readonly skills: Iterable<DescribedSkill>;
  /** The ledger, to which the console writes its refusals. */
  readonly ledger: Pick<Ledger, "note">;
  readonly log: AgentLog;
  readonly metrics?: AgentMetrics | undefined;
  /** Lifetime of a session in seconds; 3600 by default. */
  readonly lifetime?: number | undefined;
  /**
   * The rate limit of each user, or of each address before the sign-in; 300 requests in 60 seconds by default. Sign-ins
   * are counted separately, with the same limit for each address.
   */
  readonly rate?: RateLimit | undefined;
  readonly codes?: Partial<CodeLimits> | undefined;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly clock?: (() => number) | undefined;
}

/** A mounted approvals console. */
export interface MountedConsole extends Mounted {
  /** The URL of the list of requests that wait for a decision. */
  readonly approvalsUrl: string;
  /** The URL of the page where users enter the code that an agent shows: `verification_uri` of Agent-Auth. */
  readonly deviceUrl: string;
  /**
   * Warnings for the operator when the agent starts, one sentence each; for example, that the console cannot
   * check the user's presence.
   */
  readonly warnings: readonly string[];
}

const MEMBERS = [
  "name",
  "parties",
  "issuer",
  "login",
  "skills",
  "ledger",
  "log",
  "metrics",
  "lifetime",
  "rate",
  "codes",
  "clock",
];
/** The console's path, relative to the agent's URL. */
export const CONSOLE_PATH = "/approvals";
const RATE: RateLimit = { requests: 300, seconds: 60 };
const LONGEST = 24 * 60 * 60;

/**
 * Mounts the approvals console. On its pages, users sign in, and see the requests of agents with their reasons.
 * They limit, approve or deny these requests, and revoke what they have granted.
 *
 * @throws TypeError that names the wrong option, or if users would sign in with development tokens at an
 *   address that is not loopback.
 */
export function mountConsole(options: ConsoleOptions, place: MountPoint): MountedConsole {
  assertMembers(options, MEMBERS, "options");
  const { name, parties, login, issuer: seal, ledger, log, metrics } = options;
  const { lifetime = 3600, clock = Date.now, rate = RATE, codes } = options;
  if (!Number.isSafeInteger(lifetime) || lifetime < 60 || lifetime > LONGEST) {
    throw new TypeError(
      `options.lifetime: must be a whole number of seconds from 60 to ${LONGEST}`,
    );
  }
  const url = new URL(`${place.url}${CONSOLE_PATH}`);
  if (login.kind === "development" && !isLoopback(url.hostname)) {
    throw new TypeError(
      "options.login: development tokens are for loopback; use createOpenIdLogin",
    );
  }
  const secure = url.protocol === "https:";
  const skills = [...options.skills];
  const cookies = { seal, secure, clock };
  const desk: Desk = {
    name,
    parties,
    approvals: parties.approvals,
    login,
    origin: url.origin,
    base: url.pathname,
    url: url.href,
    now: clock,
    sessions: new Sessions({ ...cookies, lifetime }),
    signIns: new SignIns(cookies),
    confirmations: new Confirmations(cookies),
    newHosts: new NewHosts(cookies),
    attempts: new CodeAttempts({ ...CODE_LIMITS, ...codes }),
    argumentsOf: argumentsOf(skills),
    onlyReads: onlyReadsBy(skills),
    record: recordIn(ledger, clock),
    onFailure: failureLog(log),
  };
  const answer = faultPages(desk);
  // The style sheet has no rate limit. It is cheap, and the page that reports a refusal needs it.
  const style = express.Router().get("/style.css", styleSheet);
  const open = express.Router();
  loginRoutes(desk, open);
  const own = express.Router();
  own.use(requireUser(desk), refuseForgedForms(desk));
  logoutRoute(desk, own);
  requestRoutes(desk, own);
  deviceRoutes(desk, own);
  grantRoutes(desk, own);
  hostRoutes(desk, own);
  place.app.use(
    CONSOLE_PATH,
    requestLog({ binding: "approvals", denialHeader: DENIAL_HEADER, log, metrics }),
    secureHeaders,
    refuseWhileDraining(place.isDraining, answer),
    style,
    limitRequests(desk, rate),
    refuseFrames(desk),
    refuseCrossSite(desk),
    ...readForms(answer),
    open,
    own,
    unknownPage(desk),
    failedPage(desk),
  );
  return {
    approvalsUrl: url.href,
    deviceUrl: `${url.href}/device`,
    warnings: warningsOf(login, skills),
    stop: async () => {},
  };
}

function warningsOf(
  login: ConsoleLogin,
  skills: readonly Pick<DescribedSkill, "id" | "effect">[],
): readonly string[] {
  if (login.kind === "openid" && login.checksPresence) return [];
  const changing = skills.filter(({ effect }) => effect !== "read").map(({ id }) => id);
  if (changing.length === 0) return [];
  return [
    `WARNING: approvals: presence is not checked, and a password alone approves what changes data (${changing.join(", ")}); the login's "presence" names what the provider reports of a security key`,
  ];
}

const STYLE_TAG = `"${hash("sha256", STYLE, "base64url")}"`;

const styleSheet: RequestHandler = (req, res) => {
  res.set({ "Cache-Control": "public, max-age=300", ETag: STYLE_TAG });
  if (req.get("If-None-Match") === STYLE_TAG) return res.status(304).end();
  return res.type("css").send(STYLE);
};

function unknownPage(desk: Desk): RequestHandler {
  return (req, res) =>
    sendRefusal(desk, req, res, {
      status: 404,
      code: "not_found",
      title: "No such page",
      recorded: true,
      message: "The approvals console has no such page.",
    });
}

function failedPage(desk: Desk): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (error instanceof FormError) {
      return sendRefusal(desk, req, res, {
        status: 400,
        code: "invalid_request",
        title: "Not understood",
        message: `No page of the console sends such a form: ${error.message}.`,
      });
    }
    if (error instanceof URIError && !res.headersSent) return unknownPage(desk)(req, res, next);
    desk.onFailure(error, "approvals");
    if (res.headersSent) return next(error);
    const { status, reason: code, retryAfter } = failureFault(error);
    return sendRefusal(desk, req, res, {
      status,
      code,
      title: "Something failed",
      recorded: true,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      message: "Nothing was decided. Try again; if it fails again, ask the operator of this agent.",
    });
  };
}

/** Returns a function that writes refusals to the ledger. It never writes the contents of forms. */
function recordIn(ledger: Pick<Ledger, "note">, clock: () => number): Desk["record"] {
  return ({ code, record }, session) =>
    ledger.note({
      kind: "approval",
      at: new Date(clock()).toISOString(),
      decision: "refused",
      change: "approval.refused",
      codes: [code],
      ...(session === undefined ? {} : { principal: session.principal }),
      ...(record === undefined ? {} : { record }),
    });
}
