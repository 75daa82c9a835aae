import type { Pod } from '../apis/core/v1/pod.types.js';
import type { Timers } from '../controllers/timers.js';
import type { Logger } from '../observability/logger.js';
import { ApiError, type ApiUser } from './api-connection.js';

export interface PodWatchParts {
  readonly api: ApiUser;
  readonly node: string;
  readonly timers: Timers;
  readonly random: () => number;
  readonly logger: Logger;
  /** Takes every new or changed pod of the node. */
  readonly onPod: (pod: Pod) => void;
  /** Takes the uid of a pod that is gone. */
  readonly onGone: (uid: string) => void;
  /** The uids of all pods that were told and are not known to be gone. */
  readonly known: () => Iterable<string>;
}

interface WatchLine {
  readonly type: string;
  readonly object: Pod & { readonly code?: number; readonly message?: string };
}

const firstPauseMs = 200;
const longestPauseMs = 10_000;

/** Follows the pods of one node until the abort: a list, then a watch, from the start again when the place is lost. */
export async function watchPods(parts: PodWatchParts, signal: AbortSignal): Promise<void> {
  const { timers, random, logger, node } = parts;
  let version: string | undefined;
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    const began = timers.elapsed();
    try {
      version ??= await listPods(parts, signal);
      version = await followPods(parts, version, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 410) version = undefined;
      else logger.debug('a simulated node lost its watch', { node, error });
    }
    // Nodes whose server went away come back one after another.
    pauseMs = timers.elapsed() - began > longestPauseMs ? firstPauseMs : Math.min(2 * pauseMs, longestPauseMs);
    await timers.wait(pauseMs * (0.5 + random()), signal);
  }
}

function pathOf(node: string, more: Readonly<Record<string, string>>): string {
  return `/api/v1/pods?${new URLSearchParams({ fieldSelector: `spec.nodeName=${node}`, ...more })}`;
}

async function listPods({ api, node, onPod, onGone, known }: PodWatchParts, signal: AbortSignal): Promise<string> {
  const path = pathOf(node, { resourceVersion: '0' });
  const list = await api.send<{ metadata: { resourceVersion: string }; items: Pod[] }>('GET', path, { signal });
  const present = new Set(list.items.map(({ metadata }) => metadata.uid ?? ''));
  for (const uid of [...known()]) if (!present.has(uid)) onGone(uid);
  for (const pod of list.items) onPod(pod);
  return list.metadata.resourceVersion;
}

/** Returns the version that it came to when the server ends the watch. Throws an {@link ApiError} 410 for a lost place. */
async function followPods(
  { api, node, onPod, onGone }: PodWatchParts,
  from: string,
  signal: AbortSignal,
): Promise<string> {
  let version = from;
  const path = pathOf(node, { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: from });
  try {
    for await (const line of api.lines(path, signal)) {
      const { type, object } = JSON.parse(line) as WatchLine;
      if (type === 'ERROR') throw new ApiError(object.code ?? 500, '', object.message ?? 'the watch failed');
      version = object.metadata.resourceVersion ?? version;
      if (type === 'DELETED') onGone(object.metadata.uid ?? '');
      else if (type !== 'BOOKMARK') onPod(object);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The connection ended; the watch goes on from here.
  }
  return version;
}
