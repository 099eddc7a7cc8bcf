import type { Router } from "express";
import { digestOfText } from "../../agent/approvals/digest.js";
import type { HostRecord } from "../../agent/registry/records.js";
import { type Desk, goTo, sendRefusal, show } from "../desk.js";
import { Form, formOf } from "../form.js";
import { type HostsNotice, hostsPage, LONGEST_NAME } from "../pages/hosts.js";
import type { Confirmable, Confirmation } from "../session/confirmations.js";
import { assuranceOf, confirm } from "./confirming.js";
import { idIn, type Visit, visit } from "./visit.js";

/** The user's hosts: adding one, whose enrolment token is shown once, and revoking one. */
export function hostRoutes(desk: Desk, router: Router): void {
  const { registry } = desk;
  router.get(
    "/hosts",
    visit(desk, async (one) => {
      const { req, res, session } = one;
      const hosts = await registry.hostsOf(session.principal);
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
        return showHosts(desk, one, await registry.hostsOf(principal), { name, wrong });
      }
      const form = formOf(req).without(["csrf"]);
      const deed = { ...hostNamed(name), weighty: true, verb: "add a host", to: "/hosts", form };
      if (!(await confirm(desk, one, deed))) return;
      const given = name === "" ? {} : { name };
      const outcome = await registry.createHost({ principal, ...given });
      if (!outcome.ok) {
        const wrong = `The host was not added: ${outcome.message}.`;
        return showHosts(desk, one, await registry.hostsOf(principal), { name, wrong });
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
      const host = await registry.host(id);
      if (host?.principal !== principal) {
        return sendRefusal(desk, req, res, {
          ...{ status: 404, code: "host_not_found", title: "No such host" },
          message: "There is no such host of yours, so nothing was revoked.",
          ...(host === undefined ? {} : { record: id }),
        });
      }
      await registry.revokeHost(id, { principal });
      return goTo(desk, res, "/hosts");
    }),
  );
}

const HOST = "host";

/** A host that is added under a name, as its user confirms it. */
function hostNamed(name: string): Confirmable {
  return { what: HOST, digest: digestOfText(name) };
}

interface Shown extends HostsNotice {
  /** That the host of this name is to be added. */
  readonly confirmation?: Confirmation;
}

function showHosts(
  desk: Desk,
  { req, res, session }: Visit,
  hosts: readonly HostRecord[],
  { confirmation, ...notice }: Shown,
): void {
  const assurance = assuranceOf(desk, { weighty: true }, confirmation);
  // What is a default no more, nobody gets.
  const shown = hosts.map((host) => ({ ...host, defaults: desk.registry.defaultsOf(host) }));
  const page = hostsPage(desk, session, shown, desk.now(), { ...notice, assurance });
  show(desk, req, res, page, notice.wrong === undefined ? 200 : 400);
}
