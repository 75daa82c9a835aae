import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerBlocks, blockBytes } from '../negotiation/answer-blocks.js';
import { PendingEvents } from './pending-events.js';

const plain = (pending: PendingEvents) => Buffer.concat(pending.take().map((piece) => piece.plain()));

describe('PendingEvents', () => {
  it('keeps events in order, however they are added and however long they are', () => {
    const pending = new PendingEvents(new AnswerBlocks());
    const long = 'l'.repeat(blockBytes * 2);
    const wide = 'ü€'.repeat(blockBytes / 4);
    const expected: string[] = [];
    for (let i = 0; i < 200; i++) {
      const [bytes, text, placed] = [`bytes ${i} `.repeat(100), `text ${i} ü `.repeat(100), `placed ${i} `];
      pending.push(Buffer.from(bytes));
      assert.equal(pending.pushText(text), Buffer.byteLength(text));
      // The room that is not pushed leaves no trace.
      pending.allocate(500).fill('x');
      const room = pending.allocate(Buffer.byteLength(placed));
      room.write(placed);
      pending.push(room);
      expected.push(bytes, text, placed);
      if (i % 50 !== 7) continue;
      pending.pushText(long);
      pending.push(Buffer.from(long));
      pending.pushText(wide);
      expected.push(long, long, wide);
    }
    const all = expected.join('');
    assert.equal(pending.length, Buffer.byteLength(all));
    assert.ok(plain(pending).equals(Buffer.from(all)));
    assert.equal(pending.length, 0);
    assert.deepEqual(pending.take(), []);
  });

  it('frames pieces as chunks', () => {
    for (const length of [1, 15, 16, 5_000, blockBytes - 12, blockBytes - 11, blockBytes, 3_000_000]) {
      const pending = new PendingEvents(new AnswerBlocks());
      pending.push(Buffer.alloc(length, 'e'));
      const [piece, ...others] = pending.take();
      assert.equal(others.length, 0);
      assert.equal(piece?.length, length);
      assert.equal(piece?.chunk().toString(), `${length.toString(16)}\r\n${'e'.repeat(length)}\r\n`);
    }
  });

  it('fills the block that was given back', () => {
    const blocks = new AnswerBlocks();
    const pending = new PendingEvents(blocks);
    pending.pushText('first');
    const [first] = pending.take();
    const chunk = first?.chunk() as Buffer;
    blocks.giveBack(chunk);
    pending.pushText('second');
    const second = pending.take()[0]?.plain() as Buffer;
    assert.equal(second.buffer, chunk.buffer);
    assert.equal(second.toString(), 'second');
  });
});
