import type { ApiObject } from '../../../base/machinery/api-object.js';
import { trackingMapName } from '../../../base/machinery/legacy-tokens.js';
import { plainKind } from './creation-order.js';

/**
 * Why an object is not created again by a copy of a cluster or of a namespace: a cluster has its own, or makes it by
 * itself from other objects. Undefined for all other objects.
 *
 * - `own`: every cluster has its own, which another cluster's must not replace (rights and priority levels that the
 *   server maintains, its service, nodes and what they report, requests for certificates)
 * - `derived`: controllers make it from other objects (pods of workloads, endpoints of services)
 * - `ended`: a job or pod that has finished, and would run again
 * - `leaving`: it was being deleted
 */
export interface LeftOut {
  readonly rule: 'own' | 'derived' | 'ended' | 'leaving';
  /** The reason as a phrase for people, which follows the name of the object. */
  readonly why: string;
}

type Rule = (object: ApiObject) => LeftOut | undefined;
const own = (why: string): LeftOut => ({ rule: 'own', why });
const derived = (why: string): LeftOut => ({ rule: 'derived', why });

const ofMachines: Rule = () => own('belongs to the machines of the cluster it comes from');
const madeForAll: Rule = ({ metadata }) =>
  mark(metadata.labels, /^[^/]+\/bootstrapping$/) !== undefined ? own('every cluster has its own') : undefined;
const keptUp: Rule = ({ metadata }) =>
  mark(metadata.annotations, /^apf\.[^/]+\/autoupdate-spec$/) !== undefined ||
  ['exempt', 'catch-all'].includes(metadata.name ?? '')
    ? own('every cluster has its own')
    : undefined;
const systemOwned: Rule = ({ metadata }) =>
  metadata.name?.startsWith('system-') === true ? own('every cluster has its own') : undefined;

/** The workloads whose controllers make pods, and the kinds through which they make them. */
const controllers: ReadonlySet<string> = new Set([
  'apps/ReplicaSet',
  'apps/StatefulSet',
  'apps/DaemonSet',
  '/ReplicationController',
  'batch/Job',
]);

const rules: Readonly<Record<string, Rule>> = {
  '/Node': ofMachines,
  'storage/CSINode': ofMachines,
  'storage/CSIStorageCapacity': ofMachines,
  'storage/VolumeAttachment': ofMachines,
  'certificates/CertificateSigningRequest': () => own('is a request to the authority of the cluster it comes from'),
  'coordination/Lease': () => own('is held by a process of the cluster it comes from'),
  'events/Event': () => own('is about the cluster it comes from'),
  '/Event': () => own('is about the cluster it comes from'),
  'networking/IPAddress': () => derived('is made for the address of a service'),
  'rbac.authorization/ClusterRole': madeForAll,
  'rbac.authorization/ClusterRoleBinding': madeForAll,
  'rbac.authorization/Role': madeForAll,
  'rbac.authorization/RoleBinding': madeForAll,
  'flowcontrol.apiserver/FlowSchema': keptUp,
  'flowcontrol.apiserver/PriorityLevelConfiguration': keptUp,
  'scheduling/PriorityClass': systemOwned,
  'networking/ServiceCIDR': ({ metadata }) =>
    metadata.name === 'kubernetes' ? own('every cluster has its own') : undefined,
  'apiregistration/APIService': ({ spec, metadata }) =>
    (spec as { service?: unknown } | undefined)?.service == null ||
    mark(metadata.labels, /\/automanaged$/) !== undefined
      ? own('every cluster has its own')
      : undefined,
  '/Service': apiItself,
  '/Endpoints': (object) => apiItself(object) ?? endpointsOfLoop(object),
  'discovery/EndpointSlice': (object) => apiItself(object) ?? slicesOfLoop(object),
  '/ConfigMap': ({ metadata }) =>
    /^((kube|control)-root-ca\.crt|extension-apiserver-authentication|cluster-info)$/.test(metadata.name ?? '')
      ? own('has the authority of the cluster it comes from')
      : metadata.name === trackingMapName
        ? own('says since when the cluster it comes from records uses of tokens')
        : undefined,
  '/Pod': (object) => {
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner !== undefined && controllers.has(plainKind(owner.apiVersion, owner.kind))) {
      return derived('is made anew by its workload');
    }
    if (mark(object.metadata.annotations, /\/config\.mirror$/) !== undefined) return ofMachines(object);
    const { phase } = (object.status ?? {}) as { phase?: unknown };
    return phase === 'Succeeded' || phase === 'Failed'
      ? { rule: 'ended', why: 'has ended, and would run again' }
      : undefined;
  },
  'batch/Job': ({ status }) => {
    const { conditions } = (status ?? {}) as { conditions?: unknown };
    const isOver = (condition: { type?: unknown; status?: unknown } | null) =>
      (condition?.type === 'Complete' || condition?.type === 'Failed') && condition.status === 'True';
    return Array.isArray(conditions) && conditions.some(isOver)
      ? { rule: 'ended', why: 'has ended, and would run again' }
      : undefined;
  },
};

/** The rule by which an object is left out, if there is one. See {@link LeftOut}. */
export function leftOut(object: ApiObject): LeftOut | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return { rule: 'leaving', why: 'was being deleted' };
  return rules[plainKind(object.apiVersion ?? '', object.kind ?? '')]?.(object);
}

function apiItself({ metadata }: ApiObject): LeftOut | undefined {
  return metadata.name === 'kubernetes' && metadata.namespace === 'default'
    ? own('leads to the API itself')
    : undefined;
}

const loopTrace = /^endpoints\.[^/]+\/(last-change-trigger-time|managed-by)$|\/leader$/;

function endpointsOfLoop({ metadata }: ApiObject): LeftOut | undefined {
  return (mark(metadata.annotations, loopTrace) ?? mark(metadata.labels, loopTrace)) === undefined
    ? undefined
    : derived('is made anew for its service');
}

function slicesOfLoop({ metadata }: ApiObject): LeftOut | undefined {
  const maker = mark(metadata.labels, /^endpointslice\.[^/]+\/managed-by$/) ?? '';
  return /^endpointslice(mirroring)?-controller\./.test(maker) ? derived('is made anew for its service') : undefined;
}

/** The value of the first label or annotation whose key matches. */
function mark(entries: Record<string, string> | undefined, key: RegExp): string | undefined {
  for (const [name, value] of Object.entries(entries ?? {})) if (key.test(name)) return value;
  return undefined;
}
