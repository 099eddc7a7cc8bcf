import { describeExchange } from "./exchange.js";

describeExchange("libmacaroons", [{ format: "v1", restrictions: { binary: true } }]);
