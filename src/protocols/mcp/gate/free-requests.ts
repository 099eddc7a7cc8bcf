import { resultText } from "../message/message.js";
import { ServerError } from "../server/connection.js";
import { forward } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest } from "./host-request.js";

/**
 * Handles a request that needs no authority. Passes it on to the only server. With several servers the gate answers
 * itself, and sends `logging/setLevel` to each server that supports logging.
 */
export async function runFree({ servers, log }: GateParts, request: HostRequest): Promise<void> {
  if (servers.only !== undefined) return forward(request, servers.only);
  if (request.method === "logging/setLevel") {
    const { text } = request.message;
    const links = servers.links.filter((link) => !link.hasEnded && link.mayHave("logging"));
    for (const outcome of await Promise.allSettled(links.map((link) => link.ask(text)))) {
      if (outcome.status === "fulfilled") continue;
      if (!(outcome.reason instanceof ServerError)) throw outcome.reason;
      log(outcome.reason.message);
    }
  }
  await request.answer(resultText(request.id, {}));
}
