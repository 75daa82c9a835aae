import type { Ingress } from '../../../apis/networking/v1/ingress.types.js';
import { ageColumn, nameColumn } from '../../../registry/default-columns.js';
import type { TableColumn } from '../../../registry/resource-definition.js';

const maxHosts = 3;
/** Addresses longer than this are cut, unless the client asked for the wide form (which is not known here). */
const maxAddressLength = 16;

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
  const hosts = (ingress.spec.rules ?? []).map((rule) => rule.host ?? '*');
  if (hosts.length === 0) return '*';
  const shown = hosts.slice(0, maxHosts).join(',');
  return hosts.length > maxHosts ? `${shown} + ${hosts.length - maxHosts} more...` : shown;
}

function addressCell(ingress: Ingress): string {
  const points = (ingress.status.loadBalancer.ingress ?? []).map((p) => p.ip ?? p.hostname ?? '');
  const shown = [...new Set(points.filter((p) => p !== ''))].join(',');
  return shown.length > maxAddressLength ? `${shown.slice(0, maxAddressLength - 3)}...` : shown;
}
