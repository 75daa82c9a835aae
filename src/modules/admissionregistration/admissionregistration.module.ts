import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import {
  mutatingWebhookConfigurationResource,
  validatingWebhookConfigurationResource,
} from './webhook-configuration/webhook-configuration.resource.js';

/** Resources of the group `admissionregistration`. */
export function admissionRegistrationResources({ names }: GroupContext): ResourceDefinition[] {
  return [mutatingWebhookConfigurationResource(names), validatingWebhookConfigurationResource(names)];
}

@Module({})
export class AdmissionRegistrationModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of admissionRegistrationResources(context)) context.registry.register(definition);
  }
}
