// `rotate-until-killed.mjs PATH`: rotates the keys in the file again and again, and keeps the latest four.
// Prints each new key before and after it is written.
import { writeSync } from "node:fs";
import { readKeyringFile, replaceKeyringFile } from "proviso/stores";

const [, , path] = process.argv;
for (;;) {
  const present = readKeyringFile(path);
  let next = present.rotate();
  const [oldest] = next.list();
  if (next.list().length > 4) next = next.retire(oldest.kid);
  writeSync(1, `{"begun":"${next.minting.kid}"}\n`);
  replaceKeyringFile(path, next, present);
  writeSync(1, `{"done":"${next.minting.kid}"}\n`);
}
