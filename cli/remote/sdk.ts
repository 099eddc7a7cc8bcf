// The A2A SDK, loaded on demand: it takes longer than everything else in a verb. All verbs load it from here, since it
// comes as ES modules and as CommonJS, and an error of the one is no instance of a class of the other.

export { AgentCard, Task } from "@a2a-js/sdk";
export { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
export { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
export { withAmbientAuthority } from "../../src/protocols/a2a/client/interceptor.js";
