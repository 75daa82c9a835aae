import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../base/machinery/status-error.js';
import { noDuplicates } from './duplicates.js';
import { type LargeYamlOptions, LargeYamlParser } from './large-yaml-parser.js';

const options: LargeYamlOptions = { idleMs: 60_000, maxWaiting: 10, maxJsonLength: 1_000_000 };
const lines = (count: number) => `a:\n${'- x\n'.repeat(count)}`;

async function withParser(given: Partial<LargeYamlOptions>, use: (parser: LargeYamlParser) => Promise<void>) {
  const parser = new LargeYamlParser({ ...options, ...given });
  try {
    await use(parser);
  } finally {
    await parser.stop();
  }
}

const isSyntaxError = (message: RegExp) => (error: unknown) =>
  error instanceof SyntaxError && message.test(error.message);

describe('LargeYamlParser', () => {
  it('answers the same document as JSON, in order', () =>
    withParser({}, async (parser) => {
      const texts = ['a: 1.0', '- 123456789012345678901', 'a: "é\\u2028"', ''];
      const answers = await Promise.all(texts.map((text) => parser.toJson(text)));
      assert.deepEqual(answers, ['{"a":1}', '[123456789012345680000]', '{"a":"é\u2028"}', 'null']);
    }));

  it('reports duplicate keys', () =>
    withParser({}, async (parser) => {
      const duplicates = noDuplicates();
      const json = await parser.toJson('a: 1\nb:\n- c: 1\n  c: 2\na: 2\n', duplicates);
      assert.equal(json, '{"a":2,"b":[{"c":2}]}');
      assert.deepEqual(duplicates.lines, ['line 4: key "c" already set in map', 'line 5: key "a" already set in map']);
    }));

  it('leaves the event loop free', () =>
    withParser({}, async (parser) => {
      await parser.toJson('a: b');
      const before = performance.eventLoopUtilization();
      await parser.toJson(lines(60_000));
      assert.ok(performance.eventLoopUtilization(before).utilization < 0.5);
    }));

  it('reports the fault of a document, and continues', () =>
    withParser({}, async (parser) => {
      await assert.rejects(parser.toJson('a: b: c'), isSyntaxError(/^yaml: /));
      await assert.rejects(parser.toJson('a: .inf'), isSyntaxError(/not a number/));
      assert.equal(await parser.toJson('a: b'), '{"a":"b"}');
    }));

  it('refuses a document that is too much work, but not those after it', () =>
    withParser({}, async (parser) => {
      const tokens = parser.toJson(`[${'a,'.repeat(1_499_999)}a]`);
      const pairs = Array.from({ length: 10_000 }, (_, i) => `k${i}: &a${i} 1\nl${i}: *a${i}\n`).join('');
      const aliases = parser.toJson(pairs);
      const quick = parser.toJson('a: b');
      await assert.rejects(tokens, isSyntaxError(/too much work/));
      await assert.rejects(aliases, isSyntaxError(/too much work/));
      assert.equal(await quick, '{"a":"b"}');
    }));

  it('reads a manifest of a megabyte, with aliases and stars in its texts', () =>
    withParser({ maxJsonLength: 2_000_000 }, async (parser) => {
      const property = (i: number) => `  - name: property-${i}\n    description: "* item ${i}"\n    type: *type\n`;
      const text = `type: &type string\nlist:\n${Array.from({ length: 50 }, (_, i) => property(i)).join('')}`;
      const long = `${text}text: |\n${'  * an item of a list\n'.repeat(45_000)}`;
      const value = JSON.parse(await parser.toJson(long)) as { list: { type: string }[]; text: string };
      assert.equal(value.list[49]?.type, 'string');
      assert.equal(value.text.length, 45_000 * 20);
    }));

  it('refuses a document that aliases make too large', () =>
    withParser({ maxJsonLength: 1000 }, async (parser) => {
      const text = `a: &a ${'x'.repeat(100)}\nb: [${Array(50).fill('*a').join()}]`;
      await assert.rejects(parser.toJson(text), isSyntaxError(/too large/));
    }));

  it('asks clients to come back when too many wait', () =>
    withParser({ maxWaiting: 2 }, async (parser) => {
      const under = [parser.toJson(lines(20_000)), parser.toJson('a: 1'), parser.toJson('a: 2')];
      await assert.rejects(parser.toJson('a: 3'), (error) => error instanceof StatusError && error.code === 429);
      assert.equal((await Promise.all(under)).length, 3);
    }));

  it('ends its thread when idle, and starts another one', () =>
    withParser({ idleMs: 1 }, async (parser) => {
      assert.equal(await parser.toJson('a: 1'), '{"a":1}');
      const deadline = performance.now() + 60_000;
      while (parser.isRunning) {
        assert.ok(performance.now() < deadline, 'the thread is still there');
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(await parser.toJson('a: 2'), '{"a":2}');
    }));

  it('refuses running documents when it stops', async () => {
    const parser = new LargeYamlParser(options);
    const under = [parser.toJson(lines(500_000)), parser.toJson('a: b')];
    const settled = Promise.allSettled(under);
    await parser.stop();
    for (const outcome of await settled) assert.equal(outcome.status, 'rejected');
  });

  it('gives up a document that takes too long, and continues', () =>
    withParser({ maxCpuMs: 20 }, async (parser) => {
      await assert.rejects(parser.toJson('- '.repeat(1_000_000)), isSyntaxError(/too complex/));
      assert.equal(await parser.toJson('a: b'), '{"a":"b"}');
    }));
});
