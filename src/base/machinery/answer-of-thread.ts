import { Worker } from 'node:worker_threads';
import { ThreadError } from './thread-error.js';

export interface ThreadLimits {
  readonly milliseconds: number;
  readonly megabytes: number;
}

/** Deep nesting needs more than Node gives a thread. */
const stackMegabytes = 4;

/**
 * Sends a text to a new thread and resolves with its first message. Ends the thread in every case.
 *
 * @param program the file of the thread, which answers one message
 * @throws ThreadError when the thread takes too much time or memory, or ends without an answer
 */
export async function answerOfThread<Answer>(program: URL, text: string, limits: ThreadLimits): Promise<Answer> {
  const worker = new Worker(program, {
    resourceLimits: { maxOldGenerationSizeMb: limits.megabytes, stackSizeMb: stackMegabytes },
  });
  let late: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Answer>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', () => reject(new ThreadError('memory')));
      worker.once('exit', () => reject(new ThreadError('ended')));
      late = setTimeout(() => reject(new ThreadError('late')), limits.milliseconds);
      worker.postMessage(text);
    });
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}
