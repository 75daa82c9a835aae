import {
  always,
  anyJson,
  bool,
  fieldsV1,
  int32,
  int64,
  intOrString,
  kind,
  list,
  map,
  optional,
  pointer,
  quantity,
  rawExtension,
  required,
  string,
  struct,
  time,
} from '../../schema/index.js';

/** Kinds for tests, shaped like those of the API. They contain every form of field ownership. */

const ownerReference = struct('sample.OwnerReference', { name: required(1, string), uid: required(2, string) });

const managedFieldsEntry = struct('sample.ManagedFieldsEntry', {
  manager: optional(1, string),
  operation: optional(2, string),
  apiVersion: optional(3, string),
  time: pointer(4, time),
  fieldsType: optional(6, string),
  fieldsV1: pointer(7, fieldsV1),
  subresource: optional(8, string),
});

export const sampleMeta = struct('sample.ObjectMeta', {
  name: optional(1, string),
  generateName: optional(2, string),
  namespace: optional(3, string),
  uid: optional(5, string),
  resourceVersion: optional(6, string),
  generation: optional(7, int64),
  creationTimestamp: always(8, time),
  labels: optional(11, map(string)),
  annotations: optional(12, map(string)),
  ownerReferences: optional(13, list(ownerReference), {
    listType: 'map',
    listKeys: ['uid'],
    patch: { strategy: 'merge', key: 'uid' },
  }),
  finalizers: optional(14, list(string), { listType: 'set', patch: { strategy: 'merge' } }),
  managedFields: optional(17, list(managedFieldsEntry), { listType: 'atomic' }),
});

export const sampleMap = kind(
  { group: '', version: 'v1', kind: 'SampleMap', scope: 'Namespaced' },
  { metadata: always(1, sampleMeta), data: optional(2, map(string)), immutable: pointer(3, bool) },
);

const envVar = struct('sample.EnvVar', { name: required(1, string), value: optional(2, string) });

const port = struct('sample.Port', {
  name: optional(1, string),
  containerPort: required(2, int32),
  protocol: optional(3, string, { default: 'TCP' }),
});

const container = struct('sample.Container', {
  name: required(1, string),
  image: optional(2, string),
  args: optional(3, list(string), { listType: 'atomic' }),
  ports: optional(4, list(port), {
    listType: 'map',
    listKeys: ['containerPort', 'protocol'],
    patch: { strategy: 'merge', key: 'containerPort' },
  }),
  env: optional(5, list(envVar), { listType: 'map', listKeys: ['name'], patch: { strategy: 'merge', key: 'name' } }),
  resources: always(6, struct('sample.Resources', { limits: optional(1, map(quantity)) })),
});

const volume = struct('sample.Volume', {
  name: required(1, string),
  emptyDir: pointer(2, struct('sample.EmptyDir', { medium: optional(1, string) })),
  configMap: pointer(3, struct('sample.ConfigMapVolume', { name: optional(1, string) })),
});

const podSpec = struct('sample.PodSpec', {
  // The field has no list type; it is merged by key because its patch strategy says so.
  volumes: optional(1, list(volume), { patch: { strategy: 'merge', key: 'name', retainKeys: true } }),
  containers: required(2, list(container), {
    listType: 'map',
    listKeys: ['name'],
    patch: { strategy: 'merge', key: 'name' },
  }),
  nodeSelector: optional(3, map(string), { mapType: 'atomic' }),
  tolerations: optional(4, list(struct('sample.Toleration', { key: optional(1, string) })), { listType: 'atomic' }),
});

const strategy = struct('sample.Strategy', {
  type: optional(1, string),
  rollingUpdate: pointer(2, struct('sample.RollingUpdate', { maxSurge: pointer(1, intOrString) })),
});

export const sampleDeployment = kind(
  { group: 'apps', version: 'v1', kind: 'SampleDeployment', scope: 'Namespaced' },
  {
    metadata: always(1, sampleMeta),
    spec: always(
      2,
      struct('sample.DeploymentSpec', {
        replicas: pointer(1, int32),
        selector: required(
          2,
          struct('sample.Selector', { matchLabels: optional(1, map(string)) }, { mapType: 'atomic' }),
          {
            nullable: true,
          },
        ),
        template: required(3, struct('sample.Template', { metadata: always(1, sampleMeta), spec: always(2, podSpec) })),
        strategy: always(4, strategy, { patch: { strategy: 'merge', retainKeys: true } }),
        raw: always(5, rawExtension),
        replaced: optional(6, map(string), { patch: { strategy: 'replace' } }),
      }),
    ),
    status: always(3, struct('sample.DeploymentStatus', { replicas: optional(1, int32), phase: optional(2, string) })),
  },
);

/** Like a custom resource: contains only fields that were given. */
export const sampleResource = kind(
  { group: 'sample.example', version: 'v1', kind: 'SampleResource', scope: 'Namespaced' },
  {
    metadata: always(1, sampleMeta),
    spec: optional(
      2,
      struct('sample.ResourceSpec', {
        items: optional(
          1,
          list(struct('sample.Item', { name: required(1, string), v: pointer(2, int32), w: pointer(3, anyJson) })),
          { listType: 'map', listKeys: ['name'] },
        ),
        tags: optional(2, list(string), { listType: 'set' }),
        plain: optional(3, list(string)),
        whole: optional(4, map(string), { mapType: 'atomic' }),
        nested: optional(5, map(struct('sample.Nested', { a: optional(1, string), b: optional(2, string) }))),
        free: optional(6, anyJson),
        deep: pointer(7, struct('sample.Deep', { a: optional(1, string), b: optional(2, string) })),
      }),
    ),
    status: optional(3, struct('sample.ResourceStatus', { phase: optional(1, string), n: pointer(2, int32) })),
  },
);
