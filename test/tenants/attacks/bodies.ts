/** Joins a number of pieces. */
export function many(count: number, piece: (i: number) => string, by = ','): string {
  return Array.from({ length: count }, (_, i) => piece(i)).join(by);
}

/** Like {@link many}, with values in place of text. */
export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** A text of this many bytes, different at each call. */
export function filler(bytes: number, n: number): string {
  return `${n}-`.padEnd(bytes, 'abcdefghijklmnopqrstuvwxyz0123456789');
}

/** A pod template. Unless `spec` says otherwise, the scheduler finds no node for its pods. */
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
