import { type DynamicModule, Module } from '@nestjs/common';
import { AUTHORIZER, type Authorizer } from '../../base/machinery/authorizer.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { StorageReader } from '../../objects/registry/store/storage-reader.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import {
  mutatingAdmissionPolicyBindingResource,
  mutatingAdmissionPolicyResource,
} from './admission-policy/mutating-admission-policy.resource.js';
import {
  validatingAdmissionPolicyBindingResource,
  validatingAdmissionPolicyResource,
} from './admission-policy/validating-admission-policy.resource.js';
import {
  mutatingWebhookConfigurationResource,
  validatingWebhookConfigurationResource,
} from './webhook-configuration/webhook-configuration.resource.js';

/** Resources of the group `admissionregistration`. */
export function admissionRegistrationResources(
  names: VendorNames,
  authorizer: Authorizer,
  { registry, storage }: ResourceStores,
): ResourceDefinition[] {
  const context = { names, authorizer, registry, objects: new StorageReader(storage, registry) };
  return [
    mutatingAdmissionPolicyResource(context),
    mutatingAdmissionPolicyBindingResource(context),
    mutatingWebhookConfigurationResource(names),
    validatingAdmissionPolicyResource(context),
    validatingAdmissionPolicyBindingResource(context),
    validatingWebhookConfigurationResource(names),
  ];
}

/** The API group `admissionregistration`. */
@Module({})
export class AdmissionRegistrationApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(AdmissionRegistrationApiModule, host, {
      inject: [VENDOR_NAMES, AUTHORIZER, ResourceStores],
      useFactory: admissionRegistrationResources,
    });
  }
}
