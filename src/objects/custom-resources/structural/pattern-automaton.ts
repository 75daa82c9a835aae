import { type CodePoints, type PatternNode, parsePattern } from './pattern-syntax.js';
import { UnusualSyntax } from './unusual-syntax.js';

/** Limits of the table's size, and of the steps to build it, of about 20 ns each. */
const maxNodes = 4000;
const maxStates = 4000;
const maxEntries = 60_000;
const maxClasses = 200;
const maxSteps = 100_000;

const dead = 0xffff;
const found = 0xfffe;

/** Thrown when the table would become too large. */
class TooLarge extends Error {}

/**
 * A pattern as a table: the next state for each state and each class of characters. It decides whether a string
 * contains the pattern with one look-up per character, whatever the pattern and the string are.
 */
export class PatternAutomaton {
  private constructor(
    private readonly table: Uint16Array,
    private readonly endsWell: Uint8Array,
    private readonly first: number,
    private readonly classes: number,
    private readonly ascii: Uint8Array,
    private readonly starts: readonly number[],
  ) {}

  /** Returns no automaton for patterns that need a large table, and for those with unusual syntax. */
  static of(source: string): { readonly automaton: PatternAutomaton | undefined; readonly steps: number } {
    let builder: TableBuilder | undefined;
    try {
      builder = new TableBuilder(new NodeList(parsePattern(source)));
      const { table, endsWell, first, alphabet } = builder.build();
      const { ascii, starts } = alphabet;
      const automaton = new PatternAutomaton(table, endsWell, first, starts.length, ascii, starts);
      return { automaton, steps: builder.steps };
    } catch (error) {
      if (!(error instanceof UnusualSyntax) && !(error instanceof TooLarge)) throw error;
      return { automaton: undefined, steps: builder?.steps ?? 0 };
    }
  }

  isIn(text: string): boolean {
    const { table, classes, ascii } = this;
    let state = this.first;
    if (state >= found) return state === found;
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i);
      if (code >= 0xd800 && code < 0xdc00) {
        code = text.codePointAt(i) as number;
        if (code > 0xffff) i++;
      }
      const own = code < 128 ? (ascii[code] as number) : classOf(this.starts, code);
      state = table[state * classes + own] as number;
      if (state >= found) return state === found;
    }
    return this.endsWell[state] === 1;
  }
}

/** Index of the last of the sorted starts that is not above the code point. */
function classOf(starts: readonly number[], point: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= point) low = middle;
    else high = middle - 1;
  }
  return low;
}

type Node =
  | { readonly kind: 'set'; readonly points: CodePoints; readonly next: number }
  | { readonly kind: 'start' | 'end'; readonly next: number }
  | { readonly kind: 'split'; a: number; b: number }
  | { readonly kind: 'match' };

/** The pattern as nodes that lead to one another. */
class NodeList {
  readonly nodes: Node[] = [{ kind: 'match' }];
  readonly entry: number;

  constructor(root: PatternNode) {
    this.entry = this.add(root, 0);
  }

  private push(node: Node): number {
    if (this.nodes.length >= maxNodes) throw new TooLarge();
    return this.nodes.push(node) - 1;
  }

  /** The entry node of `part`, which leads to `next`. */
  private add(part: PatternNode, next: number): number {
    switch (part.kind) {
      case 'set':
        return this.push({ kind: 'set', points: part.points, next });
      case 'start':
      case 'end':
        return this.push({ kind: part.kind, next });
      case 'sequence':
        return part.parts.reduceRight((following, own) => this.add(own, following), next);
      case 'choice':
        return part.parts.map((own) => this.add(own, next)).reduceRight((b, a) => this.push({ kind: 'split', a, b }));
      case 'repeat':
        return this.addRepeat(part, next);
    }
  }

  private addRepeat({ part, min, max }: Extract<PatternNode, { kind: 'repeat' }>, next: number): number {
    let entry = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop: Node = { kind: 'split', a: next, b: next };
      entry = this.push(loop);
      loop.a = this.add(part, entry);
    } else {
      for (let i = min; i < max; i++) entry = this.push({ kind: 'split', a: this.add(part, entry), b: next });
    }
    for (let i = 0; i < min; i++) entry = this.add(part, entry);
    return entry;
  }
}

/** Classes of characters: characters that no part of the pattern distinguishes form one class. */
interface Alphabet {
  readonly starts: readonly number[];
  readonly ascii: Uint8Array;
  /** The classes that each node accepts. */
  readonly taken: readonly (Uint8Array | undefined)[];
}

function alphabetOf(nodes: readonly Node[]): Alphabet {
  const sets = new Set<CodePoints>();
  const bounds = new Set([0]);
  for (const node of nodes) {
    if (node.kind !== 'set' || sets.has(node.points)) continue;
    sets.add(node.points);
    for (const [first, last] of node.points) bounds.add(first).add(last + 1);
    if (bounds.size > maxClasses) throw new TooLarge();
  }
  bounds.delete(0x110000);
  const starts = [...bounds].sort((a, b) => a - b);
  const takenBy = new Map<CodePoints, Uint8Array>();
  for (const points of sets) {
    const taken = new Uint8Array(starts.length);
    for (const [first, last] of points) {
      for (let i = classOf(starts, first); i < starts.length && (starts[i] as number) <= last; i++) taken[i] = 1;
    }
    takenBy.set(points, taken);
  }
  return {
    starts,
    ascii: Uint8Array.from({ length: 128 }, (_, code) => classOf(starts, code)),
    taken: nodes.map((node) => (node.kind === 'set' ? takenBy.get(node.points) : undefined)),
  };
}

/** A set of nodes that wait for a character. */
interface State {
  readonly nodes: readonly number[];
  /** Whether the pattern has been found, or will be if the string ends here. */
  readonly isFound: boolean;
  readonly endsWell: boolean;
}

/** Makes one state for each set of nodes that can be waiting at the same time. */
class TableBuilder {
  private readonly nodes: readonly Node[];
  private readonly alphabet: Alphabet;
  private readonly states: State[] = [];
  private readonly ids = new Map<string, number>();
  private readonly seen: Uint32Array;
  private readonly seenAtEnd: Uint32Array;
  private round = 0;
  steps = 0;

  constructor(private readonly list: NodeList) {
    this.nodes = list.nodes;
    this.alphabet = alphabetOf(list.nodes);
    this.seen = new Uint32Array(list.nodes.length);
    this.seenAtEnd = new Uint32Array(list.nodes.length);
  }

  build(): { table: Uint16Array; endsWell: Uint8Array; first: number; alphabet: Alphabet } {
    const { alphabet } = this;
    const classes = alphabet.starts.length;
    const first = this.idOf(this.closure([this.list.entry], true), true);
    const rows: Uint16Array[] = [];
    for (let id = 0; id < this.states.length; id++) {
      if ((id + 1) * classes > maxEntries) throw new TooLarge();
      const { nodes } = this.states[id] as State;
      const row = new Uint16Array(classes);
      for (let own = 0; own < classes; own++) {
        // The pattern may begin anywhere.
        const next = [this.list.entry];
        for (const index of nodes) {
          this.step();
          const node = this.nodes[index] as Extract<Node, { kind: 'set' }>;
          if (alphabet.taken[index]?.[own] === 1) next.push(node.next);
        }
        row[own] = this.idOf(this.closure(next, false), false);
      }
      rows.push(row);
    }
    const table = new Uint16Array(rows.length * classes);
    for (const [id, row] of rows.entries()) table.set(row, id * classes);
    return { table, endsWell: Uint8Array.from(this.states, (state) => (state.endsWell ? 1 : 0)), first, alphabet };
  }

  private step(): void {
    if (++this.steps > maxSteps) throw new TooLarge();
  }

  private idOf(state: State, isFirst: boolean): number {
    if (state.isFound) return found;
    if (state.nodes.length === 0 && !state.endsWell && !isFirst) return dead;
    const key = `${state.endsWell ? '$' : ''}${state.nodes.join(',')}`;
    let id = this.ids.get(key);
    if (id === undefined) {
      if (this.states.length >= maxStates) throw new TooLarge();
      id = this.states.push(state) - 1;
      this.ids.set(key, id);
    }
    return id;
  }

  /** Follows edges that need no character. */
  private closure(from: readonly number[], isAtStart: boolean): State {
    this.round++;
    const waiting: number[] = [];
    let isFound = false;
    let endsWell = false;
    const stack = from.slice();
    const atEnd: number[] = [];
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      if (this.seen[index] === this.round) continue;
      this.seen[index] = this.round;
      this.step();
      const node = this.nodes[index] as Node;
      if (node.kind === 'match') isFound = true;
      else if (node.kind === 'set') waiting.push(index);
      else if (node.kind === 'split') stack.push(node.a, node.b);
      else if (node.kind === 'end') atEnd.push(node.next);
      else if (isAtStart) stack.push(node.next);
    }
    for (let index = atEnd.pop(); index !== undefined; index = atEnd.pop()) {
      if (this.seenAtEnd[index] === this.round) continue;
      this.seenAtEnd[index] = this.round;
      this.step();
      const node = this.nodes[index] as Node;
      if (node.kind === 'match') endsWell = true;
      else if (node.kind === 'split') atEnd.push(node.a, node.b);
      else if (node.kind === 'end' || (node.kind === 'start' && isAtStart)) atEnd.push(node.next);
    }
    return { nodes: waiting.sort((a, b) => a - b), isFound, endsWell };
  }
}
