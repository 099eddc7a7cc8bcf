import type { Json } from "../bytes/json.js";
import type { AgentContext } from "./agent-options.js";
import type { Caller } from "./caller.js";
import { readCapabilityRequest } from "./capability-request.js";
import { issueOffers } from "./issuance.js";
import { offersFor } from "./offer.js";
import type { RequestOutcome } from "./outcomes.js";
import { openPending, refuseReused } from "./pending.js";
import type { Recorder } from "./recorder.js";
import type { RequestDenial } from "./refusal.js";

/** @see IssuingAgent.request */
export async function requestCapabilities(
  caller: Caller,
  params: Json,
  id: string | undefined,
  context: AgentContext,
  recorder: Recorder,
): Promise<RequestOutcome> {
  const elapsed = recorder.start();
  const reading = readCapabilityRequest(params);
  const refuse = (denial: RequestDenial, purpose?: string): RequestOutcome => {
    recorder.notIssued(caller, denial.code, purpose, elapsed());
    return { ok: false, denial };
  };
  if (!reading.ok) return refuse(reading.denial);
  const { request } = reading;
  const { purpose } = request.restrictions;
  const found = await offersFor(request, caller, context);
  if (!found.ok) return refuse(found.denial, purpose);
  const reused = await refuseReused(request, caller, context, id);
  if (reused !== undefined) return refuse(reused.denial, purpose);
  const { offers, ...rest } = found;
  const waiting = offers.filter(({ grant }) => grant.approval !== undefined);
  const open = offers.filter(({ grant }) => grant.approval === undefined);
  const issuance = await issueOffers(open, request, caller, context);
  if (!issuance.ok) return refuse(issuance.denial, purpose);
  const opened =
    waiting.length === 0 ? undefined : await openPending(waiting, request, caller, context, id);
  if (opened?.ok === false) return refuse(opened.denial, purpose);
  const { granted, kept } = issuance;
  if (offers.length === 0) recorder.notIssued(caller, "nothing_found", purpose, elapsed());
  else if (granted.length > 0) {
    await recorder.issued(caller, granted, kept, purpose, elapsed());
  }
  const pending = opened === undefined ? {} : { pending: opened.pending };
  return { ...rest, capabilities: granted, ...pending };
}
