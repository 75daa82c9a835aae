import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { whenClosed } from '../../base/machinery/when-closed.js';
import type { Logger } from '../../base/observability/logger.js';
import { refusedText } from './forward.js';
import { refuse } from './refuse.js';
import { RefusedLogin } from './refused-login.js';
import type { ConsoleSession } from './sessions.js';
import { sqlAnswerText } from './sql-answer-text.js';
import { SqlBusy } from './sql-busy.js';
import { SqlError } from './sql-error.js';
import { type SqlQuestion, type SqlReader, timelineQuery } from './sql-reader.js';
import { UnderWay } from './under-way.js';
import type { Upstream } from './upstream.js';
import { UpstreamError } from './upstream-error.js';

/** The path that stands for SQL in RBAC rules: `nonResourceURLs: ["/sql"]`, verb `get`. */
const rulePath = '/sql';
const askMs = 10_000;
const mostText = 64 * 1024;
/** Queries under way of one user and of all, from the request to the end of the response, which may have 8 MiB. */
const limits = { ofOne: 12, ofAll: 60 } as const;
/** How long a client may take to read a response, in milliseconds. */
const readMs = 60_000;

/** SQL queries, for users whose role allows them. */
export class SqlRoutes {
  private readonly underWay = new UnderWay(limits);

  constructor(
    /** The cluster whose database it is. */
    private readonly upstream: Upstream,
    private readonly reader: SqlReader | undefined,
    private readonly logger: Logger,
    /** Ends a session whose credentials the API server no longer accepts. */
    private readonly isOver: (session: ConsoleSession) => Promise<boolean>,
  ) {}

  /** Whether the API server lets the user of the session read `/sql`. Checked each time: rights change. */
  async mayAsk(session: ConsoleSession): Promise<boolean> {
    if (this.reader === undefined || session.upstream !== this.upstream) return false;
    try {
      return await this.upstream.mayRead(
        session,
        rulePath,
        AbortSignal.any([session.ended.signal, AbortSignal.timeout(askMs)]),
      );
    } catch (error) {
      if (error instanceof RefusedLogin) await this.isOver(session);
      else if (!(error instanceof UpstreamError || session.ended.signal.aborted)) throw error;
      return false;
    }
  }

  addTo(app: FastifyInstance, sessionOf: (request: FastifyRequest) => Promise<ConsoleSession | undefined>): void {
    app.post('/console/sql', async (request, reply) => {
      const { sql, plan } = (request.body ?? {}) as { sql?: unknown; plan?: unknown };
      if (typeof sql !== 'string' || sql.trim() === '') return refuse(reply, 400, 'sql must be a text');
      if (plan !== undefined && typeof plan !== 'boolean') return refuse(reply, 400, 'plan must be true or false');
      return this.answer(await sessionOf(request), reply, { text: sql, isPlan: plan === true });
    });
    app.post('/console/timeline', async (request, reply) => {
      const { resource, namespace, name } = (request.body ?? {}) as Record<string, unknown>;
      const values = [resource, namespace, name];
      const isText = (value: unknown): value is string => typeof value === 'string';
      if (!values.every(isText)) return refuse(reply, 400, 'resource, namespace and name must be texts');
      return this.answer(await sessionOf(request), reply, { text: timelineQuery, values });
    });
  }

  private async answer(
    session: ConsoleSession | undefined,
    reply: FastifyReply,
    question: SqlQuestion,
  ): Promise<FastifyReply> {
    if (session === undefined) return refuse(reply, 401, 'log in first');
    if (this.reader === undefined || session.upstream !== this.upstream) {
      return refuse(reply, 404, 'this console has no database of this cluster: see --sql-url');
    }
    if (question.text.length > mostText) return refuse(reply, 413, 'the question is too long');
    // The request counts until its response has been read: the response stays in memory that long.
    const end = this.underWay.begin(session.share);
    if (end === undefined) return refuse(reply, 429, 'you have too many questions under way: try again later');
    const left = new AbortController();
    let patience: ReturnType<typeof setTimeout> | undefined;
    whenClosed(reply.raw, () => {
      clearTimeout(patience);
      left.abort();
      end();
    });
    if (!(await this.mayAsk(session))) {
      if (session.ended.signal.aborted) return refuse(reply, 401, refusedText);
      return refuse(reply, 403, `you may not ask in SQL: that needs the verb get on the non-resource URL ${rulePath}`);
    }
    try {
      this.logger.info('SQL query in the console', { user: session.user.name });
      const signal = AbortSignal.any([session.ended.signal, left.signal]);
      const answer = await this.reader.ask(session.share, question, signal);
      patience = setTimeout(() => reply.raw.destroy(), readMs);
      return reply
        .header('cache-control', 'no-store')
        .type('application/json; charset=utf-8')
        .send(Readable.from(sqlAnswerText(answer)));
    } catch (error) {
      if (error instanceof SqlBusy) return refuse(reply, 429, error.message);
      if (error instanceof SqlError) return refuse(reply, 422, error.message);
      throw error;
    }
  }
}
