import { AsyncLocalStorage } from 'node:async_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { timeoutError } from '../../base/machinery/status-error.js';
import { yieldToMainThread } from '../../base/machinery/yield-to-main-thread.js';
import { traced } from '../../base/observability/trace-scope.js';
import type { StoredObject, UpdateDecision } from '../../storage/storage.interface.js';
import type { LargeEvent } from '../endpoints/handlers/watch-event.js';
import type {
  FromThread,
  LargeRequestMessage,
  LargeRequestTarget,
  LargeRequestThreadSettings,
  ToThread,
} from './large-request-messages.js';
import { buildLargeRequestServer } from './large-request-server.js';
import { packError, unpackError } from './packed-error.js';
import { RemoteStorage } from './remote-storage.js';

/*
 * Entry point of the other thread: it runs the same code on the storage of its process, for requests that would delay
 * all others.
 */

const port = parentPort;
if (port === null) throw new Error('this is the entry of a thread');

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Decide = (current: StoredObject | undefined) => Promise<UpdateDecision | undefined>;

const calls = new Map<number, Pending>();
const decisions = new Map<number, Decide>();
/** By request number: a controller that is aborted when no client is waiting for the response any longer. */
const requests = new Map<number, AbortController>();
/** The abort signal of the current request. */
const leaving = new AsyncLocalStorage<AbortSignal>();
let lastId = 0;

function send(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}

async function call(target: LargeRequestTarget, method: string, args: readonly unknown[]): Promise<unknown> {
  // Calls of webhooks must be counted even if the client has left.
  if (target !== 'hookCalls') leaving.getStore()?.throwIfAborted();
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    calls.set(id, { resolve, reject });
    send({ type: 'call', id, target, method, args });
  });
}

function settle(id: number, settleWith: (pending: Pending) => void): void {
  const pending = calls.get(id);
  calls.delete(id);
  if (pending !== undefined) settleWith(pending);
}

const storage = new RemoteStorage(
  (method, ...args) =>
    traced(`storage ${method === 'guaranteedUpdate' ? 'update' : method}`, {}, () => call('storage', method, args)),
  (decide) => {
    const id = ++lastId;
    decisions.set(id, decide);
    return { id, release: () => decisions.delete(id) };
  },
  () => leaving.getStore(),
  (method, ...args) => call('changes', method, args),
);

// The start itself already calls the process, so it begins while messages can be received.
const starting = buildLargeRequestServer(workerData as LargeRequestThreadSettings, storage, call);

async function serve(id: number, request: LargeRequestMessage): Promise<void> {
  const left = new AbortController();
  requests.set(id, left);
  try {
    const server = await starting;
    const onRemote = (isRemote: boolean) => send({ type: 'remote', id, isRemote });
    const answer = await leaving.run(left.signal, () => server.answer(request, left.signal, onRemote));
    // Sent before the response, so that the request is counted once its response has arrived.
    send({ type: 'counted', counts: await server.counts() });
    send({ type: 'answer', id, answer }, [answer.body.buffer]);
  } catch (error) {
    fail(id, error);
  } finally {
    requests.delete(id);
  }
}

async function encode(id: number, event: LargeEvent): Promise<void> {
  try {
    const bytes = await (await starting).encode(event);
    send({ type: 'encoded', id, bytes }, [bytes.buffer]);
  } catch (error) {
    fail(id, error);
  }
}

function fail(id: number, error: unknown): void {
  const packed = packError(error);
  send({ type: 'failed', id, message: 'message' in packed ? packed.message : packed.kind });
}

port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'request':
      void serve(message.id, message.request);
      return;
    case 'event':
      void encode(message.id, message.event);
      return;
    case 'left':
      requests.get(message.id)?.abort(timeoutError('the client has left'));
      return;
    case 'returned':
      settle(message.id, ({ resolve }) => resolve(message.value));
      return;
    case 'threw':
      settle(message.id, ({ reject }) => reject(unpackError(message.error)));
      return;
    case 'decide':
      void decisions
        .get(message.id)?.(message.current)
        .then((decision) => {
          send({ type: 'decided', id: message.id, decision });
        });
      return;
  }
});
// If the start fails, the thread ends.
await starting;
// Called only now: requests wait for the start, which is short and gets normal priority.
yieldToMainThread();
send({ type: 'ready' });
