import type { Type } from '@nestjs/common';
import { AdmissionRegistrationModule } from './admissionregistration/admissionregistration.module.js';
import { AppsModule } from './apps/apps.module.js';
import { AuthenticationModule } from './authentication/authentication.module.js';
import { AuthorizationModule } from './authorization/authorization.module.js';
import { AutoscalingModule } from './autoscaling/autoscaling.module.js';
import { BatchModule } from './batch/batch.module.js';
import { CertificatesModule } from './certificates/certificates.module.js';
import { CoordinationModule } from './coordination/coordination.module.js';
import { CoreModule } from './core/core.module.js';
import { DiscoveryModule } from './discovery/discovery.module.js';
import { EventsModule } from './events/events.module.js';
import { FlowControlModule } from './flowcontrol/flowcontrol.module.js';
import { NetworkingModule } from './networking/networking.module.js';
import { NodeModule } from './node/node.module.js';
import { PolicyModule } from './policy/policy.module.js';
import { RbacModule } from './rbac/rbac.module.js';
import { SchedulingModule } from './scheduling/scheduling.module.js';
import { StorageModule } from './storage/storage.module.js';

/** An API group: its short name and the Nest module that registers its resources. */
export interface GroupModule {
  readonly group: string;
  readonly module: Type<unknown>;
}

/** Every built-in group. The next one is added here, and nowhere else. */
export const groupModules: readonly GroupModule[] = [
  { group: 'core', module: CoreModule },
  { group: 'admissionregistration', module: AdmissionRegistrationModule },
  { group: 'apps', module: AppsModule },
  { group: 'authentication', module: AuthenticationModule },
  { group: 'authorization', module: AuthorizationModule },
  { group: 'autoscaling', module: AutoscalingModule },
  { group: 'batch', module: BatchModule },
  { group: 'certificates', module: CertificatesModule },
  { group: 'coordination', module: CoordinationModule },
  { group: 'discovery', module: DiscoveryModule },
  { group: 'events', module: EventsModule },
  { group: 'flowcontrol', module: FlowControlModule },
  { group: 'networking', module: NetworkingModule },
  { group: 'node', module: NodeModule },
  { group: 'policy', module: PolicyModule },
  { group: 'rbac', module: RbacModule },
  { group: 'scheduling', module: SchedulingModule },
  { group: 'storage', module: StorageModule },
];
