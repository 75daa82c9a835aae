import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuditOptions } from '../../base/config/audit.options.js';
import type { LiveFiles } from '../../base/config/live-files.js';
import { StorageOptions } from '../../base/config/storage.options.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { AuditMetrics } from './audit-metrics.js';
import type { AuditPolicy } from './audit-policy.js';
import { AUDITOR, Auditor } from './auditor.js';
import type { AuditBackend } from './backends/backend.js';
import { buildDatabaseBackend, buildLogBackend, buildWebhookBackend, checkAuditVersions } from './build-audit.js';
import { openPolicyFile } from './policy-file.js';

const TRAIL = Symbol('AuditTrail');

/** All parts of the audit trail; undefined when requests are not audited. */
interface Trail {
  readonly auditor: Auditor;
  readonly policy: LiveFiles<AuditPolicy>;
  readonly backends: readonly AuditBackend[];
}

/** The audit trail of requests (specification 6.2). It stops after the listener, so no request is missing from it. */
@Module({
  providers: [
    {
      provide: TRAIL,
      inject: [AuditOptions, StorageOptions, VENDOR_NAMES, Metrics, Logger],
      useFactory: openTrail,
    },
    { provide: AUDITOR, inject: [TRAIL], useFactory: (trail: Trail | undefined) => trail?.auditor },
  ],
  exports: [AUDITOR],
})
export class AuditModule implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(@Inject(TRAIL) private readonly trail: Trail | undefined) {}

  onApplicationBootstrap(): void {
    this.trail?.policy.start(this.stopping.signal);
    for (const backend of this.trail?.backends ?? []) backend.start?.();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.trail?.policy.stopped();
    await Promise.all(this.trail?.backends.map((backend) => backend.stop()) ?? []);
  }
}

/** A policy without a backend, or a backend without a policy, records nothing; a warning is logged. */
function openTrail(
  options: AuditOptions,
  { databaseUrl = '' }: StorageOptions,
  names: VendorNames,
  metrics: Metrics,
  logger: Logger,
): Trail | undefined {
  checkAuditVersions(options, names);
  const auditMetrics = new AuditMetrics(metrics.registry);
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile, auditDatabase } = options;
  const hasBackend = auditLogPath !== undefined || auditWebhookConfigFile !== undefined || auditDatabase;
  if (auditPolicyFile === undefined) {
    if (hasBackend) logger.warn('no requests are audited', { missing: '--audit-policy-file' });
    return undefined;
  }
  const policy = openPolicyFile(auditPolicyFile, `audit.${names.suffix}/v1`, logger);
  if (!hasBackend) {
    logger.warn('no requests are audited', {
      missing: '--audit-log-path, --audit-webhook-config-file or --audit-database',
    });
    return undefined;
  }
  const parts = { names, metrics: auditMetrics, logger, timers: systemTimers };
  const backends = [
    buildLogBackend(options, parts),
    buildWebhookBackend(options, parts),
    buildDatabaseBackend(options, databaseUrl, parts),
  ].filter((backend) => backend !== undefined);
  const auditor = new Auditor({ names, policy: () => policy.current, backends, metrics: parts.metrics });
  return { auditor, policy, backends };
}
