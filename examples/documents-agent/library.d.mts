/**
 * Creates the folder with a copy of `documents/`, if the folder does not exist. At each start, writes this
 * project's own documents into the collection `project`. Other documents stay as they are.
 */
export function fillLibrary(folder: string): void;
