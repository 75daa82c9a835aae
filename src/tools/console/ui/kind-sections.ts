import { dig, entriesAt, listAt, textAt } from './dig.js';
import {
  code,
  conditionSection,
  containerSections,
  fact,
  facts,
  link,
  plain,
  type Section,
  selectorText,
  table,
  type Value,
  volumeSection,
} from './facts.js';

/** What people want to know of an object first, by its kind. */
export function sectionsOf(resource: string, object: unknown): readonly Section[] {
  const namespace = textAt(object, 'metadata', 'namespace');
  const make = Object.hasOwn(makers, resource) ? makers[resource] : undefined;
  const own = make === undefined ? otherSections(object) : make(object, namespace);
  return [...own, ...conditionSection(object)];
}

type Maker = (object: unknown, namespace: string) => readonly Section[];

const makers: Readonly<Record<string, Maker>> = {
  pods: podSections,
  deployments: workloadSections,
  statefulsets: workloadSections,
  daemonsets: workloadSections,
  replicasets: workloadSections,
  replicationcontrollers: workloadSections,
  jobs: jobSections,
  cronjobs: cronJobSections,
  services: serviceSections,
  ingresses: ingressSections,
  nodes: nodeSections,
  persistentvolumeclaims: claimSections,
  persistentvolumes: volumeSections,
  roles: roleSections,
  clusterroles: roleSections,
  rolebindings: bindingSections,
  clusterrolebindings: bindingSections,
  horizontalpodautoscalers: autoscalerSections,
  resourcequotas: quotaSections,
  serviceaccounts: accountSections,
  events: eventSections,
  networkpolicies: (object) =>
    facts('Network policy', [
      ...fact('Pods', code(selectorText('', { spec: { selector: dig(object, 'spec', 'podSelector') } }) || 'all')),
      ...fact('Directions', plain(listAt(object, 'spec', 'policyTypes').map(String).join(', '))),
    ]),
  poddisruptionbudgets: (object) =>
    facts('Budget', [
      ...fact('Pods', code(selectorText('', object))),
      ...fact('At least', plain(textAt(object, 'spec', 'minAvailable'))),
      ...fact('Unavailable at most', plain(textAt(object, 'spec', 'maxUnavailable'))),
      ...fact('May be evicted now', plain(textAt(object, 'status', 'disruptionsAllowed'))),
    ]),
};

function podSections(pod: unknown, namespace: string): readonly Section[] {
  const spec = dig(pod, 'spec');
  const statuses = [
    ...listAt(pod, 'status', 'initContainerStatuses'),
    ...listAt(pod, 'status', 'containerStatuses'),
    ...listAt(pod, 'status', 'ephemeralContainerStatuses'),
  ];
  const addresses = listAt(pod, 'status', 'podIPs').map((each) => textAt(each, 'ip'));
  return [
    ...facts('Pod', [
      ...fact('Node', link('', 'nodes', '', textAt(spec, 'nodeName'))),
      ...fact('Address', code(addresses.join(', '))),
      ...fact('Service account', link('', 'serviceaccounts', namespace, textAt(spec, 'serviceAccountName'))),
      ...fact('Quality of service', plain(textAt(pod, 'status', 'qosClass'))),
      ...fact('Priority', link('scheduling', 'priorityclasses', '', textAt(spec, 'priorityClassName'))),
      ...fact('Restarts', plain(textAt(spec, 'restartPolicy'))),
    ]),
    ...containerSections(spec, statuses, namespace),
    ...volumeSection(spec, namespace),
  ];
}

function workloadSections(object: unknown, namespace: string): readonly Section[] {
  const spec = dig(object, 'spec');
  const template = dig(spec, 'template', 'spec');
  const strategy = textAt(spec, 'strategy', 'type') || textAt(spec, 'updateStrategy', 'type');
  return [
    ...facts('Workload', [
      ...fact('Replicas wanted', plain(textAt(spec, 'replicas') || textAt(object, 'status', 'desiredNumberScheduled'))),
      ...fact(
        'Up to date',
        plain(textAt(object, 'status', 'updatedReplicas') || textAt(object, 'status', 'updatedNumberScheduled')),
      ),
      ...fact(
        'Available',
        plain(textAt(object, 'status', 'availableReplicas') || textAt(object, 'status', 'numberAvailable')),
      ),
      ...fact('Strategy', plain(strategy)),
      ...fact('Service', link('', 'services', namespace, textAt(spec, 'serviceName'))),
      ...fact('Service account', link('', 'serviceaccounts', namespace, textAt(template, 'serviceAccountName'))),
    ]),
    ...containerSections(template, [], namespace),
    ...volumeSection(template, namespace),
  ];
}

function jobSections(job: unknown, namespace: string): readonly Section[] {
  const template = dig(job, 'spec', 'template', 'spec');
  return [
    ...facts('Job', [
      ...fact(
        'Succeeded',
        plain(`${textAt(job, 'status', 'succeeded') || 0} of ${textAt(job, 'spec', 'completions') || 1}`),
      ),
      ...fact('Active', plain(textAt(job, 'status', 'active'))),
      ...fact('Failed', plain(textAt(job, 'status', 'failed'))),
      ...fact('Tries at most', plain(textAt(job, 'spec', 'backoffLimit'))),
      ...fact('Started', plain(textAt(job, 'status', 'startTime'))),
      ...fact('Ended', plain(textAt(job, 'status', 'completionTime'))),
    ]),
    ...containerSections(template, [], namespace),
    ...volumeSection(template, namespace),
  ];
}

function cronJobSections(object: unknown, namespace: string): readonly Section[] {
  const template = dig(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec');
  const active = listAt(object, 'status', 'active').flatMap((each) =>
    link('batch', 'jobs', namespace, textAt(each, 'name')),
  );
  return [
    ...facts('Schedule', [
      ...fact('Schedule', code(textAt(object, 'spec', 'schedule'))),
      ...fact('Time zone', plain(textAt(object, 'spec', 'timeZone'))),
      ...fact('Runs that overlap', plain(textAt(object, 'spec', 'concurrencyPolicy'))),
      ...fact('Last run', plain(textAt(object, 'status', 'lastScheduleTime'))),
      ...fact('Last success', plain(textAt(object, 'status', 'lastSuccessfulTime'))),
      ...fact('Running', active),
    ]),
    ...containerSections(template, [], namespace),
  ];
}

function serviceSections(service: unknown): readonly Section[] {
  const spec = dig(service, 'spec');
  const addresses = listAt(spec, 'clusterIPs').map(String).join(', ') || textAt(spec, 'clusterIP');
  const external = [
    ...listAt(spec, 'externalIPs').map(String),
    ...listAt(service, 'status', 'loadBalancer', 'ingress').map(
      (each) => textAt(each, 'ip') || textAt(each, 'hostname'),
    ),
    textAt(spec, 'externalName'),
  ].filter(Boolean);
  const rows = listAt(spec, 'ports').map((port) => [
    plain(textAt(port, 'name')),
    plain(`${textAt(port, 'port')}/${textAt(port, 'protocol') || 'TCP'}`),
    plain(textAt(port, 'targetPort')),
    plain(textAt(port, 'nodePort')),
  ]);
  return [
    ...facts('Service', [
      ...fact('Type', plain(textAt(spec, 'type'))),
      ...fact('Cluster address', code(addresses)),
      ...fact('External', code(external.join(', '))),
      ...fact('Selector', code(selectorText('services', service))),
      ...fact('Session affinity', plain(textAt(spec, 'sessionAffinity'))),
    ]),
    ...table('Ports', ['Name', 'Port', 'Leads to', 'On nodes'], rows),
  ];
}

function ingressSections(ingress: unknown, namespace: string): readonly Section[] {
  const backendOf = (backend: unknown): readonly Value[] => [
    ...link('', 'services', namespace, textAt(backend, 'service', 'name')),
    ...plain(textAt(backend, 'service', 'port', 'number') || textAt(backend, 'service', 'port', 'name')),
  ];
  const rows = listAt(ingress, 'spec', 'rules').flatMap((rule) =>
    listAt(rule, 'http', 'paths').map((each) => [
      plain(textAt(rule, 'host') || 'any host'),
      code(textAt(each, 'path') || '/'),
      backendOf(dig(each, 'backend')),
    ]),
  );
  const secrets = listAt(ingress, 'spec', 'tls').flatMap((each) =>
    link('', 'secrets', namespace, textAt(each, 'secretName')),
  );
  return [
    ...facts('Ingress', [
      ...fact('Class', link('networking', 'ingressclasses', '', textAt(ingress, 'spec', 'ingressClassName'))),
      ...fact('Certificates', secrets),
      ...fact('Otherwise to', backendOf(dig(ingress, 'spec', 'defaultBackend'))),
    ]),
    ...table('Routes', ['Host', 'Path', 'Service'], rows),
  ];
}

function nodeSections(node: unknown): readonly Section[] {
  const info = dig(node, 'status', 'nodeInfo');
  const addresses = listAt(node, 'status', 'addresses').map(
    (each) => `${textAt(each, 'address')} (${textAt(each, 'type')})`,
  );
  const capacity = new Map(entriesAt(node, 'status', 'capacity'));
  const rows = entriesAt(node, 'status', 'allocatable').map(([name, amount]) => [
    plain(name),
    plain(amount),
    plain(capacity.get(name) ?? ''),
  ]);
  const taints = listAt(node, 'spec', 'taints').map((each) => ({
    text: `${textAt(each, 'key')}${textAt(each, 'value') && `=${textAt(each, 'value')}`}:${textAt(each, 'effect')}`,
    isCode: true,
  }));
  return [
    ...facts('Node', [
      ...fact('Addresses', code(addresses.join(', '))),
      ...fact('Taints', taints),
      ...fact('System', plain([textAt(info, 'osImage'), textAt(info, 'kernelVersion')].filter(Boolean).join(', '))),
      ...fact('Runtime', plain(textAt(info, 'containerRuntimeVersion'))),
      ...fact('Agent', plain(textAt(info, 'kubeletVersion'))),
      ...fact('Pod addresses', code(listAt(node, 'spec', 'podCIDRs').map(String).join(', '))),
    ]),
    ...table('Resources', ['Resource', 'For pods', 'Capacity'], rows),
  ];
}

function claimSections(claim: unknown): readonly Section[] {
  const spec = dig(claim, 'spec');
  return facts('Claim', [
    ...fact('Volume', link('', 'persistentvolumes', '', textAt(spec, 'volumeName'))),
    ...fact('Class', link('storage', 'storageclasses', '', textAt(spec, 'storageClassName'))),
    ...fact('Asked for', plain(textAt(spec, 'resources', 'requests', 'storage'))),
    ...fact('Has', plain(textAt(claim, 'status', 'capacity', 'storage'))),
    ...fact('Access', plain(listAt(spec, 'accessModes').map(String).join(', '))),
  ]);
}

function volumeSections(volume: unknown): readonly Section[] {
  const spec = dig(volume, 'spec');
  const claim = dig(spec, 'claimRef');
  return facts('Volume', [
    ...fact('Claim', link('', 'persistentvolumeclaims', textAt(claim, 'namespace'), textAt(claim, 'name'))),
    ...fact('Class', link('storage', 'storageclasses', '', textAt(spec, 'storageClassName'))),
    ...fact('Size', plain(textAt(spec, 'capacity', 'storage'))),
    ...fact('Access', plain(listAt(spec, 'accessModes').map(String).join(', '))),
    ...fact('When released', plain(textAt(spec, 'persistentVolumeReclaimPolicy'))),
    ...fact('Driver', plain(textAt(spec, 'csi', 'driver'))),
  ]);
}

function roleSections(role: unknown): readonly Section[] {
  const listed = (each: unknown, field: string) => listAt(each, field).map(String).join(', ');
  const rows = listAt(role, 'rules').map((rule) => [
    plain(listed(rule, 'resources') || listed(rule, 'nonResourceURLs')),
    plain(
      listAt(rule, 'apiGroups')
        .map((group) => String(group) || 'core')
        .join(', '),
    ),
    plain(listed(rule, 'resourceNames') || 'all'),
    plain(listed(rule, 'verbs')),
  ]);
  return table('Rules', ['Resources', 'Groups', 'Names', 'Verbs'], rows);
}

function bindingSections(binding: unknown, namespace: string): readonly Section[] {
  const isCluster = textAt(binding, 'roleRef', 'kind') === 'ClusterRole';
  const role = textAt(binding, 'roleRef', 'name');
  const rows = listAt(binding, 'subjects').map((each) => {
    const name = textAt(each, 'name');
    const isAccount = textAt(each, 'kind') === 'ServiceAccount';
    return [
      plain(textAt(each, 'kind')),
      isAccount ? link('', 'serviceaccounts', textAt(each, 'namespace'), name) : plain(name),
      plain(textAt(each, 'namespace')),
    ];
  });
  return [
    ...facts('Binding', [
      ...fact(
        'Role',
        isCluster
          ? link('rbac.authorization', 'clusterroles', '', role)
          : link('rbac.authorization', 'roles', namespace, role),
      ),
    ]),
    ...table('Who has it', ['Kind', 'Name', 'Namespace'], rows),
  ];
}

function autoscalerSections(object: unknown, namespace: string): readonly Section[] {
  const target = dig(object, 'spec', 'scaleTargetRef');
  const resources: Readonly<Record<string, string>> = { Deployment: 'deployments', StatefulSet: 'statefulsets' };
  const kind = textAt(target, 'kind');
  const resource = Object.hasOwn(resources, kind) ? resources[kind] : undefined;
  const name = textAt(target, 'name');
  return facts('Autoscaler', [
    ...fact('Scales', resource === undefined ? plain(`${kind} ${name}`) : link('apps', resource, namespace, name)),
    ...fact(
      'Between',
      plain(`${textAt(object, 'spec', 'minReplicas') || 1} and ${textAt(object, 'spec', 'maxReplicas')}`),
    ),
    ...fact('Now', plain(textAt(object, 'status', 'currentReplicas'))),
    ...fact('Wanted', plain(textAt(object, 'status', 'desiredReplicas'))),
  ]);
}

function quotaSections(quota: unknown): readonly Section[] {
  const used = new Map(entriesAt(quota, 'status', 'used'));
  const rows = entriesAt(quota, 'status', 'hard').map(([name, most]) => [
    plain(name),
    plain(used.get(name) ?? '0'),
    plain(most),
  ]);
  return table('Use', ['Resource', 'Used', 'Limit'], rows);
}

function accountSections(account: unknown, namespace: string): readonly Section[] {
  const named = (field: string) =>
    listAt(account, field).flatMap((each) => link('', 'secrets', namespace, textAt(each, 'name')));
  return facts('Service account', [
    ...fact('Secrets', named('secrets')),
    ...fact('Secrets for images', named('imagePullSecrets')),
  ]);
}

function eventSections(event: unknown): readonly Section[] {
  return facts('Event', [
    ...fact('Reason', plain(textAt(event, 'reason'))),
    ...fact('Message', plain(textAt(event, 'message') || textAt(event, 'note'))),
    ...fact('About', plain(`${textAt(event, 'involvedObject', 'kind')} ${textAt(event, 'involvedObject', 'name')}`)),
    ...fact('From', plain(textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'))),
    ...fact('Times', plain(textAt(event, 'count'))),
  ]);
}

/** Fields that are texts or numbers, of kinds that are not known here. */
function otherSections(object: unknown): readonly Section[] {
  const scalars = (part: string) =>
    entriesAt(object, part)
      .filter(([, value]) => value !== '')
      .slice(0, 20)
      .flatMap(([label, value]) => fact(label, plain(value.length > 300 ? `${value.slice(0, 300)}…` : value)));
  return [...facts('Specification', scalars('spec')), ...facts('Status', scalars('status'))];
}
