/**
 * Makes the folder if it does not exist, with a copy of `documents/`, and writes this project's own documents
 * into its collection `project`. It updates the latter at each start, and never the others.
 */
export function fillLibrary(folder: string): void;
