// For `node --import`: makes libsql appear not to be installed.
import Module from "node:module";

const resolve = Module._resolveFilename;
Module._resolveFilename = (request, ...rest) => {
  if (request !== "libsql") return resolve(request, ...rest);
  const error = new Error("Cannot find module 'libsql'");
  error.code = "MODULE_NOT_FOUND";
  throw error;
};
