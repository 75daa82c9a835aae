import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { badRequestError } from '../../../base/machinery/status-error.js';
import { sendText } from '../negotiation/respond.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';

/** Injection token of the {@link Past}. */
export const PAST = Symbol('Past');

/** Finds past versions. */
export interface Past {
  /**
   * The version that was the newest at a moment, with the oldest and newest readable versions; or why it can't be
   * found.
   */
  versionAt(
    moment: string,
  ): Promise<
    { readonly version: bigint; readonly oldest: bigint; readonly newest: bigint } | { readonly problem: string }
  >;
  /** When versions were the newest, from the oldest readable change to now; see `PostgresStorage.versionTimes`. */
  versionTimes(
    sinceMs: number | undefined,
    most: number,
  ): Promise<readonly { readonly timeMs: number; readonly version: bigint }[]>;
}

/** Maximum length of the parameter in characters: it is a version, a duration or a time. */
const longestMoment = 100;
/** How many moments are reported: enough for a line of a screen's width. */
const mostTimes = 240;
/** RFC 3339, whose times are the same for every reader. */
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Finds versions of the past. Clients use them for lists at an exact version, which need the right to list.
 *
 * - `/history/version?at=`: the version that was the newest at a given time
 * - `/history/times[?since=]`: how far the past reaches back, and how versions rose since
 */
@Controller('history')
export class HistoryController {
  constructor(@Inject(PAST) private readonly past: Past) {}

  @Get('version')
  async version(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const context = request.plinthContext as HttpRequestContext;
    const moment = context.query.get('at') ?? '';
    if (moment === '' || moment.length > longestMoment || moment.includes('\0')) {
      throw badRequestError('at: must be a version, a time such as 2026-02-03T14:30:00Z, or a span such as 2h-ago');
    }
    const found = await this.past.versionAt(moment);
    if ('problem' in found) throw badRequestError(`at: ${found.problem}`);
    const { version, oldest, newest } = found;
    send(context, reply, { resourceVersion: `${version}`, oldest: `${oldest}`, newest: `${newest}` });
  }

  @Get('times')
  async times(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const context = request.plinthContext as HttpRequestContext;
    const since = context.query.get('since') ?? '';
    const sinceMs = since === '' ? undefined : Date.parse(since);
    if (sinceMs !== undefined && (!timeForm.test(since) || !Number.isFinite(sinceMs))) {
      throw badRequestError('since: must be a time such as 2026-02-03T14:30:00Z');
    }
    const times = await this.past.versionTimes(sinceMs, mostTimes);
    send(context, reply, {
      times: times.map(({ timeMs, version }) => ({
        time: new Date(timeMs).toISOString(),
        resourceVersion: `${version}`,
      })),
    });
  }
}

function send(context: HttpRequestContext, reply: FastifyReply, answer: object): void {
  // The request may have timed out and got its response already.
  if (reply.sent) return;
  sendText({ context, reply }, 200, 'application/json', `${JSON.stringify(answer)}\n`);
}
