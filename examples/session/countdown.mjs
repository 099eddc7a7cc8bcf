// A program for the `proc` plugin. It counts down from its argument, by one every tenth of a second.
import { setTimeout } from "node:timers/promises";

for (let left = Number(process.argv[2]); left > 0; left--) {
  console.log(left);
  await setTimeout(100);
}
console.log("done");
