import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { ConfiguredMode } from '../configured-mode.js';
import { bootstrapPolicy } from '../rbac/bootstrap/bootstrap-policy.js';
import { CompiledRole } from '../rbac/compiled-role.js';
import { maxLostMs } from '../rbac/fresh-policy.authorizer.js';
import { GraphInformer } from './graph-informer.js';
import { NodeAuthorizer } from './node.authorizer.js';
import { NodeGraph } from './node-graph.js';

/** Maximum time that a node's request waits for the graph before it is denied. */
const maxCatchUpMs = 2000;
/** The role whose rules apply to every node, without a binding. */
const nodeRole = 'system:node';

export interface NodeModeOptions {
  readonly storage: Storage;
  readonly registry: StoredResources;
  readonly names: VendorNames;
  readonly logger: Logger;
}

/** Mode `Node`: keeps an in-memory graph of the objects that nodes need, up to date with the store. */
export function nodeMode({ storage, registry, names, logger }: NodeModeOptions): ConfiguredMode {
  const graph = new NodeGraph();
  const informer = new GraphInformer(
    {
      storage,
      registry,
      names,
      onFault: (resource, error) => logger.warn('the node graph lost its place in the change log', { resource, error }),
      maxCatchUpMs,
    },
    graph,
  );
  const authorizer = new NodeAuthorizer({
    graph,
    state: informer,
    commonRules: nodeRules(names),
    names,
    maxLostMs,
  });
  return {
    authorizer,
    rules: authorizer,
    start: (signal) => informer.start(signal),
    stopped: () => informer.stopped(),
  };
}

/** The rules of the default role for nodes, as shipped. Changes to the stored role do not affect them. */
export function nodeRules(names: VendorNames): CompiledRole {
  const role = bootstrapPolicy(names).clusterRoles.find(({ metadata }) => metadata.name === nodeRole);
  if (role === undefined) throw new Error(`the default policy has no role ${nodeRole}`);
  return CompiledRole.of(role.rules ?? []);
}
