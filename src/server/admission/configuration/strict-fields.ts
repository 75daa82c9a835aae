import type { PluginConfiguration } from '../../../base/config/admission-configuration.js';

/** A part of a document, by field. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads the configuration of a plugin and collects all its faults. No field is ignored. */
export class StrictFields {
  readonly problems: string[] = [];

  constructor(private readonly source: string) {}

  static of({ source }: Pick<PluginConfiguration, 'source'>): StrictFields {
    return new StrictFields(source);
  }

  report(problem: string): void {
    this.problems.push(`${this.source}: ${problem}`);
  }

  /**
   * An object with only known fields; an empty object when the value is not an object. `at` is its path, empty for the
   * whole document.
   */
  object(value: unknown, at: string, known: readonly string[]): Fields {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.report(at === '' ? 'must be an object' : `${at} must be an object`);
      return {};
    }
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.report(`unknown field ${at === '' ? key : `${at}.${key}`}`);
    }
    return value as Fields;
  }

  /** A whole number of at most 32 bits; `preset` when it is missing or wrong. */
  integer(fields: Fields, field: string, at: string, preset: number): number {
    const value = fields[field] ?? preset;
    if (Number.isInteger(value) && Math.abs(value as number) < 2 ** 31) return value as number;
    this.report(`${at}.${field} must be a whole number`);
    return preset;
  }

  boolean(fields: Fields, field: string, at: string, preset: boolean): boolean {
    const value = fields[field] ?? preset;
    if (typeof value === 'boolean') return value;
    this.report(`${at}.${field} must be true or false`);
    return preset;
  }

  text(fields: Fields, field: string, at: string): string {
    const value = fields[field] ?? '';
    if (typeof value === 'string') return value;
    this.report(`${at}.${field} must be a string`);
    return '';
  }
}
