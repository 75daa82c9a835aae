import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';
import { AutoscalerMetrics } from './autoscaler-metrics.js';
import { EndpointSliceMetrics } from './endpoint-slice-metrics.js';
import { JobMetrics } from './job-metrics.js';
import { PublisherMetrics } from './publisher-metrics.js';
import { SchedulerMetrics } from './scheduler-metrics.js';
import { ZoneMetrics } from './zone-metrics.js';

const deletionBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240];

/** Pods that a controller removes because of taints. */
export interface TaintEvictions {
  /** @param seconds from when the pod had to leave until it was deleted */
  deleted(seconds: number): void;
}

/** The metrics of the control loops, under upstream's names. Each loop counts while its process leads. */
export class LoopMetrics {
  readonly scheduler: SchedulerMetrics;
  readonly jobs: JobMetrics;
  readonly endpointSlices: EndpointSliceMetrics;
  readonly autoscalers: AutoscalerMetrics;
  readonly zones: ZoneMetrics;
  readonly rootAuthority: PublisherMetrics;
  readonly trustBundle: PublisherMetrics;
  /** Pods removed because of taints of their node. */
  readonly taintEvictions: TaintEvictions;
  /** Pods removed because of taints of their devices. */
  readonly deviceTaintEvictions: TaintEvictions;
  /** Seconds from the scheduled time of a cron job's run until its job was created. */
  readonly cronSkew: Pick<Histogram, 'observe'>;
  /** Seconds from when the time of a finished job was over until it was deleted. */
  readonly jobDeletion: Pick<Histogram, 'observe'>;
  /** Failed attempts of the garbage collector to follow a resource. */
  readonly unfollowedResources: Pick<Counter, 'inc'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.scheduler = new SchedulerMetrics(registry);
    this.jobs = new JobMetrics(registry);
    this.endpointSlices = new EndpointSliceMetrics(registry);
    this.autoscalers = new AutoscalerMetrics(registry);
    this.zones = new ZoneMetrics(registry);
    this.rootAuthority = new PublisherMetrics(registry, 'root_ca_cert_publisher', 'the authorities in a namespace');
    this.trustBundle = new PublisherMetrics(registry, 'clustertrustbundle_publisher', 'the trust bundle of the API');
    this.taintEvictions = taintEvictions(registry, 'taint_eviction_controller', 'their node');
    this.deviceTaintEvictions = taintEvictions(registry, 'device_taint_eviction_controller', 'their devices');
    this.cronSkew = new Histogram({
      name: 'cronjob_controller_job_creation_skew_duration_seconds',
      help: "Time from the scheduled time of a cron job's run until its job was created.",
      buckets: exponentialBuckets(1, 2, 10),
      registers,
    });
    this.jobDeletion = new Histogram({
      name: 'ttl_after_finished_controller_job_deletion_duration_seconds',
      help: 'Time from when the time of a finished job was over until it was deleted.',
      buckets: exponentialBuckets(0.1, 2, 14),
      registers,
    });
    this.unfollowedResources = new Counter({
      name: 'garbagecollector_controller_resources_sync_error_total',
      help: 'Failed attempts of the garbage collector to follow a resource.',
      registers,
    });
  }

  /** Shows whether this process holds a lease. */
  static election(registry: Registry, lease: string, isLeading: () => boolean): void {
    new Gauge({
      name: 'leader_election_master_status',
      help: 'Whether this process leads, by the name of the lease: 1 when it does.',
      labelNames: ['name'],
      registers: [registry],
      collect() {
        this.set({ name: lease }, isLeading() ? 1 : 0);
      },
    });
  }
}

function taintEvictions(registry: Registry, controller: string, owner: string): TaintEvictions {
  const registers = [registry];
  const deletions = new Counter({
    name: `${controller}_pod_deletions_total`,
    help: `Pods deleted because of taints of ${owner}.`,
    registers,
  });
  const times = new Histogram({
    name: `${controller}_pod_deletion_duration_seconds`,
    help: `Time from when a pod had to leave because of taints of ${owner} until it was deleted.`,
    buckets: deletionBuckets,
    registers,
  });
  return {
    deleted: (seconds) => {
      deletions.inc();
      times.observe(Math.max(0, seconds));
    },
  };
}
