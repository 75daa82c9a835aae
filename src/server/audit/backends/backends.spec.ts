import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { Registry } from 'prom-client';
import { RateLimiter } from '../../../base/machinery/rate-limiter.js';
import type { RequestInfo } from '../../../base/machinery/request-context.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { Logger } from '../../../base/observability/logger.js';
import { AuditEvent, type AuditInfo } from '../audit-event.js';
import { AuditMetrics } from '../audit-metrics.js';
import { Auditor } from '../auditor.js';
import { legacyLine } from '../legacy-line.js';
import { readPolicy } from '../policy-document.js';
import { BatchBackend, type BatchOptions, type Deliver } from './batch.backend.js';
import { BlockingLogBackend } from './blocking-log.backend.js';
import { databaseDelivery } from './database.js';
import { Losses } from './losses.js';
import { RotatedFiles } from './rotated-files.js';
import { RotatingFile } from './rotating-file.js';

const names = vendorNames('k8s.io');
const requestInfo = {
  isResourceRequest: true,
  verb: 'create',
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'configmaps',
  subresource: '',
} as RequestInfo;

function event(id: string, more: Partial<AuditInfo> = {}): AuditEvent {
  const info: AuditInfo = {
    level: 'RequestResponse',
    stage: 'ResponseComplete',
    auditID: id,
    requestURI: '/api/v1/namespaces/a/configmaps',
    user: { name: 'alice', uid: '', groups: ['devs', 'ops'], extra: {} },
    impersonatedUser: undefined,
    sourceIPs: ['10.0.0.7'],
    userAgent: 'test\n"1"',
    requestInfo,
    name: 'm',
    namespace: 'a',
    uid: '',
    resourceVersion: '',
    response: { code: 201, status: '', reason: '', message: '', details: '' },
    requestObject: '{"data":{"k":"v"}}',
    responseObject: undefined,
    receivedAt: 1_700_000_000_123,
    at: 1_700_000_000_456,
    annotations: [['authorization.k8s.io/decision', 'allow']],
    written: [],
    ...more,
  };
  return new AuditEvent(info, names);
}

/** A batch backend whose delivery the test controls, and its counts. */
function batches(deliver: Deliver, options: Partial<BatchOptions> = {}) {
  const registry = new Registry();
  const metrics = new AuditMetrics(registry);
  const lines: string[] = [];
  const logger = new Logger('error', 'text', (line) => lines.push(line));
  const settings = {
    bufferSize: 100,
    maxSize: 10,
    maxWaitMs: 5,
    throttle: undefined,
    limits: undefined,
    atOnce: 1,
    stopMs: 1000,
    ...options,
  };
  const losses = new Losses('test', metrics, logger);
  const backend = new BatchBackend('test', settings, deliver, losses, metrics, systemTimers);
  const value = async (name: string, labels: Readonly<Record<string, string>>) => {
    const metric = (await registry.getMetricsAsJSON()).find((one) => one.name === `apiserver_audit_${name}`);
    const found = metric?.values.find(({ labels: own }) =>
      Object.entries(labels).every(([key, text]) => own[key] === text),
    );
    return found?.value ?? 0;
  };
  return { backend, lines, value };
}

describe('an event', () => {
  it('is one line, whatever it contains', () => {
    const one = event('id', { userAgent: 'a\r\nb\u2028', requestURI: '/x\n' });
    assert.ok(!/[\r\n]/.test(one.document));
    assert.equal(JSON.parse(one.document).userAgent, 'a\r\nb\u2028');
    assert.equal(JSON.parse(one.item).kind, undefined);
    assert.equal(JSON.parse(one.document).stageTimestamp, '2023-11-14T22:13:20.456000Z');
  });

  it('is a line of the legacy format, with quoted values', () => {
    assert.equal(
      legacyLine(event('id').info),
      '2023-11-14T22:13:20.123Z AUDIT: id="id" stage="ResponseComplete" ip="10.0.0.7" method="create" user="alice" ' +
        'groups="\\"devs\\",\\"ops\\"" as="<self>" asgroups="<lookup>" user-agent="test\\n\\"1\\"" namespace="a" ' +
        'uri="/api/v1/namespaces/a/configmaps" response="201"',
    );
  });
});

describe('a rotating file', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-audit-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const quiet = new Logger('error', 'text', () => undefined);
  const keepAll = { maxAgeDays: 0, maxBackups: 0, compress: false };

  it('loses no line when several processes write to it', async () => {
    const path = join(folder, 'shared.log');
    let now = Date.now();
    const files = Array.from(
      { length: 3 },
      () => new RotatingFile(path, { ...keepAll, maxBytes: 2000 }, quiet, () => now),
    );
    for (const file of files) file.open();
    for (let i = 0; i < 600; i++) {
      now += 7;
      files[i % 3]?.append(`line ${String(i).padStart(4, '0')}\n`);
    }
    for (const file of files) await file.close();
    const found = readdirSync(folder).filter((name) => name.startsWith('shared'));
    assert.ok(found.length >= 3, String(found));
    const lines = found.flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
    assert.deepEqual(
      lines.sort(),
      Array.from({ length: 600 }, (_, i) => `line ${String(i).padStart(4, '0')}`),
    );
    assert.ok(
      found.every((name) => name === 'shared.log' || /^shared-\d{4}-\d\d-\d\dT[\d-]+\.\d{3}(-\d+)?\.log$/.test(name)),
    );
  });

  it('goes on when somebody else moves or removes it', () => {
    const path = join(folder, 'moved.log');
    let now = Date.now();
    const file = new RotatingFile(path, { ...keepAll, maxBytes: 1e6 }, quiet, () => now);
    file.open();
    file.append('one\n');
    rmSync(path);
    now += 1000;
    file.append('two\n');
    assert.equal(readFileSync(path, 'utf8'), 'two\n');
  });

  it('throws for every line that would be lost, and writes to the moved file while there can be no other', () => {
    const place = join(folder, 'place');
    const path = join(place, 'audit.log');
    let now = Date.now();
    const file = new RotatingFile(path, { ...keepAll, maxBytes: 1e6 }, quiet, () => now);
    file.open();
    file.append('one\n');
    renameSync(place, `${place}-moved`);
    writeFileSync(place, 'no folder');
    now += 1000;
    file.append('two\n');
    file.append('three\n');
    assert.equal(readFileSync(join(`${place}-moved`, 'audit.log'), 'utf8'), 'one\ntwo\nthree\n');
    rmSync(`${place}-moved`, { recursive: true });
    now += 1000;
    for (let i = 0; i < 3; i++) assert.throws(() => file.append('lost\n'), /ENOTDIR/);
    rmSync(place);
    mkdirSync(place);
    file.append('four\n');
    assert.equal(readFileSync(path, 'utf8'), 'four\n');
  });

  it('gets over the lock of a process that died', () => {
    const path = join(folder, 'locked.log');
    const file = new RotatingFile(path, { ...keepAll, maxBytes: 10 }, quiet);
    file.open();
    writeFileSync(`${path}.lock`, '');
    for (let i = 0; i < 3; i++) file.append('123456789\n');
    assert.equal(readdirSync(folder).filter((name) => name.startsWith('locked-')).length, 0);
    utimesSync(`${path}.lock`, 0, 0);
    for (let i = 0; i < 2; i++) file.append('123456789\n');
    assert.equal(readdirSync(folder).filter((name) => name.startsWith('locked-')).length, 1);
  });

  it('keeps as many rotated files as wanted, and compresses them', async () => {
    const own = mkdtempSync(join(folder, 'kept-'));
    const day = (n: number) => `audit-2026-01-0${n}T00-00-00.000.log`;
    for (const n of [1, 2, 3, 4]) writeFileSync(join(own, day(n)), `day ${n}\n`);
    writeFileSync(join(own, 'audit-other.log'), 'not ours');
    const now = Date.parse('2026-01-05T00:00:00Z');
    const files = new RotatedFiles(
      join(own, 'audit.log'),
      { maxAgeDays: 3, maxBackups: 2, compress: true },
      quiet,
      () => now,
      10,
    );
    files.tidy();
    const gone = () => readdirSync(own).filter((name) => name.endsWith('.log'));
    const limit = Date.now() + 30_000;
    while (gone().length > 1 && Date.now() < limit) await new Promise((resolve) => setTimeout(resolve, 50));
    await files.stop();
    assert.deepEqual(readdirSync(own).sort(), [`${day(3)}.gz`, `${day(4)}.gz`, 'audit-other.log']);
    assert.equal(gunzipSync(readFileSync(join(own, `${day(4)}.gz`))).toString(), 'day 4\n');
  });
});

describe('a backend of batches', () => {
  it('delivers everything in order, in batches', async () => {
    const got: string[][] = [];
    const { backend, value } = batches(async (events) => {
      got.push(events.map(({ info }) => info.auditID));
      return 0;
    });
    const ids = Array.from({ length: 35 }, (_, i) => String(i));
    for (const id of ids) assert.equal(backend.take(event(id)), true);
    await backend.stop();
    assert.deepEqual(got.flat(), ids);
    assert.ok(got.every((batch) => batch.length <= 10));
    assert.equal(await value('delivered_events_total', { backend: 'test' }), 35);
    assert.equal(backend.take(event('late')), false);
    assert.equal(await value('dropped_events_total', { reason: 'shutdown' }), 1);
  });

  it('counts what finds no room, what fails, and what is too long, and reports it', async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let calls = 0;
    const deliver: Deliver = async () => {
      calls++;
      await held;
      if (calls > 1) throw new Error('no such place');
      return 0;
    };
    const limits = { eventBytes: 2000, batchBytes: 10_000 };
    const { backend, lines, value } = batches(deliver, { bufferSize: 20, limits });
    for (let i = 0; i < 10; i++) backend.take(event(String(i)));
    // The first delivery has begun and does not finish.
    while (calls === 0) await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 25; i++) backend.take(event(String(i)));
    assert.equal(await value('waiting_events', {}), 30);
    release?.();
    await backend.stop();
    assert.equal(backend.name, 'test');
    assert.equal(await value('dropped_events_total', { reason: 'buffer' }), 5);
    assert.equal(await value('dropped_events_total', { reason: 'failure' }), 20);
    assert.equal(await value('delivered_events_total', {}), 10);
    assert.equal(await value('error_total', { plugin: 'test' }), 25);
    assert.equal(await value('waiting_events', {}), 0);
    assert.match(lines.join(''), /audit events are lost backend=test reason=buffer/);
    assert.match(lines.join(''), /reason=failure events=20 .*no such place/);
  });

  it('leaves the objects out of long events, and drops those that are still too long', async () => {
    const got: AuditEvent[] = [];
    const limits = { eventBytes: 1500, batchBytes: 2000 };
    const { backend, value } = batches(
      async (events) => {
        assert.ok(events.reduce((sum, { item }) => sum + item.length, 0) <= 2000);
        got.push(...events);
        return 0;
      },
      { limits },
    );
    const object = JSON.stringify({ x: 'y'.repeat(2000) });
    for (let i = 0; i < 4; i++) backend.take(event(String(i), { requestObject: object }));
    backend.take(event('long', { requestObject: object, userAgent: 'u'.repeat(2000) }));
    await backend.stop();
    const shown = got.map(({ item }) => JSON.parse(item));
    assert.deepEqual(
      shown.map(({ requestObject, annotations }) => [requestObject, annotations['audit.k8s.io/truncated']]),
      [
        [undefined, 'true'],
        [undefined, 'true'],
        [undefined, 'true'],
        [undefined, 'true'],
      ],
    );
    assert.equal(await value('dropped_events_total', { reason: 'size' }), 1);
  });

  it('gives up at the end of its time, and counts what it did not deliver', async () => {
    const deliver: Deliver = (_events, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const { backend, value } = batches(deliver, { stopMs: 20 });
    for (let i = 0; i < 25; i++) backend.take(event(String(i)));
    await backend.stop();
    assert.equal(await value('dropped_events_total', { reason: 'shutdown' }), 25);
  });
});

describe('the other parts', () => {
  it('let bursts through, and then so many a second', () => {
    let now = 0;
    const limiter = new RateLimiter(10, 2, { ...systemTimers, elapsed: () => now });
    const turns = (count: number) => Array.from({ length: count }, () => limiter.takeTurn());
    assert.deepEqual(turns(4), [0, 0, 100, 200]);
    now = 1000;
    assert.deepEqual(turns(3), [0, 0, 100]);
  });

  it('wait for the database, and lose only the event that it refuses', async () => {
    const inserted: string[] = [];
    let outages = 2;
    const insert = async (rows: string) => {
      if (outages-- > 0) throw new Error('connection refused');
      if (rows.includes('"bad"')) throw Object.assign(new pg.DatabaseError('invalid', 7, 'error'), { code: '22P05' });
      for (const { audit_id } of JSON.parse(rows)) inserted.push(audit_id);
    };
    const dropped: unknown[] = [];
    const losses = { dropped: (reason: string, count: number) => dropped.push([reason, count]) };
    const logged: string[] = [];
    const logger = { error: (text: string) => logged.push(text), info: (text: string) => logged.push(text) };
    const deliver = databaseDelivery({ insert }, losses as never, logger, { wait: async () => undefined });
    const lost = await deliver([event('1'), event('bad'), event('2')], new AbortController().signal);
    assert.equal(lost, 1);
    assert.deepEqual(inserted, ['1', '2']);
    assert.deepEqual(dropped, [['failure', 1]]);
    assert.deepEqual(logged, ['audit events wait for the database', 'audit events are written to the database again']);
  });

  it('refuse requests whose arrival a strict log can’t take, and no others', () => {
    const rule = { level: 'Metadata' };
    const policy = readPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [rule] }, 'audit.k8s.io/v1');
    const full = {
      append: () => {
        throw new Error('ENOSPC: no space left on device');
      },
      close: async () => undefined,
    };
    for (const isStrict of [true, false]) {
      const metrics = new AuditMetrics(new Registry());
      const losses = new Losses('log', metrics, new Logger('error', 'text', () => undefined));
      const backend = new BlockingLogBackend(full, 'json', isStrict, undefined, losses);
      const auditor = new Auditor({ names, policy: () => policy, backends: [backend], metrics });
      const emit = (mustSucceed: boolean) => () => auditor.emit(event('x').info, mustSucceed);
      assert.doesNotThrow(emit(false));
      if (isStrict) assert.throws(emit(true), /could not be written to the audit trail/);
      else assert.doesNotThrow(emit(true));
    }
  });
});
