import { after, before, describe } from 'node:test';
import { unlessThere } from '../support/needs.js';
import { containerdNeeds } from '../support/test-containerd.js';
import { AgentNode } from './support/agent-node.js';
import { agentRestartCases } from './support/agent-restart-cases.js';
import { agentServerCases } from './support/agent-server-cases.js';
import { containerCases } from './support/container-cases.js';
import { csiCases } from './support/csi-cases.js';
import { diskCases } from './support/disk-cases.js';
import { endCases } from './support/end-cases.js';
import { hookCases } from './support/hook-cases.js';
import { resizeCases } from './support/resize-cases.js';
import { staticPodCases } from './support/static-pod-cases.js';
import { volumeCases } from './support/volume-cases.js';

describe('the node agent', { skip: unlessThere('the node agent', [...containerdNeeds, 'kubectl']) }, () => {
  let running: AgentNode;
  const node = () => running;

  before(async () => {
    running = await AgentNode.start();
  });
  after(() => running?.stop());

  containerCases(node);

  volumeCases(node);

  staticPodCases(node);

  agentServerCases(node);

  csiCases(node);

  hookCases(node);

  endCases(node);

  resizeCases(node);

  diskCases(node);

  // They count on containers of the cases before.
  agentRestartCases(node);
});
