import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { certificateSigningRequestResource } from './certificate-signing-request/certificate-signing-request.resource.js';

/** Resources of the group `certificates`. */
export function certificatesResources(context: GroupContext): ResourceDefinition[] {
  return [certificateSigningRequestResource(context)];
}

@Module({})
export class CertificatesModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of certificatesResources(context)) context.registry.register(definition);
  }
}
