// Loads the A2A SDK on demand, because that takes longer than everything else in a verb. All verbs load it
// here: it exists both as ES modules and as CommonJS, and an error made by one is not an instance of the
// other's class.

export { AgentCard, Task } from "@a2a-js/sdk";
export { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
export { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
export { withAmbientAuthority } from "../../src/protocols/a2a/client/interceptor.js";
