import { AgentApiOptions } from '../../../base/config/agent-api.options.js';
import { AgentHousekeepingOptions } from '../../../base/config/agent-housekeeping.options.js';
import { AgentNodeOptions } from '../../../base/config/agent-node.options.js';
import { AgentPodsOptions } from '../../../base/config/agent-pods.options.js';
import { AgentServerOptions } from '../../../base/config/agent-server.options.js';
import { AgentSourcesOptions } from '../../../base/config/agent-sources.options.js';
import { ClusterOptions } from '../../../base/config/cluster.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';

export const nodeCommandGroups = {
  agentApi: AgentApiOptions,
  agentNode: AgentNodeOptions,
  agentPods: AgentPodsOptions,
  agentServer: AgentServerOptions,
  agentSources: AgentSourcesOptions,
  agentHousekeeping: AgentHousekeepingOptions,
  cluster: ClusterOptions,
  logging: LoggingOptions,
} as const;

/** The options of `plinth node`. */
export type NodeCommandOptions = ReturnType<typeof parseOptions<typeof nodeCommandGroups>>;
