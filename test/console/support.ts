import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { expect } from "vitest";
import { expandGrants } from "../../src/agent/grant.js";
import type { LedgerEvent } from "../../src/agent/ledger.js";
import { Parties } from "../../src/agent/parties/parties.js";
import type { Approval } from "../../src/agent/parties/records.js";
import type { PartySettings } from "../../src/agent/parties/settings.js";
import type { PartyStore } from "../../src/agent/parties/store.js";
import { capabilityTerms } from "../../src/agent/parties/terms.js";
import type { Skill } from "../../src/agent/skill.js";
import { createFixedTokens } from "../../src/auth/index.js";
import type { Json } from "../../src/bytes/json.js";
import {
  type ConsoleLogin,
  type ConsoleOptions,
  createDevelopmentLogin,
  mountConsole,
} from "../../src/console/index.js";
import { serve } from "../../src/http/serve.js";
import { createIssuer, createKeyring, type Keyring } from "../../src/issuer/index.js";
import { createStores, openLedger, openRevocations } from "../../src/stores/index.js";
import { openParties } from "../../src/stores/parties/party-store.js";
import { freePort } from "../support/free-port.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { Visitor } from "./visitor.js";

/** The users who can sign in with development tokens. */
const USERS = ["alice", "bob", "carol"] as const;

export type User = (typeof USERS)[number];

/** Options of a test's console. */
export interface TestConsoleOptions
  extends Partial<Pick<ConsoleOptions, "login" | "rate" | "codes" | "lifetime">> {
  readonly settings?: PartySettings;
  readonly publicUrl?: string;
  readonly trustedProxies?: readonly string[];
  /** The port; by default, any free port. */
  readonly port?: number;
  /** True if the clock runs. By default, it changes only when a test advances it. */
  readonly running?: boolean;
  /** Maximum number of used ids that the store remembers. */
  readonly mostUsed?: number;
}

/** A request of an agent. By default, it asks to transfer funds of Alice. */
interface Asking {
  /** The user to whom the host is linked. Without a user, the host is unlinked. */
  readonly user?: User | undefined;
  readonly capabilities?: readonly string[];
  readonly constraints?: Json;
  readonly purpose?: string;
  readonly bindingMessage?: string;
  readonly hostName?: string;
  /** The name that the user gave the host; by default, none. */
  readonly givenName?: string;
  readonly name?: string;
  /** The user whom the agent of an unlinked host names. */
  readonly loginHint?: User;
}

/** A pending request, with what its agent knows about it. */
interface AskedRequest {
  readonly approval: Approval;
  readonly agent: string;
  readonly host: string;
  readonly userCode: string;
}

/** A console with real stores, parties, ledger and HTTP server. */
export interface TestConsole {
  /** The URL of the console. */
  readonly url: string;
  readonly parties: Parties;
  readonly store: PartyStore;
  /** The issuer's keyring. Its key seals the sessions. */
  readonly keys: Keyring;
  /** Registers an agent with a request. The result has the code for the user. */
  ask(asking?: Asking): Promise<AskedRequest>;
  /** Creates a request in a user's list, without a code. */
  askInList(user: User, asking?: Asking): Promise<AskedRequest>;
  /** Creates a request in a user's list, from a host that is not linked to a user. */
  askAsStranger(user: User, asking?: Asking): Promise<AskedRequest>;
  /** Opens a browser without a session. */
  visitor(): Visitor;
  /** Opens a browser in which a user is signed in. */
  signedIn(user: User): Promise<Visitor>;
  /** Returns the ledger's events about approvals, each as its change and code. */
  recorded(): Promise<readonly string[]>;
  events(): Promise<readonly LedgerEvent[]>;
  logged(): string;
  /** The warnings for the operator at the start. */
  readonly warnings: readonly string[];
  advance(milliseconds: number): void;
  now(): number;
  close(): Promise<void>;
}

const SKILLS: readonly Skill[] = [
  {
    id: "transfer_funds",
    name: "Transfer",
    description: "Transfers money from one of your accounts to a payee.",
    operation: "transfer",
    reach: "none",
    input: {
      type: "object",
      additionalProperties: false,
      required: ["amount", "currency", "to"],
      properties: {
        amount: { type: "number", description: "How much, in the currency" },
        currency: { type: "string", enum: ["EUR", "GBP", "USD"] },
        to: { type: "string", description: "The payee's account" },
        urgent: { type: "boolean" },
      },
    },
    run: async () => ({ done: true }),
  },
  {
    id: "read_balance",
    name: "Balance",
    description: "Reads the balance of an account.",
    operation: "balance",
    reach: "none",
    effect: "read",
    input: { type: "object", properties: { account: { type: "string" } } },
    run: async () => ({ balance: 1 }),
  },
];

const GRANTS = [
  { id: "payments:write", description: "Transfer money", operations: ["transfer"] },
  { id: "accounts:read", description: "Read accounts", operations: ["balance"] },
];

export function tokenOf(user: User): string {
  return `development-token-of-${user}`;
}

/** Starts a console on a free port of 127.0.0.1. */
export async function startConsole(options: TestConsoleOptions = {}): Promise<TestConsole> {
  const { settings = {}, publicUrl, trustedProxies, port: wanted, login } = options;
  const { running = false, rate, codes, lifetime } = options;
  const others = { rate, codes, lifetime };
  const start = Date.now();
  let ahead = 0;
  const clock = (): number => (running ? Date.now() : start) + ahead;
  const lines: string[] = [];
  const write = (fields: object, message: string): void => {
    lines.push(JSON.stringify({ ...fields, message }));
  };
  const log = { info: write, warn: write, error: write };
  const stores = await createStores(join(temporaryFolder(), "proviso.db"), { reserve: 0 });
  const revocations = await openRevocations(stores, { clock, refreshEvery: 1000 });
  const ledger = openLedger(stores, { clock });
  const grants = expandGrants(GRANTS, SKILLS);
  const keys = createKeyring();
  const issuer = createIssuer({
    name: "payments",
    keys,
    revocations,
    clock,
    grants,
  });
  const terms = capabilityTerms(
    new Map(grants.map((grant) => [grant.id, grant])),
    new Map(SKILLS.map((skill) => [skill.id, skill])),
  );
  const store = openParties(stores, { mostUsed: options.mostUsed });
  const parties = new Parties({
    store,
    revocations,
    clock,
    terms,
    settings: { lifetimes: { approval: 300, grant: 3600 }, ...settings },
  });
  const tokens = USERS.map((user) => ({
    token: tokenOf(user),
    principal: user,
    invoker: "browser",
  }));
  const development = (): ConsoleLogin =>
    createDevelopmentLogin(createFixedTokens(tokens, { development: true, announce: () => {} }));
  // If the server has a public URL, it does not report its own port, so this function chooses a port.
  const port = wanted ?? (publicUrl === undefined ? 0 : await freePort());
  const server = await serve(
    {
      publicUrl,
      trustedProxies,
      onFailure: (error) => write({ error: String(error) }, "failure"),
      answer: (res, { status, reason }) => void res.status(status).json({ reason }),
    },
    { port },
    (place) =>
      mountConsole(
        {
          name: "Northwind payments",
          parties,
          issuer,
          skills: SKILLS,
          ledger,
          log,
          clock,
          login: login ?? development(),
          ...others,
        },
        place,
      ),
  );

  const ask = async (method: Approval["method"], asking: Asking): Promise<AskedRequest> => {
    const { user, hostName = "Desk assistant", name = "Payments helper" } = asking;
    const [host, agent] = await Promise.all([publicKey(), publicKey()]);
    if (user !== undefined) {
      const key = { key: host.jwk, thumbprint: host.thumbprint };
      const { givenName: called } = asking;
      const made = await parties.createHost({ principal: user, name: called, key });
      if (!made.ok) throw new Error(made.message);
    }
    const { capabilities = ["transfer_funds"], constraints, purpose, loginHint } = asking;
    const { bindingMessage } = asking;
    const outcome = await parties.register({
      hostKey: host.jwk,
      hostThumbprint: host.thumbprint,
      hostName,
      agentKey: agent.jwk,
      agentThumbprint: agent.thumbprint,
      name,
      mode: "delegated",
      method,
      capabilities: capabilities.map((one) => ({
        name: one,
        constraints,
      })),
      purpose,
      bindingMessage,
      loginHint,
    });
    if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
    const { approval, userCode = "" } = outcome;
    if (approval === undefined) throw new Error("nothing waits");
    return { approval, agent: outcome.agent.id, host: outcome.host.id, userCode };
  };
  const url =
    publicUrl === undefined ? `${server.url}/approvals` : `http://127.0.0.1:${port}/approvals`;
  const visitor = (): Visitor => new Visitor(url);
  const events = (): Promise<readonly LedgerEvent[]> => ledger.list({ kind: "approval" });
  return {
    url,
    parties,
    store,
    keys,
    visitor,
    events,
    ask: (asking = {}) => ask("user_code", asking),
    askInList: (user, asking = {}) => ask("backchannel", { ...asking, user }),
    askAsStranger: (user, asking = {}) => ask("backchannel", { ...asking, loginHint: user }),
    signedIn: async (user) => {
      const one = visitor();
      await one.get("/login");
      const page = await one.post("/login", { token: tokenOf(user), to: "/" }, "/");
      expect(page.status).toBe(200);
      return one;
    },
    recorded: async () =>
      (await events()).map(({ change = "", codes = [] }) => [change, ...codes].join(" ")),
    logged: () => lines.join("\n"),
    warnings: server.mounted.warnings,
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
    now: clock,
    close: async () => {
      await server.close();
      await ledger.close();
      await stores.close();
    },
  };
}

let made = 0;

async function publicKey(): Promise<{
  readonly jwk: { readonly kty: string; readonly crv: string; readonly x: string };
  readonly thumbprint: string;
}> {
  const { publicKey: key } = await generateKeyPair("Ed25519", { extractable: true });
  const { x = "" } = await exportJWK(key);
  made += 1;
  return { jwk: { kty: "OKP", crv: "Ed25519", x }, thumbprint: `thumbprint-${made}` };
}
