import type { DynamicModule } from '@nestjs/common';
import { AdmissionRegistrationApiModule } from './admissionregistration/admissionregistration-api.module.js';
import type { GroupHost } from './api-group.module.js';
import { ApiExtensionsApiModule } from './apiextensions/apiextensions-api.module.js';
import { ApiregistrationApiModule } from './apiregistration/apiregistration-api.module.js';
import { AppsApiModule } from './apps/apps-api.module.js';
import { AuthenticationApiModule } from './authentication/authentication-api.module.js';
import { AuthorizationApiModule } from './authorization/authorization-api.module.js';
import { AutoscalingApiModule } from './autoscaling/autoscaling-api.module.js';
import { BatchApiModule } from './batch/batch-api.module.js';
import { CertificatesApiModule } from './certificates/certificates-api.module.js';
import { CoordinationApiModule } from './coordination/coordination-api.module.js';
import { CoreApiModule } from './core/core-api.module.js';
import { DiscoveryApiModule } from './discovery/discovery-api.module.js';
import { EventsApiModule } from './events/events-api.module.js';
import { FlowControlApiModule } from './flowcontrol/flowcontrol-api.module.js';
import { InternalApiModule } from './internal/internal-api.module.js';
import { LifecycleApiModule } from './lifecycle/lifecycle-api.module.js';
import { MetricsApiModule } from './metrics/metrics-api.module.js';
import { NetworkingApiModule } from './networking/networking-api.module.js';
import { NodeApiModule } from './node/node-api.module.js';
import { PolicyApiModule } from './policy/policy-api.module.js';
import { RbacApiModule } from './rbac/rbac-api.module.js';
import { ResourceApiModule } from './resource/resource-api.module.js';
import { SchedulingApiModule } from './scheduling/scheduling-api.module.js';
import { StorageApiModule } from './storage/storage-api.module.js';
import { StorageMigrationApiModule } from './storagemigration/storagemigration-api.module.js';

/** Every built-in group. This list is the only place to add a group. */
const groups: readonly { of(host: GroupHost): DynamicModule }[] = [
  CoreApiModule,
  AdmissionRegistrationApiModule,
  ApiExtensionsApiModule,
  ApiregistrationApiModule,
  AppsApiModule,
  AuthenticationApiModule,
  AuthorizationApiModule,
  AutoscalingApiModule,
  BatchApiModule,
  CertificatesApiModule,
  CoordinationApiModule,
  DiscoveryApiModule,
  EventsApiModule,
  FlowControlApiModule,
  InternalApiModule,
  LifecycleApiModule,
  MetricsApiModule,
  NetworkingApiModule,
  NodeApiModule,
  PolicyApiModule,
  RbacApiModule,
  ResourceApiModule,
  SchedulingApiModule,
  StorageApiModule,
  StorageMigrationApiModule,
];

/** The modules of all API groups, for one process. */
export function apiGroupModules(host: GroupHost): DynamicModule[] {
  return groups.map((group) => group.of(host));
}
