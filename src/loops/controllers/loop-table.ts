import { type ControllerName, selectedControllers } from '../../base/config/control-loop.options.js';
import { NodeLoopOptions } from '../../base/config/node-loop.options.js';
import { onlyViews } from '../../base/config/sql-projection.js';
import { closedAuthorizer } from '../../base/machinery/authorizer.js';
import type { WriteAdmission } from '../../objects/registry/store/admitted-store.js';
import { RemoteContent } from '../../server/aggregation/remote-content.js';
import { RemoteOwners } from '../../server/aggregation/remote-owners.js';
import { AllocationRepairController } from './allocation-repair/allocation-repair.controller.js';
import { ApiServiceAvailabilityController } from './api-service-availability/api-service-availability.controller.js';
import { ApiServiceRegistrationController } from './api-service-registration/api-service-registration.controller.js';
import { AttachDetachController } from './attach-detach/attach-detach.controller.js';
import { BootstrapSignerController } from './bootstrap-signer/bootstrap-signer.controller.js';
import { ClusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation.controller.js';
import type { ControlLoop } from './control-loop.js';
import type { ControllersOptions } from './controllers-options.js';
import { CronJobController } from './cron-job/cron-job.controller.js';
import { CsrApprovingController } from './csr-approving/csr-approving.controller.js';
import { CsrCleanerController } from './csr-cleaner/csr-cleaner.controller.js';
import { CsrSigningController } from './csr-signing/csr-signing.controller.js';
import { DefinitionCleanupController } from './custom-resource-definitions/definition-cleanup.controller.js';
import { DefinitionStatusController } from './custom-resource-definitions/definition-status.controller.js';
import { DaemonSetController } from './daemon-set/daemon-set.controller.js';
import { DeploymentController } from './deployment/deployment.controller.js';
import { DeviceTaintEvictionController } from './device-taint-eviction/device-taint-eviction.controller.js';
import { DisruptionController } from './disruption/disruption.controller.js';
import { EndpointSliceController } from './endpoint-slice/endpoint-slice.controller.js';
import { EndpointSliceMirroringController } from './endpoint-slice-mirroring/endpoint-slice-mirroring.controller.js';
import { EndpointsController } from './endpoints/endpoints.controller.js';
import { EphemeralVolumeController } from './ephemeral-volume/ephemeral-volume.controller.js';
import { EventTtlController } from './event-ttl/event-ttl.controller.js';
import type { ReconcileDependencies } from './frame/reconcile-loop.js';
import { GarbageCollector } from './garbage-collector/garbage-collector.controller.js';
import { HorizontalPodAutoscalerController } from './horizontal-pod-autoscaler/horizontal-pod-autoscaler.controller.js';
import { RemoteMetrics } from './horizontal-pod-autoscaler/remote-metrics.js';
import { ServedMetrics } from './horizontal-pod-autoscaler/served-metrics.js';
import { JobController } from './job/job.controller.js';
import { LegacyTokenCleanerController } from './legacy-token-cleaner/legacy-token-cleaner.controller.js';
import { NamespaceController } from './namespace/namespace.controller.js';
import { NodeIpamController } from './node-ipam/node-ipam.controller.js';
import { NodeLifecycleController, type NodeLifecycleDependencies } from './node-lifecycle/node-lifecycle.controller.js';
import { NodeTtlController } from './node-ttl/node-ttl.controller.js';
import { PersistentVolumeBinderController } from './persistent-volume-binder/persistent-volume-binder.controller.js';
import { PodCertificateCleaner } from './pod-certificate-cleaner/pod-certificate-cleaner.controller.js';
import { PodGcController } from './pod-gc/pod-gc.controller.js';
import { PvProtectionController } from './pv-protection/pv-protection.controller.js';
import { PvcProtectionController } from './pvc-protection/pvc-protection.controller.js';
import { ReplicaSetController } from './replica-set/replica-set.controller.js';
import { replicaSets, replicationControllers } from './replica-set/replicated.js';
import { ResourceClaimController } from './resource-claim/resource-claim.controller.js';
import { ResourceQuotaController } from './resource-quota/resource-quota.controller.js';
import { RootAuthorityPublisher } from './root-authority/root-authority-publisher.controller.js';
import { SchedulerLoop } from './scheduler/scheduler-loop.js';
import { ServiceAccountController } from './service-account/service-account.controller.js';
import { ServiceAccountTokenController } from './service-account-token/service-account-token.controller.js';
import { ServiceCidrController } from './service-cidr/service-cidr.controller.js';
import { SqlProjectionController } from './sql-projection/sql-projection.controller.js';
import { SqlViewsController } from './sql-views/sql-views.controller.js';
import { StatefulSetController } from './stateful-set/stateful-set.controller.js';
import { StorageVersionMigrationController } from './storage-version-migration/storage-version-migration.controller.js';
import { StoredFormController } from './stored-form/stored-form.controller.js';
import { TaintEvictionController } from './taint-eviction/taint-eviction.controller.js';
import { TokenCleanerController } from './token-cleaner/token-cleaner.controller.js';
import { TrustBundlePublisher } from './trust-bundle-publisher/trust-bundle-publisher.controller.js';
import { TtlAfterFinishedController } from './ttl-after-finished/ttl-after-finished.controller.js';
import { ValidatingAdmissionPolicyStatusController } from './validating-admission-policy-status/validating-admission-policy-status.controller.js';
import { VolumeAttributesClassProtectionController } from './volume-attributes-class-protection/volume-attributes-class-protection.controller.js';

/** The dependencies that any loop may have. */
export interface LoopDependencies extends ReconcileDependencies {
  readonly admission?: WriteAdmission | undefined;
}

const defaultEventTtlMs = 3_600_000;
const defaultTerminatedPodThreshold = 12_500;
const defaultLegacyTokenPeriodMs = 365 * 24 * 3_600_000;

/** Makes a controller; undefined if the options leave out what it needs. */
type MakeLoop = () => ControlLoop | undefined;

/** The enabled controllers, in no particular order. */
export function makeLoops(options: ControllersOptions, dependencies: LoopDependencies): ControlLoop[] {
  const enabled = options.enabled ?? selectedControllers(['*']);
  const makers: Readonly<Record<ControllerName, MakeLoop>> = {
    ...workloadLoops(options, dependencies),
    ...nodeLoops(options, dependencies),
    ...volumeLoops(options, dependencies),
    ...serviceLoops(dependencies),
    ...accountLoops(options, dependencies, enabled),
    ...clusterLoops(options, dependencies),
    ...ownLoops(options, dependencies),
  };
  return [...enabled].map((name) => makers[name]()).filter((loop) => loop !== undefined);
}

function workloadLoops(options: ControllersOptions, dependencies: LoopDependencies) {
  const { aggregation, terminatedPodThreshold: threshold = defaultTerminatedPodThreshold } = options;
  return {
    deployment: () => new DeploymentController(dependencies),
    replicaset: () => new ReplicaSetController(dependencies, replicaSets),
    replicationcontroller: () => new ReplicaSetController(dependencies, replicationControllers),
    daemonset: () => new DaemonSetController(dependencies),
    statefulset: () => new StatefulSetController(dependencies),
    job: () => new JobController(dependencies),
    cronjob: () => new CronJobController(dependencies),
    'ttl-after-finished': () => new TtlAfterFinishedController(dependencies),
    podgc: () => new PodGcController({ ...dependencies, threshold }),
    disruption: () => new DisruptionController(dependencies),
    horizontalpodautoscaling: () => {
      const { names, registry } = dependencies;
      const remote = new RemoteMetrics(aggregation, names);
      const { metrics = new ServedMetrics(registry, names, remote), autoscaler } = options;
      return new HorizontalPodAutoscalerController({ ...dependencies, metrics, autoscaler });
    },
    scheduler: () => new SchedulerLoop({ ...dependencies, schedulerNames: options.schedulerNames }),
  } satisfies Record<string, MakeLoop>;
}

function nodeLoops(options: ControllersOptions, dependencies: LoopDependencies) {
  const { nodeLoops: rules = new NodeLoopOptions(), nodeRanges: ranges = [], serviceRanges = [] } = options;
  return {
    nodelifecycle: () => new NodeLifecycleController({ ...dependencies, ...nodeRules(rules) }),
    nodeipam: () =>
      ranges.length === 0 ? undefined : new NodeIpamController({ ...dependencies, ranges, serviceRanges }),
    ttl: () => new NodeTtlController(dependencies),
    'taint-eviction-controller': () => new TaintEvictionController(dependencies),
  } satisfies Record<string, MakeLoop>;
}

function volumeLoops({ counters }: ControllersOptions, dependencies: LoopDependencies) {
  return {
    'pvc-protection': () => new PvcProtectionController(dependencies),
    'pv-protection': () => new PvProtectionController(dependencies),
    'persistentvolume-binder': () => new PersistentVolumeBinderController(dependencies),
    'ephemeral-volume-controller': () => new EphemeralVolumeController({ ...dependencies, counters }),
    'resourceclaim-controller': () => new ResourceClaimController(dependencies),
    'device-taint-eviction-controller': () => new DeviceTaintEvictionController(dependencies),
    'persistentvolume-attach-detach-controller': () => new AttachDetachController({ ...dependencies, counters }),
    'volumeattributesclass-protection-controller': () => new VolumeAttributesClassProtectionController(dependencies),
  } satisfies Record<string, MakeLoop>;
}

function serviceLoops(dependencies: LoopDependencies) {
  return {
    endpoint: () => new EndpointsController(dependencies),
    endpointslice: () => new EndpointSliceController(dependencies),
    endpointslicemirroring: () => new EndpointSliceMirroringController(dependencies),
    'service-cidr-controller': () => new ServiceCidrController(dependencies),
  } satisfies Record<string, MakeLoop>;
}

/** The controllers of service accounts, roles, tokens and certificates. */
function accountLoops(
  options: ControllersOptions,
  dependencies: LoopDependencies,
  enabled: ReadonlySet<ControllerName>,
) {
  const { signing, signToken, rootAuthority, authorizer = closedAuthorizer } = options;
  const { legacyTokenPeriodMs: periodMs = defaultLegacyTokenPeriodMs } = options;
  const without = (text: string): undefined => {
    dependencies.logger.info(text);
    return undefined;
  };
  return {
    serviceaccount: () => new ServiceAccountController(dependencies),
    'serviceaccount-token': () =>
      signToken === undefined
        ? without('secrets get no service account tokens: there is no --service-account-private-key-file')
        : new ServiceAccountTokenController({ ...dependencies, signToken, rootAuthority }),
    'legacy-serviceaccount-token-cleaner-controller': () =>
      new LegacyTokenCleanerController({ ...dependencies, periodMs }),
    'root-ca-cert-publisher': () =>
      rootAuthority === undefined
        ? without("namespaces do not get the API's authorities: there is no --root-ca-file")
        : new RootAuthorityPublisher({ ...dependencies, rootAuthority }),
    'clusterrole-aggregation': () => new ClusterRoleAggregationController(dependencies),
    csrapproving: () => new CsrApprovingController({ ...dependencies, authorizer }),
    csrsigning: () =>
      signing === undefined
        ? without('certificates are not signed: there is no --cluster-signing-cert-file')
        : new CsrSigningController({ ...dependencies, signing }),
    csrcleaner: () => new CsrCleanerController(dependencies),
    'podcertificaterequest-cleaner-controller': () => new PodCertificateCleaner(dependencies),
    'kube-apiserver-serving-clustertrustbundle-publisher-controller': () =>
      rootAuthority === undefined ? undefined : new TrustBundlePublisher({ ...dependencies, rootAuthority }),
    bootstrapsigner: () => {
      const signedWith = dependencies.names.clusterInfoKey;
      // Both names stand for one controller: two instances would replace each other's signatures.
      const isOther = enabled.has('bootstrap-signer-controller');
      return isOther ? undefined : new BootstrapSignerController({ ...dependencies, signedWith });
    },
    'bootstrap-signer-controller': () => new BootstrapSignerController({ ...dependencies, signedWith: 'secret' }),
    tokencleaner: () => new TokenCleanerController(dependencies),
  } satisfies Record<string, MakeLoop>;
}

/** The controllers that work on objects of any kind: namespaces, ownership, quotas, storage versions. */
function clusterLoops({ aggregation, settleMs }: ControllersOptions, dependencies: LoopDependencies) {
  const { names, timers } = dependencies;
  return {
    namespace: () => {
      const remoteContent = aggregation && new RemoteContent(aggregation, names);
      return new NamespaceController({ ...dependencies, settleMs, remoteContent });
    },
    garbagecollector: () => {
      const remoteOwners = aggregation && new RemoteOwners(aggregation, names, () => timers.elapsed());
      return new GarbageCollector({ ...dependencies, remoteOwners });
    },
    resourcequota: () => new ResourceQuotaController(dependencies),
    'storage-version-migration': () => new StorageVersionMigrationController(dependencies),
  } satisfies Record<string, MakeLoop>;
}

/** The controllers that only this server has, without a counterpart in the upstream controller manager. */
function ownLoops(options: ControllersOptions, dependencies: LoopDependencies) {
  const { aggregation, databaseUrl, sqlProjection: mode = onlyViews } = options;
  const { eventTtlMs: ttlMs = defaultEventTtlMs, eventLagMs: longestPauseMs } = options;
  const { suffix } = dependencies.names;
  return {
    eventttl: () => new EventTtlController({ ...dependencies, ttlMs, longestPauseMs }),
    'storage-version-migrator': () => new StoredFormController(dependencies),
    'allocation-repair': () => new AllocationRepairController(dependencies),
    'validatingadmissionpolicy-status': () => new ValidatingAdmissionPolicyStatusController(dependencies),
    'customresourcedefinition-status': () => new DefinitionStatusController(dependencies),
    'customresourcedefinition-cleanup': () => new DefinitionCleanupController(dependencies),
    'sql-views': () =>
      databaseUrl === undefined ? undefined : new SqlViewsController({ ...dependencies, databaseUrl, suffix, mode }),
    'sql-projection': () =>
      databaseUrl === undefined || !mode.hasTables
        ? undefined
        : new SqlProjectionController({ ...dependencies, databaseUrl, suffix, mode }),
    'apiservice-registration': () => new ApiServiceRegistrationController(dependencies),
    'apiservice-availability': () =>
      aggregation === undefined ? undefined : new ApiServiceAvailabilityController({ ...dependencies, aggregation }),
  } satisfies Record<string, MakeLoop>;
}

function nodeRules(options: Readonly<NodeLoopOptions>): Pick<NodeLifecycleDependencies, 'grace' | 'rates'> {
  return {
    grace: { monitorMs: options.nodeMonitorGraceMs, startupMs: options.nodeStartupGraceMs },
    rates: {
      rate: options.nodeEvictionRate,
      secondaryRate: options.secondaryNodeEvictionRate,
      unhealthyThreshold: options.unhealthyZoneThreshold,
      largeSize: options.largeClusterSizeThreshold,
    },
  };
}
