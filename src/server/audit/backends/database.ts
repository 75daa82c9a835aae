import { Backoff } from '../../../base/machinery/backoff.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { OutageLog, type OutageLogger } from '../../../base/observability/outage-log.js';
import { type AuditStore, isPassing } from '../../../storage/postgres/audit-store.js';
import { type AuditEvent, microTime } from '../audit-event.js';
import type { Deliver } from './batch.backend.js';
import type { Losses } from './losses.js';

const firstRetryMs = 500;
const longestRetryMs = 15_000;
const upkeepMs = 3_600_000;
/** Delay after a failure; short, because tomorrow's partition may be missing. */
const failedUpkeepMs = 60_000;

/**
 * Writes events into the database. While the database is unavailable, the batch waits and the buffer fills. When the
 * database refuses a batch, its events are written one by one, so that one that can't be stored does not affect the
 * others.
 *
 * An event may be stored twice when the connection broke before the database confirmed it; both copies have the same
 * `audit_id` and `stage`.
 */
export function databaseDelivery(
  store: Pick<AuditStore, 'insert'>,
  losses: Pick<Losses, 'dropped'>,
  logger: OutageLogger,
  timers: Pick<Timers, 'wait'>,
): Deliver {
  const outage = new OutageLog(logger, {
    failed: 'audit events wait for the database',
    recovered: 'audit events are written to the database again',
  });
  const deliver: Deliver = async (events, signal) => {
    const rows = `[${events.map(rowOf).join(',')}]`;
    const times = events.map(({ info }) => info.at);
    const days = [new Date(Math.min(...times)), new Date(Math.max(...times))] as const;
    const backoff = new Backoff({ firstMs: firstRetryMs, longestMs: longestRetryMs });
    for (;;) {
      signal.throwIfAborted();
      try {
        await store.insert(rows, days);
        outage.worked();
        return 0;
      } catch (error) {
        signal.throwIfAborted();
        if (!isPassing(error)) return refused(events, error, signal);
        outage.failed({ error });
      }
      await timers.wait(backoff.next(), signal);
    }
  };
  const refused = async (events: readonly AuditEvent[], error: unknown, signal: AbortSignal): Promise<number> => {
    if (events.length === 1) throw error;
    let lost = 0;
    for (const event of events) {
      await deliver([event], signal).catch((reason: unknown) => {
        lost++;
        losses.dropped('failure', 1, reason);
      });
    }
    return lost;
  };
  return deliver;
}

/** Creates partitions ahead of time and drops old ones, until the signal is aborted. */
export async function keepAuditPartitions(
  store: Pick<AuditStore, 'keep'>,
  retentionMs: number,
  logger: OutageLogger,
  timers: Timers,
  signal: AbortSignal,
): Promise<void> {
  const outage = new OutageLog(logger, {
    failed: 'the partitions of the audit trail could not be looked after',
    recovered: 'the partitions of the audit trail are looked after again',
  });
  while (!signal.aborted) {
    let pauseMs = upkeepMs;
    try {
      const dropped = await store.keep(timers.now(), retentionMs);
      if (dropped > 0) logger.info('old audit events were dropped', { days: dropped });
      outage.worked();
    } catch (error) {
      if (signal.aborted) return;
      outage.failed({ error });
      pauseMs = failedUpkeepMs;
    }
    await timers.wait(pauseMs, signal);
  }
}

/** An event as a row of the table, as JSON. */
function rowOf(event: AuditEvent): string {
  const { info } = event;
  const { user, impersonatedUser, requestInfo, response } = info;
  const isResource = requestInfo.isResourceRequest;
  const row = JSON.stringify({
    at: microTime(info.at),
    received_at: microTime(info.receivedAt),
    audit_id: info.auditID,
    level: info.level,
    stage: info.stage,
    verb: shown(requestInfo.verb),
    request_uri: shown(info.requestURI),
    code: response?.code,
    reason: response === undefined || response.reason === '' ? undefined : response.reason,
    username: user && shown(user.name),
    user_uid: user && shown(user.uid),
    groups: user?.groups.map(shown),
    impersonated_user: impersonatedUser && shown(impersonatedUser.name),
    impersonated_groups: impersonatedUser?.groups.map(shown),
    source_ips: info.sourceIPs,
    user_agent: shown(info.userAgent),
    ...(isResource
      ? {
          api_group: requestInfo.apiGroup,
          api_version: requestInfo.apiVersion,
          resource: shown(requestInfo.resource),
          subresource: shown(requestInfo.subresource),
          namespace: shown(info.namespace),
          name: shown(info.name),
        }
      : {}),
    annotations: Object.fromEntries(info.annotations.map(([key, value]) => [shown(key), shown(value)])),
    resource_versions: info.written.map(String),
  });
  return `${row.slice(0, -1)},"event":${event.document}}`;
}

/** The string in a form that the database can store: without NUL characters and unpaired surrogates. */
function shown(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
