import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { ReviewWebhook } from '../../../test/support/review-webhook.js';
import { AuditOptions } from '../../base/config/audit.options.js';
import { parseOptions } from '../../base/config/parse-options.js';
import type { RequestInfo } from '../../base/machinery/request-context.js';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { AuditEvent } from './audit-event.js';
import { AuditMetrics } from './audit-metrics.js';
import { buildLogBackend, buildWebhookBackend, checkAuditVersions } from './build-audit.js';

// Tests the effect of each flag of a backend, starting from the command line (specification 8).

const names = vendorNames('k8s.io');

function optionsOf(...argv: string[]): AuditOptions {
  return parseOptions({ groups: { audit: AuditOptions }, argv, environment: {} }).audit;
}

function event(id: string, object = '{}'): AuditEvent {
  const requestInfo = {
    isResourceRequest: true,
    verb: 'create',
    apiGroup: '',
    apiVersion: 'v1',
    resource: 'configmaps',
    subresource: '',
  } as RequestInfo;
  return new AuditEvent(
    {
      level: 'Request',
      stage: 'ResponseComplete',
      auditID: id,
      requestURI: '/x',
      user: undefined,
      impersonatedUser: undefined,
      sourceIPs: [],
      userAgent: '',
      requestInfo,
      name: '',
      namespace: '',
      uid: '',
      resourceVersion: '',
      response: undefined,
      requestObject: object,
      responseObject: undefined,
      receivedAt: 0,
      at: 0,
      annotations: [],
      written: [],
    },
    names,
  );
}

const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => String(from + i));

describe('the flags of the audit log', () => {
  let folder: string;
  let files = 0;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-audit-flags-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function open(...argv: string[]) {
    const path = join(folder, `${files++}.log`);
    const metrics = new AuditMetrics(new Registry());
    const logger = new Logger('error', 'text', () => undefined);
    const parts = { names, metrics, logger, timers: systemTimers };
    const backend = buildLogBackend(optionsOf(`--audit-log-path=${path}`, ...argv), parts);
    assert.ok(backend !== undefined);
    const lines = () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []);
    return { backend, lines };
  }

  it('choose its format', async () => {
    const { backend, lines } = open('--audit-log-format=legacy');
    void backend.take(event('one'));
    assert.match(lines()[0] ?? '', /^1970-\S+ AUDIT: id="one"/);
    await backend.stop();
  });

  it('fill and limit its batches', async () => {
    const { backend, lines } = open(
      '--audit-log-mode=batch',
      '--audit-log-batch-max-size=3',
      '--audit-log-batch-buffer-size=3',
      '--audit-log-batch-max-wait=1h',
    );
    assert.deepEqual(
      ids(0, 2).map((id) => backend.take(event(id))),
      [true, true],
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(lines(), [], 'a batch that is not full waits');
    assert.deepEqual(
      ids(2, 3).map((id) => backend.take(event(id))),
      [true, false, false],
      'beyond the buffer',
    );
    while (lines().length < 3) await new Promise((resolve) => setImmediate(resolve));
    await backend.stop();
    assert.equal(lines().length, 3);
  });

  it('bound its events', async () => {
    const long = JSON.stringify({ x: 'y'.repeat(5000) });
    const size = '--audit-log-truncate-max-event-size=2000';
    for (const [flags, isWhole] of [
      [['--audit-log-truncate-enabled', size], false],
      [[size], true],
    ] as const) {
      const { backend, lines } = open(...flags);
      void backend.take(event('long', long));
      const shown = JSON.parse(lines()[0] ?? '');
      assert.equal(shown.requestObject !== undefined, isWhole);
      assert.equal(shown.annotations?.['audit.k8s.io/truncated'], isWhole ? undefined : 'true');
      await backend.stop();
    }
  });
});

describe('the flags of the audit webhook', () => {
  let hook: ReviewWebhook;
  let file: string;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-audit-flags-'));
    file = join(folder, 'webhook.json');
    hook = await ReviewWebhook.start();
    hook.answer = () => ({ body: {} });
    writeFileSync(file, hook.config());
  });
  after(async () => {
    await hook?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * Posts events through a webhook backend with these flags. Returns the sizes of the posts, and the delays before them
   * in milliseconds.
   */
  async function post(events: readonly AuditEvent[], ...argv: string[]) {
    hook.received.length = 0;
    const waits: number[] = [];
    const timers: Timers = { ...systemTimers, elapsed: () => 0, wait: async (ms) => void waits.push(ms) };
    const metrics = new AuditMetrics(new Registry());
    const logger = new Logger('error', 'text', () => undefined);
    const backend = buildWebhookBackend(optionsOf(`--audit-webhook-config-file=${file}`, ...argv), {
      names,
      metrics,
      logger,
      timers,
    });
    assert.ok(backend !== undefined);
    for (const one of events) void backend.take(one);
    await backend.stop();
    return { posts: hook.received.map(({ body }) => body.items.length as number), waits };
  }

  it('limit the number of posts', async () => {
    const events = ids(0, 4).map((id) => event(id));
    const size = '--audit-webhook-batch-max-size=1';
    const throttle = ['--audit-webhook-batch-throttle-qps=2', '--audit-webhook-batch-throttle-burst=2'];
    const slow = await post(events, size, ...throttle);
    assert.deepEqual(
      [slow.posts, slow.waits],
      [
        [1, 1, 1, 1],
        [500, 1000],
      ],
    );
    const quick = await post(events, size, ...throttle, '--audit-webhook-batch-throttle-enable=false');
    assert.deepEqual([quick.posts, quick.waits], [[1, 1, 1, 1], []]);
  });

  it('bound events and posts', async () => {
    const long = JSON.stringify({ x: 'y'.repeat(1000) });
    const events = ids(0, 4).map((id) => event(id, long));
    const limits = ['--audit-webhook-truncate-max-event-size=3000', '--audit-webhook-truncate-max-batch-size=3500'];
    assert.deepEqual((await post(events, ...limits)).posts, [4]);
    assert.deepEqual((await post(events, '--audit-webhook-truncate-enabled', ...limits)).posts, [2, 2]);
    const short = ['--audit-webhook-truncate-max-event-size=900', '--audit-webhook-truncate-max-batch-size=3500'];
    await post(events, '--audit-webhook-truncate-enabled', ...short);
    const shown = hook.received.flatMap(({ body }) => body.items);
    assert.ok(shown.length === 4 && shown.every(({ requestObject }) => requestObject === undefined));
  });
});

it('the versions of events can be none but that of the vendor', () => {
  for (const flag of ['audit-log-version', 'audit-webhook-version']) {
    assert.doesNotThrow(() => checkAuditVersions(optionsOf(`--${flag}=audit.k8s.io/v1`), names));
    assert.throws(
      () => checkAuditVersions(optionsOf(`--${flag}=audit.k8s.io/v1beta1`), names),
      /must be audit.k8s.io\/v1/,
    );
  }
});
