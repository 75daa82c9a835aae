import { Counter, type Registry } from 'prom-client';

/** Why a volume was detached although its node may still use it. */
export type ForcedDetachReason = 'timeout' | 'out-of-service';

/** Counters of the volume controllers, under upstream's names. */
export class VolumeLoopMetrics {
  /** Claims of generic ephemeral volumes that the controller tried to create. */
  readonly claimCreations: Pick<Counter, 'inc'>;
  /** Claims of generic ephemeral volumes that could not be created. */
  readonly claimFailures: Pick<Counter, 'inc'>;
  private readonly forced: Counter<'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.claimCreations = new Counter({
      name: 'ephemeral_volume_controller_create_total',
      help: 'Claims of generic ephemeral volumes that the control loop tried to create.',
      registers,
    });
    this.claimFailures = new Counter({
      name: 'ephemeral_volume_controller_create_failures_total',
      help: 'Claims of generic ephemeral volumes that the control loop could not create.',
      registers,
    });
    this.forced = new Counter({
      name: 'attach_detach_controller_attachdetach_controller_forced_detaches',
      help: 'Volumes that were detached although their node may still use them, by the reason.',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of ['timeout', 'out-of-service'] as const) this.forced.inc({ reason }, 0);
  }

  forcedDetach(reason: ForcedDetachReason): void {
    this.forced.inc({ reason });
  }
}
