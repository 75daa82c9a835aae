import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { ingressResource } from './ingress/ingress.resource.js';
import { ingressClassResource } from './ingress-class/ingress-class.resource.js';
import { ipAddressResource } from './ip-address/ip-address.resource.js';
import { networkPolicyResource } from './network-policy/network-policy.resource.js';
import { serviceCidrResource } from './service-cidr/service-cidr.resource.js';

/** Resources of the group `networking`. */
export function networkingResources(context: GroupContext): ResourceDefinition[] {
  const { names } = context;
  return [
    ingressResource(names),
    ingressClassResource(names),
    networkPolicyResource(names),
    ipAddressResource(context),
    serviceCidrResource(names),
  ];
}

@Module({})
export class NetworkingModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of networkingResources(context)) context.registry.register(definition);
  }
}
