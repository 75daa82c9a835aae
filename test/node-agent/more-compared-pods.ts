import { busyboxImage } from '../support/test-containerd.js';
import { type ComparedPod, untilNextLook } from './compared-pods.js';

const sh = (script: string, more: object = {}) => ({
  name: 'main',
  image: busyboxImage,
  command: ['/bin/sh', '-c', script],
  ...more,
});
const sleeps = 'trap "exit 0" TERM; while true; do sleep 0.2; done';
const task = (script: string, more: object = {}, ofPod: object = {}): ComparedPod['spec'] => ({
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 1,
  containers: [sh(script, more)],
  ...ofPod,
});
const service = (more: object = {}, ofPod: object = {}): ComparedPod['spec'] => ({
  terminationGracePeriodSeconds: 1,
  containers: [sh(sleeps, more)],
  ...ofPod,
});
const mounted = (...names: readonly string[]) => ({
  volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })),
});
const status = 'grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp):" /proc/self/status';
const groups =
  'cd /sys/fs/cgroup; for f in memory/memory.limit_in_bytes cpu/cpu.shares cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us memory.max cpu.weight cpu.max; do [ -f $f ] && echo $f $(cat $f); done; cat /proc/self/oom_score_adj';

/** Objects that the pods need. */
export const comparedObjects: readonly object[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'compared' }, data: { a: 'one', b: 'two' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'compared' }, stringData: { word: 'hush' } },
];

const fieldPaths = [
  ...['metadata.name', 'metadata.namespace', "metadata.labels['compared']", 'spec.nodeName', 'spec.serviceAccountName'],
  ...['status.hostIP', 'status.podIP'],
];
const resources = { requests: { cpu: '250m', memory: '16Mi' }, limits: { cpu: '500m', memory: '64Mi' } };

/** Pods about the environment of containers, volumes, and details of their lives. */
export const moreComparedPods: readonly ComparedPod[] = [
  {
    name: 'fields',
    after: 8,
    spec: task('env | grep -E "^(F|R)[0-9]" | sort', {
      resources,
      env: [
        ...fieldPaths.map((fieldPath, i) => ({ name: `F${i}`, valueFrom: { fieldRef: { fieldPath } } })),
        ...['requests.cpu', 'limits.cpu', 'requests.memory', 'limits.memory'].map((resource, i) => ({
          name: `R${i}`,
          valueFrom: { resourceFieldRef: { resource, divisor: '1' } },
        })),
      ],
    }),
  },
  {
    name: 'expansion',
    after: 8,
    spec: task('echo "$(A) $(B) $$(A) $(NONE)" "$B" "$C"', {
      env: [
        { name: 'A', value: 'a' },
        { name: 'B', value: '<$(A)>' },
        { name: 'C', value: '$$(A) $(LATER)' },
        { name: 'LATER', value: 'x' },
      ],
    }),
  },
  { name: 'working-dir', after: 8, spec: task('pwd; ls -ld .', { workingDir: '/made/here' }) },
  { name: 'tty', after: 8, spec: task('tty; echo done', { tty: true, stdin: true }) },
  {
    name: 'env-from',
    after: 8,
    spec: task('env | grep -E "^(P_|word)" | sort', {
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'compared' } }, { secretRef: { name: 'compared' } }],
    }),
  },
  {
    name: 'optional',
    after: 8,
    spec: task(
      'ls -A /c; echo "[$A]"',
      {
        env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'a', optional: true } } }],
        envFrom: [{ secretRef: { name: 'none', optional: true } }],
        ...mounted('c'),
      },
      { volumes: [{ name: 'c', configMap: { name: 'none', optional: true } }] },
    ),
  },
  {
    name: 'missing-key',
    after: 8,
    spec: task('true', {
      env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'compared', key: 'none' } } }],
    }),
  },
  { name: 'groups-burstable', after: 8, spec: task(groups, { resources }) },
  { name: 'groups-guaranteed', after: 8, spec: task(groups, { resources: { limits: resources.limits } }) },
  { name: 'groups-best-effort', after: 8, spec: task(groups) },
  { name: 'groups-of-pod', after: 8, spec: task(groups, {}, { resources }) },
  {
    name: 'out-of-memory',
    after: 12,
    spec: task('x=$(cat /dev/zero | head -c 100000000 | tail -c 100000000); echo $?', {
      resources: { limits: { memory: '16Mi' } },
    }),
  },
  { name: 'ended-by-term', after: 8, spec: task('kill -TERM $$; sleep 5') },
  {
    name: 'long-message',
    after: 8,
    spec: task('head -c 6000 /dev/zero | tr "\\0" x > /dev/termination-log; exit 1'),
  },
  {
    name: 'restart-rules',
    after: 12,
    spec: task(
      '[ -e /v/again ] && exit 3; touch /v/again; exit 42',
      {
        ...mounted('v'),
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
      },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
  },
  {
    name: 'sidecar-started',
    after: 12,
    spec: {
      ...service(),
      initContainers: [
        sh(sleeps, {
          name: 'side',
          restartPolicy: 'Always',
          startupProbe: { exec: { command: ['/bin/true'] }, periodSeconds: 1 },
        }),
      ],
    },
  },
  {
    name: 'sidecar-fails',
    after: 12,
    stays: untilNextLook,
    spec: { ...service(), initContainers: [sh('exit 2', { name: 'side', restartPolicy: 'Always' })] },
  },
  {
    name: 'deadline-init',
    after: 12,
    spec: { ...service(), activeDeadlineSeconds: 3, initContainers: [sh(sleeps, { name: 'one' })] },
  },
  { name: 'gate', after: 8, spec: service({}, { readinessGates: [{ conditionType: 'example.com/open' }] }) },
  {
    name: 'probe-tcp',
    after: 10,
    spec: service({ readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 1 } }),
  },
  {
    name: 'probe-http-status',
    after: 12,
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        sh('mkdir /www; httpd -f -p 8080 -h /www', {
          readinessProbe: { httpGet: { path: '/none', port: 8080 }, periodSeconds: 1, initialDelaySeconds: 2 },
        }),
      ],
    },
  },
  {
    name: 'probe-exec-output',
    after: 10,
    spec: service({
      readinessProbe: { exec: { command: ['/bin/sh', '-c', 'echo not yet; exit 3'] }, periodSeconds: 1 },
    }),
  },
  {
    name: 'probe-exec-late',
    after: 12,
    spec: service({
      readinessProbe: { exec: { command: ['/bin/sleep', '20'] }, periodSeconds: 1, timeoutSeconds: 1 },
    }),
  },
  {
    name: 'probe-exec-none',
    after: 10,
    spec: service({ readinessProbe: { exec: { command: ['/none'] }, periodSeconds: 1 } }),
  },
  { name: 'probe-grpc', after: 10, spec: service({ readinessProbe: { grpc: { port: 1 }, periodSeconds: 1 } }) },
  {
    name: 'hook-sleep',
    after: 10,
    spec: service({ lifecycle: { postStart: { sleep: { seconds: 2 } } } }, { terminationGracePeriodSeconds: 3 }),
  },
  {
    name: 'hook-http',
    after: 10,
    spec: service({ lifecycle: { postStart: { httpGet: { path: '/', port: 1 } } } }, { restartPolicy: 'Never' }),
  },
  { name: 'privileged', after: 8, spec: task(status, { securityContext: { privileged: true } }) },
  {
    name: 'capabilities',
    after: 8,
    spec: task(status, { securityContext: { capabilities: { add: ['SYS_TIME'], drop: ['CHOWN'] } } }),
  },
  {
    name: 'root-refused',
    after: 8,
    spec: task('true', { securityContext: { runAsUser: 0, runAsNonRoot: true } }),
  },
  {
    name: 'groups-strict',
    after: 8,
    spec: task(
      'id',
      {},
      {
        securityContext: { runAsUser: 1000, supplementalGroups: [5000], supplementalGroupsPolicy: 'Merge' },
      },
    ),
  },
  {
    name: 'token-of-user',
    after: 8,
    spec: task('ls -lanL /t; ls -lan /t | tail -n +2', mounted('t'), {
      securityContext: { runAsUser: 1000 },
      volumes: [
        {
          name: 't',
          projected: {
            sources: [{ serviceAccountToken: { path: 'deep/token', audience: 'x', expirationSeconds: 7200 } }],
          },
        },
      ],
    }),
  },
  {
    name: 'shared-processes',
    after: 8,
    spec: {
      ...task('sleep 2; ps | grep -c "[o]ther-name"', {}, { shareProcessNamespace: true }),
      containers: [
        sh('sleep 2; ps -o args | grep "[o]ther-name"'),
        sh('exec -a other-name sleep 5', { name: 'other' }),
      ],
    },
  },
  {
    name: 'names',
    after: 8,
    spec: task(
      'hostname; hostname -f; cat /etc/hosts /etc/resolv.conf',
      {},
      {
        hostname: 'own',
        subdomain: 'sub',
        setHostnameAsFQDN: true,
        hostAliases: [{ ip: '192.0.2.7', hostnames: ['a.example', 'b.example'] }],
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['192.0.2.53'], searches: ['x.example'], options: [{ name: 'ndots', value: '3' }] },
      },
    ),
  },
  { name: 'dns-default', after: 8, spec: task('cat /etc/resolv.conf', {}, { dnsPolicy: 'Default' }) },
  {
    name: 'host-spaces',
    after: 8,
    spec: task('cat /proc/1/comm; [ -d /proc/1 ] && echo seen', {}, { hostPID: true, hostIPC: true }),
  },
  {
    name: 'files',
    after: 10,
    spec: task(
      'for v in c s d p; do ls -lanL /$v; ls -lan /$v | tail -n +4; done; cat /c/x /s/word /d/* /p/*',
      mounted('c', 's', 'd', 'p'),
      {
        volumes: [
          {
            name: 'c',
            configMap: { name: 'compared', items: [{ key: 'a', path: 'x', mode: 0o400 }], defaultMode: 0o440 },
          },
          { name: 's', secret: { secretName: 'compared', defaultMode: 0o400 } },
          {
            name: 'd',
            downwardAPI: {
              items: [
                { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
                { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'requests.cpu', divisor: '1m' } },
              ],
            },
          },
          {
            name: 'p',
            projected: {
              defaultMode: 0o444,
              sources: [{ configMap: { name: 'compared' } }, { secret: { name: 'compared' } }],
            },
          },
        ],
      },
    ),
  },
  {
    name: 'sub-paths',
    after: 8,
    spec: task(
      'ls -lan /one /two /three; cat /one',
      {
        env: [{ name: 'WHICH', value: 'folder' }],
        volumeMounts: [
          { name: 'c', mountPath: '/one', subPath: 'a' },
          { name: 'v', mountPath: '/two', subPathExpr: '$(WHICH)/below' },
          { name: 'v', mountPath: '/three', subPath: 'new', readOnly: true },
        ],
      },
      {
        volumes: [
          { name: 'c', configMap: { name: 'compared' } },
          { name: 'v', emptyDir: {} },
        ],
      },
    ),
  },
  {
    name: 'sub-path-none',
    after: 10,
    spec: task(
      'true',
      { volumeMounts: [{ name: 'c', mountPath: '/one', subPathExpr: '$(NOWHERE)' }] },
      {
        volumes: [{ name: 'c', emptyDir: {} }],
      },
    ),
  },
  {
    name: 'memory-volume',
    after: 8,
    spec: task('mount | grep " /m " | cut -d" " -f3-; ls -lan / | grep " m$"', mounted('m'), {
      volumes: [{ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }],
    }),
  },
  {
    name: 'host-path-none',
    after: 10,
    spec: task('true', mounted('h'), { volumes: [{ name: 'h', hostPath: { path: '/none/here', type: 'Directory' } }] }),
  },
  {
    name: 'host-path-file',
    after: 10,
    spec: task('true', mounted('h'), { volumes: [{ name: 'h', hostPath: { path: '/etc', type: 'File' } }] }),
  },
  {
    name: 'host-path',
    after: 8,
    spec: task(
      'mount | grep " /h " | cut -d" " -f3-; ls /h | head -3',
      {
        volumeMounts: [{ name: 'h', mountPath: '/h', readOnly: true, mountPropagation: 'HostToContainer' }],
      },
      { volumes: [{ name: 'h', hostPath: { path: '/proc/sys/kernel' } }] },
    ),
  },
  {
    name: 'no-registry',
    after: 12,
    spec: { containers: [{ name: 'main', image: '127.0.0.1:1/none:1' }], terminationGracePeriodSeconds: 1 },
  },
  {
    name: 'two-containers',
    after: 10,
    spec: {
      restartPolicy: 'Never',
      containers: [sh('exit 0'), sh('exit 1', { name: 'other' }), sh(sleeps, { name: 'third' })],
      terminationGracePeriodSeconds: 1,
    },
  },
];
