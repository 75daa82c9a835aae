import { All, Controller, Get, Inject, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageNotFoundError } from '../../../base/machinery/status-error.js';
import { Logger } from '../../../base/observability/logger.js';
import type { MetricsPage } from '../../../base/observability/metrics.js';
import { EndpointServices } from '../endpoint-services.js';
import { ExactPathGuard } from '../exact-path.guard.js';
import { parseAccept } from '../negotiation/accept.js';
import { sendBytes, sendText } from '../negotiation/respond.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';
import {
  findCheck,
  type HealthCheck,
  type HealthOutcome,
  type HealthPath,
  isPassed,
  runCheck,
  runChecks,
  shownReport,
} from './health-checks.js';
import { HealthLog } from './health-log.js';

export const HEALTH_CHECKS = Symbol('HealthChecks');

const plainText = 'text/plain; charset=utf-8';
const metricFamily = 'io.prometheus.client.MetricFamily';
const metricsProtobuf = `application/vnd.google.protobuf; proto=${metricFamily}; encoding=delimited; escaping=underscores`;

/** Health endpoints and metrics (specification 4.10). Machines read the status code, people the body. */
@Controller()
@UseGuards(ExactPathGuard)
export class HealthController {
  private readonly log: HealthLog;

  constructor(
    @Inject(EndpointServices) private readonly services: EndpointServices,
    @Inject(HEALTH_CHECKS) private readonly checks: readonly HealthCheck[],
    @Inject(Logger) logger: Logger,
  ) {
    this.log = new HealthLog(logger);
  }

  @All('healthz')
  healthz(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer('healthz', request, reply);
  }

  @All('livez')
  livez(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer('livez', request, reply);
  }

  @All('readyz')
  readyz(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer('readyz', request, reply);
  }

  @All(['healthz/*', 'livez/*', 'readyz/*'])
  async one(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const context = request.plinthContext as HttpRequestContext;
    const [, path, ...rest] = context.requestInfo.path.split('/');
    // Names may contain slashes.
    const name = rest.join('/');
    const check = findCheck(this.checks, path ?? '', name);
    if (check === undefined) throw pageNotFoundError();
    const outcome = await runCheck(check);
    this.note(outcome, path as HealthPath);
    if (isPassed(outcome)) sendText({ context, reply }, 200, plainText, 'ok');
    else sendText({ context, reply }, 500, plainText, `internal server error: ${check.name} failed\n`);
  }

  @Get('metrics')
  async metrics(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.sendMetrics('all', request, reply);
  }

  @Get('metrics/slis')
  async slis(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.sendMetrics('slis', request, reply);
  }

  private async sendMetrics(page: MetricsPage, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const to = { context: request.plinthContext as HttpRequestContext, reply };
    if (wantsProtobuf(request.headers.accept)) {
      sendBytes(to, 200, metricsProtobuf, await this.services.metrics.scrapeProtobuf(page));
      return;
    }
    const { contentType, text } = await this.services.metrics.scrape(page);
    sendText(to, 200, contentType, text);
  }

  private note(outcome: HealthOutcome, path: HealthPath): void {
    this.log.note(outcome);
    this.services.metrics.health.checked(outcome.name, path, isPassed(outcome));
  }

  private async answer(path: HealthPath, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const context = request.plinthContext as HttpRequestContext;
    const report = await runChecks(path, this.checks, context.query.getAll('exclude'));
    for (const outcome of report.outcomes) this.note(outcome, path);
    reply.header('x-content-type-options', 'nosniff');
    sendText({ context, reply }, report.healthy ? 200 : 500, plainText, shownReport(report, context.query));
  }
}

/** Whether a scraper wants messages rather than text. Everybody else gets text, whatever they ask for. */
function wantsProtobuf(accept = ''): boolean {
  for (const { type, parameters, quality } of parseAccept(accept)) {
    if (quality <= 0) continue;
    if (type === 'text/plain') return false;
    const isFamily = type === 'application/vnd.google.protobuf' && parameters.get('proto') === metricFamily;
    if (isFamily && parameters.get('encoding') === 'delimited') return true;
  }
  return false;
}
