import { type Document, isAlias, isMap, isScalar, isSeq, type Node, Scalar } from 'yaml';
import { keyText } from './key-text.js';
import { type ResolvedScalar, resolveScalar } from './resolve-scalar.js';
import { ScalarError } from './scalar-error.js';

/** Parser options for documents that {@link documentValue} reads: scalars keep their source text. */
export const documentOptions = {
  schema: 'failsafe',
  resolveKnownTags: false,
  strict: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

/**
 * The JSON value of a YAML document, as other servers of this API read it: see {@link resolveScalar}. The key `<<`
 * includes the members of the maps that it names, in the order of the document: they replace earlier members and are
 * replaced by later ones. Of equal keys, the last counts. Values behind an alias are shared, not copied.
 *
 * @param maxAliases how often a value may be repeated by aliases, including the aliases inside it
 * @throws ScalarError whose message is safe to show to clients
 */
export function documentValue(document: Document.Parsed, maxAliases: number): unknown {
  return new Reader(maxAliases).value(document.contents);
}

interface Anchor {
  /** Undefined while the value is being read: an alias found then is inside the value that it names. */
  readonly value: { readonly of: unknown } | undefined;
  readonly node: Node;
  /** Number of aliases in the value, including those inside the aliased values. */
  readonly inside: number;
  uses: number;
}

class Reader {
  private readonly anchors = new Map<string, Anchor>();
  private aliases = 0;

  constructor(private readonly maxAliases: number) {}

  value(node: unknown): unknown {
    if (node === null || node === undefined) return null;
    if (isAlias(node)) return this.resolve(node.source).value?.of;
    const anchor = (node as Node & { anchor?: string }).anchor;
    if (anchor === undefined) return this.plainValue(node);
    const before = this.aliases;
    this.anchors.set(anchor, { value: undefined, node: node as Node, inside: 0, uses: 0 });
    const value = this.plainValue(node);
    const inside = this.aliases - before;
    this.anchors.set(anchor, { value: { of: value }, node: node as Node, inside, uses: 0 });
    return value;
  }

  private plainValue(node: unknown): unknown {
    if (isMap(node)) return this.members(node.items);
    if (isSeq(node)) return node.items.map((item) => this.value(item));
    const { tag, value } = scalarOf(node);
    if (tag === 'float' && !Number.isFinite(value)) throw new ScalarError(`${value} is not a number that JSON has`);
    return value;
  }

  private members(pairs: readonly { readonly key: unknown; readonly value: unknown }[]): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    for (const { key, value } of pairs) {
      const name = this.key(key);
      if (name.tag === 'merge' && isScalar(key)) this.merge(value, members);
      else setMember(members, keyText(name), this.value(value));
    }
    return members;
  }

  private key(node: unknown): ResolvedScalar {
    const key = isAlias(node) ? this.resolve(node.source).node : node;
    if (isMap(key) || isSeq(key)) throw new ScalarError('invalid map key: it is a map or a list');
    const resolved = scalarOf(key);
    const anchor = isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) {
      this.anchors.set(anchor, { value: { of: resolved.value }, node: node as Node, inside: 0, uses: 0 });
    }
    return resolved;
  }

  private merge(source: unknown, into: Record<string, unknown>): void {
    const node = isAlias(source) ? this.peek(source.source).node : source;
    if (isMap(node)) {
      const members = this.value(source) as Record<string, unknown>;
      for (const key of Object.keys(members)) setMember(into, key, members[key]);
      return;
    }
    if (!isSeq(node) || isAlias(source)) throw new ScalarError(noMap);
    // The first map takes precedence, so it is merged last.
    for (const item of node.items.toReversed()) {
      const behind = isAlias(item) ? this.peek(item.source).node : item;
      if (!isMap(behind)) throw new ScalarError(noMap);
      this.merge(item, into);
    }
  }

  private peek(name: string): Anchor {
    const anchor = this.anchors.get(name);
    if (anchor === undefined) throw new ScalarError(`unknown anchor '${name}' referenced`);
    if (anchor.value === undefined) throw new ScalarError(`anchor '${name}' value contains itself`);
    return anchor;
  }

  private resolve(name: string): Anchor {
    const anchor = this.peek(name);
    anchor.uses++;
    this.aliases += 1 + anchor.inside;
    if (anchor.uses * Math.max(1, anchor.inside) > this.maxAliases) {
      throw new ScalarError('document contains excessive aliasing');
    }
    return anchor;
  }
}

const noMap = 'map merge requires map or sequence of maps as the value';

function scalarOf(node: unknown): ResolvedScalar {
  if (!isScalar(node)) return { tag: 'null', value: null };
  const isPlain = node.type === undefined || node.type === Scalar.PLAIN;
  return resolveScalar(String(node.value ?? ''), node.tag, isPlain);
}

function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
