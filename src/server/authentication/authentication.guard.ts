import type { Http2ServerRequest } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addWarning, type RequestContext } from '../../base/machinery/request-context.js';
import { unauthorizedError } from '../../base/machinery/status-error.js';
import { Logger } from '../../base/observability/logger.js';
import { anonymousUser } from './anonymous/anonymous.authenticator.js';
import { AuthenticationMetrics } from './authentication-metrics.js';
import {
  AUTHENTICATOR,
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
} from './authenticator.js';
import { AUTHENTICATION, type Authentication } from './build-authentication.js';
import type { RequestHead } from './header-fields.js';

/** First guard: binds every request to a user or refuses it with a 401 (specification 5.1). */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(AUTHENTICATION) private readonly authentication: Pick<Authentication, 'anonymous'>,
    @Inject(AuthenticationMetrics) private readonly metrics: Pick<AuthenticationMetrics, 'attempt' | 'userRequest'>,
    @Inject(Logger) private readonly logger: Pick<Logger, 'debug'>,
  ) {}

  async canActivate(host: ExecutionContext): Promise<boolean> {
    // switchToHttp() would create three functions at each call.
    const request = host.getArgByIndex<FastifyRequest & { plinthContext: RequestContext }>(0);
    const context = request.plinthContext;
    const credentials = new Credentials(request);
    const begin = performance.now();
    const result = await this.authenticate(credentials, begin);
    if (result.kind === 'user') {
      this.metrics.attempt('success', secondsSince(begin));
      this.metrics.userRequest(result.user.name);
      context.mark?.('authentication');
      context.user = result.user;
      context.decideTrace?.();
      if (result.annotations !== undefined) {
        for (const [key, value] of Object.entries(result.annotations)) context.auditAnnotations.set(key, value);
      }
      if (result.warning !== undefined) addWarning(context, result.warning);
      await context.audit?.identified();
      return true;
    }
    // Credentials that a method recognizes as its own but rejects never fall back to anonymous. Credentials that no
    // method handles, such as those of an unknown scheme, count as absent.
    if (result.kind === 'rejected' || !this.allowsAnonymous(context.requestInfo.path)) {
      this.metrics.attempt('failure', secondsSince(begin));
      if (result.kind === 'rejected') {
        this.logger.debug('credentials refused', { reason: result.reason, path: context.requestInfo.path });
        if (result.reconnect === true) askToReconnect(request, host.getArgByIndex<FastifyReply>(1));
      }
      throw unauthorizedError();
    }
    context.mark?.('authentication');
    context.user = anonymousUser;
    context.decideTrace?.();
    this.metrics.userRequest(anonymousUser.name);
    await context.audit?.identified();
    return true;
  }

  private allowsAnonymous(path: string): boolean {
    const { isEnabled, paths } = this.authentication.anonymous;
    return isEnabled && (paths.length === 0 || paths.includes(path));
  }

  private async authenticate(credentials: AuthenticationRequest, begin: number): Promise<AuthenticationResult> {
    try {
      return await this.authenticator.authenticate(credentials);
    } catch (error) {
      this.metrics.attempt('error', secondsSince(begin));
      throw error;
    }
  }
}

/**
 * The parts of a request that authenticators may read. This is a class because each object literal with a getter has
 * its own hidden class in V8, which keeps it and everything it references until a full garbage collection.
 */
class Credentials implements AuthenticationRequest {
  readonly authorization: string | undefined;
  readonly socket: TLSSocket;
  readonly head: RequestHead;
  private readonly context: RequestContext;

  constructor(request: FastifyRequest & { plinthContext: RequestContext }) {
    this.authorization = request.headers.authorization;
    this.socket = connectionOf(request);
    this.head = request.raw as unknown as RequestHead;
    this.context = request.plinthContext;
  }

  /** A getter, since most credentials are cached and then need no signal. */
  get signal(): AbortSignal {
    return this.context.signal;
  }
}

function secondsSince(begin: number): number {
  return (performance.now() - begin) / 1000;
}

/** The socket, which unlike the `socket` of an HTTP/2 request is the same object for all requests of a connection. */
function connectionOf({ raw }: FastifyRequest): TLSSocket {
  const { stream } = raw as unknown as Http2ServerRequest;
  return (stream?.session?.socket ?? raw.socket) as TLSSocket;
}

/** Asks the client to open a new connection, if the CA certificates have changed since this one was opened. */
function askToReconnect(request: FastifyRequest, reply: FastifyReply): void {
  const { stream } = request.raw as unknown as Http2ServerRequest;
  if (stream?.session !== undefined) stream.session.close();
  else reply.header('connection', 'close');
}
