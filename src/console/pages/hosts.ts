import type { Router } from "express";
import type { HostRecord } from "../../agent/parties/records.js";
import { html, moment } from "../../http/markup/markup.js";
import { plainText, trusted } from "../../http/markup/untrusted-text.js";
import { digestOfText } from "../../macaroon/hmac.js";
import type { Confirmable, Confirmation } from "../confirmations.js";
import { type Desk, goTo, sendRefusal, show } from "../desk.js";
import { Form, formOf } from "../form.js";
import type { Session } from "../sessions.js";
import { idIn, type Visit, visit } from "../visit.js";
import { type Assurance, assuranceWords, confirmedWords } from "./assurance.js";
import { assuranceOf, confirm } from "./confirming.js";
import {
  cards,
  csrf,
  type PageParts,
  partyName,
  problem,
  rowList,
  type Whereabouts,
} from "./layout.js";

/**
 * Adds the page of the user's hosts. On it, the user creates and revokes hosts. An enrolment token is shown
 * only once.
 */
export function hostRoutes(desk: Desk, router: Router): void {
  const { parties } = desk;
  router.get(
    "/hosts",
    visit(desk, async (one) => {
      const { req, res, session } = one;
      const hosts = await parties.hostsOf(session.principal);
      const taken = desk.newHosts.take(req, res, session);
      const host = hosts.find(({ id }) => id === taken?.host);
      const confirmation = desk.confirmations.last(req, session);
      const known = confirmation?.what === HOST ? confirmation : undefined;
      showHosts(desk, one, hosts, {
        name: new Form(known?.form).text("name"),
        ...(known === undefined ? {} : { confirmation: known }),
        ...(taken === undefined || host === undefined
          ? {}
          : { made: { host, enrolmentToken: taken.enrolmentToken } }),
      });
    }),
  );
  router.post(
    "/hosts",
    visit(desk, async (one) => {
      const { req, res, session } = one;
      const { principal } = session;
      const name = formOf(req).text("name").trim();
      if (name.length > LONGEST_NAME) {
        const wrong = `The host was not added: its name has more than ${LONGEST_NAME} characters.`;
        return showHosts(desk, one, await parties.hostsOf(principal), { name, wrong });
      }
      const form = formOf(req).without(["csrf"]);
      const deed = { ...hostNamed(name), weighty: true, verb: "add a host", to: "/hosts", form };
      if (!(await confirm(desk, one, deed))) return;
      const given = name === "" ? {} : { name };
      const outcome = await parties.createHost({ principal, ...given });
      if (!outcome.ok) {
        const wrong = `The host was not added: ${outcome.message}.`;
        return showHosts(desk, one, await parties.hostsOf(principal), { name, wrong });
      }
      const { host, enrolmentToken } = outcome;
      if (enrolmentToken !== undefined) {
        desk.newHosts.put(res, session, { host: host.id, enrolmentToken });
      }
      return goTo(desk, res, "/hosts");
    }),
  );
  router.post(
    "/hosts/:id/revoke",
    visit(desk, async ({ req, res, session }) => {
      const { principal } = session;
      const id = idIn(req);
      const host = await parties.host(id);
      if (host?.principal !== principal) {
        return sendRefusal(desk, req, res, {
          status: 404,
          code: "host_not_found",
          title: "No such host",
          message: "There is no such host of yours, so nothing was revoked.",
          ...(host === undefined ? {} : { record: id }),
        });
      }
      await parties.revokeHost(id, { principal });
      return goTo(desk, res, "/hosts");
    }),
  );
}

const HOST = "host";

/** Returns the creation of a host with this name, as an action to confirm. */
function hostNamed(name: string): Confirmable {
  return { what: HOST, digest: digestOfText(name) };
}

interface Shown extends HostsNotice {
  /** The confirmation for the creation of a host. */
  readonly confirmation?: Confirmation;
}

function showHosts(
  desk: Desk,
  { req, res, session }: Visit,
  hosts: readonly HostRecord[],
  { confirmation, ...notice }: Shown,
): void {
  const assurance = assuranceOf(desk, { weighty: true }, confirmation);
  // Agents do not get a capability that is no longer a default, so the page does not show it.
  const shown = hosts.map((host) => ({ ...host, defaults: desk.parties.defaultsOf(host) }));
  const page = hostsPage(desk, session, shown, desk.now(), { ...notice, assurance });
  show(desk, req, res, page, notice.wrong === undefined ? 200 : 400);
}

/** A new host with its enrolment token, which is shown only once. */
interface NewHost {
  readonly host: HostRecord;
  readonly enrolmentToken: string;
}

/** A message about the user's last action, and the contents of the form. */
interface HostsNotice {
  readonly made?: NewHost;
  readonly wrong?: string;
  /** The contents of the name field. */
  readonly name: string;
}

/** Longest name of a host, in characters. */
const LONGEST_NAME = 120;

const STATES: Readonly<Record<HostRecord["status"], string>> = {
  enrolling: "Waits for its enrolment token",
  pending: "Waits for an approval",
  active: "Active",
  revoked: "Revoked",
};

function hostsPage(
  { base }: Whereabouts,
  session: Session,
  hosts: readonly HostRecord[],
  now: number,
  { made, wrong, name, assurance }: HostsNotice & { readonly assurance: Assurance },
): PageParts {
  const items = hosts.map(
    (host) => html`<h3>${partyName(host)}</h3>
${rowList([
  ["State", STATES[host.status]],
  ["Id", trusted(host.id)],
  host.defaults.length > 0 && [
    "Its agents get at once",
    host.defaults.map((one, at) => html`${at > 0 && ", "}${trusted(one)}`),
  ],
  ["Added", moment(host.created, now)],
  ["Last used", host.lastUsed === undefined ? "never" : moment(host.lastUsed, now)],
])}
${
  host.status !== "revoked" &&
  html`<form method="post" action="${base}/hosts/${encodeURIComponent(host.id)}/revoke">${csrf(session)}
<button type="submit" class="stop" aria-label="Revoke, with all of its agents: host ${plainText(host.name ?? host.id)}">Revoke, with all of its agents</button></form>`
}`,
  );
  const main = html`${problem("name", wrong)}${
    made !== undefined &&
    html`<div class="notice" role="status"><h2>The host ${trusted(made.host.name ?? made.host.id)} can enrol</h2>
<p>Give it this enrolment token. It is shown only now, and good once${
      made.host.enrolment !== undefined && html`, until ${moment(made.host.enrolment.expires, now)}`
    }.</p>
<code class="secret">${made.enrolmentToken}</code></div>`
  }<p>A host is a program that runs agents for you, such as an assistant on your computer.</p>
<h2>Your hosts</h2>${cards(items, "You have no hosts.")}
<form method="post" action="${base}/hosts" class="card" novalidate>${csrf(session)}<h2>Add a host</h2>
<div class="field"><label for="name">Its name</label>
<input type="text" id="name" name="name" maxlength="${LONGEST_NAME}" autocomplete="off" value="${name}"${wrong !== undefined && html` aria-invalid="true"`}></div>
${confirmedWords(assurance, "add a host", now)}
<button type="submit" class="main">Add the host</button>
${assuranceWords(assurance, "add a host")}</form>`;
  return { title: "Hosts", main, wrong: wrong !== undefined };
}
