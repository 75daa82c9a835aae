import { Counter, Gauge, type Registry } from 'prom-client';

/** What a round of upkeep finds. */
export interface DatabaseSize {
  readonly partitions: number;
  readonly bytes: number;
  readonly notificationQueue: number;
  readonly deadRows: number;
  readonly walBytes: number;
}

/** Metrics of the history in the database, of its change log, and of how this process reads the log. */
export class ChangeLogMetrics {
  private readAt = Date.now();
  private readonly found: Counter<'by'>;
  private readonly epoch: Gauge<string>;
  private readonly compactRevision: Gauge<string>;
  private readonly logPartitions: Gauge<string>;
  private readonly historyBytes: Gauge<string>;
  private readonly historyAge: Gauge<string>;
  private readonly logBytes: Gauge<string>;
  private readonly notificationQueue: Gauge<string>;
  private readonly deadRows: Gauge<string>;
  private readonly walBytes: Gauge<string>;
  private readonly missingVersions: Counter<string>;
  private readonly replicaReads: Counter<'by'>;
  private readonly replicaLag: Gauge<string>;
  private readonly replicaInUse: Gauge<string>;

  constructor(registry: Registry) {
    const registers = [registry];
    const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
    this.epoch = gauge(
      'storage_epoch',
      'Counts the histories of the database: raised when versions that were handed out were lost.',
    );
    this.compactRevision = gauge('storage_compact_revision', 'Oldest version that can be listed at and watched from.');
    this.logPartitions = gauge('storage_log_partitions', 'Partitions of the change log.');
    this.logBytes = gauge('storage_log_bytes', 'Size of the change log with its indexes.');
    this.historyBytes = gauge(
      'storage_history_bytes',
      'Size of the past behind the change log, kept by --history-retention, with its indexes.',
    );
    this.historyAge = gauge('storage_history_age_seconds', 'Age of the oldest change that is kept.');
    this.notificationQueue = gauge(
      'storage_notification_queue_usage',
      'Share of the notification queue of the database server in use; commits fail when it is full.',
    );
    this.deadRows = gauge(
      'storage_dead_rows',
      'Rows of all tables that vacuum has not removed yet, as the database server estimates them.',
    );
    this.walBytes = gauge(
      'storage_wal_position_bytes',
      'Position in the write-ahead log of the database server, which grows by what all its databases write.',
    );
    this.replicaLag = gauge(
      'storage_replica_lag_seconds',
      'How long the read replica has lacked the oldest version that it lacks, at its last answer.',
    );
    this.replicaInUse = gauge(
      'storage_replica_in_use',
      'Whether reads come from the read replica: 0 while it does not answer or lags, and the primary is read.',
    );
    this.replicaReads = new Counter({
      name: 'storage_replica_reads_total',
      help: 'Reads meant for the read replica, by who answered: the replica, or the primary in its place.',
      labelNames: ['by'],
      registers,
    });
    this.missingVersions = new Counter({
      name: 'storage_missing_versions_total',
      help: 'At most this many versions seen by this process were lost by the database in a fail-over or restore.',
      registers,
    });
    this.found = new Counter({
      name: 'storage_feed_changes_total',
      help: 'Changes read from the log, by reason of the read: a notification or the poll.',
      labelNames: ['by'],
      registers,
    });
    this.hideUnknown();
    this.showAge(registry);
  }

  /** A process that does not maintain the database, or has no read replica, omits the series, instead of showing zero. */
  private hideUnknown(): void {
    for (const gauge of [
      this.epoch,
      this.compactRevision,
      this.logPartitions,
      this.logBytes,
      this.historyBytes,
      this.historyAge,
      this.notificationQueue,
      this.deadRows,
      this.walBytes,
      this.replicaLag,
      this.replicaInUse,
    ]) {
      gauge.remove();
    }
  }

  private showAge(registry: Registry): void {
    const ageMs = () => this.ageMs;
    new Gauge({
      name: 'storage_feed_age_seconds',
      help: 'Time since the change log was last read.',
      registers: [registry],
      collect() {
        this.set(ageMs() / 1000);
      },
    });
  }

  epochIs(epoch: bigint, missing: bigint): void {
    this.epoch.set(Number(epoch));
    if (missing > 0n) this.missingVersions.inc(Number(missing));
  }

  sizeIs(compactRevision: bigint, size: DatabaseSize): void {
    this.compactRevision.set(Number(compactRevision));
    this.logPartitions.set(size.partitions);
    this.logBytes.set(size.bytes);
    this.notificationQueue.set(size.notificationQueue);
    this.deadRows.set(size.deadRows);
    this.walBytes.set(size.walBytes);
  }

  historyIs(bytes: number, ageSeconds: number): void {
    this.historyBytes.set(bytes);
    this.historyAge.set(ageSeconds);
  }

  replicaRead(by: string): void {
    this.replicaReads.inc({ by });
    if (by === 'replica') this.replicaInUse.set(1);
  }

  replicaLagIs(seconds: number): void {
    this.replicaLag.set(seconds);
  }

  replicaIsUsed(isUsed: boolean): void {
    this.replicaInUse.set(isUsed ? 1 : 0);
  }

  /** Time since the change log was last read, in milliseconds. */
  get ageMs(): number {
    return Date.now() - this.readAt;
  }

  read(by: string, count: number): void {
    this.readAt = Date.now();
    this.found.inc({ by }, count);
  }
}
