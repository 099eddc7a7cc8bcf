import type { AgentCard, Artifact, Message, StreamResponse, Task } from "@a2a-js/sdk";
import type { AfterArgs, Client } from "@a2a-js/sdk/client";
import type { Json } from "../../../bytes/json.js";
import { assertMembers } from "../../../checks/members.js";
import type { CardReading } from "../../../discovery/card.js";
import { createCardCache } from "../../../discovery/card-cache.js";
import type { DiscoveryCode, DiscoveryDenial } from "../../../discovery/denial.js";
import type { Discovery, UsableAgent } from "../../../discovery/discovery.js";
import { type Behaviour, delegatedTo, undeclaredIn } from "../../../discovery/drift.js";
import { endToEnd } from "../../../discovery/link.js";
import { discoverChain } from "../../../discovery/live-chain.js";
import {
  BINDINGS,
  type DiscoveryRequirements,
  settleRequirements,
} from "../../../discovery/requirements.js";
import {
  type DiscoverOptions,
  ownOrigins,
  safeDiscover,
} from "../../../discovery/safe-discover.js";
import { parseVersion, versionText } from "../../../discovery/versions.js";
import { cardOf, destinationDenials, destinationOf, writtenCard } from "./destination.js";

/** Requirements on an agent, and the reaction to behaviour that the agent's card does not declare. */
export interface AgentCheckOptions {
  /**
   * Requirements on the card. Unless given, the card must be valid and offer the client's protocol version over
   * the client's binding. If the requirements name a `protocolVersion` with the client's major version, the
   * client uses that version.
   */
  readonly requirements?: DiscoveryRequirements;
  /**
   * The URL of the agent or of its card. The check fetches the card from this URL. Before a later call, it
   * fetches and judges the card again if the card may have changed.
   *
   * Without this option, the check judges the SDK client's own card. That card never changes, and it has only
   * the properties that A2A defines. It lacks contract fields that the agent puts at the top level of the card
   * instead of into the extension's params.
   *
   * The check never requests the extended card, because the request would send the access token to an agent
   * that has not been judged.
   */
  readonly card?: string | URL;
  /**
   * Options for fetching the card, for trusting signatures, and for calling non-public addresses
   * (`allowHosts`). Without `card`, loopback addresses are allowed too.
   */
  readonly discovery?: DiscoverOptions;
  /**
   * Called if the agent does something that its card does not declare. Without this function, the call then
   * fails with an `UndeclaredBehaviourError`.
   */
  readonly onDrift?: (denial: DiscoveryDenial) => void;
}

const OPTIONS = ["requirements", "card", "discovery", "onDrift"];

/** Judges an agent by its card before each call, and the agent's answer by the same card. */
export class AgentCheck {
  readonly #client: Client;
  /** The card of the SDK's client. */
  readonly #own: AgentCard;
  readonly #options: AgentCheckOptions;
  readonly #discovery: DiscoverOptions;
  /** The protocol version that the card must offer and that calls request. */
  readonly version: string;
  #known: UsableAgent | undefined;

  /** @throws TypeError if an option is invalid, or `client` is not a Client of the SDK. */
  constructor(client: Client, options: AgentCheckOptions) {
    this.#own = cardOf(client);
    assertMembers(options, OPTIONS, "options");
    settleRequirements(options.requirements ?? {});
    this.version = versionFor(client, options.requirements?.protocolVersion);
    this.#client = client;
    this.#options = options;
    this.#discovery = { cache: createCardCache(), ...options.discovery };
  }

  /**
   * Judges the agent before a call. If this throws, send nothing to the agent.
   *
   * @throws AgentRefusedError if the card does not meet the requirements.
   */
  async before(): Promise<CardReading> {
    // The client's own card does not change.
    if (this.#options.card === undefined && this.#known !== undefined) return this.#known.card;
    const discovery = await this.#discover();
    const denials = discovery.ok ? await this.#elsewhere(discovery) : discovery.denials;
    const [first, ...others] = denials;
    this.#known = discovery.ok && first === undefined ? discovery : undefined;
    if (first !== undefined) throw new AgentRefusedError([first, ...others]);
    if (!discovery.ok) throw new TypeError("an agent is refused for some reason");
    return discovery.card;
  }

  /**
   * Judges an answer.
   *
   * @throws UndeclaredBehaviourError for undeclared behaviour, unless `onDrift` is given.
   */
  async after(result: NonNullable<AfterArgs["result"]>): Promise<void> {
    const behaviours = observedIn(result);
    if (behaviours.length === 0) return;
    const card = this.#known?.card ?? (await this.before());
    for (const denial of undeclaredIn(card, behaviours)) {
      const { onDrift } = this.#options;
      if (onDrift === undefined) throw new UndeclaredBehaviourError(denial);
      onDrift(denial);
    }
  }

  async #discover(): Promise<Discovery> {
    const place = this.#options.card ?? writtenCard(this.#own);
    const requirements = this.#requirements();
    // If requirements apply to every agent of the chain, the first agent's card is not enough.
    if (endToEnd(settleRequirements(requirements)).length === 0) {
      return safeDiscover(place, requirements, this.#discovery);
    }
    const chain = await discoverChain(place, requirements, this.#discovery);
    return chain.ok ? chain.agent : chain;
  }

  #requirements(): DiscoveryRequirements {
    const { requirements = {} } = this.#options;
    const { protocolName } = this.#client.transport;
    const binding = BINDINGS.find((one) => one === protocolName);
    return {
      binding,
      ...requirements,
      protocolVersion: this.version,
    };
  }

  /** Returns the reasons why the client must not call its URL, given the judged card; empty if it may. */
  #elsewhere({ card }: UsableAgent): Promise<readonly DiscoveryDenial[]> {
    const address = this.#options.card;
    return destinationDenials(destinationOf(this.#client, this.#own), {
      card,
      binding: this.#client.transport.protocolName,
      requirements: this.#requirements(),
      discovery: this.#discovery,
      named: address === undefined ? undefined : ownOrigins(address),
    });
  }
}

/**
 * Returns the protocol version that a client uses: the required version, or the transport's version if none is
 * required.
 *
 * @throws TypeError if the transport does not support the required version.
 */
function versionFor({ transport }: Client, required: string | undefined): string {
  const [own, wanted] = [parseVersion(transport.protocolVersion), parseVersion(required ?? "")];
  if (own === undefined || wanted === undefined) return transport.protocolVersion;
  // Before version 1.0, minor versions changed the format of messages.
  const isSpoken = own.major === wanted.major && (own.major > 0 || own.minor === wanted.minor);
  if (isSpoken) return versionText(wanted);
  const message = `requirements.protocolVersion: the client speaks ${versionText(own)}, not ${versionText(wanted)}`;
  throw new TypeError(message);
}

/** Returns the behaviours that a response shows, as parsed by the SDK's client. */
function observedIn(result: NonNullable<AfterArgs["result"]>): readonly Behaviour[] {
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

/** Returns the behaviour `streaming_message` if the message is one part of a longer message. */
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

/** Thrown if an agent's card does not meet the caller's requirements. The call was not sent to the agent. */
export class AgentRefusedError extends Error {
  override readonly name = "AgentRefusedError";
  /** The code of the first reason. */
  readonly code: DiscoveryCode;
  /** Every reason why the agent was not called. */
  readonly denials: readonly DiscoveryDenial[];

  constructor(denials: readonly [DiscoveryDenial, ...DiscoveryDenial[]]) {
    const [first, ...others] = denials;
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    super(`the agent is not called: ${first.message}${more}`);
    this.code = first.code;
    this.denials = denials;
  }
}

/** Thrown if an agent has done something that its card does not declare. The agent may have done the requested work. */
export class UndeclaredBehaviourError extends Error {
  override readonly name = "UndeclaredBehaviourError";
  readonly code: DiscoveryCode;
  readonly denial: DiscoveryDenial;

  constructor(denial: DiscoveryDenial) {
    super(denial.message);
    this.code = denial.code;
    this.denial = denial;
  }
}
