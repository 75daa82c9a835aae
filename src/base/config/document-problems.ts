import type { FieldError } from '../machinery/field-error.js';
import { DocumentError } from './document-error.js';

/** Collects the problems of one document. */
export class DocumentProblems {
  readonly lines: string[] = [];

  add(...errors: readonly (FieldError | undefined)[]): void {
    for (const error of errors) if (error !== undefined) this.lines.push(`${error.field}: ${error.message}`);
  }

  /** @throws DocumentError if there are any. */
  throwIfAny(): void {
    if (this.lines.length > 0) throw new DocumentError(this.lines);
  }
}
