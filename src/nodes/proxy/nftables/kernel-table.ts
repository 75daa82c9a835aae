import type { Family } from '../rules/family.js';
import { affinityPrefix } from '../rules/sticky-chains.js';
import { runTool } from './run-program.js';
import type { PresentTable } from './table-script.js';
import { nftFamily, tableName } from './table-text.js';

/** Changes and reads tables of the kernel by the program nft. */
export interface KernelTable {
  /** Runs a transaction: all of it, or nothing. @throws Error with the output of nft */
  run(script: string): Promise<void>;
  /** The content of the proxy's own table; undefined if it does not exist. */
  read(): Promise<PresentTable | undefined>;
  exists(): Promise<boolean>;
}

interface NftAnswer {
  readonly nftables: readonly {
    readonly chain?: { readonly table: string; readonly name: string };
    readonly set?: { readonly table: string; readonly name: string };
    readonly table?: { readonly family: string; readonly name: string };
  }[];
}

/** A table of a family. @param name of the table; default: that of the services */
export function kernelTable(family: Family, name = tableName): KernelTable {
  const ip = nftFamily(family);
  const list = async (...flags: readonly string[]) => {
    const { code, output, errors } = await runTool('nft', ['-j', '-t', 'list', ...flags]);
    if (code !== 0) throw new Error(code === undefined ? 'there is no program nft' : `nft: ${errors.trim()}`);
    return (JSON.parse(output) as NftAnswer).nftables;
  };
  const exists = async () => (await list('tables')).some(({ table }) => table?.family === ip && table.name === name);
  return {
    exists,
    run: async (script) => {
      const { code, errors } = await runTool('nft', ['-f', '-'], script);
      if (code !== 0) throw new Error(code === undefined ? 'there is no program nft' : `nft: ${errors.trim()}`);
    },
    read: async () => {
      if (!(await exists())) return undefined;
      const [chains, sets] = [await list('chains', ip), await list('sets', ip)];
      const own = sets.flatMap(({ set }) => (set?.table === name ? [set.name] : []));
      return {
        chains: new Set(chains.flatMap(({ chain }) => (chain?.table === name ? [chain.name] : []))),
        affinitySets: new Set(own.filter((name) => name.startsWith(affinityPrefix))),
      };
    },
  };
}

/** Removes tables of the proxy and nothing else. @throws Error with the output of nft */
export async function removeTables(names: readonly string[]): Promise<void> {
  for (const family of ['IPv4', 'IPv6'] as const) {
    for (const name of names) {
      const table = kernelTable(family, name);
      if (await table.exists()) await table.run(`delete table ${nftFamily(family)} ${name}\n`);
    }
  }
}
