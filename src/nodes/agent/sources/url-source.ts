import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { readLargeManifest, type StaticPodContext } from './static-pod.js';

const answerMs = 10_000;
const mostBytes = 10 * 2 ** 20;

export interface UrlSourceDependencies {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly everyMs: number;
  readonly context: Omit<StaticPodContext, 'origin'>;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly onPods: (pods: readonly Pod[]) => void;
}

/** Pods from an HTTP server, which is polled. While it has no valid response, the last pods stay. */
export async function followUrl(dependencies: UrlSourceDependencies, signal: AbortSignal): Promise<void> {
  const { url, everyMs, context, timers, logger, onPods } = dependencies;
  let reported = '';
  while (!signal.aborted) {
    try {
      onPods(await readLargeManifest(await fetchText(dependencies, signal), { ...context, origin: url }));
      reported = '';
    } catch (error) {
      if (signal.aborted) return;
      const problem = errorText(error);
      if (problem !== reported)
        logger.warn('the manifests of a URL could not be used', { url: withoutSecrets(url), problem });
      reported = problem;
    }
    await timers.wait(everyMs, signal);
  }
}

async function fetchText({ url, headers }: UrlSourceDependencies, signal: AbortSignal): Promise<string> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  const response = await fetch(url, {
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    signal: limit,
  });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > mostBytes) throw new Error('the answer is too large');
    await delay(0);
  }
  if (text.trim() === '') throw new Error('the answer is empty');
  return text;
}

function withoutSecrets(url: string): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.search = '';
  return shown.href;
}
