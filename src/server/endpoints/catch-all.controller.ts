import { All, Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointServices } from './endpoint-services.js';
import { handleResource } from './resource-handler.js';

/**
 * Handles everything that has no other route, behind the guards: kinds added at run time, and the 404 or 405 for
 * unknown paths.
 */
@Controller()
export class CatchAllController {
  constructor(@Inject(EndpointServices) private readonly services: EndpointServices) {}

  @All('*')
  any(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return handleResource(this.services, request, reply);
  }
}
