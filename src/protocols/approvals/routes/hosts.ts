import type { Router } from "express";
import { type Desk, goTo, refuse, show } from "../desk.js";
import { formOf } from "../form.js";
import { hostsPage } from "../pages/hosts.js";
import { idIn, visit } from "./visit.js";

/** The user's hosts: adding one, whose enrolment token is shown once, and revoking one. */
export function hostRoutes(desk: Desk, router: Router): void {
  const { registry } = desk;
  router.get(
    "/hosts",
    visit(desk, async ({ req, res, session }) => {
      const hosts = await registry.hostsOf(session.principal);
      const taken = desk.newHosts.take(req, res, session);
      const host = hosts.find(({ id }) => id === taken?.host);
      const notice =
        taken === undefined || host === undefined
          ? {}
          : { made: { host, enrolmentToken: taken.enrolmentToken } };
      show(desk, req, res, hostsPage(desk, session, hosts, desk.now(), notice));
    }),
  );
  router.post(
    "/hosts",
    visit(desk, async ({ req, res, session }) => {
      const { principal } = session;
      const name = formOf(req).text("name").trim();
      const given = name === "" ? {} : { name };
      const outcome = await registry.createHost({ principal, ...given });
      if (!outcome.ok) {
        const hosts = await registry.hostsOf(principal);
        const wrong = `The host was not added: ${outcome.message}.`;
        return show(
          desk,
          req,
          res,
          hostsPage(desk, session, hosts, desk.now(), { wrong, name }),
          400,
        );
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
        return refuse(desk, req, res, {
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
