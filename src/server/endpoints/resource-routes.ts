import {
  type ArgumentsHost,
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Inject,
  Injectable,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EndpointServices } from './endpoint-services.js';
import { handleResource } from './resource-handler.js';
import { StatusFilter } from './status.filter.js';

/** Injection token of the guards that every request passes, in their order. */
export const REQUEST_GUARDS = Symbol('RequestGuards');

/** The paths of resources: the core group, and all others, those of custom resources and of extension servers included. */
const resourcePaths = ['/api/:version/*', '/apis/:group/:version/*'];
/** Other methods, and other paths, are those of the `CatchAllController`. */
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** What guards ask of the place where they are called. */
class GuardedCall {
  constructor(private readonly args: readonly [FastifyRequest, FastifyReply]) {}

  getArgByIndex(index: number): unknown {
    return this.args[index];
  }
}

/**
 * The routes of resources, which nearly all requests take. They are given to Fastify itself, and call the guards, the
 * handler and the filter one after the other, as Nest does for a controller: what Nest adds to each request (a function
 * and a promise for each step, interceptors, pipes and metadata that no route here has) costs more than the guards.
 */
@Injectable()
export class ResourceRoutes implements OnModuleInit {
  constructor(
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(EndpointServices) private readonly services: EndpointServices,
    @Inject(REQUEST_GUARDS) private readonly guards: readonly CanActivate[],
    @Inject(StatusFilter) private readonly filter: StatusFilter,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    for (const url of resourcePaths) fastify.route({ method: methods, url, handler: this.handle });
  }

  private readonly handle = (request: FastifyRequest, reply: FastifyReply): void => {
    this.pass(request, reply).catch((error: unknown) => this.filter.answer(error, request, reply));
  };

  private async pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const call = new GuardedCall([request, reply]) as unknown as ExecutionContext & ArgumentsHost;
    for (const guard of this.guards) {
      const passed = guard.canActivate(call);
      // A guard that decides at once takes no turn of the promises.
      if (passed !== true && !(await passed)) throw new ForbiddenException();
    }
    await handleResource(this.services, request, reply);
  }
}
