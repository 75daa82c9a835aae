const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Schemas of `spec` with all that decides which values a custom object may have. */
const specs: Readonly<Record<string, object>> = {
  free,
  formats: {
    ...free,
    properties: {
      i32: { type: 'integer', format: 'int32' },
      i64: { type: 'integer', format: 'int64' },
      i: { type: 'integer' },
      f: { type: 'number', format: 'float' },
      d: { type: 'number', format: 'double' },
      n: { type: 'number', default: 0.1 },
      s: { type: 'string' },
      either: { 'x-kubernetes-int-or-string': true },
      nothing: { type: 'number', nullable: true },
    },
  },
  embedded: {
    type: 'object',
    properties: {
      object: { ...free, 'x-kubernetes-embedded-resource': true },
      list: { type: 'array', items: { ...free, 'x-kubernetes-embedded-resource': true } },
      raw: { 'x-kubernetes-preserve-unknown-fields': true },
    },
  },
  nested: {
    type: 'object',
    properties: {
      map: { type: 'object', additionalProperties: { type: 'number' } },
      texts: { type: 'object', additionalProperties: { type: 'string' } },
      lists: { type: 'array', items: { type: 'array', items: { 'x-kubernetes-int-or-string': true } } },
      keyed: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', required: ['k'], properties: { k: { type: 'number' }, v: free } },
      },
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'number' } },
    },
  },
};

export const group = 'readers.example';

export interface CustomDefinition {
  readonly name: string;
  readonly kind: string;
  /** The fields of its spec. */
  readonly fields: readonly string[];
  readonly body: object;
}

export const definitions: readonly CustomDefinition[] = Object.entries(specs).map(([name, spec]) => {
  const kind = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status: free } } };
  return {
    name,
    kind,
    fields: Object.keys((spec as { properties?: object }).properties ?? {}),
    body: {
      metadata: { name: `${name}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: name, singular: name, kind, listKind: `${kind}List` },
        versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema }],
      },
    },
  };
});
