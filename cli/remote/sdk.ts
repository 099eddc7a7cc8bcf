// The A2A SDK is loaded on demand, because loading it takes longer than everything else in a verb. All verbs
// load it through this module. The SDK exists both as ES modules and as CommonJS, and an error of one copy is
// not an instance of the other copy's class.

export { AgentCard, Task } from "@a2a-js/sdk";
export { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
export { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
export { withAmbientAuthority } from "../../src/protocols/a2a/client/interceptor.js";
