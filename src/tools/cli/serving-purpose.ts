import { hostname } from 'node:os';
import { ownAddresses } from '../../nodes/agent/node/machine.js';
import type { CertificatePurpose } from '../../nodes/agent/node/node-certificates.js';
import type { NodeCommandOptions } from './commands/node-command-options.js';

/** The names under which the server of the agent is known. */
export async function servingPurpose({ agentNode }: NodeCommandOptions): Promise<CertificatePurpose> {
  const addresses = agentNode.nodeIP.length > 0 ? agentNode.nodeIP : await ownAddresses();
  return { kind: 'server', hosts: [agentNode.hostnameOverride ?? hostname().toLowerCase(), ...addresses] };
}
