import type { Router } from "express";
import { html } from "../../http/markup/markup.js";
import { plainText, trusted } from "../../http/markup/untrusted-text.js";
import { type Desk, goTo, sendRefusal, show } from "../desk.js";
import type { Reading } from "../limits/asked-view.js";
import type { Session } from "../sessions.js";
import { idIn, query, visit } from "../visit.js";
import { grantsByAgent, type ShownGrant } from "./grant-list.js";
import { cards, csrf, type PageParts, type Whereabouts } from "./layout.js";
import { historyPage } from "./request-page.js";

const PAGE = 50;

/** Adds two pages: the active grants, each with a button that revokes it, and the past decisions. */
export function grantRoutes(desk: Desk, router: Router): void {
  router.get(
    "/grants",
    visit(desk, async ({ req, res, session }) => {
      const grants = await desk.parties.activeGrants(session.principal);
      const done = await desk.parties.grant(query(req, "revoked"));
      const own = done?.status === "revoked" && (await isOwn(desk, done.agent, session.principal));
      const revoked = own ? done.capability : undefined;
      show(desk, req, res, grantsPage(desk, session, grants, desk, desk.now(), revoked));
    }),
  );
  router.post(
    "/grants/:id/revoke",
    visit(desk, async ({ req, res, session }) => {
      const { principal } = session;
      const id = idIn(req);
      const grant = await desk.parties.grant(id);
      // For other users, the answer must be the same as for a grant that does not exist.
      if (grant === undefined || !(await isOwn(desk, grant.agent, principal))) {
        return sendRefusal(desk, req, res, {
          status: 404,
          code: "grant_not_found",
          title: "No such grant",
          message: "There is no such grant of yours, so nothing was revoked.",
          ...(grant === undefined ? {} : { record: id }),
        });
      }
      await desk.parties.revokeGrant(id, { principal });
      return goTo(desk, res, `/grants?${new URLSearchParams({ revoked: id })}`);
    }),
  );
  router.get(
    "/history",
    visit(desk, async ({ req, res, session }) => {
      const past = await desk.approvals.history(session.principal);
      const at = Math.min(Math.max(0, Number(query(req, "from")) || 0), past.length);
      const page = past.slice(at, at + PAGE);
      const next = at + PAGE < past.length ? at + PAGE : undefined;
      show(desk, req, res, historyPage(desk, page, desk.now(), next));
    }),
  );
}

/** Returns whether an agent acts for a user. Either the agent's record or that of its host names the user. */
async function isOwn({ parties }: Desk, id: string, principal: string): Promise<boolean> {
  const agent = await parties.agent(id);
  if (agent === undefined) return false;
  return (agent.principal ?? (await parties.host(agent.host))?.principal) === principal;
}

/** Renders all active grants of the user. */
function grantsPage(
  { base }: Whereabouts,
  session: Session,
  grants: readonly ShownGrant[],
  reading: Reading,
  now: number,
  revoked?: string,
): PageParts {
  const items = grantsByAgent(grants, reading, now, ({ grant, agent }) => {
    const { id, capability } = grant;
    const of = agent?.name ?? grant.agent;
    return html`<form method="post" action="${base}/grants/${encodeURIComponent(id)}/revoke">${csrf(session)}
<button type="submit" class="stop" aria-label="Revoke ${plainText(capability)} of ${plainText(of)}">Revoke</button></form>`;
  });
  const main = html`${
    revoked !== undefined &&
    html`<div class="notice" role="status"><p>Revoked: ${trusted(revoked)}. Its tokens are refused from now on.</p></div>`
  }${items.length > 0 && html`<h2>What agents may do for you</h2>`}${cards(items, "No agent may do anything for you.")}`;
  return { title: "Active grants", main };
}
