import type { Worker } from 'node:cluster';

/** The messages of Node's cluster module between parent and worker; they have no public form. */
interface ClusterMessage {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

const clusterCommand = 'NODE_CLUSTER';
/** Workers that take connections. */
const listening = new Set<Worker>();

/**
 * Rescues the connection that was handed to a worker when that worker ends. The parent keeps a connection open until
 * the worker reports that it took it. If the worker dies first, the cluster module waits for that answer for good, and
 * the client with it. Here the parent answers for the dead worker that the connection was not taken. So another worker
 * gets it, with nothing of it read yet. Where there is no other one, it is closed.
 *
 * It watches the channel instead of owning the listener, which leaves scheduling and everything else about a shared
 * port to Node. If the messages of Node change, nothing is recognised and nothing is rescued; a test would fail.
 */
export function rescueConnections(worker: Worker): void {
  const channel = worker.process;
  const unanswered = new Set<unknown>();
  const send = channel.send as (...args: unknown[]) => boolean;
  channel.send = (...args: unknown[]): boolean => {
    const { cmd, act, seq } = args[0] as ClusterMessage;
    if (cmd === clusterCommand && act === 'newconn') unanswered.add(seq);
    return send.apply(channel, args);
  };
  channel.on('internalMessage', ({ cmd, ack }: ClusterMessage) => {
    if (cmd === clusterCommand && ack !== undefined) unanswered.delete(ack);
  });
  const release = (): void => {
    // A worker whose channel is open still gets connections, and may have taken the earlier ones.
    if (worker.isConnected()) return;
    listening.delete(worker);
    // The queue of waiting connections ends with the last worker: nobody would take this connection out of it again.
    const accepted = listening.size === 0;
    for (const ack of unanswered) channel.emit('internalMessage', { cmd: clusterCommand, ack, accepted });
    unanswered.clear();
  };
  worker.once('listening', () => listening.add(worker));
  sendEndAtOnce(channel);
  worker.once('disconnect', release);
  worker.once('exit', release);
}

/**
 * Emits `disconnect` at the moment at which the channel ends. Node does so a little later, and never where the worker
 * died in the middle of a message. Until then a connection can be handed to that worker, is not sent, and is lost.
 */
function sendEndAtOnce(channel: Worker['process']): void {
  let isConnected = channel.connected;
  Object.defineProperty(channel, 'connected', {
    configurable: true,
    enumerable: true,
    get: () => isConnected,
    set: (value: boolean) => {
      const hasEnded = isConnected && !value;
      isConnected = value;
      if (hasEnded) channel.emit('disconnect');
    },
  });
}
