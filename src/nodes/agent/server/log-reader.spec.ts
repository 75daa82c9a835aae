import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readLog } from './log-reader.js';

describe('readLog', () => {
  const query = {
    follow: false,
    timestamps: false,
    tailLines: undefined,
    limitBytes: undefined,
    since: undefined,
    stream: 'All' as const,
  };
  const lines = [
    '2026-01-01T00:00:01Z stdout F one',
    '2026-01-01T00:00:02Z stderr P tw',
    '2026-01-01T00:00:02Z stderr F o',
    '2026-01-01T00:00:03Z stdout F three',
  ];

  it('shows whole lines, the last ones, those of a stream or since a time, up to a limit', async () => {
    const path = join(await fs.mkdtemp(join(tmpdir(), 'log-')), '0.log');
    await fs.writeFile(path, `${lines.join('\n')}\n`);
    const read = async (more: object) => {
      const { signal } = new AbortController();
      const pieces: Buffer[] = [];
      for await (const piece of readLog(
        { open: () => fs.open(path), isLive: async () => false, wait: async () => undefined, signal },
        { ...query, ...more },
      ))
        pieces.push(piece);
      return Buffer.concat(pieces).toString();
    };
    assert.equal(await read({}), 'one\ntwo\nthree\n');
    assert.equal(await read({ follow: true }), 'one\ntwo\nthree\n');
    assert.equal(await read({ tailLines: 1 }), 'three\n');
    assert.equal(await read({ tailLines: 0 }), '');
    assert.equal(await read({ limitBytes: 5 }), 'one\nt');
    assert.equal(await read({ stream: 'Stderr' }), 'two\n');
    assert.equal(await read({ since: Date.parse('2026-01-01T00:00:03Z') }), 'three\n');
    assert.equal(await read({ tailLines: 1, timestamps: true }), '2026-01-01T00:00:03Z three\n');
  });

  it('ends where the log ended at the beginning, while more is written', async (t) => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'log-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    const path = join(folder, '0.log');
    /** A log that grows at every read. */
    const open = async () => {
      const handle = await fs.open(path);
      const read = handle.read.bind(handle) as (...args: unknown[]) => Promise<unknown>;
      const growing = async (...args: unknown[]) => {
        await fs.appendFile(path, `${lines[0]}\n`);
        return read(...args);
      };
      return Object.assign(handle, { read: growing });
    };
    for (const [tailLines, expected] of [
      [1, 'three\n'],
      [0, ''],
      [undefined, 'one\ntwo\nthree\n'],
    ] as const) {
      await fs.writeFile(path, `${lines.join('\n')}\n`);
      const { signal } = new AbortController();
      let shown = '';
      const source = { open, isLive: async () => true, wait: async () => undefined, signal };
      for await (const piece of readLog(source, { ...query, tailLines })) {
        shown += piece.toString();
        assert.ok(shown.length < 100, 'it never ends');
      }
      assert.equal(shown, expected);
    }
  });

  it('leaves out what is too long for an entry, and shows what comes after it', async (t) => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'log-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    const path = join(folder, '0.log');
    const long = `2026-01-01T00:00:01Z stdout F ${'x '.repeat(2 * 1024 * 1024)}`;
    await fs.writeFile(path, `${[lines[0], long, lines[3]].join('\n')}\n`);
    const { signal } = new AbortController();
    const shown: Buffer[] = [];
    const source = { open: () => fs.open(path), isLive: async () => false, wait: async () => undefined, signal };
    for await (const piece of readLog(source, query)) shown.push(piece);
    assert.equal(Buffer.concat(shown).toString(), 'one\nthree\n');
  });
});
