import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerBlocks } from './answer-blocks.js';
import { BlockText } from './block-text.js';
import { sendBlocks } from './respond.js';

type Callback = (error?: unknown) => void;
type Recipient = Parameters<typeof sendBlocks>[0];

/** Records the calls of a response in order. The tests invoke the callbacks of the writes. */
function recipient(extra: { readonly audit?: object; readonly stream?: object }) {
  const events: string[] = [];
  const callbacks: Callback[] = [];
  const raw = {
    stream: extra.stream,
    writeHead: () => events.push('head'),
    write: (piece: Buffer, callback: Callback) => {
      events.push(`write ${piece}`);
      callbacks.push(callback);
    },
    end: (piece?: Buffer) => events.push(piece === undefined ? 'end' : `end ${piece}`),
  };
  const reply = {
    raw,
    sent: false,
    request: { method: 'GET', headers: {} },
    header: () => undefined,
    getHeaders: () => ({}),
    hijack: () => undefined,
  };
  const context = { warnings: [], audit: extra.audit };
  return { to: { context, reply } as unknown as Recipient, events, callbacks };
}

function piece(text: string): Buffer {
  const block = new BlockText();
  block.append(text);
  const [made] = [...block.rest()];
  return made as Buffer;
}

/** Whether the next piece reuses the memory of this one. */
function isUsedAgain(sent: Buffer): boolean {
  const next = answerBlocks.take();
  return next.buffer === sent.buffer;
}

describe('sendBlocks', () => {
  it('uses the memory of a piece again once it was sent', () => {
    const { to, events, callbacks } = recipient({});
    const [first, second] = [piece('a'), piece('b')];
    sendBlocks(to, 200, 'application/json', [first, second]);
    assert.deepEqual(events, ['head', 'write a', 'write b', 'end']);
    assert.ok(!isUsedAgain(first));
    callbacks[0]?.();
    assert.ok(isUsedAgain(first));
    callbacks[1]?.(null);
    assert.ok(isUsedAgain(second));
  });

  for (const [name, stream, error] of [
    ['failed', undefined, new Error('reset')],
    ['was of a stream that is gone', { destroyed: true }, undefined],
    ['was of a stream that its client has reset', { destroyed: false, rstCode: 8 }, null],
  ] as const) {
    it(`leaves the memory of a piece alone whose write ${name}`, () => {
      const { to, callbacks } = recipient(stream === undefined ? {} : { stream });
      const sent = piece('a');
      sendBlocks(to, 200, 'application/json', [sent]);
      callbacks[0]?.(error);
      assert.ok(!isUsedAgain(sent));
    });
  }

  it('completes an audited answer with its end, which may wait for the event', () => {
    const { to, events } = recipient({ audit: {} });
    sendBlocks(to, 200, 'application/json', [piece('a'), piece('b')]);
    assert.deepEqual(events, ['head', 'write a', 'end b']);
  });
});
