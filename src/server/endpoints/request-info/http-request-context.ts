import type { FastifyRequest } from 'fastify';
import type { Deadline } from '../../../base/machinery/deadlines.js';
import type { RequestContext, RequestInfo, UserInfo } from '../../../base/machinery/request-context.js';
import type { TraceSpan } from '../../../base/observability/trace-scope.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import type { KnownApiService } from '../../aggregation/known-api-service.js';
import type { RequestAudit } from '../../audit/request-audit.js';
import type { BytesInHand, BytesShare } from '../../flow-control/bytes-in-hand.js';
import type { LongRunningShare } from '../../flow-control/long-running-memory.js';
import type { Seat } from '../../flow-control/seat.js';
import type { UnreadAnswers } from '../unread-answers.js';
import { roomForObject } from './large-room.js';
import { parseQuery } from './parse-query.js';
import { parseRequestInfo } from './request-info.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook; missing only if a request fails before any hook. */
    plinthContext?: HttpRequestContext;
  }
}

/** The resource and action that a request is for. */
export interface ResolvedRequest {
  readonly resource: Pick<ServedResource, 'definition' | 'served'>;
  readonly subresource: { readonly name: string } | undefined;
  readonly verb: string;
}

/** Groups whose members may have any of their requests traced. */
const tracingGroups: ReadonlySet<string> = new Set(['system:masters', 'system:monitoring']);
const noQuery = new URLSearchParams();

/** The context of one HTTP request. Rarely needed parts are created on demand. */
export class HttpRequestContext implements RequestContext {
  readonly requestInfo: RequestInfo;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  /** Content-Type as sent. */
  readonly contentType: string | undefined;
  readonly receivedAt: number;
  /** Arrival time in monotonic milliseconds, for measuring durations. */
  readonly startedAt: number;
  user: UserInfo | undefined;
  impersonator: UserInfo | undefined;
  impersonationConstraint: string | undefined;
  /** The id of the request in its response and in logs; undefined in the thread for large requests. */
  requestId: string | undefined;
  /** Ends the request when its time is over. */
  limit: Deadline | undefined;
  /** The time limit, in milliseconds; has no meaning for a long-running request. Set by the first hook. */
  timeLimitMs: number;
  /** Whether the request may still continue in the thread for large requests: only before it has had any effect. */
  mayChangeThread: boolean;
  isCostly: boolean;
  /** The body as sent, from when it has been read until the handler is done. */
  body: Buffer | undefined;
  /** The length of the body in bytes, 0 until it has been read. */
  bodyBytes: number;
  /** The request's seat, or its place in a queue for one; unset until the user is known. */
  seat: Seat | undefined;
  /**
   * Called when the request begins to wait for a server outside, and when it no longer does. Set in the thread for large
   * requests, where the request has no seat.
   */
  onRemote: ((isRemote: boolean) => void) | undefined;
  /** The share of the request in the large bodies under way; unset until it turns out to have one. */
  inHand: BytesShare | undefined;
  /** Where the request gets its share; undefined where large bodies are not limited. */
  bytesInHand: BytesInHand | undefined;
  /** The memory that a long-running request holds; unset until the user is known. */
  memoryShare: LongRunningShare | undefined;
  /** Tracks responses that clients have not read yet. */
  unread: UnreadAnswers | undefined;
  /** The resource and action of the request, for metrics; undefined for an unknown path. */
  resourceRequest: ResolvedRequest | undefined;
  /** The group version of the request, if an extension server serves it. */
  remote: Pick<KnownApiService, 'group' | 'version'> | undefined;
  /**
   * Whether the request is long-running: it has no time limit, and does not count as a request in flight. Set by the
   * first hook.
   */
  isLongRunning: boolean;
  /** Set while an audit policy is in force. */
  audit: RequestAudit | undefined;
  /** Whether the complete response is waiting to be sent. */
  isEnding: boolean;
  waitedMs: number;
  /** Number of bytes of the response body sent so far. */
  answerBytes: number;
  /** When the response was sent, in monotonic milliseconds, if its client is still sending an unwanted body. */
  answeredAt: number | undefined;
  /** Whether the server refused or ended the request to protect itself. */
  isTerminated: boolean;
  /** Whether the request has timed out and got its response; a handler may still be working. */
  isTimedOut: boolean;
  /** Whether the response was cut after it had begun. */
  isAborted: boolean;
  /** Set if the request is traced. */
  trace: TraceSpan | undefined;
  /**
   * Begins the trace of a request for which the client sent a trace context. `isTrusted`: whether its user may decide
   * what is traced. Unset once called.
   */
  traceAsked: ((isTrusted: boolean) => TraceSpan | undefined) | undefined;
  /** The ends of the request's phases: name and `performance.now()`, alternating. */
  readonly phaseEnds: (string | number)[] = [];
  readonly warnings: string[] = [];
  private remoteCalls: number;
  private annotations: Map<string, string> | undefined;
  private controller: AbortController | undefined;
  private over: boolean;
  private upgraded: boolean;

  constructor(request: FastifyRequest) {
    const url = request.raw.url ?? '/';
    const queryStart = url.indexOf('?');
    const path = queryStart < 0 ? url : url.slice(0, queryStart);
    this.query = queryStart < 0 ? noQuery : parseQuery(url.slice(queryStart + 1));
    this.userAgent = request.headers['user-agent'] ?? '';
    this.contentType = request.headers['content-type'];
    this.receivedAt = Date.now();
    this.startedAt = performance.now();
    this.user = undefined;
    this.impersonator = undefined;
    this.impersonationConstraint = undefined;
    this.requestId = undefined;
    this.limit = undefined;
    this.timeLimitMs = 0;
    this.mayChangeThread = false;
    this.isCostly = false;
    this.body = undefined;
    this.bodyBytes = 0;
    this.seat = undefined;
    this.onRemote = undefined;
    this.remoteCalls = 0;
    this.inHand = undefined;
    this.bytesInHand = undefined;
    this.memoryShare = undefined;
    this.unread = undefined;
    this.resourceRequest = undefined;
    this.remote = undefined;
    this.isLongRunning = false;
    this.audit = undefined;
    this.isEnding = false;
    this.trace = undefined;
    this.traceAsked = undefined;
    this.waitedMs = 0;
    this.answerBytes = 0;
    this.answeredAt = undefined;
    this.isTerminated = false;
    this.isTimedOut = false;
    this.isAborted = false;
    this.annotations = undefined;
    this.controller = undefined;
    this.over = false;
    this.upgraded = false;
    this.requestInfo = parseRequestInfo(request.method, path, this.query);
  }

  decideTrace(): void {
    const { traceAsked, user } = this;
    if (traceAsked === undefined) return;
    this.traceAsked = undefined;
    this.trace = traceAsked(user?.groups.some((group) => tracingGroups.has(group)) === true);
  }

  makeRoom(characters: number): Promise<void> | undefined {
    return roomForObject(this, characters);
  }

  beginRemoteCall(): void {
    if (this.remoteCalls++ === 0) this.setRemote(true);
  }

  endRemoteCall(): void {
    if (--this.remoteCalls === 0) this.setRemote(false);
  }

  private setRemote(isRemote: boolean): void {
    this.seat?.setRemote(isRemote);
    this.onRemote?.(isRemote);
  }

  mark(phase: string): void {
    this.phaseEnds.push(phase, performance.now());
  }

  /** Whether the connection has switched to another protocol. */
  get isUpgraded(): boolean {
    return this.upgraded;
  }

  set isUpgraded(value: boolean) {
    this.upgraded = value;
    if (value) this.audit?.upgraded();
  }

  get auditAnnotations(): Map<string, string> {
    this.annotations ??= new Map();
    return this.annotations;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.over) this.controller.abort();
    }
    return this.controller.signal;
  }

  /** Whether the client has left or the time limit was exceeded. */
  get isOver(): boolean {
    return this.over;
  }

  /** Ends all current and future work that depends on {@link signal}. */
  abort(): void {
    this.over = true;
    this.controller?.abort();
  }
}
