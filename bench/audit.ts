import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Registry } from 'prom-client';
import { AuditOptions } from '../src/base/config/audit.options.js';
import { systemTimers } from '../src/base/machinery/timers.js';
import { vendorNames } from '../src/base/machinery/vendor.js';
import { Logger } from '../src/base/observability/logger.js';
import { AuditMetrics } from '../src/server/audit/audit-metrics.js';
import { Auditor } from '../src/server/audit/auditor.js';
import type { AuditBackend } from '../src/server/audit/backends/backend.js';
import { buildLogBackend } from '../src/server/audit/build-audit.js';
import { readPolicy } from '../src/server/audit/policy-document.js';
import { HttpRequestContext } from '../src/server/endpoints/request-info/http-request-context.js';

/*
 * The cost of the audit trail for one request: choosing the rule among the customary ones, the id, the outcome of
 * authorization and the event of the end, as the process makes them on the way of a request. With the log in its default
 * mode the write of the line is included. Prints one JSON line per case, and fails when the median at level Metadata is
 * not below the target.
 */

const { values: flags } = parseArgs({ options: { requests: { type: 'string', default: '100000' } } });
const requests = Number(flags.requests);
const rounds = 20;
const targetUs = 15;

const names = vendorNames('k8s.io');
const logger = new Logger('error');
const folder = mkdtempSync(join(tmpdir(), 'plinth-audit-bench-'));

/** A policy as clusters have it: what is noisy first, then levels by resource. */
function policy(level: string) {
  const quiet = ['system:kube-proxy', 'system:kube-scheduler', 'system:kube-controller-manager'];
  const rules = [
    ...quiet.map((user) => ({ level: 'None', users: [user], verbs: ['get', 'watch'], resources: [{ group: '' }] })),
    { level: 'None', userGroups: ['system:nodes'], verbs: ['get'], resources: [{ group: '', resources: ['nodes'] }] },
    { level: 'None', nonResourceURLs: ['/healthz*', '/version', '/swagger*'] },
    { level: 'None', resources: [{ group: '', resources: ['events'] }] },
    { level: 'Metadata', resources: [{ group: '', resources: ['secrets', 'configmaps', 'serviceaccounts/token'] }] },
    { level, verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
  ];
  return readPolicy(
    { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules },
    'audit.k8s.io/v1',
  );
}

const user = { name: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'], extra: {} };
const url = '/api/v1/namespaces/shop/pods/web-7d4b9c6f5-x2x7q';
const pod = JSON.stringify({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'web-7d4b9c6f5-x2x7q', namespace: 'shop', labels: { app: 'web' } },
  spec: {
    containers: Array.from({ length: 3 }, (_, i) => ({
      name: `c${i}`,
      image: `registry.example/app:${i}`,
      args: ['x'.repeat(300)],
    })),
  },
});

function request() {
  const headers = { 'user-agent': 'kubectl/v1.33.0 (linux/amd64) kubernetes/60a317e', accept: 'application/json' };
  const raw = { url, headers, socket: { remoteAddress: '10.0.0.7' } };
  const context = new HttpRequestContext({ method: 'GET', raw, headers } as never);
  const response = { statusCode: 200, headersSent: false, getHeader: () => undefined, setHeader: () => undefined };
  return { context, raw, response };
}

/** The median of the rounds, in microseconds of processor time per request: others on the machine don't count. */
function measure(auditor: Auditor | undefined): number {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const made = Array.from({ length: requests / rounds }, request);
    const began = process.cpuUsage();
    for (const one of made) {
      const { context } = one;
      context.audit = auditor?.begin(one);
      context.user = user;
      void context.audit?.identified();
      context.audit?.decided(true, 'RBAC: allowed by RoleBinding "devs/shop" of ClusterRole "view" to Group "devs"');
      context.audit?.entered();
      context.audit?.answeredText(200, pod);
      void context.audit?.ended();
      context.audit?.left();
      context.audit?.closed();
    }
    const { user: own, system } = process.cpuUsage(began);
    times.push((own + system) / made.length);
  }
  return times.sort((a, b) => a - b)[rounds / 2] as number;
}

function backend(options: Partial<AuditOptions>): AuditBackend {
  const parts = { names, metrics: new AuditMetrics(new Registry()), logger, timers: systemTimers };
  const settings = Object.assign(new AuditOptions(), options);
  return buildLogBackend(settings, parts) as AuditBackend;
}

const discard: AuditBackend = {
  name: 'none',
  isStrict: false,
  take: (event) => event.document !== '',
  stop: async () => undefined,
};

function auditor(level: string, to: AuditBackend): Auditor {
  const rules = policy(level);
  return new Auditor({ names, policy: () => rules, backends: [to], metrics: new AuditMetrics(new Registry()) });
}

let slow = 0;
try {
  const log = backend({ auditLogPath: join(folder, 'audit.log'), auditLogMaxBackup: 1 });
  const cases: readonly (readonly [string, Auditor | undefined, boolean])[] = [
    ['no policy', undefined, true],
    ['None', auditor('None', discard), true],
    ['Metadata, event only', auditor('Metadata', discard), true],
    ['Metadata, log file', auditor('Metadata', log), true],
    ['RequestResponse, log file', auditor('RequestResponse', log), false],
  ];
  for (const [name, one, counts] of cases) {
    measure(one);
    const us = Math.round(measure(one) * 100) / 100;
    if (counts && us >= targetUs) slow++;
    console.log(JSON.stringify({ case: name, usPerRequest: us, ...(counts ? { targetUs } : {}) }));
  }
  await log.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = slow === 0 ? 0 : 1;
