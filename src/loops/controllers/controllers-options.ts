import type { AutoscalerOptions } from '../../base/config/autoscaler.options.js';
import type { ControllerName } from '../../base/config/control-loop.options.js';
import type { NodeRanges } from '../../base/config/node-ipam.options.js';
import type { NodeLoopOptions } from '../../base/config/node-loop.options.js';
import type { SqlProjectionMode } from '../../base/config/sql-projection.js';
import type { Authorizer } from '../../base/machinery/authorizer.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { QueueMetrics } from '../../base/observability/queue-metrics.js';
import type { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import type { WriteAdmission } from '../../objects/registry/store/admitted-store.js';
import type { Aggregation } from '../../server/aggregation/aggregation.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { SigningAuthorities } from './csr-signing/csr-signing.controller.js';
import type { CreationLimits, CreationObserver } from './frame/creation-budget.js';
import type { MetricsApi } from './horizontal-pod-autoscaler/remote-metrics.js';
import type { LeaseTimes } from './lease-elector.js';
import type { LoopMetrics } from './metrics/loop-metrics.js';
import type { RootAuthority } from './root-authority/root-authority.js';
import type { SecretTokenRequest } from './service-account-token/service-account-token.controller.js';
import type { VolumeLoopMetrics } from './volume-loop-metrics.js';

export interface ControllersOptions {
  readonly storage: Storage;
  /** The admission of the controllers' writes. Default: everything is admitted. */
  readonly admission?: WriteAdmission | undefined;
  /** Must have all resources registered: the content of namespaces is found through it. */
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  /** URL of the database with the SQL views; without it this process does not keep them up to date. */
  readonly databaseUrl?: string | undefined;
  /** How SQL shows the resources; default: by views over the stored objects. */
  readonly sqlProjection?: SqlProjectionMode | undefined;
  /**
   * Decides what the controllers may do, and checks the rights of users for whom they act. Default: the controllers may
   * do everything, and nobody else has any right.
   */
  readonly authorizer?: Authorizer | undefined;
  /** The extension servers; without it their availability is not checked. */
  readonly aggregation?: Aggregation | undefined;
  /** Where autoscalers get metrics. Default: from the extension servers. */
  readonly metrics?: MetricsApi | undefined;
  readonly autoscaler?: Readonly<AutoscalerOptions> | undefined;
  /** The controllers to run. Default: all that are on by default. */
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
  /** How long expired events may stay, in milliseconds. Default a minute. */
  readonly eventLagMs?: number | undefined;
  /** The names of schedulers for which pods are placed. Default: `default-scheduler`. */
  readonly schedulerNames?: readonly string[] | undefined;
  /** How many finished pods are kept; 0: all. Default 12,500. */
  readonly terminatedPodThreshold?: number | undefined;
  /** How long a service account token in a secret may stay unused before it is cleaned up. Default: a year. */
  readonly legacyTokenPeriodMs?: number | undefined;
  /** How fast controllers create objects in one namespace. Default: without a limit. */
  readonly creationLimits?: CreationLimits | undefined;
  /** Counts the creations that wait for these limits. */
  readonly creationObserver?: CreationObserver | undefined;
  /** Options of the node controllers. Default: the defaults of the flags. */
  readonly nodeLoops?: Readonly<NodeLoopOptions> | undefined;
  /** The ranges that nodes get their pod ranges from. Default: none. */
  readonly nodeRanges?: readonly NodeRanges[] | undefined;
  /** The range of the addresses of services. Needed where nodes get ranges. */
  readonly serviceRanges?: readonly string[] | undefined;
  /** How long the namespace controller waits before it deletes content; see `settleMs` there. */
  readonly settleMs?: number | undefined;
  /** Measures the work queues of the controllers. */
  readonly queues?: QueueMetrics | undefined;
  /** Metrics of the other controllers. */
  readonly loopMetrics?: LoopMetrics | undefined;
  /** Counters of the volume controllers. */
  readonly counters?: VolumeLoopMetrics | undefined;
  readonly timers?: Timers | undefined;
  readonly random?: (() => number) | undefined;
}
