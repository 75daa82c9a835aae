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
}

/** Maximum length of the parameter in characters: it is a version, a duration or a time. */
const longestMoment = 100;

/** Finds the version that was the newest at a given time. Clients use it for lists at that exact version. */
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
    const answer = { resourceVersion: `${version}`, oldest: `${oldest}`, newest: `${newest}` };
    // The request may have timed out and got its response already.
    if (reply.sent) return;
    sendText({ context, reply }, 200, 'application/json', `${JSON.stringify(answer)}\n`);
  }
}
