import { busyboxImage } from '../support/test-containerd.js';

/** A pod that two agents run, and when its state is compared. */
export interface ComparedPod {
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Seconds until its state no longer changes. */
  readonly after: number;
  /** Differences that stay, and why. */
  readonly stays?: { readonly form: RegExp; readonly why: string };
}

/** The other agent shows a container that waits for its restart as ended until it looks at the pod again, up to a minute later. */
export const untilNextLook = {
  form: /^(initC|c)ontainerStatuses\.0\.(restartCount|state\.)/,
  why: 'this agent reports CrashLoopBackOff as soon as the container has ended',
};

const sh = (script: string, more: object = {}) => ({
  name: 'main',
  image: busyboxImage,
  command: ['/bin/sh', '-c', script],
  ...more,
});
const sleeps = 'trap "exit 0" TERM; while true; do sleep 0.2; done';
const limits = { cpu: '200m', memory: '32Mi' };

/** Small pods, one for each task of an agent. */
export const comparedPods: readonly ComparedPod[] = [
  { name: 'plain', after: 8, spec: { containers: [sh(sleeps)] } },
  {
    name: 'report',
    after: 10,
    spec: {
      containers: [
        sh(
          'env | sort; cat /proc/self/status | grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp):"; cat /proc/self/oom_score_adj; cat /etc/hosts /etc/resolv.conf; mount | cut -d" " -f3- | sort; hostname',
          { resources: { requests: { cpu: '100m', memory: '16Mi' }, limits } },
        ),
      ],
      restartPolicy: 'Never',
    },
  },
  { name: 'guaranteed', after: 8, spec: { containers: [sh(sleeps, { resources: { limits } })] } },
  { name: 'succeeds', after: 8, spec: { containers: [sh('exit 0')], restartPolicy: 'Never' } },
  { name: 'fails', after: 8, spec: { containers: [sh('exit 4')], restartPolicy: 'Never' } },
  { name: 'crashes', after: 10, stays: untilNextLook, spec: { containers: [sh('exit 5')] } },
  {
    name: 'on-failure',
    after: 10,
    stays: untilNextLook,
    spec: { containers: [sh('exit 6')], restartPolicy: 'OnFailure' },
  },
  {
    name: 'message',
    after: 8,
    spec: { containers: [sh('echo why > /dev/termination-log; exit 1')], restartPolicy: 'Never' },
  },
  {
    name: 'message-of-log',
    after: 8,
    spec: {
      containers: [sh('echo last words; exit 1', { terminationMessagePolicy: 'FallbackToLogsOnError' })],
      restartPolicy: 'Never',
    },
  },
  {
    name: 'message-long',
    after: 8,
    spec: { containers: [sh('yes $(seq 100) | head -c 9000 > /dev/termination-log; exit 1')], restartPolicy: 'Never' },
  },
  {
    name: 'message-of-long-line',
    after: 8,
    spec: {
      containers: [
        sh('yes word | head -n 9000 | tr "\\n" " "; exit 1', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
      ],
      restartPolicy: 'Never',
    },
  },
  {
    name: 'message-of-many-lines',
    after: 8,
    spec: {
      containers: [sh('seq 3000; exit 1', { terminationMessagePolicy: 'FallbackToLogsOnError' })],
      restartPolicy: 'Never',
    },
  },
  {
    name: 'messages-of-many',
    after: 10,
    spec: {
      restartPolicy: 'Never',
      containers: ['main', 'b', 'c', 'd', 'e', 'f'].map((name) => ({
        ...sh('yes $(seq 10) | head -c 4000 > /dev/termination-log; exit 1'),
        name,
      })),
    },
  },
  { name: 'killed', after: 8, spec: { containers: [sh('kill -9 $$')], restartPolicy: 'Never' } },
  {
    name: 'no-command',
    after: 8,
    spec: { containers: [{ name: 'main', image: busyboxImage, command: ['/nothing'] }], restartPolicy: 'Never' },
  },
  {
    name: 'no-image',
    after: 10,
    spec: { containers: [{ name: 'main', image: 'plinth.test/none:1', imagePullPolicy: 'Never' }] },
  },
  { name: 'bad-image', after: 10, spec: { containers: [{ name: 'main', image: 'NOT a name' }] } },
  { name: 'no-map', after: 10, spec: { containers: [sh('true', { envFrom: [{ configMapRef: { name: 'none' } }] })] } },
  {
    name: 'no-key',
    after: 10,
    spec: {
      containers: [sh('true', { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'a' } } }] })],
    },
  },
  {
    name: 'inits',
    after: 10,
    spec: { initContainers: [sh('true', { name: 'one' }), sh('true', { name: 'two' })], containers: [sh(sleeps)] },
  },
  {
    name: 'init-fails',
    after: 10,
    stays: untilNextLook,
    spec: { initContainers: [sh('exit 1', { name: 'one' })], containers: [sh(sleeps)] },
  },
  {
    name: 'init-gives-up',
    after: 10,
    spec: { initContainers: [sh('exit 1', { name: 'one' })], containers: [sh(sleeps)], restartPolicy: 'Never' },
  },
  {
    name: 'sidecar',
    after: 12,
    spec: {
      initContainers: [sh(sleeps, { name: 'side', restartPolicy: 'Always' }), sh('true', { name: 'one' })],
      containers: [sh('exit 0')],
      restartPolicy: 'Never',
    },
  },
  {
    name: 'unready',
    after: 10,
    spec: { containers: [sh(sleeps, { readinessProbe: { exec: { command: ['/bin/false'] }, periodSeconds: 1 } })] },
  },
  {
    name: 'not-started',
    after: 10,
    spec: {
      containers: [
        sh(sleeps, { startupProbe: { exec: { command: ['/bin/false'] }, periodSeconds: 1, failureThreshold: 100 } }),
      ],
    },
  },
  {
    name: 'not-alive',
    after: 14,
    stays: untilNextLook,
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        sh(sleeps, { livenessProbe: { exec: { command: ['/bin/false'] }, periodSeconds: 1, failureThreshold: 2 } }),
      ],
    },
  },
  {
    name: 'http',
    after: 10,
    spec: {
      containers: [
        sh('mkdir -p /www; echo ok > /www/ok; httpd -f -p 8080 -h /www', {
          ports: [{ name: 'web', containerPort: 8080 }],
          readinessProbe: { httpGet: { path: '/ok', port: 'web' }, periodSeconds: 1, initialDelaySeconds: 3 },
          livenessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, initialDelaySeconds: 3 },
        }),
      ],
    },
  },
  {
    name: 'post-start',
    after: 10,
    spec: {
      containers: [sh(sleeps, { lifecycle: { postStart: { exec: { command: ['/bin/false'] } } } })],
      terminationGracePeriodSeconds: 1,
    },
  },
  {
    name: 'non-root',
    after: 10,
    spec: { securityContext: { runAsNonRoot: true }, containers: [sh(sleeps)] },
  },
  {
    name: 'secured',
    after: 10,
    spec: {
      securityContext: { runAsUser: 1000, runAsGroup: 2000, fsGroup: 3000, supplementalGroups: [4000] },
      containers: [
        sh(
          'id; touch /x 2>&1; ls -lan /v /c /t | grep -v total; grep -E "^(Cap|NoNewPrivs|Seccomp):" /proc/self/status',
          {
            securityContext: {
              readOnlyRootFilesystem: true,
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
              seccompProfile: { type: 'RuntimeDefault' },
            },
            volumeMounts: [
              { name: 'v', mountPath: '/v' },
              { name: 'c', mountPath: '/c' },
              { name: 't', mountPath: '/t' },
            ],
          },
        ),
      ],
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'c', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }] } },
      ],
      restartPolicy: 'Never',
    },
  },
  {
    name: 'host-network',
    after: 10,
    spec: {
      hostNetwork: true,
      containers: [sh('cat /etc/hosts | head -1; sleep 1000')],
      terminationGracePeriodSeconds: 1,
    },
  },
  {
    name: 'no-volume',
    after: 10,
    spec: {
      containers: [sh(sleeps, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
      volumes: [{ name: 'v', configMap: { name: 'none' } }],
    },
  },
  {
    name: 'deadline',
    after: 12,
    spec: { activeDeadlineSeconds: 3, terminationGracePeriodSeconds: 1, containers: [sh(sleeps)] },
  },
  { name: 'other-node', after: 6, spec: { nodeSelector: { nothing: 'here' }, containers: [sh(sleeps)] } },
  { name: 'too-large', after: 6, spec: { containers: [sh(sleeps, { resources: { requests: { cpu: '1000' } } })] } },
  {
    name: 'sysctl',
    after: 6,
    spec: { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] }, containers: [sh(sleeps)] },
  },
];
