// For `node --import`: makes libsql look as if it were not installed.
import { register } from "node:module";

register(
  `data:text/javascript,${encodeURIComponent(`
    export async function resolve(specifier, context, next) {
      if (specifier !== "libsql") return next(specifier, context);
      const error = new Error("Cannot find package 'libsql'");
      error.code = "ERR_MODULE_NOT_FOUND";
      throw error;
    }
  `)}`,
);
