import { readFileSync } from 'node:fs';
import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { NodeAgentOptions } from '../../base/config/node-agent.options.js';
import { CLOCK, type Clock } from '../../base/machinery/clock.js';
import { NODE_USAGE } from '../../base/machinery/node-usage.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { Logger } from '../../base/observability/logger.js';
import { buildNodeAgents, NodeAgents } from './node-agents.js';
import { NodeSampler } from './node-sampler.js';

/** The connections to node agents, and the usage that they measure. */
@Module({
  providers: [
    {
      provide: NodeAgents,
      inject: [NodeAgentOptions, CLOCK],
      useFactory: (options: NodeAgentOptions, clock: Clock) =>
        buildNodeAgents(options, clock, (file) => readFileSync(file, 'utf8')),
    },
    {
      provide: NodeSampler,
      inject: [NodeAgents, Logger],
      useFactory: (agents: NodeAgents, logger: Logger) => new NodeSampler({ agents, timers: systemTimers, logger }),
    },
    { provide: NODE_USAGE, useExisting: NodeSampler },
  ],
  exports: [NodeAgents, NODE_USAGE],
})
export class NodeAgentsModule implements OnApplicationShutdown {
  constructor(
    @Inject(NodeAgents) private readonly agents: NodeAgents,
    @Inject(NodeSampler) private readonly sampler: NodeSampler,
  ) {}

  onApplicationShutdown(): void {
    this.sampler.stop();
    this.agents.client.stop();
  }
}
