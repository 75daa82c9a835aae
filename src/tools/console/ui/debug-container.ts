import type { Api } from './api.js';
import { dig, listAt, textAt } from './dig.js';
import type { Wait } from './follow.js';

/** A container for a look at a running pod. */
export interface DebugContainer {
  readonly image: string;
  /** The container whose processes it sees. */
  readonly target: string;
}

/** What begins the names of such containers. */
const prefix = 'debugger';

/** The name of the next debugging container of a pod. */
export function debuggerName(pod: unknown): string {
  const taken = new Set(listAt(pod, 'spec', 'ephemeralContainers').map((each) => textAt(each, 'name')));
  let number = taken.size + 1;
  while (taken.has(`${prefix}-${number}`)) number++;
  return `${prefix}-${number}`;
}

/** The patch that adds a debugging container, as `kubectl debug` does it. */
export function debugPatch(name: string, { image, target }: DebugContainer): string {
  const container = { name, image, stdin: true, tty: true, targetContainerName: target };
  return JSON.stringify({ spec: { ephemeralContainers: [container] } });
}

/** How a debugging container stands: `waiting` with a reason, `running`, or `ended`. */
export function debuggerState(pod: unknown, name: string): { readonly state: string; readonly why: string } {
  const status = listAt(pod, 'status', 'ephemeralContainerStatuses').find((each) => textAt(each, 'name') === name);
  if (dig(status, 'state', 'running') !== undefined) return { state: 'running', why: '' };
  const ended = dig(status, 'state', 'terminated');
  if (ended !== undefined) return { state: 'ended', why: textAt(ended, 'message') || textAt(ended, 'reason') };
  const waiting = dig(status, 'state', 'waiting');
  return { state: 'waiting', why: textAt(waiting, 'message') || textAt(waiting, 'reason') };
}

const pauseMs = 1000;

/**
 * Adds a debugging container to a pod and waits until it runs.
 *
 * @param path of the pod
 * @param says is called with what it waits for, each time that this changes
 * @returns its name
 * @throws ApiFault when the server refuses it, Error when it ends at once
 */
export async function startDebugger(
  api: Api,
  { path, pod, ...container }: DebugContainer & { readonly path: string; readonly pod: unknown },
  { signal, says, wait }: { signal: AbortSignal; says: (text: string) => void; wait: Wait },
): Promise<string> {
  const name = debuggerName(pod);
  await api.text(`${path}/ephemeralcontainers?fieldManager=plinth-console`, {
    ...{ method: 'PATCH', contentType: 'application/strategic-merge-patch+json', signal },
    body: debugPatch(name, container),
  });
  let said = '';
  for (;;) {
    const { state, why } = debuggerState(await api.json(path, { signal }), name);
    if (state === 'running') return name;
    if (state === 'ended') throw new Error(`the container has ended${why === '' ? '' : `: ${why}`}`);
    const text = why === '' ? `${name} starts` : `${name} waits: ${why}`;
    if (text !== said) says(text);
    said = text;
    await wait(pauseMs, signal);
    signal.throwIfAborted();
  }
}
