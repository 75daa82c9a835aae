import { parentPort } from 'node:worker_threads';
import { yieldToMainThread } from '../../../base/machinery/yield-to-main-thread.js';
import { type DuplicateFields, noDuplicates } from './duplicates.js';
import { parseYaml } from './parse-yaml.js';

/** The worker's result for one document: its JSON and its duplicate keys, or the reason why it is invalid. */
export type YamlAnswer = { readonly json: string; readonly duplicates: DuplicateFields } | { readonly fault: string };

yieldToMainThread();
parentPort?.on('message', (text: string) => parentPort?.postMessage(answer(text)));

function answer(text: string): YamlAnswer {
  try {
    const duplicates = noDuplicates();
    return { json: JSON.stringify(parseYaml(text, duplicates)) ?? 'null', duplicates };
  } catch (error) {
    // Aliases can expand a short document to more than the maximum length of a string.
    if (error instanceof RangeError) return { fault: 'yaml: the document is too large' };
    return { fault: error instanceof Error ? error.message : 'yaml: invalid document' };
  }
}
