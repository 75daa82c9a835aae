import { randomInt } from 'node:crypto';
import type { Timers } from '../../../base/machinery/timers.js';
import type { DnsMetrics } from '../dns-metrics.js';
import { codeName } from '../wire/codes.js';
import { headerBytes, type Query } from '../wire/query.js';
import { AnswerCache } from './answer-cache.js';
import { askOverTcp, askOverUdp, type UpstreamServer } from './exchange.js';
import { TooManyQueries } from './too-many-queries.js';

export type Transport = 'udp' | 'tcp';

export interface ForwarderOptions {
  readonly upstreams: readonly UpstreamServer[];
  /** The longest time that responses are cached; 0: not at all. */
  readonly cacheMs: number;
  /** The most queries under way at the same time. */
  readonly mostAtOnce: number;
  /** The most of them for one client. */
  readonly mostOfClient: number;
}

export interface ForwarderDependencies {
  readonly options: ForwarderOptions;
  readonly metrics: DnsMetrics;
  readonly timers: Timers;
  readonly random: () => number;
}

const attemptMs = 2_000;
const attempts = 3;
/** How long a server that failed is queried after all others. */
const avoidMs = 5_000;
const cacheEntries = 10_000;
const cacheBytesEach = 4_096;

/** Forwards queries to other name servers, and caches their responses. */
export class Forwarder {
  private readonly cache: AnswerCache;
  private readonly underWay = new Map<string, Promise<Buffer>>();
  private readonly clients = new Map<string, number>();
  private readonly failedAt = new Map<UpstreamServer, number>();
  private readonly stopping = new AbortController();
  private count = 0;

  constructor(private readonly dependencies: ForwarderDependencies) {
    const { options, timers, metrics } = dependencies;
    this.cache = new AnswerCache({
      longestMs: options.cacheMs,
      mostEntries: cacheEntries,
      mostBytesEach: cacheBytesEach,
      elapsed: () => timers.elapsed(),
    });
    metrics.cacheSize = (kind) => this.cache.size(kind);
  }

  /** A cached response to this query. */
  kept(query: Query, transport: Transport): Buffer | undefined {
    if (!query.isPlain) return undefined;
    const found = this.cache.get(keyOf(query, transport));
    const { metrics } = this.dependencies;
    if (found === undefined) metrics.cacheMisses.inc();
    else metrics.cacheHits.inc({ type: found.kind });
    return found && forQuery(found.message, query);
  }

  /**
   * Forwards a query to one server, chosen at random, and to others if it fails. Equal queries under way share an answer, except
   * those with more in them, for which a server may have another answer, or none.
   *
   * @param message the query as it arrived
   * @param client address of the client
   * @throws TooManyQueries, or Error when no server answers
   */
  async forward(query: Query, message: Buffer, client: string, transport: Transport): Promise<Buffer> {
    const { options, metrics } = this.dependencies;
    const key = query.isPlain ? keyOf(query, transport) : undefined;
    const same = key === undefined ? undefined : this.underWay.get(key);
    const own = this.clients.get(client) ?? 0;
    if (own >= options.mostOfClient || (same === undefined && this.count >= options.mostAtOnce)) {
      metrics.forwardRejects.inc();
      throw new TooManyQueries('too many queries are under way');
    }
    this.clients.set(client, own + 1);
    try {
      return forQuery(Buffer.from(await (same ?? this.begin(key, message, transport))), query);
    } finally {
      const left = (this.clients.get(client) ?? 1) - 1;
      if (left === 0) this.clients.delete(client);
      else this.clients.set(client, left);
    }
  }

  /** Fails the queries that are under way. */
  stop(): void {
    this.stopping.abort();
  }

  private begin(key: string | undefined, message: Buffer, transport: Transport): Promise<Buffer> {
    this.count += 1;
    const work = this.ask(message, transport)
      .then((answer) => {
        if (key !== undefined) this.cache.set(key, answer);
        return answer;
      })
      .finally(() => {
        this.count -= 1;
        if (key !== undefined) this.underWay.delete(key);
      });
    if (key !== undefined) this.underWay.set(key, work);
    return work;
  }

  private async ask(message: Buffer, transport: Transport): Promise<Buffer> {
    let failure: unknown = new Error('there are no servers to ask');
    for (const upstream of this.inTurn().slice(0, attempts)) {
      try {
        return await this.askOne(message, upstream, transport);
      } catch (error) {
        if (this.stopping.signal.aborted) throw error;
        this.failedAt.set(upstream, this.dependencies.timers.elapsed());
        failure = error;
      }
    }
    throw failure;
  }

  private async askOne(message: Buffer, upstream: UpstreamServer, transport: Transport): Promise<Buffer> {
    const { metrics, timers } = this.dependencies;
    const query = Buffer.from(message);
    query.writeUInt16BE(randomInt(65_536), 0);
    const began = timers.elapsed();
    const to = `${upstream.address}:${upstream.port}`;
    metrics.forwardRequests.inc({ to });
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(attemptMs)]);
    const answer = await (transport === 'udp' ? askOverUdp : askOverTcp)(query, upstream, signal);
    const rcode = codeName(answer.readUInt16BE(2) & 15);
    metrics.forwardResponses.inc({ to, rcode });
    metrics.forwardSeconds.observe({ to, rcode }, (timers.elapsed() - began) / 1000);
    return answer;
  }

  /** The servers in random order, those that failed lately last. A single server is queried twice. */
  private inTurn(): readonly UpstreamServer[] {
    const { options, timers, random } = this.dependencies;
    const now = timers.elapsed();
    const isBad = (upstream: UpstreamServer) =>
      now - (this.failedAt.get(upstream) ?? Number.NEGATIVE_INFINITY) < avoidMs;
    const mixed = options.upstreams.map((upstream) => ({ upstream, order: random() + (isBad(upstream) ? 1 : 0) }));
    const ordered = mixed.sort((one, other) => one.order - other.order).map(({ upstream }) => upstream);
    return ordered.length === 1 ? [...ordered, ...ordered] : ordered;
  }
}

/** Queries with the same key get the same response. The key has the bytes of the name, as labels may contain dots. */
function keyOf({ question, flags, extensions }: Query, transport: Transport): string {
  const how = extensions === undefined ? '' : `${extensions.size} ${extensions.wantsSignatures}`;
  return `${transport} ${flags & 0x0110} ${how} ${question.toString('latin1').toLowerCase()}`;
}

/** A response with the id of the query and the spelling of its question. */
function forQuery(message: Buffer, { id, question }: Query): Buffer {
  message.writeUInt16BE(id, 0);
  if (message.readUInt16BE(4) === 1 && message.length >= headerBytes + question.length)
    question.copy(message, headerBytes);
  return message;
}
