/**
 * Suites that `npm test` leaves out, so that it is fast enough to run before each commit: parts of the paths of their
 * files. `npm run test:more` and CI run all of them. A file that is in no suite belongs to `npm test`.
 */
export const suites = {
  /** Killed processes, database failovers, rolling restarts, broken connections. */
  faults: [
    'e2e/api-endpoints.',
    'e2e/authentication-outage.',
    'e2e/consistency.',
    'e2e/failover.',
    'e2e/outage.',
    'e2e/pooler.',
    'e2e/process-faults.',
    'e2e/reloaded-files.',
    'e2e/rolling-restart.',
    'e2e/seeded-faults.',
    'e2e/shutdown.',
    'e2e/stream-faults.',
    'e2e/workers-parent.',
    'e2e/workers.',
    'postgres/broken-connections.',
    'postgres/dump-restore.',
    'postgres/frozen-writers.',
    'postgres/session-hosts.',
    'postgres/stuck-commits.',
    'sql-projection/crashed-rows.',
    'src/resources-app.module.',
  ],
  /** Large requests and responses, memory, slow and hostile clients. */
  limits: [
    'e2e/answer-blocks.',
    'e2e/attacks-',
    'e2e/compression.',
    'e2e/custom-resource-conversion-limits.',
    'e2e/expired-watches.',
    'e2e/hostile-clients.',
    'e2e/http-limits.',
    'e2e/large-',
    'e2e/loops-memory.',
    'e2e/short-lives.',
    'flow-control/queue-set.',
    'large/large-request-thread.',
    'negotiation/large-yaml-parser.',
    'machinery/paced-reads.',
    'postgres/finder.',
    'postgres/reader-attacks.',
    'test/compiled-code.',
  ],
  /** Parties outside that a cluster is set up with: identity providers, webhooks that decide who may what, extension servers. */
  outside: [
    'e2e/admission-webhook-connections.',
    'e2e/aggregated-documents.',
    'e2e/aggregation.',
    'e2e/audit-modes.',
    'e2e/authentication-bootstrap.',
    'e2e/authentication-certificates.',
    'e2e/authentication-configuration.',
    'e2e/authentication-exec.',
    'e2e/authentication-oidc.',
    'e2e/authentication-proxy.',
    'e2e/authentication-webhook.',
    'e2e/authorization-configuration.',
    'e2e/authorization-webhook.',
    'console/console-oidc.',
  ],
  /** Clusters at work: control loops, the scheduler and simulated nodes as processes of their own. */
  loops: [
    'e2e/autoscaling.',
    'e2e/certificates.',
    'e2e/cleaning.',
    'e2e/deletes-and-collectors.',
    'e2e/eviction.',
    'e2e/feature-gates.',
    'e2e/informers.',
    'e2e/node-streams.',
    'e2e/rollouts.',
    'e2e/scheduler.',
    'e2e/service-account-secrets.',
    'e2e/simulated-nodes.',
    'e2e/stale-namespaces.',
  ],
  /** Definitions, versions, conversion, rules and deletion of custom resources. */
  'custom-resources': [
    'e2e/converted-selectors.',
    'e2e/custom-definitions.',
    'e2e/custom-resource-changes.',
    'e2e/custom-resource-conversion.',
    'e2e/custom-resource-ends.',
    'e2e/custom-resource-removed-versions.',
    'e2e/custom-resource-rules.',
    'e2e/custom-resources.',
  ],
  /** Rows and views for SQL, history, read replicas. */
  sql: [
    'console/sql-reader.',
    'postgres/history-readers.',
    'postgres/history.',
    'postgres/read-replica.',
    'sql-projection/light-rows.',
    'sql-projection/sql-projection.',
  ],
  /** The command line, and third-party programs: kubectl, Chromium, PgBouncer, containerd, the tools of PostgreSQL. */
  tools: [
    'cli/knock.',
    'cli/paths.',
    'cli/run-program.',
    'e2e/assets.',
    'e2e/backup.',
    'e2e/cluster-init.',
    'e2e/cluster-join.',
    'e2e/console.',
    'e2e/dashboards.',
    'e2e/dev-',
    'e2e/doctor.',
    'e2e/generated-kind.',
    'e2e/hostile-runtime.',
    'e2e/import.',
    'e2e/joining-node.',
    'e2e/kubectl',
    'e2e/lost-networks.',
    'e2e/node-agent.',
    'e2e/node-proxy.',
    'e2e/operator-pages.',
    'e2e/pod-senders.',
    'e2e/restore.',
    'e2e/test-library.',
    'e2e/user-kubeconfig.',
    'e2e/versions.',
    'embedded/embedded-postgres.',
    'format/format.',
  ],
};

/** Tests that depend on the database: `--suite all` also runs them on a PostgreSQL with its default settings. */
export const onStockDatabase = [
  'src/storage/postgres/',
  'src/storage/feed/',
  'src/loops/controllers/sql-views',
  'e2e/writes-and-watches.',
];

/**
 * The files of a suite.
 *
 * @param files paths
 * @param name a name of `suites`; `more` for all suites; undefined for files in none; `all` for every file
 * @returns undefined when there is no such suite
 */
export function filesOfSuite(files, name) {
  if (name === 'all') return files;
  if (name !== undefined && name !== 'more' && suites[name] === undefined) return undefined;
  const parts = name === undefined || name === 'more' ? Object.values(suites).flat() : suites[name];
  const isIn = (file) => parts.some((part) => file.includes(part));
  return files.filter((file) => isIn(file) === (name !== undefined));
}
