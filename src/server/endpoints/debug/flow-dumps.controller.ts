import { Controller, Get, Inject, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageNotFoundError } from '../../../base/machinery/status-error.js';
import type { FlowPage } from '../../../base/observability/flow-table.js';
import { Metrics } from '../../../base/observability/metrics.js';
import { FLOW_CONTROL, type FlowControl } from '../../flow-control/flow-control.js';
import { flowTable, formatTable } from '../../flow-control/flow-dumps.js';
import { ExactPathGuard } from '../exact-path.guard.js';
import { sendText } from '../negotiation/respond.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';

/**
 * The current state of flow control, for operators: of this process, or of all workers of the server, whichever of them
 * received the request. The pages are empty when flow control is off.
 */
@Controller('debug/api_priority_and_fairness')
@UseGuards(ExactPathGuard)
export class FlowDumpsController {
  constructor(
    @Inject(FLOW_CONTROL) private readonly control: FlowControl | undefined,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @Get('dump_priority_levels')
  levels(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.send(request, reply, 'levels');
  }

  @Get('dump_queues')
  queues(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.send(request, reply, 'queues');
  }

  @Get('dump_requests')
  requests(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const asked = request.plinthContext?.query.get('includeRequestDetails') ?? '';
    const withDetails = asked !== '' && asked !== '0' && asked !== 'false';
    return this.send(request, reply, withDetails ? 'details' : 'requests');
  }

  private async send(request: FastifyRequest, reply: FastifyReply, page: FlowPage): Promise<void> {
    const { control, metrics } = this;
    if (control === undefined) throw pageNotFoundError();
    const table = (await metrics.worker?.gatherFlows(page)) ?? flowTable(page, control.levels());
    reply.header('x-content-type-options', 'nosniff');
    const context = request.plinthContext as HttpRequestContext;
    sendText({ context, reply }, 200, 'text/plain; charset=utf-8', formatTable(table));
  }
}
