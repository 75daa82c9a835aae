import type { Ingress } from '../../../objects/apis/networking/v1/ingress.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';

const maxHosts = 3;

export const ingressColumns: readonly TableColumn<Ingress>[] = [
  nameColumn,
  {
    name: 'Class',
    type: 'string',
    description: 'IngressClass that serves this ingress.',
    cell: (ingress) => ingress.spec.ingressClassName ?? '<none>',
  },
  { name: 'Hosts', type: 'string', description: 'Hosts of the rules.', cell: hostsCell },
  { name: 'Address', type: 'string', description: 'Where the ingress can be reached.', cell: addressCell },
  {
    name: 'Ports',
    type: 'string',
    description: 'Ports that are open.',
    cell: (ingress) => ((ingress.spec.tls ?? []).length > 0 ? '80, 443' : '80'),
  },
  ageColumn,
];

function hostsCell(ingress: Ingress): string {
  const rules = ingress.spec.rules ?? [];
  const hosts: string[] = [];
  let hasMore = false;
  for (const { host = '' } of rules) {
    if (hosts.length === maxHosts) hasMore = true;
    else if (host !== '') hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  return hasMore ? `${hosts.join(',')} + ${rules.length - maxHosts} more...` : hosts.join(',');
}

function addressCell(ingress: Ingress): string {
  const points = (ingress.status.loadBalancer.ingress ?? []).map((p) => p.ip ?? p.hostname ?? '');
  return [...new Set(points.filter((p) => p !== ''))].sort().join(',');
}
