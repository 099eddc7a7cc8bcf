import { type Edit, edit } from "../message/edit.js";
import { INTERNAL_ERROR } from "../message/error-codes.js";
import { errorText, type Message } from "../message/message.js";
import { serverFailure } from "../server/connection.js";
import { type HostRequest, type OpenRequest, withoutBody } from "./host-request.js";
import { asksHost } from "./input-requests.js";
import { cancelledText, type ServerLink, type Waiting } from "./server-link.js";

/**
 * Longest cancellation of the host that the gate passes on, in characters. The gate does not wait until the server has
 * taken a cancellation, so long ones could fill the memory.
 */
const LONGEST_CANCELLATION = 4096;

const PROGRESS_TOKEN = ["params", "_meta", "progressToken"];

export interface Forwarding {
  /** Edits of the request, in addition to its id and its progress token. */
  readonly edits?: readonly Edit[] | undefined;
  /**
   * Turns the server's response into the answer for the host; unless given, only the id changes. The function must not
   * keep a reference to the request, whose body may be large.
   */
  readonly finish?:
    | ((opened: OpenRequest, response: Message, id: number) => Promise<string>)
    | undefined;
  /** `true` if the response may ask the host for something, which `finish` judges. */
  readonly mayAsk?: boolean | undefined;
  readonly notified?: Waiting["notified"];
  readonly cancelled?: Waiting["cancelled"];
  readonly isEndless?: boolean | undefined;
}

/**
 * Sends a host's request to a server, and later the server's answer to the host. Changes only the parts of the two
 * texts that must change. The promise is fulfilled when the server has taken the request.
 */
export async function forward(
  request: HostRequest,
  link: ServerLink,
  {
    edits = [],
    finish = async (opened, response) => restored(opened, response),
    mayAsk = false,
    notified,
    cancelled,
    isEndless,
  }: Forwarding = {},
): Promise<void> {
  const { message, exchange, over, era, credentials, progressToken } = request;
  if (over.aborted) return;
  const opened = withoutBody(request);
  const id = link.expectAnswer({
    answered: async (response) => {
      try {
        await opened.answer(
          asksHost(response) && !mayAsk
            ? errorText(
                opened.id,
                INTERNAL_ERROR,
                "the server asks for input, which this method does not allow",
              )
            : await finish(opened, response, id),
        );
      } catch (error) {
        await opened.fail(error);
      }
    },
    failed: (end) => opened.answer(serverFailure(opened.id, end)),
    progressed: async (notification) => {
      if (progressToken !== undefined) await exchange.send(withToken(notification, progressToken));
    },
    notified,
    cancelled,
    credentials,
    toHost: (text) => exchange.send(text),
    isEndless,
  });
  over.addEventListener("abort", () => void link.cancel(id, cancellation(over.reason, id)), {
    once: true,
  });
  const text = edit(message.text, [
    { path: ["id"], value: id },
    ...(progressToken === undefined ? [] : [{ path: PROGRESS_TOKEN, value: id }]),
    ...edits,
  ]);
  await link.send(id, text, { headers: exchange.headers, era });
}

/** Returns the text of the server's response with the host's id and further edits. */
export function restored(
  { id }: OpenRequest,
  response: Message,
  edits: readonly Edit[] = [],
): string {
  return edit(response.text, [{ path: ["id"], value: id }, ...edits]);
}

/** Returns the text of a progress notification with its token replaced. */
export function withToken(notification: Message, progressToken: string | number): string {
  return edit(notification.text, [{ path: ["params", "progressToken"], value: progressToken }]);
}

/**
 * Returns the host's cancellation with the gate's id. If the host has sent none, or one that is too long, returns a
 * cancellation by the gate.
 */
function cancellation(reason: unknown, id: number): string {
  return isNotification(reason) && reason.text.length <= LONGEST_CANCELLATION
    ? edit(reason.text, [{ path: ["params", "requestId"], value: id }])
    : cancelledText(id, "nobody waits for it any more");
}

function isNotification(value: unknown): value is Message {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "notification"
  );
}
