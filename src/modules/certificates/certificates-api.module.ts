import { type DynamicModule, Module } from '@nestjs/common';
import { AUTHORIZER, type Authorizer } from '../../base/machinery/authorizer.js';
import { CLOCK, type Clock } from '../../base/machinery/clock.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { certificateSigningRequestResource } from './certificate-signing-request/certificate-signing-request.resource.js';
import { clusterTrustBundleResource } from './cluster-trust-bundle/cluster-trust-bundle.resource.js';
import { podCertificateRequestResource } from './pod-certificate-request/pod-certificate-request.resource.js';

/** Resources of the group `certificates`. */
export function certificatesResources(names: VendorNames, clock: Clock, authorizer: Authorizer): ResourceDefinition[] {
  return [
    certificateSigningRequestResource(names, clock),
    clusterTrustBundleResource(names),
    podCertificateRequestResource(names, clock, authorizer),
  ];
}

/** The API group `certificates`. */
@Module({})
export class CertificatesApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(CertificatesApiModule, host, {
      inject: [VENDOR_NAMES, CLOCK, AUTHORIZER],
      useFactory: certificatesResources,
    });
  }
}
