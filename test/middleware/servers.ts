import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { serve } from "@hono/node-server";
import express, { type ErrorRequestHandler, type Request as ExpressRequest } from "express";
import { type Context, Hono } from "hono";
import { drain, listen } from "../../src/http/listen.js";
import type { VerifiedCapability } from "../../src/issuer/index.js";
import {
  capabilityOf,
  createCapabilityMiddleware as forExpress,
} from "../../src/middleware/express.js";
import {
  type CapabilityAuthority,
  createCapabilityMiddleware as forFetch,
  type RouteRequirement,
} from "../../src/middleware/fetch.js";
import { createCapabilityMiddleware as forNode } from "../../src/middleware/node.js";

// The same resource server in four versions: with Express, node:http, Hono and a Fetch handler.

/** The headers of a request. An array becomes several header lines. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

export interface ResourceServer {
  ask(path: string, headers?: Headers): Promise<Answer>;
  /** The names of the handlers that have run. */
  readonly handled: string[];
  /** The errors that have reached the server's error handler. */
  readonly failures: unknown[];
  close(): Promise<unknown>;
}

/** The properties of a request that the routes use. */
interface Facts {
  readonly id: string;
  readonly url: string;
  /** The credentials for the app's own login: `Authorization: Login AGENT`. */
  readonly authorization: string | undefined;
}

type RouteName = "documents" | "bearer" | "broken" | "own-cache";

const REALM = { realm: "documents" };

function routes<Args extends readonly unknown[]>(
  factsOf: (...args: Args) => Facts,
): Readonly<Record<RouteName, RouteRequirement<Args>>> {
  const common: RouteRequirement<Args> = {
    grant: "documents:read",
    operation: "retrieve",
    resourceHandles: (...args) => [factsOf(...args).id],
  };
  const documents: RouteRequirement<Args> = {
    ...common,
    arguments: async (...args) => {
      const limit = new URL(factsOf(...args).url, "http://here").searchParams.get("limit");
      return limit === null ? {} : { limit: Number(limit) };
    },
    invoker: async (...args) => /^Login (\w+)$/.exec(factsOf(...args).authorization ?? "")?.[1],
  };
  return {
    documents,
    "own-cache": documents,
    bearer: { ...common, in: "authorization" },
    broken: { ...common, resourceHandles: (...args) => broken(factsOf(...args).id) },
  };
}

/** Makes the mistake that the path names, in a function of a route. */
function broken(how: string): string[] | Promise<string[]> {
  const [kind, value = ""] = how.split(":");
  if (kind === "gives") return value === "undefined" ? JSON.parse("[]")[0] : JSON.parse(value);
  const error = value === "error" ? new Error("withheld") : value === "" ? undefined : value;
  if (kind === "rejects") return Promise.reject(error);
  throw error;
}

const NAMES = ["documents", "bearer", "broken", "own-cache"] as const;
const OWN_CACHE = "public, max-age=60";

function answerTo(id: string, { principal, hops }: VerifiedCapability): object {
  return { id, principal, hops: hops.length };
}

async function onExpress(authority: CapabilityAuthority): Promise<ResourceServer> {
  const [handled, failures]: [string[], unknown[]] = [[], []];
  const requires = forExpress(authority, REALM);
  const app = express();
  const required = routes((req: ExpressRequest<{ id: string }>) => ({
    id: req.params.id,
    url: req.originalUrl,
    authorization: req.get("authorization"),
  }));
  for (const name of NAMES) {
    app.get(`/${name}/:id`, requires(required[name]), (req, res) => {
      handled.push(name);
      if (name === "own-cache") res.set("Cache-Control", OWN_CACHE);
      res.json(answerTo(req.params.id, capabilityOf(req)));
    });
    // Express calls this handler only if a middleware passes the request on.
    app.get(`/${name}/:id`, (_req, res) => void res.json(handled.push("passed on")));
  }
  const failed: ErrorRequestHandler = (error, _req, res, _next) => {
    failures.push(error);
    res.status(500).json({ error: "internal_error" });
  };
  app.use(failed);
  return served(createServer(app), handled, failures);
}

async function onNode(authority: CapabilityAuthority): Promise<ResourceServer> {
  const [handled, failures]: [string[], unknown[]] = [[], []];
  const onFailure = (error: unknown): void => void failures.push(error);
  const requires = forNode(authority, { ...REALM, onFailure });
  const placeOf = (url = ""): readonly string[] => new URL(url, "http://here").pathname.split("/");
  const required = routes(({ url = "", headers }: IncomingMessage) => {
    const [, , id = ""] = placeOf(url);
    return { id: decodeURIComponent(id), url, authorization: headers.authorization };
  });
  const handlers = new Map(
    NAMES.map((name) => [
      name as string,
      requires(required[name], (req, res, capability) => {
        handled.push(name);
        const [, , id = ""] = placeOf(req.url);
        if (name === "own-cache") res.setHeader("Cache-Control", OWN_CACHE);
        res.end(JSON.stringify(answerTo(id, capability)));
      }),
    ]),
  );
  const server = createServer((req, res) => {
    const [, name = ""] = placeOf(req.url);
    void handlers.get(name)?.(req, res);
  });
  return served(server, handled, failures);
}

async function onHono(authority: CapabilityAuthority): Promise<ResourceServer> {
  const [handled, failures]: [string[], unknown[]] = [[], []];
  const requires = forFetch(authority, REALM);
  const app = new Hono();
  const required = routes((_request: Request, c: Context) => ({
    id: c.req.param("id") ?? "",
    url: c.req.url,
    authorization: c.req.header("authorization"),
  }));
  for (const name of NAMES) {
    const handler = requires(required[name], (_request, capability, c) => {
      handled.push(name);
      if (name === "own-cache") c.header("Cache-Control", OWN_CACHE);
      return c.json(answerTo(c.req.param("id") ?? "", capability));
    });
    app.get(`/${name}/:id`, (c) => handler(c.req.raw, c));
  }
  app.onError((error, c) => {
    failures.push(error);
    return c.json({ error: "internal_error" }, 500);
  });
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }) as Server;
  await new Promise((resolve) => server.once("listening", resolve));
  return served(server, handled, failures);
}

async function onFetch(authority: CapabilityAuthority): Promise<ResourceServer> {
  const [handled, failures]: [string[], unknown[]] = [[], []];
  const requires = forFetch(authority, REALM);
  const placeOf = ({ url }: Request): readonly string[] => new URL(url).pathname.split("/");
  const required = routes((request: Request) => ({
    id: decodeURIComponent(placeOf(request)[2] ?? ""),
    url: request.url,
    authorization: request.headers.get("authorization") ?? undefined,
  }));
  const ask = async (path: string, given: Headers = {}): Promise<Answer> => {
    const sent = new Request(new URL(path, "https://documents.example"));
    for (const [name, values] of Object.entries(given)) {
      for (const value of [values].flat()) sent.headers.append(name, value);
    }
    const name = NAMES.find((one) => one === placeOf(sent)[1]) ?? "documents";
    const handler = requires(required[name], (request, capability) => {
      handled.push(name);
      const headers = { ...(name === "own-cache" ? { "Cache-Control": OWN_CACHE } : {}) };
      return Response.json(answerTo(placeOf(request)[2] ?? "", capability), { headers });
    });
    try {
      const { status, headers, text } = await handler(sent).then(async (answer) => ({
        status: answer.status,
        headers: answer.headers,
        text: await answer.text(),
      }));
      return { status, headers: Object.fromEntries(headers), text };
    } catch (error) {
      failures.push(error);
      return { status: 500, headers: {}, text: '{"error":"internal_error"}' };
    }
  };
  return { ask, handled, failures, close: async () => {} };
}

async function served(
  server: Server,
  handled: string[],
  failures: unknown[],
): Promise<ResourceServer> {
  const url = server.listening ? addressOf(server) : await listen(server, {});
  return {
    ask: (path, headers) => send(url, path, headers),
    handled,
    failures,
    close: () => drain(server),
  };
}

function addressOf(server: Server): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

function send(url: string, path: string, headers: Headers = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const given = Object.entries(headers).map(([name, values]) => [name, [values].flat()]);
    const sent = request(new URL(path, url), { headers: Object.fromEntries(given) }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
      response.on("end", () => {
        const { statusCode: status = 0, headersDistinct } = response;
        const got = Object.entries(headersDistinct).map(([name, all = []]) => [name, all.join()]);
        resolve({ status, headers: Object.fromEntries(got), text });
      });
    });
    sent.on("error", reject).end();
  });
}

/** The four versions of the resource server. */
export const SERVERS: readonly (readonly [
  name: string,
  start: (authority: CapabilityAuthority) => Promise<ResourceServer>,
])[] = [
  ["Express", onExpress],
  ["node:http", onNode],
  ["Hono", onHono],
  ["Fetch", onFetch],
];
