import { Worker } from 'node:worker_threads';
import type { ManifestAnswer } from './manifest.worker.js';
import { ManifestError } from './manifest-error.js';
import { manifestValues } from './manifest-values.js';

/** Shorter texts take less time to read than a thread to start: some milliseconds at most. */
const mostHere = 8192;
const longestMs = 60_000;
const resourceLimits = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 };

/**
 * The values of the documents in a text of any size. Large ones are read in a thread of their own: some texts of a megabyte
 * take YAML readers minutes, and the agent must look after its pods meanwhile.
 *
 * @throws ManifestError also for a text that takes too much time or memory
 */
export async function readManifestValues(text: string, limitMs = longestMs): Promise<readonly unknown[]> {
  if (text.length <= mostHere) return manifestValues(text);
  const worker = new Worker(new URL('./manifest.worker.js', import.meta.url), { resourceLimits });
  let late: NodeJS.Timeout | undefined;
  try {
    const answer = await new Promise<ManifestAnswer>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', () => reject(new ManifestError('takes too much memory to read', true)));
      worker.once('exit', () => reject(new ManifestError('could not be read', true)));
      late = setTimeout(() => reject(new ManifestError('takes too long to read', true)), limitMs);
      worker.postMessage(text);
    });
    if ('fault' in answer) throw new ManifestError(answer.fault);
    return answer.values;
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}
