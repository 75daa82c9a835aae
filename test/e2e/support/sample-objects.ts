import type { KindType } from '../../../src/base/machinery/schema/index.js';
import { deployment } from '../../../src/objects/apis/apps/v1/deployment.types.js';
import { configMap } from '../../../src/objects/apis/core/v1/config-map.types.js';
import { pod } from '../../../src/objects/apis/core/v1/pod.types.js';
import { secret } from '../../../src/objects/apis/core/v1/secret.types.js';
import { service } from '../../../src/objects/apis/core/v1/service.types.js';
import { ingress } from '../../../src/objects/apis/networking/v1/ingress.types.js';
import { clusterRole } from '../../../src/objects/apis/rbac/v1/role.types.js';

/** A kind, the path of its objects, and a valid object. */
export interface SampleKind {
  readonly type: KindType;
  /** Path of the collection. */
  readonly path: string;
  readonly make: (name: string) => Record<string, unknown>;
}

/** One valid object of each of several very different kinds, in a namespace. */
export function sampleKinds(namespace: string): readonly SampleKind[] {
  const core = `/api/v1/namespaces/${namespace}`;
  const podSpec = {
    containers: [
      {
        name: 'main',
        image: 'example/image:1',
        env: [{ name: 'A', value: 'b' }],
        ports: [{ name: 'web', containerPort: 80 }],
        resources: { requests: { cpu: '250m', memory: '64Mi' } },
        readinessProbe: { httpGet: { path: '/', port: 'web' }, timeoutSeconds: 3 },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
    tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }],
  };
  const labels = { app: 'x' };
  return [
    {
      type: configMap,
      path: `${core}/configmaps`,
      make: (name) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, labels, annotations: { a: 'ä' } },
        data: { a: 'b', c: 'd' },
        binaryData: { e: 'AAECAw==' },
        immutable: false,
      }),
    },
    {
      type: secret,
      path: `${core}/secrets`,
      make: (name) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name },
        type: 'Opaque',
        data: { a: 'AAECAw==' },
        stringData: { b: 'text' },
      }),
    },
    {
      type: pod,
      path: `${core}/pods`,
      make: (name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec: podSpec }),
    },
    {
      type: service,
      path: `${core}/services`,
      make: (name) => ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, labels },
        spec: { selector: labels, ports: [{ name: 'web', port: 80, targetPort: 'web', protocol: 'TCP' }] },
      }),
    },
    {
      type: deployment,
      path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
      make: (name) => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, labels },
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
          template: { metadata: { labels }, spec: podSpec },
        },
      }),
    },
    {
      type: ingress,
      path: `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`,
      make: (name) => ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name },
        spec: {
          tls: [{ hosts: ['a.example.com'], secretName: 's' }],
          rules: [
            {
              host: 'a.example.com',
              http: {
                paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
              },
            },
          ],
        },
      }),
    },
    {
      type: clusterRole,
      path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      make: (name) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name },
        rules: [
          { apiGroups: ['', 'apps'], resources: ['pods', 'deployments/scale'], verbs: ['get', 'list'] },
          { nonResourceURLs: ['/healthz'], verbs: ['get'] },
        ],
      }),
    },
  ];
}
