/** A number of pieces, joined. */
export function many(count: number, piece: (i: number) => string, by = ','): string {
  return Array.from({ length: count }, (_, i) => piece(i)).join(by);
}

/** The same as values. */
export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** Text of so many bytes that nobody can share with another. */
export function filler(bytes: number, n: number): string {
  return `${n}-`.padEnd(bytes, 'abcdefghijklmnopqrstuvwxyz0123456789');
}

/** A pod template; pods that the scheduler has no place for, unless `spec` says another thing. */
export function template(
  labels: object,
  spec: object = { nodeSelector: { 'example.com/none': 'x' } },
  annotations = {},
) {
  return {
    metadata: { labels, annotations },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'x' }], ...spec },
  };
}

export function workload(name: string, replicas: number, spec?: object, annotations = {}): Record<string, unknown> {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: template(labels, spec, annotations) },
  };
}

export function pod(name: string, spec?: object, labels: object = { app: 'mallory' }) {
  const { metadata, spec: made } = template(labels, spec);
  return { metadata: { ...metadata, name }, spec: made };
}

export function map(name: string, data: object = {}, metadata: object = {}) {
  return { metadata: { name, ...metadata }, data };
}
