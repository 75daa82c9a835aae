import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendText } from '../endpoints/negotiation/respond.js';
import type { HttpRequestContext } from '../endpoints/request-info/http-request-context.js';
import { unknownPathError } from '../machinery/status-error.js';
import { FLOW_CONTROL, type FlowControl } from './flow-control.js';
import { dumpLevels, dumpQueues, dumpRequests } from './flow-dumps.js';

/** What flow control does in this process at the moment, for operators. There is nothing to see when it is off. */
@Controller('debug/api_priority_and_fairness')
export class FlowDumpsController {
  constructor(@Inject(FLOW_CONTROL) private readonly control: FlowControl | undefined) {}

  @Get('dump_priority_levels')
  levels(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.send(request, reply, (control) => dumpLevels(control.levels()));
  }

  @Get('dump_queues')
  queues(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.send(request, reply, (control) => dumpQueues(control.levels()));
  }

  @Get('dump_requests')
  requests(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const asked = request.plinthContext?.query.get('includeRequestDetails') ?? '';
    const withDetails = asked !== '' && asked !== '0' && asked !== 'false';
    this.send(request, reply, (control) => dumpRequests(control.levels(), withDetails));
  }

  private send(request: FastifyRequest, reply: FastifyReply, dump: (control: FlowControl) => string): void {
    const { control } = this;
    if (control === undefined) throw unknownPathError();
    reply.header('x-content-type-options', 'nosniff');
    const context = request.plinthContext as HttpRequestContext;
    sendText({ context, reply }, 200, 'text/plain; charset=utf-8', dump(control));
  }
}
