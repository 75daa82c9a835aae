/** The address that stands for the machine where the nodes run, unless the user names another one. */
export const sharedLoopback = '127.0.0.1';
/**
 * With more nodes than this, nodes share an address: each address of its own costs an open port and a name in the
 * certificate.
 */
const mostOwn = 1000;
const perBlock = 250;
const firstBlock = 16;

/**
 * The addresses that nodes report as theirs, by their index: each node has its own in the loopback network, so that two
 * nodes never have the same host port; or all have the same address if the user named an address, there are many nodes,
 * or the system has no more than one address of that network.
 */
export function nodeAddresses(
  address: string,
  count: number,
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  const isOwn = address === sharedLoopback && count <= mostOwn && platform === 'linux';
  return Array.from({ length: count }, (_, index) =>
    isOwn ? `127.0.${firstBlock + Math.floor(index / perBlock)}.${1 + (index % perBlock)}` : address,
  );
}

/** Whether each node has an address of its own, so that the address alone identifies the node. A single node always has. */
export function areOwnAddresses(addresses: readonly string[]): boolean {
  return new Set(addresses).size === addresses.length;
}
