import { declareIgnored, type FlagsWithoutEffect } from './ignored-flags.js';
/** Flags of etcd that are accepted so that existing command lines keep working. */
export class IgnoredEtcdOptions {}

/** Flags of etcd that have no meaning for a shared and temporary PostgreSQL. */
const ignoredEtcdFlags: FlagsWithoutEffect = {
  why: 'the store is PostgreSQL',
  flags: `
    bool: unsafe-no-fsync force-new-cluster pre-vote strict-reconfig-check enable-pprof enable-v2 socket-reuse-address
      socket-reuse-port experimental-initial-corrupt-check
    string: wal-dir listen-peer-urls advertise-client-urls initial-advertise-peer-urls initial-cluster
      initial-cluster-state initial-cluster-token listen-metrics-urls metrics logger log-level log-format log-outputs
      auto-compaction-mode auto-compaction-retention backend-batch-interval backend-bbolt-freelist-type
    int: snapshot-count heartbeat-interval election-timeout max-snapshots max-wals quota-backend-bytes max-txn-ops
      max-request-bytes max-concurrent-streams backend-batch-limit
  `,
};
declareIgnored(IgnoredEtcdOptions, [ignoredEtcdFlags]);
