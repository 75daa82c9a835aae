import { Registry } from 'prom-client';
import { FeatureGates } from '../../src/base/config/feature-gates.js';
import { featureMetrics } from '../../src/base/config/feature-metrics.js';
import { systemTimers } from '../../src/base/machinery/timers.js';
import { encryptionReloads } from '../../src/base/observability/encryption-reloads.js';
import { kmsCalls } from '../../src/base/observability/kms-calls.js';
import { Logger } from '../../src/base/observability/logger.js';
import { Metrics } from '../../src/base/observability/metrics.js';
import { ReloadMetrics } from '../../src/base/observability/reload-metrics.js';
import { registerStorageObjects } from '../../src/base/observability/storage-objects.js';
import { watchCacheObserver } from '../../src/base/observability/watch-cache-observer.js';
import { CreationMetrics } from '../../src/loops/controllers/frame/creation-metrics.js';
import { InformerMetrics } from '../../src/loops/controllers/informer-metrics.js';
import { LoopMetrics } from '../../src/loops/controllers/metrics/loop-metrics.js';
import { VolumeLoopMetrics } from '../../src/loops/controllers/volume-loop-metrics.js';
import { AdmissionMetrics } from '../../src/server/admission/admission-metrics.js';
import { PodSecurityMetrics } from '../../src/server/admission/plugins/pod-security/pod-security-metrics.js';
import { PolicyMetrics } from '../../src/server/admission/policies/policy-metrics.js';
import { WebhookMetrics } from '../../src/server/admission/webhooks/webhook-metrics.js';
import { AvailabilityMetrics } from '../../src/server/aggregation/availability-metrics.js';
import { AuditMetrics } from '../../src/server/audit/audit-metrics.js';
import { AuthenticationMetrics } from '../../src/server/authentication/authentication-metrics.js';
import { CertificateWatch } from '../../src/server/authentication/x509/certificate-watch.js';
import { RevocationMetrics } from '../../src/server/authentication/x509/revocation-metrics.js';
import { AuthorizationMetrics } from '../../src/server/authorization/authorization-metrics.js';
import { AuthorizerMetrics } from '../../src/server/authorization/configuration/authorizer-metrics.js';
import { PolicyMemory } from '../../src/server/authorization/rbac/policy-memory.js';
import { policyMetrics } from '../../src/server/authorization/rbac/policy-metrics.js';
import { ConnectionCuts } from '../../src/server/endpoints/connection-cuts.js';
import { versionInfo } from '../../src/server/endpoints/discovery/version-info.js';
import { BytesInHand, bytesLimits } from '../../src/server/flow-control/bytes-in-hand.js';
import { registerBytesMetrics } from '../../src/server/flow-control/bytes-metrics.js';
import { registerFlowMetrics } from '../../src/server/flow-control/flow-metrics.js';
import { LongRunningMemory } from '../../src/server/flow-control/long-running-memory.js';
import { registerLongRunningMetrics } from '../../src/server/flow-control/long-running-metrics.js';
import { WorkerMetrics } from '../../src/tools/cli/workers/worker-metrics.js';

/** A metric as it is registered. */
interface Registered {
  readonly name: string;
  readonly help: string;
  readonly type?: string;
  readonly labelNames?: readonly string[];
}

/** The names of the library's own metrics of the process. */
const ofLibrary = /^(?:nodejs_|process_)/;

/** Registers all metrics once, and returns them. */
export function allMetrics(): { readonly all: readonly Registered[]; readonly slis: readonly Registered[] } {
  const metrics = new Metrics();
  const { registry } = metrics;
  metrics.setBuild(versionInfo());
  new AdmissionMetrics(registry);
  new WebhookMetrics(registry);
  for (const kind of ['validating', 'mutating'] as const) new PolicyMetrics(kind, registry);
  new PodSecurityMetrics(registry, 0);
  new VolumeLoopMetrics(registry);
  new LoopMetrics(registry);
  LoopMetrics.election(registry, '', () => false);
  new CreationMetrics(registry);
  new InformerMetrics(registry, { usage: { memory: 0, file: 0, budget: 0 } });
  new AvailabilityMetrics(registry, () => []);
  new AuditMetrics(registry);
  new AuthenticationMetrics(registry);
  const logger = new Logger('error', 'text', () => undefined);
  new CertificateWatch({ inUse: () => [], now: () => 0, logger, metrics: registry });
  new RevocationMetrics(registry);
  new AuthorizationMetrics(registry);
  new AuthorizerMetrics(registry);
  policyMetrics(registry, new PolicyMemory());
  for (const subsystem of ['authentication', 'authorization'] as const) new ReloadMetrics(registry, subsystem, '');
  featureMetrics(registry, FeatureGates.of([]));
  encryptionReloads(registry);
  kmsCalls(registry);
  const none = { series: () => [], levels: () => [], kinds: () => [], inQueue: { readOnly: 0, mutating: 0 } };
  registerFlowMetrics(registry, { ...none, fairFraction: 0, spacing: 0 });
  registerStorageObjects(registry, () => Promise.reject(new Error('no database')));
  watchCacheObserver(
    registry,
    logger,
    () => [],
    () => 0,
    () => 0,
  );
  new ConnectionCuts(registry, logger);
  registerBytesMetrics(registry, new BytesInHand(bytesLimits, systemTimers));
  registerLongRunningMetrics(registry, new LongRunningMemory(0));
  const workers = new WorkerMetrics(() => false) as unknown as { readonly registry: Registry };
  metrics.outgoing.stop();
  const of = (from: Registry) => from.getMetricsAsArray() as unknown as Registered[];
  return { all: [...of(registry), ...of(workers.registry)], slis: of(metrics.health.registry) };
}

const kindOf = (metric: Registered): string => metric.type ?? metric.constructor.name.toLowerCase();

function table(metrics: readonly Registered[]): string {
  const rows = metrics
    .filter(({ name }) => !ofLibrary.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((metric) => {
      const labels = (metric.labelNames ?? []).map((name) => `\`${name}\``).join(', ');
      return `| \`${metric.name}\` | ${kindOf(metric)} | ${labels} | ${metric.help.replaceAll('|', '\\|')} |`;
    });
  return ['| Metric | Kind | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** The text of `docs/metrics.md`. */
export function metricsPage(): string {
  const { all, slis } = allMetrics();
  return `# Metrics

\`/metrics\` of a serving process has everything below; \`/metrics/slis\` has the health checks alone, for a collector that asks
every few seconds. Both need the right to read the path: the group \`system:monitoring\` has it. \`plinth controllers\` serves
its own at \`--controllers-metrics-bind-address\`. With \`--workers\` each scrape shows all workers, whichever was asked; their
series differ by the label \`worker\`, so dashboards that sum show the whole server. \`worker="0"\` is their parent, which has the
connections to the database. Counts that grow faster than their labels
is what a hostile client would like: no label has a value that a client can make up.

The names, labels and buckets are those of the field where it has the metric, so its public dashboards and alerts work;
\`test/e2e/dashboards.spec.ts\` holds the list. [Alerts and what to do](operations.md#alerts) are on the page for operators.
\`npm run docs:metrics\` writes this page from the code, and a test fails until it is up to date.

## /metrics

${table(all)}

Besides these: \`process_*\` (processor, memory, files, start) and \`nodejs_*\` (event loop, heap, garbage collection) of the
library \`prom-client\`.

## /metrics/slis

${table(slis)}
`;
}
