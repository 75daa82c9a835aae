import type { FlagsWithoutEffect } from './ignored-flags.js';

/**
 * Flags of the programs of release 1.37 that are accepted here and change nothing, each with the reason, grouped by
 * topic. A line has a value type and flag names, with the flags' defaults in those programs.
 */
export const releaseFlags = {
  /** Flags of all three programs. */
  everyProgram: [
    {
      why: 'the log is written line by line, unbuffered, to standard error',
      flags: `
      string: log-json-info-buffer-size=0 log-text-info-buffer-size=0
      bool: log-json-split-stream log-text-split-stream
      duration: log-flush-frequency=5s
      `,
    },
    {
      why: 'messages have one level for all files; see --log-level',
      flags: `
      string: vmodule
      `,
    },
    {
      why: 'all metrics are served, and the number of values of their labels is bounded',
      flags: `
      string: allow-metric-labels-manifest show-hidden-metrics-for-version
      list: allow-metric-labels disabled-metrics
      `,
    },
    {
      why: 'this program answers as its own release alone',
      flags: `
      list: emulated-version min-compatibility-version
      `,
    },
  ],
  /** Flags for the storage of a server. */
  store: [
    {
      why: 'the store is PostgreSQL; see --database-url',
      flags: `
      string: etcd-cafile etcd-certfile etcd-keyfile storage-backend
        storage-media-type=application/vnd.kubernetes.protobuf
      list: etcd-servers-overrides
      duration: etcd-compaction-interval=5m0s etcd-count-metric-poll-period=1m0s
        etcd-db-metric-poll-interval=30s etcd-healthcheck-timeout=2s etcd-readycheck-timeout=2s
      `,
    },
    {
      why: 'the process waits for its database until it is stopped',
      flags: `
      duration: storage-initialization-timeout=1m0s
      `,
    },
    {
      why: 'every process publishes its own address',
      flags: `
      int: apiserver-count=1 lease-max-object-count
      `,
    },
  ],
  /** Flags for the storage, for programs whose database is not set by these flags. */
  serve: [
    {
      why: 'the store is PostgreSQL; see --database-url',
      flags: `
      string: etcd-prefix=/registry
      list: etcd-servers
      `,
    },
    {
      why: 'privileged containers are allowed; the labels of pod security on namespaces forbid them',
      flags: `
      bool: allow-privileged
      `,
    },
  ],
  /** Flags for events, for servers whose controllers run in other processes. */
  events: [
    {
      why: 'the control loops delete events; set this flag for plinth controllers',
      flags: `
      int: lease-reuse-duration-seconds=60
      duration: event-ttl=1h0m0s
      `,
    },
  ],
  /** Flags of a server. */
  server: [
    {
      why: 'this program answers as its own release alone',
      flags: `
      bool: emulation-forward-compatible runtime-config-emulation-forward-compatible
      `,
    },
    {
      why: 'answers name the address that the client used',
      flags: `
      string: external-hostname
      `,
    },
    {
      why: 'the Service of the API has cluster addresses only',
      flags: `
      int: kubernetes-service-node-port
      `,
    },
    {
      why:
        'after --shutdown-delay-duration the port is closed at once, and clients of watches connect to other ' +
        'processes',
      flags: `
      bool: shutdown-send-retry-after
      duration: shutdown-watch-termination-grace-period
      `,
    },
    {
      why: 'addresses of a former process can be used again at once; processes of one --workers share a port',
      flags: `
      bool: permit-address-sharing permit-port-sharing
      `,
    },
    {
      why: 'profiles are at /debug/pprof/ alone; see --profiling',
      flags: `
      string: debug-socket-path
      `,
    },
    {
      why: 'requests go out directly; forbid addresses with --proxy-denied-cidrs, --kubelet-denied-cidrs and --admission-webhook-denied-cidrs',
      flags: `
      string: egress-selector-config-file
      `,
    },
    {
      why: 'the order and the set of plugins follow from --enable-admission-plugins and --disable-admission-plugins',
      flags: `
      list: admission-control
      `,
    },
    {
      why: 'redirects of extension servers are never followed',
      flags: `
      bool: aggregator-reject-forwarding-redirect=true
      `,
    },
    {
      why: 'extension servers are reached as services are; see --admission-webhook-service-resolver',
      flags: `
      bool: enable-aggregator-routing
      `,
    },
    {
      why: 'processes elect no leaders for other components',
      flags: `
      duration: coordinated-leadership-lease-duration=15s coordinated-leadership-renew-deadline=10s
        coordinated-leadership-retry-period=2s
      `,
    },
    {
      why: 'logs of the machine are not served',
      flags: `
      bool: enable-logs-handler
      `,
    },
    {
      why: 'all processes on a database serve the same: none passes requests on to another',
      flags: `
      string: peer-advertise-ip peer-advertise-port peer-ca-file
      `,
    },
    {
      why: 'tokens are signed with --service-account-signing-key-file alone',
      flags: `
      string: service-account-signing-endpoint
      `,
    },
    {
      why: 'the status of a node names the port of its agent',
      flags: `
      int: kubelet-port=10250 kubelet-read-only-port=10255
      `,
    },
    {
      why: 'the time between attempts is --audit-webhook-initial-backoff',
      flags: `
      duration: audit-webhook-batch-initial-backoff=10s
      `,
    },
  ],
  /** Flags for the controllers and the scheduler. */
  loops: [
    {
      why: 'loops choose how many objects they work on concurrently',
      flags: `
      int: concurrent-deployment-syncs=5 concurrent-disruption-syncs=1
        concurrent-device-taint-eviction-syncs=8 concurrent-resourceclaim-syncs=50
        concurrent-statefulset-syncs=5 concurrent-daemonset-syncs=2 concurrent-endpoint-syncs=5
        concurrent-service-endpoint-syncs=5 mirroring-concurrent-service-endpoint-syncs=5
        concurrent-ephemeralvolume-syncs=5 concurrent-gc-syncs=20 concurrent-job-syncs=5
        concurrent-cron-job-syncs=5 concurrent-namespace-syncs=10 concurrent-replicaset-syncs=5
        concurrent-rc-syncs=5 concurrent-resource-quota-syncs=5 concurrent-serviceaccount-token-syncs=5
        concurrent-ttl-after-finished-syncs=5 concurrent-validating-admission-policy-status-syncs=5
      `,
    },
    {
      why: 'loops receive changes as they happen, and do not poll',
      flags: `
      bool: disable-attach-detach-reconcile-sync disable-force-detach-on-timeout
      duration: min-resync-period=12h0m0s namespace-sync-period=5m0s resource-quota-sync-period=5m0s
        pvclaimbinder-sync-period=15s attach-detach-reconcile-sync-period=1m0s node-monitor-period=5s
        node-sync-period endpoint-updates-batch-period endpointslice-updates-batch-period
        mirroring-endpointslice-updates-batch-period controller-start-interval
      `,
    },
    {
      why: 'a slice has 100 endpoints, and a mirrored subset 1000 addresses',
      flags: `
      int: max-endpoints-per-slice=100 mirroring-max-endpoints-per-subset=1000
      `,
    },
    {
      why: 'there are no cloud providers in this program; their own controller managers run beside it',
      flags: `
      string: cloud-config cloud-provider cidr-allocator-type=RangeAllocator cluster-name=kubernetes
        external-cloud-volume-plugin
      bool: allow-untagged-cloud configure-cloud-routes=true
      duration: route-reconciliation-period=10s
      `,
    },
    {
      why: 'volumes are provisioned and recycled by their drivers',
      flags: `
      string: flex-volume-plugin-dir=/usr/libexec/kubernetes/kubelet-plugins/volume/exec/
        pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs
      bool: enable-dynamic-provisioning=true enable-hostpath-provisioner
      int: pv-recycler-increment-timeout-nfs=30 pv-recycler-minimum-timeout-hostpath=60
        pv-recycler-minimum-timeout-nfs=300 pv-recycler-timeout-increment-hostpath=30
      `,
    },
    {
      why: 'the processes of the loops elect the one that works in the database',
      flags: `
      string: leader-elect-resource-lock=leases leader-elect-resource-name=kube-controller-manager
        leader-elect-resource-namespace=kube-system leader-migration-config
      bool: leader-elect=true enable-leader-migration
      duration: leader-elect-lease-duration=15s leader-elect-renew-deadline=10s leader-elect-retry-period=2s
      `,
    },
    {
      why: 'a stopped process ends its loops at once, and another one goes on',
      flags: `
      duration: controller-shutdown-timeout=10s
      `,
    },
    {
      why: 'loops work on the database, not through the API',
      flags: `
      string: kube-api-content-type=application/vnd.kubernetes.protobuf master
      bool: use-service-account-credentials
      int: kube-api-burst=30
      number: kube-api-qps=20
      `,
    },
    {
      why: 'profiles have the usual plugins; name them with --scheduler-names',
      flags: `
      string: config write-config-to
      `,
    },
    {
      why: 'pods are tried again when something changes that could let them fit',
      flags: `
      duration: pod-max-in-unschedulable-pods-duration=5m0s
      `,
    },
  ],
  /** Flags for the port of processes that only run controllers. */
  loopServing: [
    {
      why: 'loops work on the database, not through the API',
      flags: `
      string: kubeconfig
      `,
    },
    {
      why: 'the port of the loops is --controllers-metrics-bind-address, for everybody who reaches it and without certificates',
      flags: `
      string: bind-address=0.0.0.0 cert-dir tls-cert-file tls-min-version tls-private-key-file
        authentication-kubeconfig client-ca-file requestheader-client-ca-file authorization-kubeconfig
      list: tls-cipher-suites tls-curve-preferences tls-sni-cert-key requestheader-allowed-names
        requestheader-extra-headers-prefix=x-remote-extra- requestheader-group-headers=x-remote-group
        requestheader-uid-headers requestheader-username-headers=x-remote-user
        authorization-always-allow-paths=/healthz,/readyz,/livez
      bool: disable-http2-serving permit-address-sharing permit-port-sharing authentication-skip-lookup
        authentication-tolerate-lookup-failure
      int: secure-port=10257 http2-max-streams-per-connection
      duration: authentication-token-webhook-cache-ttl=10s
      `,
    },
  ],
} as const satisfies Readonly<Record<string, readonly FlagsWithoutEffect[]>>;
