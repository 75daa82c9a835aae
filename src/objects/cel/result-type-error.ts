import { CelCompileError } from './cel-compile-error.js';

/** Thrown for a valid expression whose result has the wrong type. */
export class ResultTypeError extends CelCompileError {
  constructor(text: string, message: string) {
    super(text, []);
    this.message = message;
  }
}
