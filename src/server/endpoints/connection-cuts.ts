import { Counter, type Registry } from 'prom-client';
import type { Logger } from '../../base/observability/logger.js';

/** Why the server closed a connection, or ended one stream of it, without an answer or before its end. */
export const cutReasons = [
  // The address has too many connections.
  'address-limit',
  // The TLS handshake took too long.
  'handshake',
  // What follows an answer that has begun is not HTTP, or never came.
  'broken-request',
  // The client kept sending a body after it was refused.
  'unwanted-body',
  // The client did not read an answer in time, or too much for all clients together was left unread.
  'unread-answer',
  'unread-answers',
  // The work on a request failed after its answer had begun.
  'broken-answer',
  // An HTTP/2 client sent too many heads with too many fields.
  'refused-heads',
  // An HTTP/2 client sent more fields at once than all its streams together need.
  'crowded-heads',
  // An HTTP/2 session ended, and its client kept the connection.
  'ended-session',
  // The server stopped while a request was under way.
  'shutdown',
] as const;
export type CutReason = (typeof cutReasons)[number];

/** Receives why a connection is closed, and what helps to find its client. */
export type NoteCut = (reason: CutReason, fields?: Readonly<Record<string, unknown>>) => void;

/** Lines about one reason come at most this often, in milliseconds. */
const lineMs = 10_000;

/**
 * Counts and logs the connections that the server closes of its own accord, since their clients learn no reason. There
 * may be very many: only the first of a reason in ten seconds has a line, with the number of those before without one.
 */
export class ConnectionCuts {
  private readonly total: Counter<'reason'>;
  private readonly lines = new Map<CutReason, { at: number; silent: number }>();

  constructor(
    registry: Registry,
    private readonly logger: Pick<Logger, 'info'>,
    private readonly elapsed: () => number = () => performance.now(),
  ) {
    this.total = new Counter({
      name: 'plinth_connections_cut_total',
      help: 'Connections, or streams of HTTP/2, that the server closed without an answer or before its end.',
      labelNames: ['reason'],
      registers: [registry],
    });
    for (const reason of cutReasons) this.total.inc({ reason }, 0);
  }

  readonly note: NoteCut = (reason, fields = {}) => {
    this.total.inc({ reason });
    const now = this.elapsed();
    const line = this.lines.get(reason);
    if (line !== undefined && now - line.at < lineMs) {
      line.silent++;
      return;
    }
    this.lines.set(reason, { at: now, silent: 0 });
    const silent = line?.silent ?? 0;
    this.logger.info('a connection was cut', { reason, ...fields, ...(silent === 0 ? {} : { moreBefore: silent }) });
  };
}
