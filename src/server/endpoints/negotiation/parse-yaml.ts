import { isMap, isNode, isScalar, isSeq, Lexer, LineCounter, parseDocument, Scalar, YAMLParseError } from 'yaml';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { findDuplicateKeys, maxDepth } from '../../../base/machinery/schema/index.js';
import { documentOptions, documentValue } from '../../../base/machinery/yaml/document-value.js';
import type { DuplicateFields } from './duplicates.js';

const maxAliases = 100;

/**
 * Maximum work for a document, counted rather than timed, so that a busy machine refuses the same documents as an idle
 * one. Each token counts as 1. Each alias searches the document for its anchor, which counts as one per {@link
 * tokensPerAliasToken} tokens of the document.
 */
const maxWork = 3_000_000;
const tokensPerAliasToken = 400;

function workOf(tokens: number, aliases: number): number {
  return tokens + (aliases * tokens) / tokensPerAliasToken;
}

/** Whether a document would take too much work to read. */
function isTooMuchWork(text: string): boolean {
  let stars = 0;
  for (let i = text.indexOf('*'); i >= 0; i = text.indexOf('*', i + 1)) stars++;
  // Each token has at least one character and each alias has a star, so most documents need no exact count.
  if (workOf(text.length, stars) <= maxWork) return false;
  let tokens = 0;
  let aliases = 0;
  for (const token of new Lexer().lex(text)) {
    tokens++;
    if (token.startsWith('*')) aliases++;
    if (tokens > maxWork) return true;
  }
  return workOf(tokens, aliases) > maxWork;
}

/**
 * Parses YAML into plain values, by the rules of YAML 1.1 that other servers of this API follow: see `documentValue`.
 * JSON is parsed as JSON, which is much faster. Throws a SyntaxError whose message can be shown to clients.
 *
 * @param duplicates receives the duplicate keys; only the last value of each is used
 */
export function parseYaml(text: string, duplicates?: DuplicateFields): unknown {
  const json = isJsonObject(text) ? tryJson(text) : undefined;
  if (json === undefined) return parseDocumentText(text, duplicates);
  duplicates?.paths.push(...findDuplicateKeys(text));
  return json.value;
}

function isJsonObject(text: string): boolean {
  return /^\s*\{/.test(text);
}

function tryJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    // YAML's own braces need no quotes, so this may be YAML rather than JSON.
    return undefined;
  }
}

function parseDocumentText(text: string, duplicates: DuplicateFields | undefined): unknown {
  if (isNestedTooDeep(text)) throw new SyntaxError('yaml: exceeded max depth');
  if (isTooMuchWork(text)) throw new SyntaxError('yaml: the document takes too much work to read');
  const lineCounter = new LineCounter();
  try {
    const document = parseDocument(text, { ...documentOptions, lineCounter });
    const fault = document.errors[0];
    if (fault !== undefined) throw fault;
    if (duplicates !== undefined) noteDuplicates(document.contents, lineCounter, duplicates.lines);
    return documentValue(document, maxAliases);
  } catch (cause) {
    // The parser recurses into nested values until the stack is exhausted.
    if (cause instanceof RangeError) throw new SyntaxError('yaml: exceeded max depth', { cause });
    throw new SyntaxError(`yaml: ${cause instanceof Error ? faultText(cause, lineCounter) : 'invalid document'}`, {
      cause,
    });
  }
}

/**
 * The message of a fault, with its line unless that is the first: that of other parsers, where programs and people know
 * that one.
 */
function faultText(fault: Error, lines: LineCounter): string {
  const line = fault instanceof YAMLParseError ? lines.linePos(fault.pos[0]).line : 1;
  const text = /^(Nested mappings are not allowed|Implicit map keys need to be on a single line)/.test(fault.message)
    ? 'mapping values are not allowed in this context'
    : fault.message;
  return line > 1 ? `line ${line}: ${text}` : text;
}

/** Maximum number of reported duplicates, the same as for JSON. */
const maxDuplicates = 100;

/**
 * Finds duplicate keys in a document. Skips aliases, whose targets are checked where they are written. The reported
 * line is that of the repeated key's value.
 */
function noteDuplicates(node: unknown, lines: LineCounter, found: string[]): void {
  if (found.length >= maxDuplicates) return;
  if (isSeq(node)) for (const item of node.items) noteDuplicates(item, lines, found);
  if (!isMap(node)) return;
  const keys = new Set<string>();
  for (const { key, value } of node.items) {
    noteDuplicates(value, lines, found);
    // A map may merge several other maps.
    if (isScalar(key) && key.type === Scalar.PLAIN && key.value === '<<') continue;
    const name = String(isScalar(key) ? key.value : key);
    if (!keys.has(name)) keys.add(name);
    else if (found.length < maxDuplicates) {
      const { line } = lines.linePos((isNode(value) ? value : isNode(key) ? key : node).range?.[0] ?? 0);
      found.push(`line ${line}: key ${JSON.stringify(name)} already set in map`);
    }
  }
}

/** The mark that the lexer puts before the text of a scalar. */
const scalarToken = '\x1f';

/**
 * Whether brackets are nested more deeply than in any valid object. The parser would detect this too, but only after
 * many seconds.
 */
function isNestedTooDeep(text: string): boolean {
  // This also counts brackets inside strings, so a high count requires an exact check.
  if (bracketDepth(text) <= maxDepth) return false;
  let depth = 0;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!isScalar) depth += (token === '[' || token === '{' ? 1 : 0) - (token === ']' || token === '}' ? 1 : 0);
    if (depth > maxDepth) return true;
    isScalar = token === scalarToken;
  }
  return false;
}

function bracketDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[{}\]]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}
