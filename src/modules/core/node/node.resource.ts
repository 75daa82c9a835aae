import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type Node, node } from '../../../objects/apis/core/v1/node.types.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { nodeProxyPath } from '../proxy-path.js';
import { nodeColumns } from './node.columns.js';
import { applyNodeDefaults } from './node.defaults.js';
import { validateNewNode, validateNodeStatus, validateNodeUpdate } from './node.validation.js';

/** Nodes: machines that run pods. Their agents create them, status included. */
export function nodeResource(names: VendorNames): ResourceDefinition {
  return defineResource<Node>({
    group: '',
    resource: 'nodes',
    singular: 'node',
    kind: 'Node',
    namespaced: false,
    shortNames: ['no'],
    versions: [{ version: 'v1', type: node }],
    strategy: {
      applyDefaults: applyNodeDefaults,
      prepareForCreate: (_context, { spec }) => {
        delete spec.configSource;
      },
      warnings: (_context, { spec }) =>
        spec.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : [],
      validate: (_context, object) => validateNewNode(object, names),
      prepareForUpdate(_context, object, old) {
        object.status = old.status;
        if (old.spec.configSource === undefined) delete object.spec.configSource;
      },
      validateUpdate: (_context, object, old) => validateNodeUpdate(object, old, names),
    },
    // A new node includes its status; later only the status path changes it.
    strategyOptions: { statusIsolated: false },
    selectableFieldNames: ['spec.unschedulable'],
    hidesNamespace: true,
    selectableFields: (object) => ({ 'spec.unschedulable': String(object.spec.unschedulable ?? false) }),
    columns: nodeColumns(names),
    subresources: [
      statusSubresource<Node>({ validate: (object, old) => validateNodeStatus(object, old, names) }),
      nodeProxyPath,
    ],
  });
}
