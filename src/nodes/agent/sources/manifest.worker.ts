import { parentPort } from 'node:worker_threads';
import { yieldToMainThread } from '../../../base/machinery/yield-to-main-thread.js';
import { manifestValues } from './manifest-values.js';

/** The values of a manifest, or the reason why it has none. */
export type ManifestAnswer = { readonly values: readonly unknown[] } | { readonly fault: string };

yieldToMainThread();
parentPort?.once('message', (text: string) => parentPort?.postMessage(answer(text)));

function answer(text: string): ManifestAnswer {
  try {
    return { values: manifestValues(text) };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
