import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { FilePoll } from './file-poll.js';
import { LiveFiles } from './live-files.js';

const intervalMs = 2_000;

/** Delays that last until the test ends them. */
class ManualWait {
  readonly asked: number[] = [];
  private end: (() => void) | undefined;
  private begun: (() => void) | undefined;

  readonly wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      this.asked.push(ms);
      this.end = resolve;
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.begun?.();
    });

  /** Ends the current wait, and resolves when the next wait begins, which is after the read. */
  async look(): Promise<void> {
    const next = new Promise<void>((resolve) => {
      this.begun = resolve;
    });
    this.end?.();
    await next;
  }
}

describe('polled files', () => {
  let directory: string;
  let manual: ManualWait;
  let stop: AbortController;
  const path = (name: string) => join(directory, name);
  const write = (name: string, text: string) => writeFileSync(path(name), text);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-poll-'));
    manual = new ManualWait();
    stop = new AbortController();
  });
  afterEach(() => {
    stop.abort();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Follows `a` and `b` with the given contents; events are added to the list. */
  function follow(a: string, b: string): { readonly seen: string[]; readonly poll: FilePoll } {
    write('a', a);
    write('b', b);
    const seen: string[] = [];
    const poll = new FilePoll(
      [path('a'), path('b')],
      (contents) => {
        const text = contents.join('|');
        if (text.includes('bad')) throw new Error('bad text');
        seen.push(text);
      },
      (error) => seen.push(`fault: ${(error as Error).message.slice(0, 8)}`),
      intervalMs,
      manual.wait,
    );
    poll.start([Buffer.from(a), Buffer.from(b)], stop.signal);
    return { seen, poll };
  }

  it('are reported once for every new state, and not at the start', async () => {
    const { seen, poll } = follow('1', '2');
    await manual.look();
    assert.deepEqual(seen, []);
    write('b', '3');
    await manual.look();
    await manual.look();
    assert.deepEqual(seen, ['1|3']);
    // The same bytes, divided differently between the files, count as a change.
    write('a', '13');
    write('b', '');
    await manual.look();
    assert.deepEqual(seen, ['1|3', '13|']);
    assert.deepEqual(new Set(manual.asked), new Set([intervalMs]));
    stop.abort();
    await poll.stopped();
  });

  it('may be replaced by redirecting links', async () => {
    const { seen } = follow('1', '2');
    write('target', '9');
    symlinkSync(path('target'), path('link'));
    unlinkSync(path('a'));
    renameSync(path('link'), path('a'));
    await manual.look();
    assert.deepEqual(seen, ['9|2']);
  });

  it('are reported once when unusable, and read again when they change', async () => {
    const { seen } = follow('1', '2');
    write('a', 'bad');
    await manual.look();
    await manual.look();
    assert.deepEqual(seen, ['fault: bad text']);
    write('a', 'bad too');
    await manual.look();
    write('a', 'good');
    await manual.look();
    assert.deepEqual(seen, ['fault: bad text', 'fault: bad text', 'good|2']);
  });

  it('are reported once when unreadable, until they can be read again', async () => {
    const { seen } = follow('1', '2');
    unlinkSync(path('b'));
    await manual.look();
    await manual.look();
    assert.deepEqual(seen, ['fault: ENOENT: ']);
    write('b', '3');
    await manual.look();
    assert.deepEqual(seen, ['fault: ENOENT: ', '1|3']);
  });

  it('are not read after the abort', async () => {
    const { seen, poll } = follow('1', '2');
    stop.abort();
    await poll.stopped();
    assert.deepEqual(seen, []);
    assert.equal(manual.asked.length, 1);
  });

  it('make a value from the last usable state', async () => {
    write('a', '1');
    const log: string[] = [];
    const reported: number[] = [];
    const logger = { info: (text: string) => log.push(text), error: (text: string) => log.push(text) };
    const load = () => {
      const value = Number(readFileSync(path('a'), 'utf8'));
      if (Number.isNaN(value)) throw new Error('no number');
      return value;
    };
    const live = new LiveFiles({ paths: [path('a')], load, logger, subject: 'numbers', wait: manual.wait });
    const end = live.onChange((value) => reported.push(value));
    live.start(stop.signal);
    assert.equal(live.current, 1);
    write('a', 'x');
    await manual.look();
    await manual.look();
    assert.equal(live.current, 1);
    write('a', '2');
    await manual.look();
    assert.equal(live.current, 2);
    end();
    write('a', '3');
    await manual.look();
    assert.equal(live.current, 3);
    assert.deepEqual(reported, [2]);
    assert.deepEqual(log, [
      'the changed numbers cannot be used',
      'now using the changed numbers',
      'now using the changed numbers',
    ]);
    write('a', 'x');
    assert.throws(() => new LiveFiles({ paths: [path('a')], load, logger, subject: 'numbers' }), /no number/);
  });
});
