import { BlockList } from 'node:net';
import { ipFamily, parseIpNetwork } from '../../../objects/apis/networking/v1/validation/ip-network.js';

/** A set of networks. */
export class AddressRanges {
  private readonly blocks = new BlockList();

  /** @param networks texts that do not describe a network are left out */
  constructor(networks: readonly string[]) {
    for (const text of networks) {
      const network = parseIpNetwork(text);
      if (network !== undefined) this.blocks.addSubnet(network.address, network.prefix, network.family);
    }
  }

  /** Whether an address lies in one of the networks. */
  contain(address: string): boolean {
    const family = ipFamily(address);
    return family !== undefined && this.blocks.check(address, family);
  }
}
