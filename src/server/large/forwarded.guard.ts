import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { type FollowedRule, RequestAudit, type TrailPart } from '../audit/request-audit.js';
import type { HttpRequestContext } from '../endpoints/request-info/http-request-context.js';
import type { LargeRequestAnswer, LargeRequestMessage } from './large-request-messages.js';

/** Name of a header that is set on every request in the thread, replacing one that a client sent under this name. */
export const idHeader = 'x-plinth-large-request';

interface Entered {
  readonly request: LargeRequestMessage;
  readonly left: AbortSignal;
  readonly onRemote: (isRemote: boolean) => void;
  audit: RequestAudit | undefined;
  context: HttpRequestContext | undefined;
}

/** What is known about a request after its response. */
export interface LeftRequest {
  readonly audit: TrailPart | undefined;
  readonly waitedMs: number;
  readonly phases: LargeRequestAnswer['phases'];
}

/** Binds a request to the user whom the process has authenticated. The process has already authorized the request. */
@Injectable()
export class ForwardedGuard implements CanActivate {
  private readonly requests = new Map<string, Entered>();
  private lastId = 0;

  constructor(@Inject(VENDOR_NAMES) private readonly names: VendorNames) {}

  /**
   * Registers a request.
   *
   * @param left aborting it ends the request, as if its client had left
   * @param onRemote is called when the request begins to wait for a server outside, and when it no longer does
   */
  enter(request: LargeRequestMessage, left: AbortSignal, onRemote: (isRemote: boolean) => void): string {
    const id = String(++this.lastId);
    this.requests.set(id, { request, left, onRemote, audit: undefined, context: undefined });
    return id;
  }

  /** Removes a request, and returns its outcome. */
  leave(id: string): LeftRequest {
    const { audit, context } = this.requests.get(id) ?? {};
    this.requests.delete(id);
    return {
      audit: audit?.part(),
      waitedMs: context?.waitedMs ?? 0,
      phases: context === undefined ? [] : phasesOf(context),
    };
  }

  canActivate(host: ExecutionContext): boolean {
    const http = host.switchToHttp();
    const asked = http.getRequest<FastifyRequest & { plinthContext: HttpRequestContext }>();
    const { headers, plinthContext } = asked;
    const entered = this.requests.get(String(headers[idHeader]));
    if (entered === undefined) return false;
    const { request, left, onRemote } = entered;
    entered.context = plinthContext;
    plinthContext.onRemote = onRemote;
    plinthContext.user = request.user;
    plinthContext.impersonator = request.impersonator;
    plinthContext.decideTrace();
    if (request.audit !== undefined) {
      entered.audit = this.follow(request.audit, plinthContext, asked, http.getResponse<FastifyReply>());
    }
    if (left.aborted) plinthContext.abort();
    else left.addEventListener('abort', () => plinthContext.abort(), { once: true });
    return true;
  }

  /** Collects the data for the audit trail of the process. */
  private follow(rule: FollowedRule, context: HttpRequestContext, { raw }: FastifyRequest, reply: FastifyReply) {
    const silent = { names: this.names, ruleFor: () => undefined, emit: () => undefined };
    const audit = new RequestAudit(silent, { context, raw, response: reply.raw });
    audit.follow(rule);
    context.audit = audit;
    return audit;
  }
}

function phasesOf({ phaseEnds, startedAt }: HttpRequestContext): LargeRequestAnswer['phases'] {
  const phases: (readonly [string, number])[] = [];
  let last = startedAt;
  for (let i = 0; i < phaseEnds.length; i += 2) {
    const at = phaseEnds[i + 1] as number;
    phases.push([phaseEnds[i] as string, at - last]);
    last = at;
  }
  return phases;
}
