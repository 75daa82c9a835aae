import type { ApiObject } from '../../../base/machinery/api-object.js';
import { plainKind } from '../recreate/creation-order.js';
import { isOfDeployment } from './import-rules.js';

type Fields = Record<string, unknown>;

/**
 * The object to write over a live one: everything as in the backup, except fields that can't change or belong to the
 * live one, such as the addresses of a service, the volume of a claim and the pods' template of a job.
 *
 * @param object fit for creation
 */
export function overLive(object: ApiObject, live: ApiObject): ApiObject {
  const { uid, resourceVersion } = live.metadata;
  const metadata = { ...object.metadata, uid, resourceVersion } as ApiObject['metadata'];
  const next: ApiObject = { ...object, metadata };
  const kept = keptBy[plainKind(object.apiVersion ?? '', object.kind ?? '')];
  if (kept !== undefined) for (const field of kept) keep(next, live, field.split('.'));
  if (isOfDeployment(object)) keep(next, live, ['spec', 'replicas!']);
  if (plainKind(object.apiVersion ?? '', object.kind ?? '') === '/Service') keepNodePorts(next, live);
  return next;
}

/** Paths that stay unchanged where the new object has no value, and always for those with a `!`. */
const keptBy: Readonly<Record<string, readonly string[]>> = {
  '/Namespace': ['spec.finalizers'],
  '/Service': ['spec.clusterIP', 'spec.clusterIPs', 'spec.ipFamilies', 'spec.healthCheckNodePort'],
  '/ServiceAccount': ['secrets'],
  '/Secret': ['data'],
  '/Pod': ['spec.nodeName', 'spec.priority', 'spec.preemptionPolicy'],
  '/PersistentVolumeClaim': ['spec.volumeName'],
  'batch/Job': ['spec.selector', 'spec.template!'],
};

function keep(next: Fields, live: Fields, [name = '', ...rest]: readonly string[]): void {
  const isForced = name.endsWith('!');
  const field = isForced ? name.slice(0, -1) : name;
  const there = live[field];
  if (there === undefined) return;
  const own = next[field];
  if (rest.length === 0) {
    if (own === undefined || isForced) next[field] = there;
    return;
  }
  if (!isFields(there) || (own !== undefined && !isFields(own))) return;
  const copy = { ...own };
  keep(copy, there, rest);
  next[field] = copy;
}

/** Ports keep their node ports; ports with the same name count as the same port. */
function keepNodePorts(next: Fields, live: Fields): void {
  const portsOf = (object: Fields) =>
    isFields(object.spec) && Array.isArray(object.spec.ports) ? object.spec.ports : [];
  const known = portsOf(live).filter(isFields);
  const ports = portsOf(next).map((port: unknown) => {
    if (!isFields(port) || port.nodePort !== undefined) return port;
    const same = known.find(
      ({ name, port: number }) => name === port.name && (name !== undefined || number === port.port),
    );
    return same?.nodePort === undefined ? port : { ...port, nodePort: same.nodePort };
  });
  if (isFields(next.spec) && ports.length > 0) next.spec = { ...next.spec, ports };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
