import type { Artifact, Message, StreamResponse, Task } from "@a2a-js/sdk";
import type { AfterArgs } from "@a2a-js/sdk/client";
import type { Json } from "../../../bytes/json.js";
import { type Behaviour, delegatedTo } from "../../../discovery/drift.js";

/** What an agent was seen to do, in what the SDK's client took from its response. */
export function observedIn(result: NonNullable<AfterArgs["result"]>): readonly Behaviour[] {
  switch (result.method) {
    case "sendMessage":
      return "messageId" in result.value ? ofMessage(result.value) : ofTask(result.value);
    case "sendMessageStream":
    case "resubscribeTask":
      return ofEvent(result.value);
    case "getTask":
    case "cancelTask":
      return ofTask(result.value);
    case "createTaskPushNotificationConfig":
      return [{ kind: "capability", name: "push_notifications" }];
    default:
      return [];
  }
}

function ofEvent({ payload }: StreamResponse): readonly Behaviour[] {
  switch (payload?.$case) {
    case "message":
      return [...partial(payload.value), ...ofMessage(payload.value)];
    case "task":
      return ofTask(payload.value);
    case "statusUpdate": {
      const { status, metadata } = payload.value;
      return [...ofMetadata(metadata), ...(status?.message ? ofMessage(status.message) : [])];
    }
    case "artifactUpdate": {
      const { artifact, metadata } = payload.value;
      return [...ofMetadata(metadata), ...(artifact ? ofArtifact(artifact) : [])];
    }
    default:
      return [];
  }
}

/** A message in pieces: what `streaming_message` declares. */
function partial({ metadata }: Message): readonly Behaviour[] {
  return metadata?.["partial"] === true ? [{ kind: "capability", name: "streaming_message" }] : [];
}

function ofMessage({ metadata, extensions }: Message): readonly Behaviour[] {
  return [...ofMetadata(metadata), ...ofExtensions(extensions)];
}

function ofTask({ metadata, status, artifacts }: Task): readonly Behaviour[] {
  return [
    ...ofMetadata(metadata),
    ...(status?.message ? ofMessage(status.message) : []),
    ...artifacts.flatMap(ofArtifact),
  ];
}

function ofArtifact({ metadata, extensions }: Artifact): readonly Behaviour[] {
  return [...ofMetadata(metadata), ...ofExtensions(extensions)];
}

function ofExtensions(uris: readonly string[]): readonly Behaviour[] {
  return uris.map((name) => ({ kind: "capability", name }));
}

function ofMetadata(metadata: { readonly [name: string]: Json } | undefined): readonly Behaviour[] {
  return delegatedTo(metadata);
}
