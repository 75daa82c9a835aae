import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Aggregation } from '../aggregation/aggregation.js';
import { RemoteContent } from '../aggregation/remote-content.js';
import { type ControllerName, selectedControllers } from '../config/controllers.options.js';
import { type Authorizer, closedAuthorizer } from '../machinery/authorizer.js';
import { groupName, type VendorNames } from '../machinery/vendor.js';
import type { Logger } from '../observability/logger.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { WriteAdmission } from '../registry/store/admitted-store.js';
import { Store } from '../registry/store/store.js';
import type { Storage } from '../storage/storage.interface.js';
import { AllocationRepairController } from './allocation-repair/allocation-repair.controller.js';
import { ApiServiceAvailabilityController } from './api-service-availability/api-service-availability.controller.js';
import { ApiServiceRegistrationController } from './api-service-registration/api-service-registration.controller.js';
import { BootstrapSignerController } from './bootstrap-signer/bootstrap-signer.controller.js';
import { ClusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation.controller.js';
import { type ControlLoop, keepRunning } from './control-loop.js';
import { CsrApprovingController } from './csr-approving/csr-approving.controller.js';
import { CsrCleanerController } from './csr-cleaner/csr-cleaner.controller.js';
import { CsrSigningController, type SigningAuthorities } from './csr-signing/csr-signing.controller.js';
import { DefinitionCleanupController } from './custom-resource-definitions/definition-cleanup.controller.js';
import { DefinitionStatusController } from './custom-resource-definitions/definition-status.controller.js';
import { EventTtlController } from './event-ttl/event-ttl.controller.js';
import { LeaseElector, type LeaseTimes } from './lease-elector.js';
import { LeaseLock } from './lease-lock.js';
import { NamespaceController } from './namespace/namespace.controller.js';
import { PvProtectionController } from './pv-protection/pv-protection.controller.js';
import { PvcProtectionController } from './pvc-protection/pvc-protection.controller.js';
import { ResourceQuotaController } from './resource-quota/resource-quota.controller.js';
import type { RootAuthority } from './root-authority/root-authority.js';
import { RootAuthorityPublisher } from './root-authority/root-authority-publisher.controller.js';
import { ServiceAccountController } from './service-account/service-account.controller.js';
import {
  type SecretTokenRequest,
  ServiceAccountTokenController,
} from './service-account-token/service-account-token.controller.js';
import { SqlViewsController } from './sql-views/sql-views.controller.js';
import { systemTimers, type Timers } from './timers.js';
import { TokenCleanerController } from './token-cleaner/token-cleaner.controller.js';
import { ValidatingAdmissionPolicyStatusController } from './validating-admission-policy-status/validating-admission-policy-status.controller.js';

export interface ControllersOptions {
  readonly storage: Storage;
  /** What the writes of loops have to pass. Default: everything passes. */
  readonly admission?: WriteAdmission | undefined;
  /** Must have all resources registered: the content of namespaces is found through it. */
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  /** Where the SQL views are; without it nobody keeps them up to date. */
  readonly databaseUrl?: string | undefined;
  /** Checks the rights of users for whom the loops act. Default: nobody has any. */
  readonly authorizer?: Authorizer | undefined;
  /** The extension servers; without it their availability is not checked. */
  readonly aggregation?: Aggregation | undefined;
  /** The loops to run. Default: all that are on by default. */
  readonly enabled?: ReadonlySet<ControllerName> | undefined;
  /** The authorities that sign certificates; without them none are signed. */
  readonly signing?: SigningAuthorities | undefined;
  /** Makes service account tokens for secrets; without it secrets get none. */
  readonly signToken?: ((request: SecretTokenRequest) => Promise<string>) | undefined;
  /** The authorities that clients inside the cluster should trust; without them none are published. */
  readonly rootAuthority?: RootAuthority | undefined;
  /** Name of this process in the Lease; it must be unique. Default: host name and a random part. */
  readonly identity?: string | undefined;
  readonly leaseTimes?: Partial<LeaseTimes> | undefined;
  /** How long events are kept, in milliseconds. Default 1 hour. */
  readonly eventTtlMs?: number | undefined;
  /** See the namespace controller. */
  readonly settleMs?: number | undefined;
  readonly timers?: Timers | undefined;
  readonly random?: (() => number) | undefined;
}

/** The control loops of a process; they run whenever it leads. */
export interface RunningControllers {
  readonly identity: string;
  readonly isLeading: boolean;
  /** Ends the loops, then releases the lease. The storage must be stopped only after this. */
  stop(): Promise<void>;
}

type LoopParts = Pick<ControllersOptions, 'storage' | 'admission' | 'registry' | 'names' | 'logger'> & {
  readonly timers: Timers;
  readonly random: () => number;
};

const defaultEventTtlMs = 3_600_000;

/** Name of the Lease in the system namespace. */
const controllersLease = 'plinth-controllers';

/**
 * Takes part in the election of the process that runs the control loops. Returns at once; later errors are logged and
 * the work is retried.
 *
 * @throws Error when the registry lacks leases or namespaces.
 */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { storage, admission, registry, names, logger, timers = systemTimers, random = Math.random } = options;
  const identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  const leases = registry.findStoredResource(groupName('coordination', names), 'v1', 'leases');
  if (leases === undefined) throw new Error('the resource leases is not registered');
  const lock = new LeaseLock(new Store(leases, storage, timers), names.systemNamespace, controllersLease);
  const elector = new LeaseElector({ ...options.leaseTimes, lock, identity, timers, logger, random });
  const loops = makeLoops(options, { storage, admission, registry, names, logger, timers, random });

  const stop = new AbortController();
  const lead = async (signal: AbortSignal): Promise<void> => {
    await Promise.all(loops.map((loop) => keepRunning(loop, timers, logger, signal)));
  };
  const ended = elector.run(lead, stop.signal);
  return {
    identity,
    get isLeading() {
      return elector.isLeading;
    },
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

/** The enabled loops, in no particular order. */
function makeLoops(options: ControllersOptions, parts: LoopParts): ControlLoop[] {
  const { databaseUrl } = options;
  const { signing, signToken, rootAuthority, aggregation, authorizer = closedAuthorizer, settleMs } = options;
  const { eventTtlMs = defaultEventTtlMs } = options;
  const without = (text: string): undefined => {
    parts.logger.info(text);
    return undefined;
  };
  const makers: Readonly<Record<ControllerName, () => ControlLoop | undefined>> = {
    eventttl: () => new EventTtlController({ ...parts, ttlMs: eventTtlMs }),
    namespace: () => {
      const remoteContent = aggregation && new RemoteContent(aggregation, parts.names);
      return new NamespaceController({ ...parts, settleMs, remoteContent });
    },
    'allocation-repair': () => new AllocationRepairController(parts),
    'clusterrole-aggregation': () => new ClusterRoleAggregationController(parts),
    'pvc-protection': () => new PvcProtectionController(parts),
    'pv-protection': () => new PvProtectionController(parts),
    resourcequota: () => new ResourceQuotaController(parts),
    'validatingadmissionpolicy-status': () => new ValidatingAdmissionPolicyStatusController(parts),
    'customresourcedefinition-status': () => new DefinitionStatusController(parts),
    'customresourcedefinition-cleanup': () => new DefinitionCleanupController(parts),
    'sql-views': () =>
      databaseUrl === undefined
        ? undefined
        : new SqlViewsController({ ...parts, databaseUrl, suffix: parts.names.suffix }),
    'apiservice-registration': () => new ApiServiceRegistrationController(parts),
    'apiservice-availability': () =>
      aggregation === undefined ? undefined : new ApiServiceAvailabilityController({ ...parts, aggregation }),
    csrapproving: () => new CsrApprovingController({ ...parts, authorizer }),
    csrsigning: () =>
      signing === undefined
        ? without('certificates are not signed: there is no --cluster-signing-cert-file')
        : new CsrSigningController({ ...parts, signing }),
    csrcleaner: () => new CsrCleanerController(parts),
    bootstrapsigner: () => new BootstrapSignerController(parts),
    tokencleaner: () => new TokenCleanerController(parts),
    serviceaccount: () => new ServiceAccountController(parts),
    'serviceaccount-token': () =>
      signToken === undefined
        ? without('secrets get no service account tokens: there is no --service-account-private-key-file')
        : new ServiceAccountTokenController({ ...parts, signToken, rootAuthority }),
    'root-ca-cert-publisher': () =>
      rootAuthority === undefined
        ? without("namespaces do not get the API's authorities: there is no --root-ca-file")
        : new RootAuthorityPublisher({ ...parts, rootAuthority }),
  };
  return [...(options.enabled ?? selectedControllers(['*']))]
    .map((name) => makers[name]())
    .filter((loop) => loop !== undefined);
}
