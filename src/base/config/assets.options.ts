import { Check } from './check.js';
import { Flag } from './flag.js';
import { declareIgnored, type FlagsWithoutEffect } from './ignored-flags.js';

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

/** Controls whether programs started by a test suite outlive it. */
export class AssetOptions {
  @Flag({
    name: 'outlive-parent',
    type: 'bool',
    usage: 'Go on when the process that started this one is gone. Otherwise a killed suite would leave it behind.',
  })
  readonly outliveParent: boolean = false;
}

function clientUrlsProblem(urls: readonly string[]): string | undefined {
  if (urls.length === 0) return 'needs at least one URL';
  const bad = urls.find((url) => !URL.canParse(url) || !['http:', 'unix:'].includes(new URL(url).protocol));
  if (bad !== undefined) return `has ${JSON.stringify(bad)}, which is not an http URL`;
  const unix = urls.find((url) => url.startsWith('unix:'));
  return unix === undefined ? undefined : `has ${unix}: sockets are not supported, use http://127.0.0.1:2379`;
}

/** The replacement for etcd in test suites. */
export class EtcdOptions {
  @Flag({ name: 'name', type: 'string', usage: 'Names the folder of the data when --data-dir is not set.' })
  readonly name: string = 'default';

  @Flag({
    name: 'data-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder that names the data. They are dropped soon after it is removed. Unset: <name>.etcd.',
  })
  readonly dataDir: string | undefined = undefined;

  @Flag({
    name: 'listen-client-urls',
    type: 'list',
    unit: 'urls',
    usage: 'Where servers ask for their database, and where /health answers.',
  })
  @Check('clientUrls', clientUrlsProblem)
  readonly listenClientUrls: readonly string[] = ['http://localhost:2379'];
}

/** Flags of etcd that are accepted so that existing command lines keep working. */
export class IgnoredEtcdOptions {}
declareIgnored(IgnoredEtcdOptions, [ignoredEtcdFlags]);

/** Where a test suite's server finds its database. */
export class EtcdClientOptions {
  @Flag({
    name: 'etcd-servers',
    type: 'list',
    unit: 'urls',
    usage: 'Client URLs of the program etcd that plinth assets has written; the first one that answers is used.',
  })
  @Check<readonly string[]>('etcdServers', (urls) => {
    const bad = urls.find((url) => !URL.canParse(url) || new URL(url).protocol !== 'http:');
    return bad === undefined ? undefined : `has ${JSON.stringify(bad)}, which is not an http URL`;
  })
  readonly etcdServers: readonly string[] = [];

  @Flag({
    name: 'etcd-prefix',
    type: 'string',
    usage: 'Servers with the same prefix and --etcd-servers share their objects.',
  })
  readonly etcdPrefix: string = '/registry';

  @Flag({
    name: 'allow-privileged',
    type: 'bool',
    usage: 'Privileged containers are allowed. Pod security, not this flag, can forbid them, so it must be true.',
  })
  @Check<boolean>('privileged', (value) =>
    value ? undefined : 'must be true: the labels of pod security on namespaces forbid privileged containers',
  )
  readonly allowPrivileged: boolean = true;
}
