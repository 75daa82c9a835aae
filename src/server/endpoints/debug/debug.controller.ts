import { All, Controller, Get, Inject, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';
import { DebuggingOptions } from '../../../base/config/debugging.options.js';
import { debugVerbosity, LoggingOptions } from '../../../base/config/logging.options.js';
import {
  badRequestError,
  methodNotAllowedError,
  pageNotFoundError,
  StatusError,
} from '../../../base/machinery/status-error.js';
import { Logger } from '../../../base/observability/logger.js';
import { Metrics } from '../../../base/observability/metrics.js';
import {
  activitiesPage,
  flagNamesPage,
  flagsFields,
  flagsPage,
  type ProcessInfo,
  profilesPage,
  statusFields,
  statusPage,
} from '../../../base/observability/process-pages.js';
import { ProfilerBusyError } from '../../../base/observability/profiler-busy-error.js';
import { isProfileKind, type ProfileKind, takeProfile } from '../../../base/observability/profiles.js';
import { STORAGE, type Storage } from '../../../storage/storage.interface.js';
import { EndpointServices } from '../endpoint-services.js';
import { ExactPathGuard } from '../exact-path.guard.js';
import { readBytes } from '../negotiation/read-body.js';
import { sendText } from '../negotiation/respond.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';
import { labelsOf } from '../request-info/request-labels.js';
import { isOldPage, pageForm } from './page-form.js';
import { PROCESS_INFO } from './process-info.module.js';

/**
 * Path prefix of requests that may take long: they have no time limit, and their durations do not count in the server's
 * latency.
 */
export const profilePrefix = '/debug/pprof/';
const plainText = 'text/plain; charset=utf-8';
const defaultSeconds: Readonly<Record<ProfileKind, number>> = { profile: 30, heap: 10, allocs: 10 };
/** Longest profile in seconds: a longer one would need too much memory. */
const mostSeconds = 300;

interface CacheState {
  readonly resource: string;
  readonly objects: number;
  readonly bytes: number;
  readonly watchers: number;
}

/**
 * Pages about this process for its operators: flags, state, profiles. Each requires permission for its path. With
 * several workers, a page shows the worker that received the request.
 */
@Controller()
export class DebugController {
  // Nest passes each dependency as a parameter; an object would need a factory with the same list.
  constructor(
    @Inject(PROCESS_INFO) private readonly info: ProcessInfo,
    @Inject(DebuggingOptions) private readonly debugging: DebuggingOptions,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(EndpointServices) private readonly services: EndpointServices,
    @Inject(LoggingOptions) private readonly logging: LoggingOptions,
    @Inject(Logger) private readonly logger: Logger,
  ) {}

  @Get('statusz')
  @UseGuards(ExactPathGuard)
  status(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!this.services.features.isOn('ComponentStatusz')) throw pageNotFoundError();
    this.sendKind(request, reply, 'Statusz', statusPage, statusFields);
  }

  @Get('flagz')
  @UseGuards(ExactPathGuard)
  flags(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!this.services.features.isOn('ComponentFlagz')) throw pageNotFoundError();
    this.sendKind(request, reply, 'Flagz', flagsPage, flagsFields);
  }

  /** The watch caches, the largest first: objects, estimated bytes, watchers. */
  @Get('debug/watch_cache')
  caches(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { statistics } = this.storage as { statistics?: () => Iterable<CacheState> };
    if (statistics === undefined) throw pageNotFoundError();
    const states = [...statistics.call(this.storage)].sort((a, b) => b.bytes - a.bytes);
    const rows = states.map(({ resource, objects, bytes, watchers }) =>
      [resource, objects, bytes, watchers].join('\t'),
    );
    this.sendPage(request, reply, `${['resource\tobjects\tbytes\twatchers', ...rows].join('\n')}\n`);
  }

  /** The flags that can be changed while the process runs. */
  @Get('debug/flags')
  changeable(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!this.debugging.profiling) throw pageNotFoundError();
    this.sendPage(request, reply, flagNamesPage, 'text/html; charset=utf-8');
  }

  /** Sets the verbosity of this process to the number in the body. */
  @All('debug/flags/v')
  async verbosity(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (!this.debugging.profiling) throw pageNotFoundError();
    const context = request.plinthContext as HttpRequestContext;
    const send = (code: number, text: string) => sendText({ context, reply }, code, 'text/plain', text);
    if (request.method !== 'PUT') return send(406, 'unsupported http method\n');
    const text = (await readBytes(request.raw, 64, context.seat)).toString();
    if (!/^\d{1,9}$/.test(text))
      return send(400, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax\n`);
    this.logger.setLevel(Number(text) >= debugVerbosity ? 'debug' : this.logging.logLevel);
    send(200, `successfully set klog.logging.verbosity to ${Number(text)}`);
  }

  @All(['debug/pprof', 'debug/pprof/*'])
  async profile(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (!this.debugging.profiling) throw pageNotFoundError();
    if (request.method !== 'GET') throw methodNotAllowedError();
    const context = request.plinthContext as HttpRequestContext;
    const kind = context.requestInfo.path.split('/')[3] ?? '';
    if (kind === '') return this.sendPage(request, reply, profilesPage, 'text/html; charset=utf-8');
    if (kind === 'goroutine') return this.sendPage(request, reply, activitiesPage());
    if (!isProfileKind(kind)) throw pageNotFoundError('Unknown profile\n');
    const profile = await this.take(kind, context);
    const ending = kind === 'profile' ? 'cpuprofile' : 'heapprofile';
    reply.header('content-disposition', `attachment; filename="plinth-${process.pid}.${ending}"`);
    sendText({ context, reply }, 200, 'application/json', profile);
  }

  private async take(kind: ProfileKind, context: HttpRequestContext): Promise<string> {
    const given = context.query.get('seconds');
    const seconds = given === null ? defaultSeconds[kind] : Number(given);
    if (!(seconds > 0 && seconds <= mostSeconds)) {
      throw badRequestError(`seconds must be above 0 and at most ${mostSeconds}`);
    }
    const ended = this.metrics.longRunningStarted(labelsOf(context, 'GET'));
    try {
      return await takeProfile(kind, seconds, context.signal);
    } catch (error) {
      if (!(error instanceof ProfilerBusyError)) throw error;
      throw new StatusError('TooManyRequests', error.message, { details: { retryAfterSeconds: 10 } });
    } finally {
      ended();
    }
  }

  /** Sends a page as text, or as an object of its kind if the client accepts that. */
  private sendKind(
    request: FastifyRequest,
    reply: FastifyReply,
    kind: string,
    page: (info: ProcessInfo) => string,
    fields: (info: ProcessInfo) => object,
  ): void {
    const group = `config.${this.services.names.suffix}`;
    const form = pageForm(request.headers.accept, group, kind);
    if (form.mediaType === 'text') {
      this.sendPage(request, reply, page(this.info));
      return;
    }
    const context = request.plinthContext as HttpRequestContext;
    if (isOldPage(form)) context.warnings.push(`${group}/${form.version} ${kind} is deprecated; use v1beta1`);
    const head = { kind, apiVersion: `${group}/${form.version}`, metadata: { name: this.info.component } };
    const value = { ...head, ...fields(this.info) };
    const text = form.mediaType === 'yaml' ? stringify(value) : JSON.stringify(value, null, 2);
    reply.header('x-content-type-options', 'nosniff');
    sendText({ context, reply }, 200, form.contentType, text);
  }

  private sendPage(request: FastifyRequest, reply: FastifyReply, text: string, type = plainText): void {
    reply.header('x-content-type-options', 'nosniff');
    sendText({ context: request.plinthContext as HttpRequestContext, reply }, 200, type, text);
  }
}
