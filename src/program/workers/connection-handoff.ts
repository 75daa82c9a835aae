import type { Worker } from 'node:cluster';

/** What Node's cluster module says between parent and worker; it has no public form. */
interface ClusterMessage {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

const clusterCommand = 'NODE_CLUSTER';

/**
 * Takes care of the connection that was handed to a worker when that worker ends. The parent keeps a connection open
 * until the worker says that it took it; the cluster module waits for that answer for good when the worker dies first,
 * and the client with it. Here the parent answers in the place of the dead worker that it was not taken, so that another
 * worker gets it: nothing of it has been read.
 *
 * Watches the channel rather than owning the listener, because that leaves scheduling, and all else about a shared port,
 * to Node. Should the messages of Node change, nothing is recognised and things are as without this; a test would fail.
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
    // While the channel stands, the worker is still among those that connections are handed to.
    if (worker.isConnected()) return;
    for (const ack of unanswered) channel.emit('internalMessage', { cmd: clusterCommand, ack, accepted: false });
    unanswered.clear();
  };
  // Either may come first, and with a connection under way the first one does not come at all.
  worker.once('disconnect', release);
  worker.once('exit', release);
}
