import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import type { ExtensionBackend } from './extension-backend.js';
import { RemoteDocument } from './remote-document.js';

interface Sent {
  readonly code?: number;
  readonly text?: string;
  readonly etag?: string;
}

/** A document whose server gives these responses, one per request. */
function documentOf(answers: Sent[]) {
  const state = { now: 0, reads: 0, faults: 0, tags: [] as unknown[] };
  const backend = {
    headersAs: () => Promise.resolve({}),
    call: ({ headers }: { headers: Record<string, unknown> }) => {
      state.tags.push(headers['if-none-match']);
      const { code = 200, text = '', etag } = answers.shift() ?? assert.fail('asked too often');
      const response = Object.assign(Readable.from([Buffer.from(text)]), { statusCode: code, headers: { etag } });
      return Promise.resolve({ kind: 'response', response });
    },
  };
  const document = new RemoteDocument<{ readonly value: unknown }>(backend as unknown as ExtensionBackend, {
    path: '/x',
    maxBytes: 100,
    read: (value) => {
      state.reads++;
      if (value === 'bad') throw new Error('no such document');
      return { value };
    },
    onFault: () => state.faults++,
    elapsed: () => state.now,
  });
  /** The result for readers a minute later, when they wait for a new copy. */
  const next = () => {
    state.now += 60_000;
    return document.get();
  };
  return { document, next, state };
}

it('stays the same value as long as its text does', async () => {
  const { next, state } = documentOf([{ text: '[1]' }, { text: '[1]' }, { text: '[2]' }]);
  const first = await next();
  assert.deepEqual(first, { value: { value: [1] }, isCurrent: true });
  assert.equal((await next()).value, first.value);
  assert.equal(state.reads, 1);
  assert.deepEqual((await next()).value, { value: [2] });
});

it('is not current while its last copy can not be used, whatever tag that has', async () => {
  const { next, state } = documentOf([
    { text: '[1]', etag: '"a"' },
    { text: '"bad"', etag: '"b"' },
    { code: 304 },
    { text: '[1', etag: '"c"' },
    { text: `[${'1,'.repeat(100)}1]` },
    { code: 500 },
    { text: '[1]', etag: '"d"' },
  ]);
  const { value } = await next();
  assert.deepEqual(await next(), { value, isCurrent: false });
  // The server responds with the ETag of the copy in use.
  assert.deepEqual(await next(), { value, isCurrent: true });
  for (let i = 0; i < 3; i++) assert.deepEqual(await next(), { value, isCurrent: false });
  assert.deepEqual(await next(), { value, isCurrent: true });
  assert.deepEqual(state.tags, [undefined, '"a"', '"a"', '"a"', '"a"', '"a"', '"a"']);
  assert.equal(state.faults, 2);
});
