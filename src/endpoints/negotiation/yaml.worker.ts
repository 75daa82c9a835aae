import { parentPort } from 'node:worker_threads';
import { parseYaml } from './parse-yaml.js';

/** What the worker answers for one text: JSON of the same document and its doubled keys, or why it is none. */
export type YamlAnswer = { readonly json: string; readonly duplicates: readonly string[] } | { readonly fault: string };

parentPort?.on('message', (text: string) => parentPort?.postMessage(answer(text)));

function answer(text: string): YamlAnswer {
  try {
    const duplicates: string[] = [];
    return { json: JSON.stringify(parseYaml(text, duplicates)) ?? 'null', duplicates };
  } catch (error) {
    // Aliases may make of a short text one that no string can hold.
    if (error instanceof RangeError) return { fault: 'yaml: the document is too large' };
    return { fault: error instanceof Error ? error.message : 'yaml: invalid document' };
  }
}
