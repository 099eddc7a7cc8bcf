// `number.mjs PLACE`: prints "ready", and waits for a line. Then requests the numbers of 300 names in many
// concurrent calls, in a random order, and prints names and numbers as one line of JSON.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { openResourceNumbers, openStores } from "proviso/stores";

const [, , place = ""] = process.argv;
const database = await openStores(place);
const numbers = openResourceNumbers(database);
const names = Array.from({ length: 300 }, (_, at) => `name ${at}`);
names.sort(() => Math.random() - 0.5);
writeSync(1, "ready\n");
await once(process.stdin, "data");
const answers = await Promise.all(
  Array.from({ length: 30 }, (_, at) => numbers.numbersOf(names.slice(at * 10, at * 10 + 20))),
);
writeSync(1, `${JSON.stringify(answers.flatMap((answer) => [...answer]))}\n`);
await database.close();
process.stdin.destroy();
