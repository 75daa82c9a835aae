import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { readConversionAnswer } from './read-conversion-answer.js';

const asked = { uid: 'u1', version: 'v1', group: 'apiextensions.k8s.io', count: 2 } as const;

function answer(response: string, rest = ''): string {
  return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview",${rest}"response":${response}}`;
}

const success = '"uid":"u1","result":{"status":"Success"}';

/** The longest time that this thread computed in one round of the event loop while the work went on, in milliseconds. */
async function longestRound(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  const done = work().finally(() => {
    isOver = true;
  });
  let longest = 0;
  for (let before = process.threadCpuUsage(); !isOver; before = process.threadCpuUsage()) {
    await nextRound();
    longest = Math.max(longest, process.threadCpuUsage(before).user / 1000);
  }
  await done;
  return longest;
}

describe('the answer of a conversion webhook', () => {
  it('gives the texts of its objects, whatever is around them', async () => {
    const objects = '[ {"a": "]}," , "b":[{}]}\n,\t{"c":-1.50e3} ]';
    for (const text of [
      answer(`{${success},"convertedObjects":${objects}}`),
      ` \n${answer(`{ "convertedObjects" : ${objects} , ${success} }`, '"other":[1,"x",{"response":{}}],')}\r\n`,
      answer(`{"convertedObjects":[1],${success},"convertedObjects":${objects}}`, '"response":7,'),
    ]) {
      const found = await readConversionAnswer(text, asked);
      assert.deepEqual(found, ['{"a": "]}," , "b":[{}]}', '{"c":-1.50e3}']);
    }
  });

  const faults: readonly [string, string, RegExp][] = [
    ['no JSON', 'nothing', /the answer is not JSON$/],
    ['text that ends early', answer(`{${success},"convertedObjects":[1,`), /the answer is not JSON$/],
    ['text without commas', answer(`{${success},"convertedObjects":[1 2]}`), /the answer is not JSON$/],
    ['text after it', `${answer(`{${success},"convertedObjects":[1,2]}`)}x`, /the answer is not JSON$/],
    ['a list', '[1]', /the answer is not a JSON object/],
    ['a lone null', 'null', /the answer is not a JSON object/],
    ['no response', answer('null'), /no response provided/],
    ['another id', answer('{"uid":"u2"}'), /expected response.uid="u1", got "u2"/],
    ['an id that is no text', answer('{"uid":{"a":1}}'), /got "a value of type object"/],
    ['a failure', answer('{"uid":"u1","result":{"status":"Failure","message":"no \\"way\\""}}'), /^no "way"$/],
    ['no result', answer('{"uid":"u1","convertedObjects":[]}'), /invalid response.result.status ""/],
    ['too few objects', answer(`{${success},"convertedObjects":[{}]}`), /returned 1 objects, expected 2/],
    ['too many objects', answer(`{${success},"convertedObjects":[{},{},{}]}`), /returned 3 objects, expected 2/],
    ['objects that are no list', answer(`{${success},"convertedObjects":{}}`), /returned 0 objects, expected 2/],
  ];
  for (const [what, text, message] of faults) {
    it(`fails with ${what}`, () => assert.rejects(readConversionAnswer(text, asked), { message }));
  }

  it('of two million characters leaves turns to other work, wherever they are', async () => {
    const many = '{},'.repeat(600_000);
    const objects = '"convertedObjects":[{},{}]';
    for (const text of [
      answer(`{${success},${objects},"convertedObjects":[${many}{}]}`),
      answer(`{${success},"convertedObjects":[{},[${many}{}]]}`),
      answer(`{${success},${objects}}`, `"junk":[${many}{}],`),
      answer(`{"uid":"u1","result":[${many}{}],${objects}}`),
      answer(`{${success},${objects}${',"k":1'.repeat(400_000)}}`),
      answer('['.repeat(2_000_000)),
    ]) {
      // One may have a pause of the collector, or compile.
      let least = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < 5 && least >= 50; attempt++) {
        least = Math.min(least, await longestRound(() => readConversionAnswer(text, asked).catch(() => undefined)));
      }
      assert.ok(least < 50, `one round took ${least} ms`);
    }
  });
});
