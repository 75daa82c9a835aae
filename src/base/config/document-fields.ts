import { readFileSync } from 'node:fs';
import { FieldPath, forbidden, required, typeInvalid } from '../machinery/field-error.js';
import { readYaml } from '../machinery/yaml/read-yaml.js';
import { DocumentError } from './document-error.js';
import type { DocumentProblems } from './document-problems.js';

/** Larger files are refused: reading one holds up the process. */
const maxDocumentBytes = 512 * 1024;

type Entry = Readonly<Record<string, unknown>>;

/**
 * The value of a YAML or JSON file.
 *
 * @throws DocumentError for a file that can't be read, is larger than 512 KiB or is neither YAML nor JSON. The message
 * quotes nothing of the file, which may hold secrets.
 */
export function readDocumentFile(file: string): unknown {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new DocumentError([`can't be read: ${(error as Error).message}`]);
  }
  if (bytes.length > maxDocumentBytes) throw new DocumentError([`is larger than ${maxDocumentBytes} bytes`]);
  try {
    return readYaml(bytes.toString('utf8'));
  } catch {
    throw new DocumentError(['is neither YAML nor JSON, or has a key twice']);
  }
}

/**
 * Reads the fields of an object strictly: a value of another type is a problem, and so is every field that was not read
 * before {@link done}. A missing field and null are the same.
 */
export class DocumentFields {
  private readonly asked = new Set<string>();

  private constructor(
    private readonly entry: Entry,
    private readonly path: FieldPath | undefined,
    readonly problems: DocumentProblems,
  ) {}

  /** The document of a kind in one of the given versions. Another kind or version is a problem. */
  static ofDocument(
    value: unknown,
    kind: string,
    apiVersions: readonly string[],
    problems: DocumentProblems,
  ): DocumentFields {
    if (!isEntry(value)) throw new DocumentError(['must be an object']);
    const fields = new DocumentFields(value, undefined, problems);
    if (fields.text('kind') !== kind) problems.lines.push(`kind: must be ${kind}`);
    if (!apiVersions.includes(fields.text('apiVersion'))) {
      problems.lines.push(`apiVersion: must be ${apiVersions.join(' or ')}`);
    }
    return fields;
  }

  /** The path of a field, or of the object itself. */
  at(name?: string): FieldPath {
    if (name === undefined) return this.path ?? FieldPath.of('');
    return this.path?.child(name) ?? FieldPath.of(name);
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  /** A string field; empty if it is missing. */
  text(name: string): string {
    return this.typed(name, 'a string', (value) => typeof value === 'string') ?? '';
  }

  /** Like {@link text}; a missing or empty string is a problem. */
  requiredText(name: string, detail = ''): string {
    const text = this.text(name);
    const value = this.value(name);
    if (text === '' && (value === undefined || value === '')) this.problems.add(required(this.at(name), detail));
    return text;
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  flag(name: string): boolean | undefined {
    return this.typed(name, 'true or false', (value) => typeof value === 'boolean');
  }

  number(name: string): number | undefined {
    return this.typed(name, 'a whole number', (value) => Number.isSafeInteger(value));
  }

  texts(name: string): readonly string[] {
    const list = this.typed<unknown[]>(name, 'a list of strings', Array.isArray) ?? [];
    return list.map((item, i) => {
      if (typeof item === 'string') return item;
      this.problems.add(typeInvalid(this.at(name).index(i), item, 'must be a string'));
      return '';
    });
  }

  object(name: string): DocumentFields | undefined {
    const value = this.typed<Entry>(name, 'an object', isEntry);
    return value === undefined ? undefined : new DocumentFields(value, this.at(name), this.problems);
  }

  objects(name: string): readonly DocumentFields[] {
    const list = this.typed<unknown[]>(name, 'a list', Array.isArray) ?? [];
    return list.map((item, i) => {
      const path = this.at(name).index(i);
      if (!isEntry(item)) this.problems.add(typeInvalid(path, item, 'must be an object'));
      return new DocumentFields(isEntry(item) ? item : {}, path, this.problems);
    });
  }

  /** Reports the fields that were not read. Call it last. */
  done(): void {
    for (const name of Object.keys(this.entry)) {
      if (!this.asked.has(name)) this.problems.add(forbidden(this.at(name), 'there is no such field'));
    }
  }

  private value(name: string): unknown {
    this.asked.add(name);
    return Object.hasOwn(this.entry, name) ? (this.entry[name] ?? undefined) : undefined;
  }

  private typed<T>(name: string, form: string, fits: (value: unknown) => boolean): T | undefined {
    const value = this.value(name);
    if (value === undefined || fits(value)) return value as T | undefined;
    this.problems.add(typeInvalid(this.at(name), value, `must be ${form}`));
    return undefined;
  }
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
