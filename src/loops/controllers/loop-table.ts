import { type ControllerName, selectedControllers } from '../../base/config/controllers.options.js';
import { NodeLoopOptions } from '../../base/config/node-loops.options.js';
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
import type { ControllersOptions } from './controllers.js';
import { CronJobController } from './cron-job/cron-job.controller.js';
import { CsrApprovingController } from './csr-approving/csr-approving.controller.js';
import { CsrCleanerController } from './csr-cleaner/csr-cleaner.controller.js';
import { CsrSigningController } from './csr-signing/csr-signing.controller.js';
import { DefinitionCleanupController } from './custom-resource-definitions/definition-cleanup.controller.js';
import { DefinitionStatusController } from './custom-resource-definitions/definition-status.controller.js';
import { DaemonSetController } from './daemon-set/daemon-set.controller.js';
import { DeploymentController } from './deployment/deployment.controller.js';
import { DisruptionController } from './disruption/disruption.controller.js';
import { EndpointSliceController } from './endpoint-slice/endpoint-slice.controller.js';
import { EndpointSliceMirroringController } from './endpoint-slice-mirroring/endpoint-slice-mirroring.controller.js';
import { EndpointsController } from './endpoints/endpoints.controller.js';
import { EphemeralVolumeController } from './ephemeral-volume/ephemeral-volume.controller.js';
import { EventTtlController } from './event-ttl/event-ttl.controller.js';
import type { ReconcileParts } from './frame/reconcile-loop.js';
import { GarbageCollector } from './garbage-collector/garbage-collector.controller.js';
import { HorizontalPodAutoscalerController } from './horizontal-pod-autoscaler/horizontal-pod-autoscaler.controller.js';
import { RemoteMetrics } from './horizontal-pod-autoscaler/metrics-api.js';
import { JobController } from './job/job.controller.js';
import { NamespaceController } from './namespace/namespace.controller.js';
import { NodeIpamController } from './node-ipam/node-ipam.controller.js';
import { NodeLifecycleController, type NodeLifecycleParts } from './node-lifecycle/node-lifecycle.controller.js';
import { NodeTtlController } from './node-ttl/node-ttl.controller.js';
import { PersistentVolumeBinderController } from './persistent-volume-binder/persistent-volume-binder.controller.js';
import { PodGcController } from './pod-gc/pod-gc.controller.js';
import { PvProtectionController } from './pv-protection/pv-protection.controller.js';
import { PvcProtectionController } from './pvc-protection/pvc-protection.controller.js';
import { ReplicaSetController } from './replica-set/replica-set.controller.js';
import { replicaSets, replicationControllers } from './replica-set/replicated.js';
import { ResourceQuotaController } from './resource-quota/resource-quota.controller.js';
import { RootAuthorityPublisher } from './root-authority/root-authority-publisher.controller.js';
import { SchedulerLoop } from './scheduler/scheduler-loop.js';
import { ServiceAccountController } from './service-account/service-account.controller.js';
import { ServiceAccountTokenController } from './service-account-token/service-account-token.controller.js';
import { SqlProjectionController } from './sql-projection/sql-projection.controller.js';
import { SqlViewsController } from './sql-views/sql-views.controller.js';
import { StatefulSetController } from './stateful-set/stateful-set.controller.js';
import { StoredFormController } from './stored-form/stored-form.controller.js';
import { TaintEvictionController } from './taint-eviction/taint-eviction.controller.js';
import { TokenCleanerController } from './token-cleaner/token-cleaner.controller.js';
import { TtlAfterFinishedController } from './ttl-after-finished/ttl-after-finished.controller.js';
import { ValidatingAdmissionPolicyStatusController } from './validating-admission-policy-status/validating-admission-policy-status.controller.js';
import { VolumeAttributesClassProtectionController } from './volume-attributes-class-protection/volume-attributes-class-protection.controller.js';

/** What every loop may be made of. */
export interface LoopParts extends ReconcileParts {
  readonly admission?: WriteAdmission | undefined;
}

const defaultEventTtlMs = 3_600_000;
const defaultTerminatedPodThreshold = 12_500;

/** The enabled loops, in no particular order. */
export function makeLoops(options: ControllersOptions, parts: LoopParts): ControlLoop[] {
  const { databaseUrl, sqlProjection = onlyViews } = options;
  const { signing, signToken, rootAuthority, aggregation, authorizer = closedAuthorizer, settleMs } = options;
  const { eventTtlMs = defaultEventTtlMs, terminatedPodThreshold = defaultTerminatedPodThreshold } = options;
  const { nodeLoops = new NodeLoopOptions() } = options;
  const enabled = options.enabled ?? selectedControllers(['*']);
  const without = (text: string): undefined => {
    parts.logger.info(text);
    return undefined;
  };
  const makers: Readonly<Record<ControllerName, () => ControlLoop | undefined>> = {
    eventttl: () => new EventTtlController({ ...parts, ttlMs: eventTtlMs, longestPauseMs: options.eventLagMs }),
    namespace: () => {
      const remoteContent = aggregation && new RemoteContent(aggregation, parts.names);
      return new NamespaceController({ ...parts, settleMs, remoteContent });
    },
    garbagecollector: () => {
      const { names, timers } = parts;
      const remoteOwners = aggregation && new RemoteOwners(aggregation, names, () => timers.elapsed());
      return new GarbageCollector({ ...parts, remoteOwners });
    },
    podgc: () => new PodGcController({ ...parts, threshold: terminatedPodThreshold }),
    'ttl-after-finished': () => new TtlAfterFinishedController(parts),
    'storage-version-migrator': () => new StoredFormController(parts),
    'allocation-repair': () => new AllocationRepairController(parts),
    'clusterrole-aggregation': () => new ClusterRoleAggregationController(parts),
    'pvc-protection': () => new PvcProtectionController(parts),
    'pv-protection': () => new PvProtectionController(parts),
    'persistentvolume-binder': () => new PersistentVolumeBinderController(parts),
    'ephemeral-volume-controller': () => new EphemeralVolumeController({ ...parts, counters: options.counters }),
    'persistentvolume-attach-detach-controller': () =>
      new AttachDetachController({ ...parts, counters: options.counters }),
    'volumeattributesclass-protection-controller': () => new VolumeAttributesClassProtectionController(parts),
    resourcequota: () => new ResourceQuotaController(parts),
    'validatingadmissionpolicy-status': () => new ValidatingAdmissionPolicyStatusController(parts),
    'customresourcedefinition-status': () => new DefinitionStatusController(parts),
    'customresourcedefinition-cleanup': () => new DefinitionCleanupController(parts),
    job: () => new JobController(parts),
    cronjob: () => new CronJobController(parts),
    horizontalpodautoscaling: () => {
      const { metrics = new RemoteMetrics(aggregation, parts.names), autoscaler } = options;
      return new HorizontalPodAutoscalerController({ ...parts, metrics, autoscaler });
    },
    'sql-views': () =>
      databaseUrl === undefined
        ? undefined
        : new SqlViewsController({ ...parts, databaseUrl, suffix: parts.names.suffix, mode: sqlProjection }),
    'sql-projection': () =>
      databaseUrl === undefined || !sqlProjection.hasTables
        ? undefined
        : new SqlProjectionController({ ...parts, databaseUrl, suffix: parts.names.suffix, mode: sqlProjection }),
    'apiservice-registration': () => new ApiServiceRegistrationController(parts),
    'apiservice-availability': () =>
      aggregation === undefined ? undefined : new ApiServiceAvailabilityController({ ...parts, aggregation }),
    deployment: () => new DeploymentController(parts),
    disruption: () => new DisruptionController(parts),
    replicaset: () => new ReplicaSetController(parts, replicaSets),
    replicationcontroller: () => new ReplicaSetController(parts, replicationControllers),
    daemonset: () => new DaemonSetController(parts),
    statefulset: () => new StatefulSetController(parts),
    endpoint: () => new EndpointsController(parts),
    endpointslice: () => new EndpointSliceController(parts),
    endpointslicemirroring: () => new EndpointSliceMirroringController(parts),
    nodelifecycle: () => new NodeLifecycleController({ ...parts, ...nodeRules(nodeLoops) }),
    nodeipam: () => {
      const { nodeRanges: ranges = [], serviceRange = '' } = options;
      return ranges.length === 0 ? undefined : new NodeIpamController({ ...parts, ranges, serviceRange });
    },
    ttl: () => new NodeTtlController(parts),
    'taint-eviction-controller': () => new TaintEvictionController(parts),
    csrapproving: () => new CsrApprovingController({ ...parts, authorizer }),
    csrsigning: () =>
      signing === undefined
        ? without('certificates are not signed: there is no --cluster-signing-cert-file')
        : new CsrSigningController({ ...parts, signing }),
    csrcleaner: () => new CsrCleanerController(parts),
    bootstrapsigner: () => {
      const signedWith = parts.names.clusterInfoKey;
      // Under both names there is one loop, or they would replace each other's signatures.
      const isOther = enabled.has('bootstrap-signer-controller');
      return isOther ? undefined : new BootstrapSignerController({ ...parts, signedWith });
    },
    'bootstrap-signer-controller': () => new BootstrapSignerController({ ...parts, signedWith: 'secret' }),
    tokencleaner: () => new TokenCleanerController(parts),
    scheduler: () => new SchedulerLoop({ ...parts, schedulerNames: options.schedulerNames }),
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
  return [...enabled].map((name) => makers[name]()).filter((loop) => loop !== undefined);
}

function nodeRules(options: Readonly<NodeLoopOptions>): Pick<NodeLifecycleParts, 'grace' | 'rates'> {
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
