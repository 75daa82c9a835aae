import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../machinery/vendor.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import {
  mutatingWebhookConfigurationResource,
  validatingWebhookConfigurationResource,
} from './webhook-configuration/webhook-configuration.resource.js';

/** Resources of the group `admissionregistration`. */
export function admissionRegistrationResources(names: VendorNames): ResourceDefinition[] {
  return [mutatingWebhookConfigurationResource(names), validatingWebhookConfigurationResource(names)];
}

/** The API group `admissionregistration`. */
@Module({})
export class AdmissionRegistrationApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(AdmissionRegistrationApiModule, 'admissionregistration', host, {
      inject: [VENDOR_NAMES],
      useFactory: admissionRegistrationResources,
    });
  }
}
