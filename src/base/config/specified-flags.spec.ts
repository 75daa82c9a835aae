import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AgentApiOptions } from './agent-api.options.js';
import { AgentHousekeepingOptions } from './agent-housekeeping.options.js';
import { AgentNodeOptions } from './agent-node.options.js';
import { AgentPodsOptions } from './agent-pods.options.js';
import { AgentServerOptions } from './agent-server.options.js';
import { AgentSourcesOptions } from './agent-sources.options.js';
import { type BoundFlag, flagsOf, showFlagValue } from './flag.js';
import { OptionsError } from './options-error.js';
import { type OptionGroups, parseOptions } from './parse-options.js';
import { controllerOptionGroups, serverOptionGroups } from './server-options.js';

// All flags that the specification names, with the defaults that it gives; '' for none.

type Row = readonly [flag: string, value: string];

const servers: readonly Row[] = [
  // 5.1, 5.2
  ['anonymous-auth', 'true'],
  ['client-ca-file', ''],
  ['token-auth-file', ''],
  ['enable-bootstrap-token-auth', 'false'],
  ['service-account-key-file', ''],
  ['service-account-lookup', 'true'],
  ['oidc-issuer-url', ''],
  ['oidc-client-id', ''],
  ['oidc-username-claim', 'sub'],
  ['oidc-username-prefix', ''],
  ['oidc-groups-claim', ''],
  ['oidc-groups-prefix', ''],
  ['oidc-required-claim', ''],
  ['oidc-ca-file', ''],
  ['oidc-signing-algs', 'RS256'],
  ['authentication-token-webhook-config-file', ''],
  ['authentication-token-webhook-cache-ttl', '2m0s'],
  ['authentication-token-webhook-version', 'v1beta1'],
  ['requestheader-username-headers', ''],
  ['requestheader-group-headers', ''],
  ['requestheader-extra-headers-prefix', ''],
  ['requestheader-client-ca-file', ''],
  ['requestheader-allowed-names', ''],
  ['api-audiences', ''],
  ['service-account-issuer', ''],
  ['service-account-extend-token-expiration', 'true'],
  ['proxy-client-cert-file', ''],
  ['proxy-client-key-file', ''],
  // 5.4
  ['authorization-mode', 'AlwaysAllow'],
  ['authorization-policy-file', ''],
  ['authorization-webhook-config-file', ''],
  ['authorization-webhook-cache-authorized-ttl', '5m0s'],
  ['authorization-webhook-cache-unauthorized-ttl', '30s'],
  // 4.10, 4.11
  ['livez-grace-period', '0s'],
  ['shutdown-delay-duration', '0s'],
  ['authorization-webhook-version', 'v1beta1'],
  // 5.5
  ['enable-admission-plugins', ''],
  ['disable-admission-plugins', ''],
  ['admission-control-config-file', ''],
  ['default-not-ready-toleration-seconds', '300'],
  ['default-unreachable-toleration-seconds', '300'],
  // 6.2
  ['audit-policy-file', ''],
  ['audit-log-path', ''],
  ['audit-webhook-config-file', ''],
  // 8
  ['secure-port', '6443'],
  ['bind-address', '0.0.0.0'],
  ['request-timeout', '1m0s'],
  ['min-request-timeout', '1800'],
  ['max-requests-inflight', '400'],
  ['max-mutating-requests-inflight', '200'],
  ['enable-priority-and-fairness', 'true'],
  ['max-connection-bytes-per-sec', '0'],
  ['http2-max-streams-per-connection', '0'],
  ['goaway-chance', '0'],
  // Five minutes: the watch history, and how long continue tokens stay valid.
  ['watch-history', '5m0s'],
  ['default-watch-cache-size', '100'],
  ['delete-collection-workers', '1'],
  ['identity-lease-duration-seconds', '3600'],
  ['identity-lease-renew-interval-seconds', '10'],
  ['kubelet-timeout', '5s'],
  ['audit-log-format', 'json'],
  ['audit-log-mode', 'blocking'],
  // The default contains the suffix of the vendor's groups.
  ['audit-log-version', ''],
  ['audit-log-truncate-max-batch-size', '10485760'],
  ['audit-log-truncate-max-event-size', '102400'],
  ['audit-log-batch-buffer-size', '10000'],
  ['audit-log-batch-max-size', '1'],
  ['audit-webhook-mode', 'batch'],
  ['audit-webhook-batch-buffer-size', '10000'],
  ['audit-webhook-batch-max-size', '400'],
  ['audit-webhook-batch-max-wait', '30s'],
  ['audit-webhook-batch-throttle-burst', '15'],
  ['audit-webhook-batch-throttle-qps', '10'],
  ['audit-webhook-batch-throttle-enable', 'true'],
  ['audit-webhook-initial-backoff', '10s'],
  ['audit-webhook-version', ''],
  ['audit-webhook-truncate-max-batch-size', '10485760'],
  ['audit-webhook-truncate-max-event-size', '102400'],
  // 9.3, 9.8
  ['runtime-config', ''],
  ['feature-gates', ''],
];

const loops: readonly Row[] = [
  // 5.2, 5.3, 5.8
  ['controllers', '*'],
  ['service-account-private-key-file', ''],
  // 8
  ['cluster-signing-duration', '8760h0m0s'],
  ['event-ttl', '1h0m0s'],
  ['lease-reuse-duration-seconds', '60'],
];

const agent: readonly Row[] = [
  // 1.8, 5.7
  ['file-check-frequency', '20s'],
  ['http-check-frequency', '20s'],
  ['anonymous-auth', 'true'],
  ['authorization-mode', ''],
  ['client-ca-file', ''],
  ['authentication-token-webhook', 'false'],
  ['authentication-token-webhook-cache-ttl', '2m0s'],
  ['authorization-webhook-cache-authorized-ttl', '5m0s'],
  ['authorization-webhook-cache-unauthorized-ttl', '30s'],
  // 8
  ['healthz-bind-address', '127.0.0.1'],
  ['healthz-port', '10248'],
  ['address', '0.0.0.0'],
  ['event-qps', '5'],
  ['event-burst', '10'],
  ['image-gc-high-threshold', '85'],
  ['image-gc-low-threshold', '80'],
  ['eviction-hard', 'imagefs.available<15%,memory.available<100Mi,nodefs.available<10%'],
  ['eviction-pressure-transition-period', '5m0s'],
  ['container-log-max-files', '5'],
  ['container-log-max-size', '10Mi'],
  ['cpu-cfs-quota-period', '100ms'],
  ['cpu-manager-policy', 'none'],
  ['cpu-manager-reconcile-period', '10s'],
  ['cgroup-driver', 'cgroupfs'],
  ['fail-swap-on', 'true'],
  ['hairpin-mode', 'promiscuous-bridge'],
  ['iptables-drop-bit', '15'],
  ['iptables-masquerade-bit', '14'],
  ['kube-api-qps', '5'],
  ['kube-api-burst', '10'],
  ['kube-api-content-type', 'application/vnd.kubernetes.protobuf'],
];

const agentGroups: OptionGroups = {
  agentApi: AgentApiOptions,
  agentNode: AgentNodeOptions,
  agentPods: AgentPodsOptions,
  agentServer: AgentServerOptions,
  agentSources: AgentSourcesOptions,
  agentHousekeeping: AgentHousekeepingOptions,
};

function declared(groups: OptionGroups): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const optionsClass of Object.values(groups)) {
    const defaults = new optionsClass() as Readonly<Record<string, unknown>>;
    for (const flag of flagsOf(optionsClass) as readonly BoundFlag[]) {
      assert.ok(!values.has(flag.name), `--${flag.name} is declared twice`);
      values.set(flag.name, showFlagValue(flag, defaults[flag.property]));
    }
  }
  return values;
}

for (const [name, groups, rows] of [
  ['servers', serverOptionGroups, servers],
  ['control loops', controllerOptionGroups, loops],
  ['the node agent', agentGroups, agent],
] as const) {
  describe(`the flags of ${name} that the specification names`, () => {
    const known = declared(groups);
    for (const [flag, value] of rows) {
      it(`--${flag}${value === '' ? '' : ` is ${value} by default`}`, () => {
        assert.ok(known.has(flag), 'is not declared');
        assert.equal(known.get(flag), value);
      });
    }
  });
}

// Sections 5.2, 5.4 and 8: values beyond the bounds, and the bounds themselves.
const bounds = [
  [serverOptionGroups, 'secure-port', ['0', '65536'], ['1', '65535']],
  [serverOptionGroups, 'goaway-chance', ['-0.01', '0.021'], ['0', '0.02']],
  [
    serverOptionGroups,
    'oidc-signing-algs',
    ['HS256', 'none'],
    ['RS256,RS384,RS512', 'ES256,ES384,ES512,PS256,PS384,PS512'],
  ],
  [agentGroups, 'container-log-max-files', ['1'], ['2']],
  [agentGroups, 'iptables-drop-bit', ['-1', '32'], ['0', '31']],
  [agentGroups, 'iptables-masquerade-bit', ['-1', '32'], ['0', '31']],
] as const;

describe('the bounds of flags that the specification names', () => {
  const problemsOf = (groups: OptionGroups, argument: string): readonly string[] => {
    try {
      parseOptions({ groups, argv: [argument], environment: {} });
      return [];
    } catch (error) {
      if (error instanceof OptionsError) return error.problems;
      throw error;
    }
  };
  for (const [groups, flag, refused, taken] of bounds) {
    it(`--${flag}`, () => {
      const about = (value: string) => problemsOf(groups, `--${flag}=${value}`).filter((each) => each.includes(flag));
      for (const value of refused) assert.equal(about(value).length, 1, `${value} is taken`);
      for (const value of taken) assert.deepEqual(about(value), []);
    });
  }
});
