import { answerOfThread } from '../../../base/machinery/answer-of-thread.js';
import { ThreadError } from '../../../base/machinery/thread-error.js';
import type { ManifestAnswer } from './manifest.worker.js';
import { ManifestError } from './manifest-error.js';
import { manifestValues } from './manifest-values.js';

/** Shorter texts take less time to read than a thread to start: some milliseconds at most. */
const mostHere = 8192;
const longestMs = 60_000;
const megabytes = 256;
const faults = {
  late: 'takes too long to read',
  memory: 'takes too much memory to read',
  ended: 'could not be read',
} as const;

/**
 * The values of the documents in a text of any size. Large ones are read in a thread of their own: some texts of a megabyte
 * take YAML readers minutes, and the agent must look after its pods meanwhile.
 *
 * @throws ManifestError also for a text that takes too much time or memory
 */
export async function readManifestValues(text: string, limitMs = longestMs): Promise<readonly unknown[]> {
  if (text.length <= mostHere) return manifestValues(text);
  const program = new URL('./manifest.worker.js', import.meta.url);
  const answer = await answerOfThread<ManifestAnswer>(program, text, { milliseconds: limitMs, megabytes }).catch(
    (error: Error) => {
      if (error instanceof ThreadError) throw new ManifestError(faults[error.reason], true);
      throw error;
    },
  );
  if ('fault' in answer) throw new ManifestError(answer.fault);
  return answer.values;
}
