// What asks an agent by the A2A SDK. Loaded only to ask one: it takes longer than all else that a verb does. One file
// names all of it, since the SDK comes as ES modules and as CommonJS, whose errors are not each other's.

export { AgentCard } from "@a2a-js/sdk";
export { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
export { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
export { withAmbientAuthority } from "../../src/protocols/a2a/client/interceptor.js";
