import { addressAt, canonicalAddress, parseCidr } from '../../../base/config/network.js';
import { runTool } from '../nftables/run-program.js';
import { nftFamily } from '../nftables/table-text.js';
import type { Family } from '../rules/family.js';

/** A route that this program has added to the kernel. */
export interface KernelRoute {
  readonly range: string;
  readonly gateway: string;
}

/** The protocol number of this program's routes; only these are changed and removed. */
const protocol = '76';
/** The table of the rule that masquerades packets from pods to addresses outside. */
const tableName = 'plinth-pods';

const flagOf = (family: Family) => (family === 'IPv4' ? '-4' : '-6');

/** The program's own routes of a family. @throws Error with the output of ip */
export async function readRoutes(family: Family): Promise<readonly KernelRoute[]> {
  const { code, output, errors } = await runTool('ip', ['-j', flagOf(family), 'route', 'show', 'proto', protocol]);
  if (code !== 0) throw new Error(code === undefined ? 'there is no program ip' : `ip: ${errors.trim()}`);
  const found = JSON.parse(output === '' ? '[]' : output) as readonly { dst: string; gateway?: string }[];
  return found.map(({ dst, gateway = '' }) => ({ range: canonicalRange(dst), gateway: canonicalAddress(gateway) }));
}

/**
 * Changes the program's own routes of a family. Routes that the kernel refuses are left out.
 *
 * @throws Error with the output of ip when nothing could be changed
 */
export async function changeRoutes(
  family: Family,
  added: readonly KernelRoute[],
  removed: readonly KernelRoute[],
): Promise<void> {
  const lines = [
    ...removed.map(({ range, gateway }) => `route del ${range} via ${gateway} proto ${protocol}`),
    ...added.map(({ range, gateway }) => `route replace ${range} via ${gateway} proto ${protocol}`),
  ];
  if (lines.length === 0) return;
  const { code, errors } = await runTool('ip', [flagOf(family), '-force', '-batch', '-'], `${lines.join('\n')}\n`);
  if (code === undefined) throw new Error(`there is no program ip: ${errors}`);
}

/** Whether packets from pods to addresses outside of the cluster are masqueraded. */
export async function isMasquerading(family: Family): Promise<boolean> {
  return (await runTool('nft', ['-t', 'list', 'table', nftFamily(family), tableName])).code === 0;
}

/**
 * Masquerades packets from pods to addresses outside of the cluster, so that responses find their way back.
 *
 * @param range all pod addresses of the family
 * @throws Error with the output of nft
 */
export async function masqueradePods(family: Family, range: string): Promise<void> {
  const ip = nftFamily(family);
  const multicast = family === 'IPv4' ? '224.0.0.0/4' : 'ff00::/8';
  const script = [
    `add table ${ip} ${tableName}`,
    `delete table ${ip} ${tableName}`,
    `add table ${ip} ${tableName}`,
    `add chain ${ip} ${tableName} postrouting { type nat hook postrouting priority 100 ; }`,
    `add rule ${ip} ${tableName} postrouting ${ip} saddr ${range} ${ip} daddr != { ${range}, ${multicast} } masquerade fully-random`,
  ];
  const { code, errors } = await runTool('nft', ['-f', '-'], `${script.join('\n')}\n`);
  if (code !== 0) throw new Error(code === undefined ? 'there is no program nft' : `nft: ${errors.trim()}`);
}

/**
 * Removes the program's own routes and tables of both families, and nothing else. @throws Error with the output of ip
 * or nft
 */
export async function removeRoutes(): Promise<void> {
  for (const family of ['IPv4', 'IPv6'] as const) {
    await changeRoutes(family, [], await readRoutes(family));
    if (!(await isMasquerading(family))) continue;
    const { code, errors } = await runTool('nft', ['delete', 'table', nftFamily(family), tableName]);
    if (code !== 0) throw new Error(`nft: ${errors.trim()}`);
  }
}

function canonicalRange(text: string): string {
  const range = parseCidr(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
  return range === undefined ? text : `${addressAt(range, 0n)}/${range.prefix}`;
}
