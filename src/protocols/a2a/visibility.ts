import type { ListTasksRequest, ListTasksResponse } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";

/** Which tasks a request may see. */
export interface Visibility {
  /** Notes a task, as made by this request unless another has made it. */
  note(id: string, context: ServerCallContext): void;
  sees(id: string, context: ServerCallContext): Promise<boolean>;
  /** A page of the tasks that a request may see, out of what `list` gives. */
  list(
    params: ListTasksRequest,
    context: ServerCallContext,
    list: (params: ListTasksRequest) => Promise<ListTasksResponse>,
  ): Promise<ListTasksResponse>;
}
