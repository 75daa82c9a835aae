import { hostname } from 'node:os';
import { AgentApiOptions } from '../../../base/config/agent-api.options.js';
import { AgentNodeOptions } from '../../../base/config/agent-node.options.js';
import { AgentPodsOptions } from '../../../base/config/agent-pods.options.js';
import { ClusterOptions } from '../../../base/config/cluster.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';

const groups = {
  agentApi: AgentApiOptions,
  agentNode: AgentNodeOptions,
  agentPods: AgentPodsOptions,
  cluster: ClusterOptions,
  logging: LoggingOptions,
} as const;

/** The options of `plinth node`. */
export type NodeCommandOptions = ReturnType<typeof parseOptions<typeof groups>>;

export const nodeCommand: Command = {
  name: 'node',
  summary: 'Run the pods of this machine in containers: the agent of a node, over containerd or another CRI runtime.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const parsed = parseOptions(request);
    await checkFiles(groups, parsed);
    const logger = openLog(request, parsed.logging);
    context.lastResort.logTo(logger);
    const { startAgent } = await import('../run-agent.js');
    const nodeName = parsed.agentNode.hostnameOverride ?? hostname().toLowerCase();
    const agent = await startAgent({ options: parsed, nodeName, logger, signal: context.signals.signal });
    void agent.registered.then(() => {
      if (!context.signals.signal.aborted) context.print(`the node ${nodeName} is registered`);
    });
    await context.signals.wait();
    context.signals.endWithin(stopLimit());
    await agent.stop();
  },
};
