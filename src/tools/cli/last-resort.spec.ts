import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, it } from 'node:test';
import { Logger } from '../../base/observability/logger.js';
import { LastResort } from './last-resort.js';

function setUp(stop: () => void = () => undefined, stopWithinMs = 60_000) {
  const events = new EventEmitter();
  const lines: string[] = [];
  const exits = new EventEmitter();
  const lastResort = new LastResort({ stop, exit: (code) => exits.emit('exit', code), events, stopWithinMs });
  lastResort.logTo(new Logger('info', 'json', (line) => lines.push(line)));
  return { events, lines, exits, lastResort };
}

describe('faults that nothing else catches', () => {
  it('are logged, and the first one stops the process', () => {
    let stops = 0;
    const { events, lines, lastResort } = setUp(() => stops++);
    assert.equal(lastResort.isFaulty, false);
    events.emit('uncaughtException', new Error('first'));
    events.emit('unhandledRejection', 'second');
    assert.equal(stops, 1);
    assert.equal(lastResort.isFaulty, true);
    const reported = lines.map((line) => JSON.parse(line) as { level: string; error: unknown });
    assert.match(lines[0] ?? '', /"message":"first"/);
    assert.equal(reported[1]?.error, 'second');
    assert.ok(reported.every(({ level }) => level === 'error'));
    lastResort.release();
    assert.equal(events.listenerCount('uncaughtException'), 0);
    assert.equal(events.listenerCount('unhandledRejection'), 0);
  });

  it('are logged whatever value was thrown', () => {
    const { events, lines, lastResort } = setUp();
    const cycle: Record<string, unknown> = { big: 1n };
    cycle.self = cycle;
    for (const thrown of [undefined, null, 1n, Symbol('x'), cycle, { big: 1n }, () => undefined]) {
      events.emit('uncaughtException', thrown);
    }
    assert.equal(lines.length, 7);
    lastResort.release();
  });

  it('end a process that does not stop in its time, or can not', async () => {
    const late = setUp(() => undefined, 1);
    const ended = once(late.exits, 'exit');
    late.events.emit('uncaughtException', new Error('x'));
    // The timer alone keeps no process alive.
    const alive = setInterval(() => undefined, 1000);
    assert.deepEqual(await ended, [1]);
    clearInterval(alive);
    const broken = setUp(() => {
      throw new Error('can not stop');
    });
    const exited = once(broken.exits, 'exit');
    broken.events.emit('uncaughtException', new Error('x'));
    assert.deepEqual(await exited, [1]);
    late.lastResort.release();
    broken.lastResort.release();
  });
});
