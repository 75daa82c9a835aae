import { promises as fs } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { isRunning, type RuntimeContainer } from '../pods/runtime-pod.js';
import type { RuntimeView } from '../pods/runtime-view.js';
import { openInside } from '../volumes/inside.js';
import { rotateLog } from './log-rotation.js';

export interface RunningLogs {
  readonly runtime: Pick<ContainerRuntime, 'reopenLog'>;
  readonly view: Pick<RuntimeView, 'pods' | 'latest'>;
  readonly logFolder: string;
  readonly maxBytes: number;
  /** Number of files kept for each log, including the present one. */
  readonly maxFiles: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Begins new files for the logs of running containers that are too large.
 *
 * @throws AggregateError for the logs that could not be rotated, after all others were: a pod that can change its
 * folder of logs must not make the logs of other pods grow
 */
export async function rotateRunningLogs(logs: RunningLogs): Promise<void> {
  const { view } = logs;
  const problems: unknown[] = [];
  for (const { uid, namespace, name } of view.pods()) {
    try {
      const { containers } = await view.latest(uid, namespace, name);
      for (const run of containers.filter(isRunning)) await rotate(logs, run).catch((error) => problems.push(error));
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw new AggregateError(problems, `${problems.length} logs: ${problems[0]}`);
}

async function rotate(
  { runtime, logFolder, maxBytes, maxFiles, now }: RunningLogs,
  { id, logPath }: RuntimeContainer,
): Promise<void> {
  if (logPath === '') return;
  // Most logs are small, which is seen at once. The way to a large one, or a missing one, is taken with care.
  const found = await fs.lstat(logPath).catch(() => undefined);
  if (found !== undefined && found.size < maxBytes) return;
  const path = relative(logFolder, logPath);
  // Pods may mount the folder of logs: reached through the open folder, no path leads outside.
  await using folder = await openInside(logFolder, dirname(path));
  await rotateLog(runtime, id, join(folder.path, basename(path)), maxBytes, maxFiles, now);
}
