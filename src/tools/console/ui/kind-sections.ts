import {
  code,
  conditionSection,
  detail,
  details,
  link,
  plain,
  type Section,
  selectorText,
  table,
  type Value,
} from './details.js';
import { dig, entriesAt, listAt, textAt } from './dig.js';
import { cronJobSections, jobSections, podSections, workloadSections } from './workload-sections.js';

/** What users want to know first about an object, by its kind. */
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
    details('Network policy', [
      ...detail('Pods', code(selectorText('', { spec: { selector: dig(object, 'spec', 'podSelector') } }) || 'all')),
      ...detail('Directions', plain(listAt(object, 'spec', 'policyTypes').map(String).join(', '))),
    ]),
  poddisruptionbudgets: (object) =>
    details('Budget', [
      ...detail('Pods', code(selectorText('', object))),
      ...detail('At least', plain(textAt(object, 'spec', 'minAvailable'))),
      ...detail('Unavailable at most', plain(textAt(object, 'spec', 'maxUnavailable'))),
      ...detail('May be evicted now', plain(textAt(object, 'status', 'disruptionsAllowed'))),
    ]),
};

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
    ...details('Service', [
      ...detail('Type', plain(textAt(spec, 'type'))),
      ...detail('Cluster address', code(addresses)),
      ...detail('External', code(external.join(', '))),
      ...detail('Selector', code(selectorText('services', service))),
      ...detail('Session affinity', plain(textAt(spec, 'sessionAffinity'))),
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
    ...details('Ingress', [
      ...detail('Class', link('networking', 'ingressclasses', '', textAt(ingress, 'spec', 'ingressClassName'))),
      ...detail('Certificates', secrets),
      ...detail('Otherwise to', backendOf(dig(ingress, 'spec', 'defaultBackend'))),
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
    ...details('Node', [
      ...detail('Addresses', code(addresses.join(', '))),
      ...detail('Taints', taints),
      ...detail('System', plain([textAt(info, 'osImage'), textAt(info, 'kernelVersion')].filter(Boolean).join(', '))),
      ...detail('Runtime', plain(textAt(info, 'containerRuntimeVersion'))),
      ...detail('Agent', plain(textAt(info, 'kubeletVersion'))),
      ...detail('Pod addresses', code(listAt(node, 'spec', 'podCIDRs').map(String).join(', '))),
    ]),
    ...table('Resources', ['Resource', 'For pods', 'Capacity'], rows),
  ];
}

function claimSections(claim: unknown): readonly Section[] {
  const spec = dig(claim, 'spec');
  return details('Claim', [
    ...detail('Volume', link('', 'persistentvolumes', '', textAt(spec, 'volumeName'))),
    ...detail('Class', link('storage', 'storageclasses', '', textAt(spec, 'storageClassName'))),
    ...detail('Asked for', plain(textAt(spec, 'resources', 'requests', 'storage'))),
    ...detail('Has', plain(textAt(claim, 'status', 'capacity', 'storage'))),
    ...detail('Access', plain(listAt(spec, 'accessModes').map(String).join(', '))),
  ]);
}

function volumeSections(volume: unknown): readonly Section[] {
  const spec = dig(volume, 'spec');
  const claim = dig(spec, 'claimRef');
  return details('Volume', [
    ...detail('Claim', link('', 'persistentvolumeclaims', textAt(claim, 'namespace'), textAt(claim, 'name'))),
    ...detail('Class', link('storage', 'storageclasses', '', textAt(spec, 'storageClassName'))),
    ...detail('Size', plain(textAt(spec, 'capacity', 'storage'))),
    ...detail('Access', plain(listAt(spec, 'accessModes').map(String).join(', '))),
    ...detail('When released', plain(textAt(spec, 'persistentVolumeReclaimPolicy'))),
    ...detail('Driver', plain(textAt(spec, 'csi', 'driver'))),
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
    ...details('Binding', [
      ...detail(
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
  return details('Autoscaler', [
    ...detail('Scales', resource === undefined ? plain(`${kind} ${name}`) : link('apps', resource, namespace, name)),
    ...detail(
      'Between',
      plain(`${textAt(object, 'spec', 'minReplicas') || 1} and ${textAt(object, 'spec', 'maxReplicas')}`),
    ),
    ...detail('Now', plain(textAt(object, 'status', 'currentReplicas'))),
    ...detail('Wanted', plain(textAt(object, 'status', 'desiredReplicas'))),
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
  return details('Service account', [
    ...detail('Secrets', named('secrets')),
    ...detail('Secrets for images', named('imagePullSecrets')),
  ]);
}

function eventSections(event: unknown): readonly Section[] {
  return details('Event', [
    ...detail('Reason', plain(textAt(event, 'reason'))),
    ...detail('Message', plain(textAt(event, 'message') || textAt(event, 'note'))),
    ...detail('About', plain(`${textAt(event, 'involvedObject', 'kind')} ${textAt(event, 'involvedObject', 'name')}`)),
    ...detail('From', plain(textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'))),
    ...detail('Times', plain(textAt(event, 'count'))),
  ]);
}

/** Fields that are texts or numbers, of kinds that are not known here. */
function otherSections(object: unknown): readonly Section[] {
  const scalars = (part: string) =>
    entriesAt(object, part)
      .filter(([, value]) => value !== '')
      .slice(0, 20)
      .flatMap(([label, value]) => detail(label, plain(value.length > 300 ? `${value.slice(0, 300)}…` : value)));
  return [...details('Specification', scalars('spec')), ...details('Status', scalars('status'))];
}
