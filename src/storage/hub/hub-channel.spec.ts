import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { frameOf, HubChannel } from './hub-channel.js';

type Message = readonly [string, bigint | undefined];

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-channel-'));
});
after(() => rm(folder, { recursive: true }));

/** The two ends of a channel, and what has arrived at one of them. */
class Pair {
  private static count = 0;
  readonly received: Message[] = [];
  private wanted = Number.POSITIVE_INFINITY;
  private arrived: (() => void) | undefined;
  readonly near: HubChannel<Message, Message>;
  readonly far: HubChannel<Message, Message>;

  private constructor(
    near: Socket,
    readonly stream: Socket,
  ) {
    this.near = new HubChannel<Message, Message>(
      near,
      () => undefined,
      () => undefined,
    );
    this.far = new HubChannel<Message, Message>(
      stream,
      (message) => {
        this.received.push(message);
        if (this.received.length >= this.wanted) this.arrived?.();
      },
      () => undefined,
    );
  }

  static async connected(): Promise<Pair> {
    const listener = createServer();
    listener.listen(join(folder, `${Pair.count++}`));
    await once(listener, 'listening');
    const accepted = once(listener, 'connection');
    const near = connect(listener.address() as string);
    const [[far]] = (await Promise.all([accepted, once(near, 'connect')])) as unknown as [[Socket]];
    listener.close();
    return new Pair(near, far);
  }

  async until(count: number): Promise<void> {
    this.wanted = count;
    if (this.received.length >= count) return;
    await new Promise<void>((resolve) => {
      this.arrived = resolve;
    });
  }

  close(): void {
    this.near.close();
    this.far.close();
  }
}

describe('a channel between two processes of a machine', () => {
  it('brings messages of any length in order, alone and together', async () => {
    const pair = await Pair.connected();
    const texts = [0, 1, 100, 4_000, 70_000, 3, 400_000, 5].map(
      (length, i) => `${i}${(i % 3 === 0 ? '✓1' : 'ü1').repeat(length)}`,
    );
    const messages = texts.map((text, i): Message => [text, i % 2 === 0 ? BigInt(i) ** 20n : undefined]);
    for (const message of messages) pair.near.send(message);
    await pair.until(messages.length);
    for (const message of messages) {
      pair.near.send(message);
      await pair.until(pair.received.length + 1);
    }
    assert.deepEqual(pair.received, [...messages, ...messages]);
    pair.close();
  });

  it('sends one frame over several channels', async () => {
    const pairs = [await Pair.connected(), await Pair.connected(), await Pair.connected()];
    const message: Message = ['x'.repeat(300_000), 7n];
    for (let turn = 1; turn <= 3; turn++) {
      const frame = frameOf([message]);
      for (const { near } of pairs) near.sendFrame(frame);
      await Promise.all(pairs.map((pair) => pair.until(turn)));
    }
    for (const { received } of pairs) assert.deepEqual(received, [message, message, message]);
    for (const pair of pairs) pair.close();
  });

  it('divides messages at any byte', async () => {
    const pair = await Pair.connected();
    const frame = frameOf([
      ['a', 1n],
      ['b'.repeat(50), 2n],
    ] satisfies Message[]);
    const twice = Buffer.concat([frame, frame]);
    for (let at = 1; at < twice.length; at++) {
      pair.stream.emit('data', Buffer.from(twice.subarray(0, at)));
      pair.stream.emit('data', Buffer.from(twice.subarray(at)));
    }
    assert.equal(pair.received.length, 4 * (twice.length - 1));
    assert.ok(pair.received.every(([text], i) => text === (i % 2 === 0 ? 'a' : 'b'.repeat(50))));
    pair.close();
  });
});
