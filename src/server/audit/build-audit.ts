import type { AuditMode, AuditOptions } from '../../base/config/audit.options.js';
import { OptionsError } from '../../base/config/options-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { loadClientConfig } from '../../base/outgoing/client-config.js';
import { WebhookClient } from '../../base/outgoing/webhook-client.js';
import { AuditStore } from '../../storage/postgres/audit-store.js';
import type { AuditMetrics } from './audit-metrics.js';
import type { AuditBackend } from './backends/backend.js';
import { BatchBackend, type BatchOptions, type Deliver } from './backends/batch.backend.js';
import { BlockingLogBackend, type LineSink, lineOf, standardOutput } from './backends/blocking-log.backend.js';
import { BlockingWebhookBackend, webhookDelivery } from './backends/blocking-webhook.backend.js';
import { databaseDelivery, keepAuditPartitions } from './backends/database.js';
import type { SizeLimits } from './backends/event-size.js';
import { Losses } from './backends/losses.js';
import { RotatingFile } from './backends/rotating-file.js';
import { ClosingBackend } from './closing-backend.js';

const megabyte = 1024 * 1024;
/** Size of a log file when `--audit-log-maxsize` is 0. */
const defaultMaxMegabytes = 100;
/** How long the shutdown waits for deliveries in progress. */
const stopMs = 15_000;
/** Limits of a batch of events that is written to the database. */
const databaseBatch = { events: 500, waitMs: 500, bytes: 8 * megabyte } as const;
/** Maximum number of concurrent posts. */
const postsAtOnce = 8;
const postPolicy = { timeoutMs: 30_000, attempts: 5, maxAnswerBytes: megabyte };

export interface AuditDependencies {
  readonly names: VendorNames;
  readonly metrics: AuditMetrics;
  readonly logger: Logger;
  readonly timers: Timers;
}

/**
 * Checks the API versions of the options, which depend on the vendor's names. @throws OptionsError with all problems.
 */
export function checkAuditVersions(options: AuditOptions, names: VendorNames): void {
  const version = `audit.${names.suffix}/v1`;
  const problems = [
    ['audit-log-version', options.auditLogVersion],
    ['audit-webhook-version', options.auditWebhookVersion],
  ].flatMap(([flag, given]) =>
    given === undefined || given === version ? [] : [`--${flag} ${given}: must be ${version}`],
  );
  if (problems.length > 0) throw new OptionsError(problems);
}

/** The backend of `--audit-log-path`; undefined without one. Throws when the file can't be opened. */
export function buildLogBackend(options: AuditOptions, dependencies: AuditDependencies): AuditBackend | undefined {
  const { auditLogPath: path, auditLogMode: mode, auditLogFormat: format } = options;
  if (path === undefined) return undefined;
  const { logger, metrics, timers } = dependencies;
  const sink = path === '-' ? standardOutput : openFile(path, options, logger);
  const losses = new Losses('log', metrics, logger);
  const limits = limitsOf(
    options.auditLogTruncateEnabled,
    options.auditLogTruncateMaxEventSize,
    options.auditLogTruncateMaxBatchSize,
  );
  if (mode !== 'batch') return new BlockingLogBackend(sink, format, mode === 'blocking-strict', limits, losses);
  const batch: BatchOptions = {
    bufferSize: options.auditLogBatchBufferSize,
    maxSize: options.auditLogBatchMaxSize,
    maxWaitMs: options.auditLogBatchMaxWait,
    throttle: throttleOf(
      options.auditLogBatchThrottleEnable,
      options.auditLogBatchThrottleQps,
      options.auditLogBatchThrottleBurst,
    ),
    limits,
    atOnce: 1,
    stopMs,
  };
  const deliver: Deliver = async (events) => {
    sink.append(events.map((event) => lineOf(event, format)).join(''));
    return 0;
  };
  return new ClosingBackend(new BatchBackend('log', batch, deliver, losses, metrics, timers), () => sink.close());
}

/** The backend of `--audit-webhook-config-file`; undefined without one. Throws when the file is unusable. */
export function buildWebhookBackend(options: AuditOptions, dependencies: AuditDependencies): AuditBackend | undefined {
  const { auditWebhookConfigFile: file, auditWebhookInitialBackoff, auditWebhookMode: mode } = options;
  if (file === undefined) return undefined;
  const { names, logger, metrics, timers } = dependencies;
  const client = new WebhookClient(loadClientConfig(file), { ...postPolicy, firstRetryMs: auditWebhookInitialBackoff });
  const deliver = webhookDelivery(client, names);
  const losses = new Losses('webhook', metrics, logger);
  const limits = limitsOf(
    options.auditWebhookTruncateEnabled,
    options.auditWebhookTruncateMaxEventSize,
    options.auditWebhookTruncateMaxBatchSize,
  );
  const stop = async () => client.stop();
  if (mode !== 'batch') {
    const blocking = new BlockingWebhookBackend(
      deliver,
      isStrict(mode),
      limits,
      options.auditWebhookBatchBufferSize,
      losses,
    );
    return new ClosingBackend(blocking, stop);
  }
  const batch: BatchOptions = {
    bufferSize: options.auditWebhookBatchBufferSize,
    maxSize: options.auditWebhookBatchMaxSize,
    maxWaitMs: options.auditWebhookBatchMaxWait,
    throttle: throttleOf(
      options.auditWebhookBatchThrottleEnable,
      options.auditWebhookBatchThrottleQps,
      options.auditWebhookBatchThrottleBurst,
    ),
    limits,
    atOnce: postsAtOnce,
    stopMs,
  };
  return new ClosingBackend(new BatchBackend('webhook', batch, deliver, losses, metrics, timers), stop);
}

/** The backend of `--audit-database`; undefined without it. */
export function buildDatabaseBackend(
  options: AuditOptions,
  databaseUrl: string,
  dependencies: AuditDependencies,
): AuditBackend | undefined {
  if (!options.auditDatabase) return undefined;
  const { logger, metrics, timers } = dependencies;
  const store = new AuditStore(databaseUrl);
  const losses = new Losses('database', metrics, logger);
  const deliver = databaseDelivery(store, losses, logger, timers);
  const batch: BatchOptions = {
    bufferSize: options.auditDatabaseBufferSize,
    maxSize: Math.min(databaseBatch.events, options.auditDatabaseBufferSize),
    maxWaitMs: databaseBatch.waitMs,
    throttle: undefined,
    limits: { eventBytes: options.auditDatabaseMaxEventSize, batchBytes: databaseBatch.bytes },
    atOnce: 1,
    stopMs,
  };
  const ending = new AbortController();
  let upkeep: Promise<void> | undefined;
  return new ClosingBackend(
    new BatchBackend('database', batch, deliver, losses, metrics, timers),
    async () => {
      ending.abort();
      await store.stop();
      await upkeep;
    },
    () => {
      upkeep = keepAuditPartitions(store, options.auditDatabaseRetention, logger, timers, ending.signal);
    },
  );
}

function openFile(path: string, options: AuditOptions, logger: Logger): LineSink {
  const { auditLogMaxSize, auditLogMaxAge, auditLogMaxBackup, auditLogCompress } = options;
  const file = new RotatingFile(
    path,
    {
      maxBytes: (auditLogMaxSize === 0 ? defaultMaxMegabytes : auditLogMaxSize) * megabyte,
      maxAgeDays: auditLogMaxAge,
      maxBackups: auditLogMaxBackup,
      compress: auditLogCompress,
    },
    logger,
  );
  try {
    file.open();
  } catch (error) {
    throw new OptionsError([`--audit-log-path ${path}: can't be opened: ${(error as Error).message}`]);
  }
  return file;
}

function isStrict(mode: AuditMode): boolean {
  return mode === 'blocking-strict';
}

function limitsOf(isEnabled: boolean, eventBytes: number, batchBytes: number): SizeLimits | undefined {
  return isEnabled ? { eventBytes, batchBytes } : undefined;
}

function throttleOf(isEnabled: boolean, perSecond: number, burst: number): BatchOptions['throttle'] {
  return isEnabled ? { perSecond, burst } : undefined;
}
