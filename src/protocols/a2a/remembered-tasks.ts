import type { ListTasksRequest, ListTasksResponse } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { AuthorityUse } from "../../agent/coverage.js";
import { FairShare } from "./fair-share.js";
import { listedOf } from "./listing.js";
import { type Asker, type TaskAccess, usesOf, viewOf } from "./tasks/task-access.js";
import { maySee, type TaskReader, type Visibility } from "./visibility.js";

interface Made {
  readonly id: string;
  readonly tenant: string;
  readonly access: TaskAccess;
  uses: readonly AuthorityUse[];
}

/** Tasks of all principals that are remembered; of more, the principal with the most loses its oldest. */
const MOST_TASKS = 100_000;
/** Tasks of one principal, in all tenants together: requests may name any. */
const MOST_OF_ONE = 10_000;

/** Remembers in memory who made which task. What is not known, as after a restart, is not seen. */
export class RememberedTasks implements Visibility {
  /** By principal, then by tenant and task. */
  readonly #made = new FairShare<Made>(MOST_TASKS, MOST_OF_ONE);

  note(id: string, context: ServerCallContext): void {
    const { access, tenant } = viewOf(context);
    const { principal, invoker, paths } = access;
    const key = keyOf(id, tenant);
    const made = this.#made.of(principal).get(key) ?? {
      id,
      tenant,
      uses: [],
      access: invoker === undefined ? { principal, paths } : { principal, paths, invoker },
    };
    const used = usesOf(context);
    made.uses = made.uses.length === 0 ? used : merged([...made.uses, ...used]);
    this.#made.set(principal, key, made);
  }

  async sees(id: string, asker: Asker, ended?: () => Promise<boolean>): Promise<boolean> {
    const { access, tenant } = viewOf(asker);
    const made = this.#made.of(access.principal).get(keyOf(id, tenant));
    if (made === undefined) return false;
    if (maySee(access, made.access)) return true;
    const { invoker, covers, paths } = access;
    const isParty = invoker === made.access.invoker && paths.length > 0 && made.uses.length > 0;
    if (ended === undefined || covers === undefined || !isParty) return false;
    for (const use of made.uses) if (!(await covers(use))) return false;
    return ended();
  }

  /** Reads the tasks that are remembered of the caller, and no others: a handler may have many more. */
  list(
    params: ListTasksRequest,
    context: ServerCallContext,
    handler: TaskReader,
  ): Promise<ListTasksResponse> {
    const { access, tenant } = viewOf(context);
    const ids: string[] = [];
    for (const made of this.#made.of(access.principal).values()) {
      if (made.tenant === tenant && maySee(access, made.access)) ids.push(made.id);
    }
    return listedOf(ids, params, (id, historyLength) =>
      handler.getTask({ tenant: params.tenant, id, historyLength }, context),
    );
  }
}

function keyOf(id: string, tenant: string): string {
  return `${tenant.length}:${tenant}${id}`;
}

/** One use for each grant and operation, with all of its resources: what covers it covers each alone. */
function merged(uses: readonly AuthorityUse[]): readonly AuthorityUse[] {
  const known = new Map<string, AuthorityUse>();
  for (const use of uses) {
    const key = JSON.stringify([use.grant, use.operation]);
    const resources = new Set([...(known.get(key)?.resources ?? []), ...use.resources]);
    known.set(key, { ...use, resources: [...resources] });
  }
  return [...known.values()];
}
