import { describeExchange } from "./exchange.js";
import { describeInjection } from "./injection.js";

describeExchange("macaroons.js", [{ format: "v1" }]);

describeInjection("macaroons.js", ["v1"]);
