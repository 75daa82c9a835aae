import assert from 'node:assert/strict';
import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { it } from 'node:test';
import { rescueConnections } from './connection-handoff.js';

/** A worker with its channel, as far as the cluster module shows them. */
function fakeWorker() {
  const channel = Object.assign(new EventEmitter(), { connected: true, send: (..._message: unknown[]) => true });
  const worker = Object.assign(new EventEmitter(), { process: channel, isConnected: () => channel.connected });
  channel.once('disconnect', () => worker.emit('disconnect'));
  rescueConnections(worker as unknown as Worker);
  worker.emit('listening');
  return { channel, worker };
}

const given = (seq: number) => ({ cmd: 'NODE_CLUSTER', act: 'newconn', seq });

it('a connection that nobody answered for is given back once the channel has ended', () => {
  const [{ channel, worker }, other] = [fakeWorker(), fakeWorker()];
  channel.send(given(1));
  channel.send(given(2));
  channel.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: 1, accepted: true });
  const messages: unknown[] = [];
  const note = (message: unknown) => messages.push(message);
  channel.on('internalMessage', note);
  worker.emit('exit', null, 'SIGKILL');
  assert.deepEqual(messages, [], 'the answer may be on its way');
  channel.connected = false;
  assert.deepEqual(messages, [{ cmd: 'NODE_CLUSTER', ack: 2, accepted: false }]);
  channel.emit('disconnect');
  assert.equal(messages.length, 1);

  // No worker is left to take the connection, so it is closed, as happens with a connection that was taken.
  other.channel.send(given(3));
  other.channel.on('internalMessage', note);
  other.channel.connected = false;
  assert.deepEqual(messages.at(-1), { cmd: 'NODE_CLUSTER', ack: 3, accepted: true });
});

it('the end of a channel is told before a connection could be handed to it', () => {
  const { channel } = fakeWorker();
  let ends = 0;
  channel.on('disconnect', () => ends++);
  channel.connected = true;
  assert.equal(ends, 0);
  channel.connected = false;
  assert.equal(ends, 1);
  assert.equal(channel.connected, false);
  channel.connected = false;
  assert.equal(ends, 1);
});
