import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { vendorNames } from '../../base/machinery/vendor.js';
import { parseRequestInfo } from '../endpoints/request-info/request-info.js';
import { Contention } from './contention.js';
import { defaultLevels, defaultSchemas } from './default-objects.js';
import { FlowControl } from './flow-control.js';
import { flowTable, formatTable } from './flow-dumps.js';
import { FlowHasher } from './flow-hasher.js';
import { registerFlowMetrics } from './flow-metrics.js';
import type { FlowSeat } from './flow-seat.js';
import type { LevelSettings } from './priority-level.js';
import type { SchemaSettings } from './schema-in-effect.js';
import { SimulatedTime } from './testing/flow-simulation.js';

const names = vendorNames('k8s.io', 'kubernetes');
const unknown = () => ({ objects: undefined, isInMemory: false, watchers: 0 });
const noQuery = new URLSearchParams();
const path = '/api/v1/namespaces/a/pods/x';

function controlOf(seats = { readOnly: 400, mutating: 200 }, timeLimitMs = 60_000) {
  const time = new SimulatedTime();
  const inFlight = { readOnly: 0, mutating: 0, rejected: 0 };
  const metrics = {
    requestRejected: () => {
      inFlight.rejected++;
    },
    setInFlight: (kind: string, count: number) => {
      inFlight[kind as 'readOnly' | 'mutating'] = count;
    },
  };
  // The simulated event loop has no work, unless a test gives it some.
  const loop = { activeMs: 0 };
  const contention = new Contention(time, { activeMs: () => loop.activeMs });
  const control = new FlowControl(seats, time, unknown, metrics, new FlowHasher(), contention);
  const settings = <Spec>(all: readonly { name: string; spec: Spec }[]) =>
    all.map((one) => ({ ...one, uid: one.name }));
  const levels: LevelSettings[] = settings(defaultLevels());
  const schemas: SchemaSettings[] = settings(defaultSchemas(names));
  control.apply(levels, schemas);
  control.start();
  const enter = (name: string, ...groups: string[]): FlowSeat => {
    const user = { name, uid: '', groups: [...groups, 'system:authenticated'], extra: {} };
    const info = parseRequestInfo('GET', path, noQuery);
    const request = { user, info, query: noQuery, receivedAt: 0, kind: 'readOnly', bodyBytes: 0, timeLimitMs } as const;
    return control.enter(control.schemaOf(user, info), request);
  };
  const level = (name: string) => {
    const found = [...control.levels()].find((one) => one.name === name);
    assert.ok(found !== undefined, name);
    return found;
  };
  return { time, control, levels, schemas, enter, level, inFlight, loop };
}

describe('flow control', () => {
  it('lets a busy level borrow what others do not need, and gives it back', async () => {
    const { time, enter, level } = controlOf();
    const busy = level('global-default');
    assert.equal(busy.currentSeats, 49);
    const seats = Array.from({ length: 200 }, (_, i) => enter(`user-${i}`));
    assert.deepEqual([busy.requests.running, busy.requests.waiting], [49, 151]);
    time.advance(10_000);
    assert.ok(busy.currentSeats > 200, String(busy.currentSeats));
    assert.equal(busy.requests.running, 200);
    // The other levels keep the seats that they do not lend.
    assert.ok(level('leader-election').currentSeats >= 25);
    assert.ok(level('node-high').currentSeats >= 73);
    await Promise.all(seats.map(({ granted }) => granted));
    for (const seat of seats) seat.leave();
    const others = Array.from({ length: 300 }, (_, i) => enter(`system:node:${i}`, 'system:nodes'));
    time.advance(10_000);
    assert.ok(level('system').currentSeats > 74, String(level('system').currentSeats));
    for (const seat of others) {
      seat.granted?.catch(() => undefined);
      seat.leave();
    }
    assert.ok(busy.requests.isIdle && level('system').requests.isIdle);
  });

  it('spaces the requests of a demanding user while the event loop is busy, and no others', () => {
    const { time, enter, level, loop, control } = controlOf();
    const { requests } = level('global-default');
    const work = (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10) {
        loop.activeMs += 10;
        time.advance(10);
      }
    };
    enter('bob').leave();
    for (let i = 0; i < 20; i++) {
      const seats = [enter('alice'), enter('bob')];
      work(50);
      for (const seat of seats) {
        // One that waits longer than its client.
        seat.granted?.catch(() => undefined);
        seat.leave();
      }
    }
    assert.ok(control.spacing > 4, String(control.spacing));
    const waiting = Array.from({ length: 10 }, () => enter('alice'));
    assert.ok(requests.waiting >= 5, String(requests.waiting));
    assert.equal(enter('carol').granted, undefined, 'carol has one request');
    const node = Array.from({ length: 10 }, () => enter('system:node:a', 'system:nodes'));
    assert.ok(node.every(({ granted }) => granted === undefined));
    work(1_000);
    assert.ok(requests.waiting < 5, String(requests.waiting));
    time.advance(10_000);
    assert.equal(requests.waiting, 0, 'there is room for all again');
    for (const seat of waiting) seat.leave();
  });

  it('never holds administrators back, and counts them', () => {
    const { enter, level, inFlight } = controlOf({ readOnly: 1, mutating: 0 });
    const seats = Array.from({ length: 50 }, () => enter('root', 'system:masters'));
    assert.ok(seats.every(({ granted }) => granted === undefined));
    assert.deepEqual([level('exempt').requests.running, inFlight.readOnly], [50, 50]);
    for (const seat of seats) seat.leave();
    assert.equal(inFlight.readOnly, 0);
  });

  it('refuses what waits too long with a time to come again that grows with the refusals', async () => {
    const { time, enter, inFlight } = controlOf({ readOnly: 1, mutating: 0 }, 8000);
    const first = enter('alice');
    const late = enter('alice');
    const refusal = assert.rejects(late.granted as Promise<void>, { code: 429, details: { retryAfterSeconds: 1 } });
    time.advance(1999);
    assert.equal(inFlight.rejected, 0);
    time.advance(1);
    await refusal;
    assert.equal(inFlight.rejected, 1);
    const fill = () => {
      for (;;) {
        const seat = enter('alice');
        seat.granted?.catch(() => undefined);
      }
    };
    assert.throws(fill, { code: 429, details: { retryAfterSeconds: 1 } });
    for (let i = 0; i < 20; i++) assert.throws(() => enter('alice'), { code: 429 });
    time.advance(1000);
    assert.throws(() => enter('alice'), { code: 429, details: { retryAfterSeconds: 2 } });
    first.leave();
  });

  it('ends a level whose object is gone after its last request, and takes it up again if it comes back', () => {
    const { time, control, levels, schemas, enter, level } = controlOf();
    const system = level('system');
    const seat = enter('system:node:a', 'system:nodes');
    const others = levels.filter(({ name }) => name !== 'system');
    control.apply(others, schemas);
    assert.equal(level('system').isQuiescing, true);
    assert.equal(system.limits.nominal, 74);
    const elsewhere = enter('system:node:a', 'system:nodes');
    assert.equal(level('global-default').requests.running, 1);
    control.apply(levels, schemas);
    assert.equal(level('system'), system);
    assert.equal(system.isQuiescing, false);
    control.apply(others, schemas);
    seat.leave();
    time.advance(1000);
    assert.ok(![...control.levels()].includes(system));
    elsewhere.leave();
  });

  it('keeps the mandatory objects in effect', () => {
    const { control, schemas, enter, level } = controlOf();
    control.apply([], schemas);
    const names = schemas.filter(({ name }) => name === 'exempt' || name === 'catch-all' || name === 'probes');
    const seat = enter('alice');
    assert.equal(level('catch-all').requests.running, 1);
    seat.leave();
    control.apply([], names);
    enter('root', 'system:masters').leave();
    assert.equal(level('exempt').counts.dispatched, 1);
  });

  it('shows itself in dumps and metrics', async () => {
    const { control, enter } = controlOf({ readOnly: 1, mutating: 0 });
    const registry = new Registry();
    registerFlowMetrics(registry, control);
    const first = enter('alice');
    const second = enter('a\n"odd", name');
    second.granted?.catch(() => undefined);
    const lines = formatTable(flowTable('levels', control.levels())).split('\n');
    assert.equal(
      lines.find((line) => line.startsWith('global-default')),
      [
        'global-default,    2,            false,  false,       1,               1,                 1,                  0,',
        '                0,                0',
      ].join(''),
    );
    const requests = formatTable(flowTable('details', control.levels())).trimEnd().split('\n');
    assert.equal(requests.length, 3);
    assert.match(requests.join(), /"a\\n\\"odd\\"\\u002c name"/);
    const text = await registry.metrics();
    const labels = 'priority_level="global-default",flow_schema="global-default"';
    for (const line of [
      `apiserver_flowcontrol_current_inqueue_requests{${labels}} 1`,
      `apiserver_flowcontrol_current_executing_seats{${labels}} 1`,
      `apiserver_flowcontrol_work_estimated_seats_bucket{${labels},le="1"} 2`,
      'apiserver_flowcontrol_upper_limit_seats{priority_level="catch-all"} 2',
      'apiserver_current_inqueue_requests{request_kind="readOnly"} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), line);
    }
    second.leave();
    first.leave();
  });
});
