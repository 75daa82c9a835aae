import { constants, promises as fs } from 'node:fs';
import { join } from 'node:path';
import { runtimeAnnotations } from '../cri/labels.js';
import { nameOf, type RuntimeContainer, restartCountOf } from '../pods/runtime-pod.js';
import { type LogQuery, readLog } from '../server/log-reader.js';
import { openFileInside } from '../volumes/inside.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Of a longer message file, the end is the message; so with logs. */
const mostMessageBytes = 4096;
const mostLogLines = 80;
const mostLogBytes = 2048;

/** What a run has left to say: the end of its message file or, if that is empty and its pod wants it, of its log. */
export async function terminationMessage(run: RuntimeContainer, logFolder: string): Promise<string | undefined> {
  const path = run.annotations[runtimeAnnotations.terminationMessagePath];
  const mount = run.mounts.find(({ containerPath }) => containerPath === path);
  const text = mount === undefined ? '' : await readEnd(mount.hostPath).catch(() => '');
  if (text !== '') return text;
  const policy = run.annotations[runtimeAnnotations.terminationMessagePolicy];
  if (policy !== 'FallbackToLogsOnError' || run.exitCode === 0) return undefined;
  const log = join(nameOf(run), `${restartCountOf(run)}.log`);
  return (await endOfLog(logFolder, log).catch(() => '')) || undefined;
}

/** Containers determine what the path leads to: opening it must not block, and only a file is read. */
async function readEnd(path: string): Promise<string> {
  await using handle = await fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const found = await handle.stat();
  if (!found.isFile()) return '';
  const length = Math.min(found.size, mostMessageBytes);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, found.size - length);
  return buffer.subarray(0, bytesRead).toString('utf8');
}

async function endOfLog(folder: string, path: string): Promise<string> {
  const source = {
    open: () => openFileInside(folder, path),
    isLive: async () => false,
    wait: async () => undefined,
    signal: new AbortController().signal,
  };
  const query: LogQuery = {
    ...{ follow: false, timestamps: false, stream: 'All', limitBytes: undefined, since: undefined },
    tailLines: mostLogLines,
  };
  let end = Buffer.alloc(0);
  for await (const piece of readLog(source, query)) {
    end = Buffer.concat([end, piece.subarray(-mostLogBytes)]).subarray(-mostLogBytes);
  }
  return end.toString('utf8');
}
