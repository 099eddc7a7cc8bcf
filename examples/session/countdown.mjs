// A program for `proc`: counts down from its argument, a number every tenth of a second.
import { setTimeout } from "node:timers/promises";

for (let left = Number(process.argv[2]); left > 0; left--) {
  console.log(left);
  await setTimeout(100);
}
console.log("done");
