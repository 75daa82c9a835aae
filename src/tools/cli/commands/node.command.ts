import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { kubeletConfigurationDefaults } from '../../../base/config/kubelet-configuration.js';
import { givenText, parseOptions } from '../../../base/config/parse-options.js';
import { stopLimit } from '../../../base/machinery/lifecycle.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { configurationDefaults } from '../configuration-defaults.js';
import { nodeCommandGroups as groups } from './node-command-options.js';

export const nodeCommand: Command = {
  name: 'node',
  summary: 'Run the pods of this machine in containers: the agent of a node, over containerd or another CRI runtime.',
  groups,
  defaults: {},
  async run(context) {
    const given = parseRequest(groups, {}, context);
    const config = givenText(given, 'config');
    const ofFile = config === undefined ? {} : configurationDefaults(config, kubeletConfigurationDefaults);
    const request = { ...given, defaults: { ...given.defaults, ...ofFile } };
    const parsed = parseOptions(request);
    const { kubeconfig, bootstrapKubeconfig } = parsed.agentApi;
    const isJoined = kubeconfig !== undefined && existsSync(kubeconfig);
    // A node that joins makes its kubeconfig with the bootstrap kubeconfig, and does not need the latter again.
    const unchecked = isJoined
      ? { bootstrapKubeconfig: undefined }
      : bootstrapKubeconfig === undefined
        ? {}
        : { kubeconfig: undefined };
    await checkFiles(groups, { ...parsed, agentApi: { ...parsed.agentApi, ...unchecked } });
    const logger = openLog(request, parsed.logging);
    context.lastResort.logTo(logger);
    const { startAgent } = await import('../run-agent.js');
    const nodeName = parsed.agentNode.hostnameOverride ?? hostname().toLowerCase();
    const agent = await startAgent({ options: parsed, nodeName, logger, signal: context.signals.signal });
    void agent.registered.then(() => {
      if (!context.signals.signal.aborted) context.print(`the node ${nodeName} is registered`);
    });
    await context.signals.wait();
    context.signals.endWithin(stopLimit() + agent.shutdownMs);
    await agent.stop();
  },
};
