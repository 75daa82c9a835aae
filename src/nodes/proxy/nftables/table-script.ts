import { type Element, insideOffset, type SetName } from '../rules/rule-types.js';
import type { TableChanges } from './rule-store.js';
import type { TableSettings } from './table-settings.js';
import { fixedChains, hookOf, nftFamily, pickRules, setDeclarations, tableName } from './table-text.js';

/** The objects that the kernel has already. */
export interface PresentTable {
  readonly chains: ReadonlySet<string>;
  /** Sets that remember clients. */
  readonly affinitySets: ReadonlySet<string>;
}

/** The most elements in one command: nft reads a few long commands faster than many short ones. */
const together = 1000;

/**
 * A transaction that brings a table from any state to the wanted one. Sets that remember clients keep them.
 *
 * @param all the chains, sets and elements of all services
 * @param present the objects that the kernel has; undefined to begin with an empty table
 */
export function wholeScript(all: TableChanges, settings: TableSettings, present: PresentTable | undefined): string {
  const script = new Script(settings);
  script.line(`add table ${script.table}`);
  if (present === undefined) script.line(`delete table ${script.table}`, `add table ${script.table}`);
  for (const [name, { kind, text }] of Object.entries(setDeclarations(settings.family))) {
    script.line(`add ${kind} ${script.table} ${name} { ${text} ; }`, `flush ${kind} ${script.table} ${name}`);
  }
  const fixed = fixedChains(settings);
  const picks = picksOf(all.added);
  const wanted = new Map([...fixed, ...pickChains(picks, settings), ...all.chains]);
  for (const name of wanted.keys()) script.addChain(name);
  for (const name of new Set([...(present?.chains ?? []), ...wanted.keys()])) script.flushChain(name);
  script.addAffinitySets(all.affinitySets);
  for (const [name, rules] of wanted) script.addRules(name, rules);
  for (const name of present?.affinitySets ?? []) if (!all.affinitySets.has(name)) script.removeSet(name);
  script.elements('add', all.added);
  return script.text;
}

/** A transaction for the changes. @param picks names of existing shared chains; new ones are added to it */
export function changeScript(changes: TableChanges, settings: TableSettings, picks: Set<string>): string {
  const script = new Script(settings);
  const missing = [...picksOf(changes.added)].filter((name) => !picks.has(name));
  for (const name of missing) picks.add(name);
  const written = new Map([...pickChains(missing, settings), ...changes.chains]);
  for (const name of written.keys()) script.addChain(name);
  for (const name of [...written.keys(), ...changes.goneChains]) script.flushChain(name);
  script.addAffinitySets(changes.affinitySets);
  for (const [name, rules] of written) script.addRules(name, rules);
  for (const name of changes.goneAffinitySets) script.removeSet(name);
  script.elements('delete', changes.removed);
  script.elements('add', changes.added);
  return script.text;
}

/** A transaction that removes unreferenced chains. */
export function removalScript(chains: Iterable<string>, settings: TableSettings): string {
  const table = `${nftFamily(settings.family)} ${tableName}`;
  return [...chains].map((name) => `delete chain ${table} ${name}\n`).join('');
}

/** The names of the shared chains that elements refer to. */
export function picksOf(elements: Iterable<Element>): Set<string> {
  const found = new Set<string>();
  for (const { value } of elements) {
    if (value.startsWith('goto ') && /pick-\d+$/.test(value)) found.add(value.slice('goto '.length));
  }
  return found;
}

function pickChains(names: Iterable<string>, settings: TableSettings): [string, readonly string[]][] {
  return [...names].map((name) => [name, pickRules(name, settings, insideOffset) ?? []]);
}

class Script {
  readonly table: string;
  private readonly lines: string[] = [];
  private readonly address: string;

  constructor({ family }: TableSettings) {
    this.table = `${nftFamily(family)} ${tableName}`;
    this.address = family === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr';
  }

  get text(): string {
    return this.lines.length === 0 ? '' : `${this.lines.join('\n')}\n`;
  }

  line(...lines: readonly string[]): void {
    this.lines.push(...lines);
  }

  addChain(name: string): void {
    const hook = hookOf(name);
    this.line(`add chain ${this.table} ${name}${hook === undefined ? '' : ` { ${hook} ; }`}`);
  }

  flushChain(name: string): void {
    this.line(`flush chain ${this.table} ${name}`);
  }

  addRules(chain: string, rules: readonly string[]): void {
    for (const rule of rules) this.line(`add rule ${this.table} ${chain} ${rule}`);
  }

  addAffinitySets(sets: ReadonlyMap<string, number>): void {
    for (const [name, seconds] of sets) {
      this.line(
        `add set ${this.table} ${name} { type ${this.address} ; flags dynamic,timeout ; timeout ${seconds}s ; }`,
      );
    }
  }

  removeSet(name: string): void {
    this.line(`delete set ${this.table} ${name}`);
  }

  elements(command: 'add' | 'delete', elements: readonly Element[]): void {
    const bySet = new Map<SetName, string[]>();
    for (const { set, key, value } of elements) {
      const texts = bySet.get(set) ?? [];
      if (texts.length === 0) bySet.set(set, texts);
      texts.push(command === 'delete' || value === '' ? key : `${key} : ${value}`);
    }
    for (const [set, texts] of bySet) {
      for (let first = 0; first < texts.length; first += together) {
        this.line(`${command} element ${this.table} ${set} { ${texts.slice(first, first + together).join(', ')} }`);
      }
    }
  }
}
