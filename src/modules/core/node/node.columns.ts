import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';

/** Columns of a table of nodes. */
export function nodeColumns(names: VendorNames): readonly TableColumn<Node>[] {
  const info = (name: string, field: 'osImage' | 'kernelVersion' | 'containerRuntimeVersion'): TableColumn<Node> => ({
    name,
    type: 'string',
    priority: 1,
    description: 'As the node reports it.',
    cell: (object) => object.status.nodeInfo[field] || '<unknown>',
  });
  const address = (name: string, type: string): TableColumn<Node> => ({
    name,
    type: 'string',
    priority: 1,
    description: 'First address of this kind.',
    cell: (object) => object.status.addresses?.find((a) => a.type === type)?.address ?? '<none>',
  });
  return [
    nameColumn,
    {
      name: 'Status',
      type: 'string',
      description: 'Whether the node is ready and takes new pods.',
      cell: statusText,
    },
    {
      name: 'Roles',
      type: 'string',
      description: 'Roles that its labels give it.',
      cell: (object) => rolesText(object, names),
    },
    ageColumn,
    {
      name: 'Version',
      type: 'string',
      description: `Version of the ${names.nodeAgent.prose}.`,
      cell: (object) => object.status.nodeInfo.kubeletVersion,
    },
    address('Internal-IP', 'InternalIP'),
    address('External-IP', 'ExternalIP'),
    info('OS-Image', 'osImage'),
    {
      ...info('Kernel-Version', 'kernelVersion'),
      description: 'As the node reports it, with the architecture of its processors.',
      cell: kernelText,
    },
    info('Container-Runtime', 'containerRuntimeVersion'),
  ];
}

function kernelText({ status }: Node): string {
  const { kernelVersion, architecture } = status.nodeInfo;
  return `${kernelVersion || '<unknown>'}${architecture ? ` (${architecture})` : ''}`;
}

function statusText(object: Node): string {
  const ready = object.status.conditions?.find((condition) => condition.type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return object.spec.unschedulable === true ? `${state},SchedulingDisabled` : state;
}

function rolesText(object: Node, names: VendorNames): string {
  const prefix = `node-role.${names.labelPrefix}/`;
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(object.metadata.labels ?? {})) {
    if (key.startsWith(prefix) && key.length > prefix.length) roles.add(key.slice(prefix.length));
    else if (key === `${names.labelPrefix}/role` && value !== '') roles.add(value);
  }
  return roles.size === 0 ? '<none>' : [...roles].sort().join(',');
}
