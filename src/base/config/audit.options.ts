import { IsIn, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

const logModes = ['batch', 'blocking', 'blocking-strict'] as const;
const webhookModes = ['batch', 'blocking', 'blocking-strict'] as const;
const logFormats = ['json', 'legacy'] as const;

/** How events reach a backend: before the response is sent (blocking), or later, together with others (batch). */
export type AuditMode = (typeof logModes)[number];

const notNegative = { message: 'must not be negative' };
const positive = { message: 'must be at least 1' };

/** A batch never fills if it may be larger than the buffer. */
function batchProblem(buffer: string) {
  return (value: number, all: Readonly<Record<string, unknown>>): string | undefined =>
    value > (all[buffer] as number) ? 'must not be larger than the buffer' : undefined;
}

function truncateProblem(batch: string) {
  return (value: number, all: Readonly<Record<string, unknown>>): string | undefined =>
    value > (all[batch] as number) ? 'must not be larger than the size of a batch' : undefined;
}

/** A throttle that lets nothing through would lose every event. */
function throttleProblem(enabled: string) {
  return (value: number, all: Readonly<Record<string, unknown>>): string | undefined =>
    all[enabled] === true && value <= 0 ? 'must be more than 0 when the throttle is on' : undefined;
}

/** What is recorded of the requests, and where (specification 6.2 and 8). */
export class AuditOptions {
  @Flag({
    name: 'audit-policy-file',
    type: 'string',
    unit: 'file',
    usage:
      'Which requests are recorded, and how much of each: kind Policy of audit.<vendor>/v1. Read again when it changes.',
  })
  readonly auditPolicyFile: string | undefined = undefined;

  @Flag({
    name: 'audit-log-path',
    type: 'string',
    unit: 'path',
    usage: 'File that audit events are appended to; - is standard output. The processes of a machine may share it.',
  })
  readonly auditLogPath: string | undefined = undefined;

  @Flag({
    name: 'audit-log-format',
    type: 'string',
    values: logFormats,
    usage: 'json: one event per line, as JSON. legacy: one event per line, as text without objects and annotations.',
  })
  @IsIn(logFormats, { message: `must be one of ${logFormats.join(', ')}` })
  readonly auditLogFormat: (typeof logFormats)[number] = 'json';

  @Flag({
    name: 'audit-log-version',
    type: 'string',
    usage: 'API version of the events in the log. Default: audit.<vendor>/v1, the only one.',
  })
  readonly auditLogVersion: string | undefined = undefined;

  @Flag({
    name: 'audit-log-mode',
    type: 'string',
    values: logModes,
    usage:
      'blocking: an event is written before its request is answered. blocking-strict: and a request whose arrival cannot be written is refused. ' +
      'batch: events are written later, together with others.',
  })
  @IsIn(logModes, { message: `must be one of ${logModes.join(', ')}` })
  readonly auditLogMode: AuditMode = 'blocking';

  @Flag({
    name: 'audit-log-maxsize',
    type: 'int',
    unit: 'megabytes',
    usage: 'Size at which the log file is rotated. 0: 100 megabytes.',
  })
  @Min(0, notNegative)
  readonly auditLogMaxSize: number = 100;

  @Flag({
    name: 'audit-log-maxage',
    type: 'int',
    unit: 'days',
    usage: 'How long rotated log files are kept, by the time in their names. 0: no limit.',
  })
  @Min(0, notNegative)
  readonly auditLogMaxAge: number = 366;

  @Flag({ name: 'audit-log-maxbackup', type: 'int', usage: 'How many rotated log files are kept. 0: no limit.' })
  @Min(0, notNegative)
  readonly auditLogMaxBackup: number = 100;

  @Flag({ name: 'audit-log-compress', type: 'bool', usage: 'Compress rotated log files with gzip.' })
  readonly auditLogCompress: boolean = false;

  @Flag({
    name: 'audit-log-batch-buffer-size',
    type: 'int',
    unit: 'events',
    usage: 'Events that may wait to be written, in batch mode. Further ones are lost, counted and reported.',
  })
  @Min(1, positive)
  readonly auditLogBatchBufferSize: number = 10_000;

  @Flag({
    name: 'audit-log-batch-max-size',
    type: 'int',
    unit: 'events',
    usage: 'The most events that are written at once.',
  })
  @Min(1, positive)
  @Check('batch', batchProblem('auditLogBatchBufferSize'))
  readonly auditLogBatchMaxSize: number = 1;

  @Flag({
    name: 'audit-log-batch-max-wait',
    type: 'duration',
    usage: 'How long the first event of a batch waits for more. 0: not at all.',
  })
  @Min(0, notNegative)
  readonly auditLogBatchMaxWait: number = 0;

  @Flag({ name: 'audit-log-batch-throttle-enable', type: 'bool', usage: 'Limit the number of batches per second.' })
  readonly auditLogBatchThrottleEnable: boolean = false;

  @Flag({ name: 'audit-log-batch-throttle-qps', type: 'number', usage: 'Batches per second, on average.' })
  @Check('throttle', throttleProblem('auditLogBatchThrottleEnable'))
  readonly auditLogBatchThrottleQps: number = 0;

  @Flag({ name: 'audit-log-batch-throttle-burst', type: 'int', usage: 'Batches at once, if none were written before.' })
  @Check('throttle', throttleProblem('auditLogBatchThrottleEnable'))
  readonly auditLogBatchThrottleBurst: number = 0;

  @Flag({
    name: 'audit-log-truncate-enabled',
    type: 'bool',
    usage:
      'Leave the objects out of events that are too long, and lose those that are still too long. Counted and reported.',
  })
  readonly auditLogTruncateEnabled: boolean = false;

  @Flag({
    name: 'audit-log-truncate-max-batch-size',
    type: 'int',
    unit: 'bytes',
    usage: 'The most bytes that are written at once.',
  })
  @Min(1, positive)
  readonly auditLogTruncateMaxBatchSize: number = 10 * 1024 * 1024;

  @Flag({
    name: 'audit-log-truncate-max-event-size',
    type: 'int',
    unit: 'bytes',
    usage: 'The longest event that stays whole.',
  })
  @Min(1, positive)
  @Check('size', truncateProblem('auditLogTruncateMaxBatchSize'))
  readonly auditLogTruncateMaxEventSize: number = 100 * 1024;

  @Flag({
    name: 'audit-webhook-config-file',
    type: 'string',
    unit: 'file',
    usage: 'Client configuration (as of kubectl) of the service that audit events are posted to.',
  })
  readonly auditWebhookConfigFile: string | undefined = undefined;

  @Flag({
    name: 'audit-webhook-version',
    type: 'string',
    usage: 'API version of the posted events. Default: audit.<vendor>/v1, the only one.',
  })
  readonly auditWebhookVersion: string | undefined = undefined;

  @Flag({
    name: 'audit-webhook-mode',
    type: 'string',
    values: webhookModes,
    usage:
      'batch: events are posted later, together with others. blocking: an event is posted before its request is answered. ' +
      'blocking-strict: and a request whose arrival cannot be posted is refused.',
  })
  @IsIn(webhookModes, { message: `must be one of ${webhookModes.join(', ')}` })
  readonly auditWebhookMode: AuditMode = 'batch';

  @Flag({
    name: 'audit-webhook-initial-backoff',
    type: 'duration',
    usage: 'Wait before a failed post is tried again. Each further wait is half as long again.',
  })
  @Min(0, notNegative)
  readonly auditWebhookInitialBackoff: number = 10_000;

  @Flag({
    name: 'audit-webhook-batch-buffer-size',
    type: 'int',
    unit: 'events',
    usage: 'Events that may wait to be posted, in batch mode. Further ones are lost, counted and reported.',
  })
  @Min(1, positive)
  readonly auditWebhookBatchBufferSize: number = 10_000;

  @Flag({ name: 'audit-webhook-batch-max-size', type: 'int', unit: 'events', usage: 'The most events of a post.' })
  @Min(1, positive)
  @Check('batch', batchProblem('auditWebhookBatchBufferSize'))
  readonly auditWebhookBatchMaxSize: number = 400;

  @Flag({
    name: 'audit-webhook-batch-max-wait',
    type: 'duration',
    usage: 'How long the first event of a post waits for more.',
  })
  @Min(0, notNegative)
  readonly auditWebhookBatchMaxWait: number = 30_000;

  @Flag({ name: 'audit-webhook-batch-throttle-enable', type: 'bool', usage: 'Limit the number of posts per second.' })
  readonly auditWebhookBatchThrottleEnable: boolean = true;

  @Flag({ name: 'audit-webhook-batch-throttle-qps', type: 'number', usage: 'Posts per second, on average.' })
  @Check('throttle', throttleProblem('auditWebhookBatchThrottleEnable'))
  readonly auditWebhookBatchThrottleQps: number = 10;

  @Flag({ name: 'audit-webhook-batch-throttle-burst', type: 'int', usage: 'Posts at once, if none were sent before.' })
  @Check('throttle', throttleProblem('auditWebhookBatchThrottleEnable'))
  readonly auditWebhookBatchThrottleBurst: number = 15;

  @Flag({
    name: 'audit-webhook-truncate-enabled',
    type: 'bool',
    usage:
      'Leave the objects out of events that are too long, and lose those that are still too long. Counted and reported.',
  })
  readonly auditWebhookTruncateEnabled: boolean = false;

  @Flag({
    name: 'audit-webhook-truncate-max-batch-size',
    type: 'int',
    unit: 'bytes',
    usage: 'The most bytes of a post.',
  })
  @Min(1, positive)
  readonly auditWebhookTruncateMaxBatchSize: number = 10 * 1024 * 1024;

  @Flag({
    name: 'audit-webhook-truncate-max-event-size',
    type: 'int',
    unit: 'bytes',
    usage: 'The longest event that stays whole.',
  })
  @Min(1, positive)
  @Check('size', truncateProblem('auditWebhookTruncateMaxBatchSize'))
  readonly auditWebhookTruncateMaxEventSize: number = 100 * 1024;

  @Flag({
    name: 'audit-database',
    type: 'bool',
    usage: 'Also keep the events in the database, for SQL (view cluster.audit).',
  })
  readonly auditDatabase: boolean = false;

  @Flag({
    name: 'audit-database-retention',
    type: 'duration',
    usage: 'How long the database keeps events, in whole days. 0: forever.',
  })
  @Min(0, notNegative)
  readonly auditDatabaseRetention: number = 30 * 24 * 3_600_000;

  @Flag({
    name: 'audit-database-buffer-size',
    type: 'int',
    unit: 'events',
    usage: 'Events that may wait for the database. Further ones are lost there, counted and reported.',
  })
  @Min(1, positive)
  readonly auditDatabaseBufferSize: number = 10_000;

  @Flag({
    name: 'audit-database-max-event-size',
    type: 'int',
    unit: 'bytes',
    usage: 'The database gets longer events without their objects.',
  })
  @Min(1, positive)
  readonly auditDatabaseMaxEventSize: number = 100 * 1024;
}
