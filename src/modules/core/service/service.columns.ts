import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';
import { labelsText } from '../cells.js';

/** Columns of a table of services. */
export const serviceColumns: readonly TableColumn<Service>[] = [
  nameColumn,
  {
    name: 'Type',
    type: 'string',
    description: 'How it can be reached.',
    cell: ({ spec }) => spec.type ?? '',
  },
  {
    name: 'Cluster-IP',
    type: 'string',
    description: 'Its address inside the cluster.',
    cell: ({ spec }) => spec.clusterIPs?.[0] ?? '<none>',
  },
  {
    name: 'External-IP',
    type: 'string',
    description: 'Its addresses outside the cluster.',
    cell: externalText,
  },
  {
    name: 'Port(s)',
    type: 'string',
    description: 'Its ports, with their node ports.',
    cell: portsText,
  },
  ageColumn,
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: 'Labels of its pods.',
    cell: ({ spec }) => labelsText(spec.selector),
  },
];

function externalText({ spec, status }: Service): string {
  const own = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return own.length === 0 ? '<none>' : own.join(',');
    case 'LoadBalancer': {
      const given = (status.loadBalancer.ingress ?? [])
        .map(({ ip, hostname }) => ip || hostname || '')
        .filter((a) => a !== '');
      const all = [...given, ...own];
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return '<unknown>';
  }
}

function portsText({ spec }: Service): string {
  const texts = (spec.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return texts.length === 0 ? '<none>' : texts.join(',');
}
