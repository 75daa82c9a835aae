import { isIP } from 'node:net';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { DnsMetrics } from '../dns-metrics.js';
import type { Forwarder, Transport } from '../forward/forwarder.js';
import { TooManyQueries } from '../forward/too-many-queries.js';
import { clusterAnswer, type ZoneSettings } from '../records/cluster-answer.js';
import type { ClusterNames } from '../records/cluster-names.js';
import {
  type Answer,
  answerOf,
  encodeAnswer,
  mostBytes,
  type NameRecord,
  ownUdpBytes,
  plainBytes,
} from '../wire/answer.js';
import { codeName, internetClass, type ResponseCode, responseCodes, typeName } from '../wire/codes.js';
import { headerBytes, type Query, readQuery } from '../wire/query.js';
import { type ForeignAnswer, foreignQuery, isTruncated, noForeignAnswer, readForeignAnswer } from './foreign-answer.js';

export interface QueryHandlerDependencies {
  readonly names: ClusterNames;
  /** Whether the objects of the API have been read. */
  readonly isReady: () => boolean;
  readonly zone: ZoneSettings;
  readonly forwarder: Forwarder;
  readonly metrics: DnsMetrics;
  readonly timers: Timers;
  readonly random: () => number;
  readonly logger: Logger;
}

/** The sender of a query. */
export interface QuerySource {
  readonly client: string;
  readonly transport: Transport;
  /** The listener of the query as metrics name it: `dns://:53`. */
  readonly server: string;
}

interface Answered {
  readonly message: Buffer;
  readonly code: number;
  readonly zone: string;
  readonly plugin: string;
}

/** A record of an IPv4 address, whose name is a reference. */
const leastRecordBytes = 16;
/** The longest chain of aliases. */
const mostAliases = 8;
const zoneTransfers: readonly number[] = [251, 252];
const seconds = 1000;
/** At most one fault is logged in this time; metrics count all of them. */
const reportMs = 10_000;

/** Answers queries of both protocols. */
export class QueryHandler {
  private readonly bootedAt: number;
  private nextReport = Number.NEGATIVE_INFINITY;

  constructor(private readonly dependencies: QueryHandlerDependencies) {
    this.bootedAt = Math.floor(dependencies.timers.now() / seconds);
  }

  /**
   * The answer to a message; undefined if it deserves none. At once for names of the cluster and kept answers, later
   * for names that are queried from other servers. Never throws.
   */
  handle(message: Buffer, source: QuerySource): Buffer | undefined | Promise<Buffer | undefined> {
    const { metrics, timers } = this.dependencies;
    const query = readQuery(message);
    if (query === 'drop') {
      metrics.dropped.inc({ reason: 'no-query' });
      return undefined;
    }
    if (query === 'malformed') return this.malformed(message);
    const began = timers.elapsed();
    const done = (answered: Answered): Buffer => {
      this.record(query, message, source, answered, timers.elapsed() - began);
      return answered.message;
    };
    try {
      const answered = this.answer(query, message, source);
      return answered instanceof Promise
        ? answered.catch((error: unknown) => this.fault(query, source, error)).then(done)
        : done(answered);
    } catch (error) {
      return done(this.fault(query, source, error));
    }
  }

  private answer(query: Query, message: Buffer, source: QuerySource): Answered | Promise<Answered> {
    const refusal = refusalOf(query);
    if (refusal !== undefined) return this.own(query, source, answerOf(refusal), '.');
    const { names, zone, isReady } = this.dependencies;
    const found = clusterAnswer(query, names, zone, this.serial);
    if (found.kind === 'elsewhere') return this.forward(query, message, source);
    // Before all names are known, no client may learn that a name does not exist.
    if (!isReady()) return this.own(query, source, answerOf('SERVFAIL'), zone.domain);
    if (found.kind === 'answer')
      return this.own(query, source, this.mixed(found.answer, limitOf(query, source.transport)), zone.domain);
    return this.follow(query, found.alias, found.target, source).then((answer) =>
      this.own(query, source, answer, zone.domain),
    );
  }

  /** Changes with every change of names. */
  private get serial(): number {
    return (this.bootedAt + this.dependencies.names.version) % 2 ** 32;
  }

  private async forward(query: Query, message: Buffer, source: QuerySource): Promise<Answered> {
    const { forwarder } = this.dependencies;
    const { transport, client } = source;
    const kept = forwarder.kept(query, transport);
    try {
      const answer = kept ?? (await forwarder.forward(query, message, client, transport));
      const plugin = kept === undefined ? 'forward' : 'cache';
      // Nobody may make this server send others more than they asked for.
      if (answer.length > limitOf(query, transport)) return this.shortened(query, answer, plugin);
      return { message: answer, code: answer.readUInt16BE(2) & 15, zone: '.', plugin };
    } catch (error) {
      const code = error instanceof TooManyQueries ? 'REFUSED' : 'SERVFAIL';
      this.dependencies.logger.debug('a query could not be passed on', { error: errorText(error) });
      return this.own(query, source, answerOf(code), '.', 'forward');
    }
  }

  /** An answer of another server without its records: the client asks again over TCP. */
  private shortened(query: Query, answer: Buffer, plugin: string): Answered {
    const message = Buffer.concat([answer.subarray(0, headerBytes), query.question]);
    message.writeUInt16BE(message.readUInt16BE(2) | 0x0200, 2);
    for (const [index, count] of [1, 0, 0, 0].entries()) message.writeUInt16BE(count, 4 + 2 * index);
    return { message, code: answer.readUInt16BE(2) & 15, zone: '.', plugin };
  }

  /** The records of an alias's target, in the cluster or elsewhere. */
  private async follow(query: Query, alias: NameRecord, target: string, source: QuerySource): Promise<Answer> {
    const { names, zone } = this.dependencies;
    const answers: NameRecord[] = [alias];
    const passed = new Set([alias.name]);
    let next = target;
    for (let count = 0; count < mostAliases && !passed.has(next); count++) {
      passed.add(next);
      const labels = next.split('.');
      const found = clusterAnswer({ labels, type: query.type }, names, zone, this.serial);
      if (found.kind === 'answer') {
        const { answer } = found;
        return { ...answer, answers: [...answers, ...answer.answers] };
      }
      if (found.kind === 'elsewhere') {
        const { code, ...found } = await this.foreignTarget(next, query.type, source);
        // The alias itself is right, even if its target can't be resolved.
        return answerOf(code, { ...found, isAuthoritative: true, answers: [...answers, ...found.answers] });
      }
      answers.push(found.alias);
      next = found.target;
    }
    return answerOf('SERVFAIL', { isAuthoritative: true, answers });
  }

  /** The responses of other servers about the target of an alias. */
  private async foreignTarget(name: string, type: number, { client }: QuerySource): Promise<ForeignAnswer> {
    const { forwarder } = this.dependencies;
    const message = foreignQuery(name, type);
    const query = readQuery(message);
    if (typeof query === 'string') return noForeignAnswer;
    for (const transport of ['udp', 'tcp'] as const) {
      const reply =
        forwarder.kept(query, transport) ??
        (await forwarder.forward(query, message, client, transport).catch(() => undefined));
      if (reply === undefined) break;
      if (transport === 'tcp' || !isTruncated(reply)) return readForeignAnswer(reply, type);
    }
    return noForeignAnswer;
  }

  /**
   * Puts addresses into random order, so that clients which take the first one use all of them: as many as fit into the
   * message, taken from all.
   */
  private mixed(answer: Answer, limit: number): Answer {
    const { answers } = answer;
    if (answers.length < 2) return answer;
    const mixed = [...answers];
    const most = Math.min(mixed.length - 1, Math.ceil(limit / leastRecordBytes));
    for (let at = 0; at < most; at++) {
      const other = at + Math.floor(this.dependencies.random() * (mixed.length - at));
      [mixed[at], mixed[other]] = [mixed[other] as NameRecord, mixed[at] as NameRecord];
    }
    return { ...answer, answers: mixed };
  }

  private own(query: Query, { transport }: QuerySource, answer: Answer, zone: string, plugin = 'kubernetes'): Answered {
    const message = encodeAnswer(query, answer, limitOf(query, transport));
    return { message, code: responseCodes[answer.code], zone: zone === '.' ? zone : `${zone}.`, plugin };
  }

  private fault(query: Query, source: QuerySource, error: unknown): Answered {
    const { metrics, logger, timers } = this.dependencies;
    metrics.panics.inc();
    // A client may ask for the same name thousands of times a second.
    const now = timers.elapsed();
    if (now >= this.nextReport) {
      this.nextReport = now + reportMs;
      logger.error('a query could not be answered', { name: query.labels.join('.'), error: errorText(error) });
    }
    return this.own(query, source, answerOf('SERVFAIL'), '.');
  }

  private malformed(message: Buffer): Buffer {
    const header = Buffer.alloc(12);
    message.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8000 | (message.readUInt16BE(2) & 0x7900) | responseCodes.FORMERR, 2);
    this.dependencies.metrics.dropped.inc({ reason: 'malformed' });
    return header;
  }

  private record(query: Query, asked: Buffer, source: QuerySource, answered: Answered, tookMs: number): void {
    const { metrics } = this.dependencies;
    const { server, transport: proto, client } = source;
    const { zone, plugin, code, message } = answered;
    const family = isIP(client) === 6 ? '2' : '1';
    metrics.requests.inc({ server, zone, proto, family, type: typeName(query.type) });
    metrics.responses.inc({ server, zone, rcode: codeName(code), plugin });
    metrics.requestSeconds.observe({ server, zone }, tookMs / seconds);
    metrics.requestBytes.observe({ server, zone, proto }, asked.length);
    metrics.responseBytes.observe({ server, zone, proto }, message.length);
  }
}

/** Why a query is not answered; undefined if it may be. */
function refusalOf({ operation, extensions, recordClass, type }: Query): ResponseCode | undefined {
  if (operation !== 0) return 'NOTIMP';
  if (extensions !== undefined && extensions.version !== 0) return 'BADVERS';
  if (recordClass !== internetClass || zoneTransfers.includes(type)) return 'REFUSED';
  return undefined;
}

/** The longest message that a client accepts. */
function limitOf({ extensions }: Query, transport: Transport): number {
  if (transport === 'tcp') return mostBytes;
  return Math.min(ownUdpBytes, Math.max(plainBytes, extensions?.size ?? plainBytes));
}
