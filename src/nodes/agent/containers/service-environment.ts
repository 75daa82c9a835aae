import type { Service } from '../../../objects/apis/core/v1/service.types.js';

function variablePrefix(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}

/**
 * The environment variables by which containers find services, including those that older programs use. Services
 * without an address have none.
 */
export function serviceEnvironment(services: Iterable<Service>): Map<string, string> {
  const variables = new Map<string, string>();
  for (const { metadata, spec } of services) {
    const host = spec.clusterIP ?? '';
    if (host === '' || host === 'None' || spec.type === 'ExternalName') continue;
    const prefix = variablePrefix(metadata.name ?? '');
    const [first] = spec.ports ?? [];
    if (first === undefined) continue;
    variables.set(`${prefix}_SERVICE_HOST`, host);
    variables.set(`${prefix}_SERVICE_PORT`, String(first.port));
    for (const { name, port } of spec.ports ?? []) {
      if (name) variables.set(`${prefix}_SERVICE_PORT_${variablePrefix(name)}`, String(port));
    }
    const authority = host.includes(':') ? `[${host}]` : host;
    for (const [i, { protocol = 'TCP', port }] of (spec.ports ?? []).entries()) {
      const url = `${protocol.toLowerCase()}://${authority}:${port}`;
      if (i === 0) variables.set(`${prefix}_PORT`, url);
      const ofPort = `${prefix}_PORT_${port}_${protocol}`;
      variables.set(ofPort, url);
      variables.set(`${ofPort}_PROTO`, protocol.toLowerCase());
      variables.set(`${ofPort}_PORT`, String(port));
      variables.set(`${ofPort}_ADDR`, host);
    }
  }
  return variables;
}
