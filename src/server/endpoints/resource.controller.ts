import { Controller, Delete, Get, Inject, Patch, Post, Put, Req, Res, type Type } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointServices } from './endpoint-services.js';
import { handleResource } from './resource-handler.js';

/**
 * Creates the controller of one API group. Guards and filter are global. No route has an interceptor: Nest would wrap
 * every response in observables, which costs more than all guards together, and handlers write their responses
 * themselves. All kinds of a group share the controller; RequestInfo identifies the resource.
 *
 * @param prefix path below which the group is served, e.g. `apis/apps`
 */
export function groupController(prefix: string): Type<unknown> {
  @Controller(prefix)
  class GroupController {
    constructor(@Inject(EndpointServices) private readonly services: EndpointServices) {}

    @Get(':version/*')
    read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return handleResource(this.services, request, reply);
    }

    @Post(':version/*')
    create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return handleResource(this.services, request, reply);
    }

    @Put(':version/*')
    update(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return handleResource(this.services, request, reply);
    }

    @Patch(':version/*')
    patch(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return handleResource(this.services, request, reply);
    }

    @Delete(':version/*')
    delete(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return handleResource(this.services, request, reply);
    }
  }
  Object.defineProperty(GroupController, 'name', { value: `GroupController(${prefix})` });
  return GroupController;
}
