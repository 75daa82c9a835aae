import {
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { AutoscalerOptions } from '../../base/config/autoscaler.options.js';
import { ControlLoopOptions, selectedControllers } from '../../base/config/control-loop.options.js';
import { EventOptions } from '../../base/config/event.options.js';
import { NodeIpamOptions, nodeRangesOf } from '../../base/config/node-ipam.options.js';
import { NodeLoopOptions } from '../../base/config/node-loop.options.js';
import type { ControllersSettings } from '../../base/config/server-options.js';
import { sqlProjectionMode } from '../../base/config/sql-projection.js';
import { StorageOptions } from '../../base/config/storage.options.js';
import { AUTHORIZER, type Authorizer } from '../../base/machinery/authorizer.js';
import { serviceRangesOf } from '../../base/machinery/service-ranges.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { CustomResourcesModule } from '../../objects/custom-resources/serving/custom-resources.module.js';
import { SERVICE_RANGES, type ServiceRanges } from '../../objects/registry/allocation/service-ranges.js';
import { sharedParts } from '../../objects/registry/informers/shared-parts.js';
import { RegistryModule } from '../../objects/registry/registry.module.js';
import { WRITE_ADMISSION, type WriteAdmission } from '../../objects/registry/store/admitted-store.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { AdmissionModule } from '../../server/admission/admission.module.js';
import { Aggregation } from '../../server/aggregation/aggregation.js';
import { AggregationModule } from '../../server/aggregation/aggregation.module.js';
import { AuthorizationModule } from '../../server/authorization/authorization.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { controllersLease, type RunningControllers, startControllers } from './controllers.js';
import { CreationMetrics } from './frame/creation-metrics.js';
import { InformerMetrics } from './informer-metrics.js';
import { LoopFiles } from './loop-files.js';
import { LoopMetrics } from './metrics/loop-metrics.js';
import { VolumeLoopMetrics } from './volume-loop-metrics.js';

/**
 * The control loops. From the start of the application, the process takes part in the election among all processes on
 * the database. At shutdown, the controllers stop and the lease is released before anything else stops. Changed key and
 * certificate files take effect without a restart.
 */
@Module({
  imports: [
    StorageModule,
    RegistryModule,
    CustomResourcesModule,
    AuthorizationModule,
    AdmissionModule,
    AggregationModule,
  ],
  providers: [
    {
      provide: LoopFiles,
      inject: [ControlLoopOptions, VENDOR_NAMES, Logger],
      useFactory: (options: ControlLoopOptions, names: VendorNames, logger: Logger) =>
        new LoopFiles(options, names, logger),
    },
  ],
})
export class ControllersModule implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private running: RunningControllers | undefined;

  static of({ controllers, events, nodeLoops, nodeIpam, autoscaler }: ControllersSettings): DynamicModule {
    return {
      module: ControllersModule,
      providers: [
        { provide: ControlLoopOptions, useValue: controllers },
        { provide: EventOptions, useValue: events },
        { provide: NodeLoopOptions, useValue: nodeLoops },
        { provide: NodeIpamOptions, useValue: nodeIpam },
        { provide: AutoscalerOptions, useValue: autoscaler },
      ],
    };
  }

  // Nest passes each dependency as a parameter; an object would need a factory with the same list.
  constructor(
    @Inject(ResourceStores) private readonly stores: ResourceStores,
    @Inject(VENDOR_NAMES) private readonly names: VendorNames,
    @Inject(AUTHORIZER) private readonly authorizer: Authorizer,
    @Inject(WRITE_ADMISSION) private readonly admission: WriteAdmission,
    @Inject(ControlLoopOptions) private readonly options: ControlLoopOptions,
    @Inject(EventOptions) private readonly events: EventOptions,
    @Inject(NodeLoopOptions) private readonly nodeLoops: NodeLoopOptions,
    @Inject(NodeIpamOptions) private readonly nodeIpam: NodeIpamOptions,
    @Inject(SERVICE_RANGES) private readonly ranges: ServiceRanges,
    @Inject(AutoscalerOptions) private readonly autoscaler: AutoscalerOptions,
    @Inject(StorageOptions) private readonly storage: StorageOptions,
    @Inject(LoopFiles) private readonly files: LoopFiles,
    @Inject(Aggregation) private readonly aggregation: Aggregation,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(Logger) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { stores, names, authorizer, logger } = this;
    this.files.start();
    const enabled = selectedControllers(this.options.controllers);
    for (const { controller, missing, effect } of missingFiles(this.files.options)) {
      if (enabled.has(controller)) logger.warn(effect, { missing });
    }
    new InformerMetrics(this.metrics.registry, sharedParts);
    sharedParts.reportOverflow((problem) => {
      const budget = { bytes: Math.round(sharedParts.usage.budget) };
      if (problem === undefined)
        logger.warn('large objects take more memory than informers may use: the rest is stored in a file', budget);
      else
        logger.warn(
          'the file for large objects that exceed the memory of informers could not be opened: they stay in memory',
          {
            ...budget,
            error: problem,
          },
        );
    });
    this.running = startControllers({
      storage: stores.storage,
      admission: this.admission,
      registry: stores.registry,
      names,
      authorizer,
      logger,
      databaseUrl: this.storage.databaseUrl,
      sqlProjection: sqlProjectionMode(this.storage.sqlProjection, this.storage.sqlProjectionOverrides),
      ...this.files.options,
      aggregation: this.aggregation,
      enabled,
      queues: this.metrics.queues,
      loopMetrics: new LoopMetrics(this.metrics.registry),
      counters: new VolumeLoopMetrics(this.metrics.registry),
      eventTtlMs: this.events.eventTtlMs,
      eventLagMs: this.events.leaseReuseDurationSeconds * 1000,
      nodeLoops: this.nodeLoops,
      nodeRanges: nodeRangesOf(this.nodeIpam),
      serviceRanges: serviceRangesOf(this.ranges.serviceClusterIpRange),
      autoscaler: this.autoscaler,
      schedulerNames: this.options.schedulerNames,
      terminatedPodThreshold: this.options.terminatedPodThreshold,
      legacyTokenPeriodMs: this.options.legacyTokenPeriodMs,
      creationLimits: {
        objectsPerSecond: this.options.creationRate,
        bytesPerSecond: this.options.creationBytes,
      },
      creationObserver: new CreationMetrics(this.metrics.registry),
    });
    LoopMetrics.election(this.metrics.registry, controllersLease, () => this.running?.isLeading === true);
    logger.info('control loops stand by until this process leads', { identity: this.running.identity });
  }

  /** Runs before the dependencies of the controllers stop. */
  async onModuleDestroy(): Promise<void> {
    await this.running?.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.files.stop();
  }
}

/** Work that the control loops can't do because a file is missing. */
function missingFiles({ signing, signToken, rootAuthority }: LoopFiles['options']) {
  const needs = [
    ['csrsigning', signing, '--cluster-signing-cert-file', 'approved certificate requests stay unsigned'],
    ['serviceaccount-token', signToken, '--service-account-private-key-file', 'secrets of account tokens stay empty'],
    ['root-ca-cert-publisher', rootAuthority, '--root-ca-file', "namespaces do not get the API's authority"],
  ] as const;
  return needs.flatMap(([controller, part, missing, effect]) =>
    part === undefined ? [{ controller, missing, effect }] : [],
  );
}
