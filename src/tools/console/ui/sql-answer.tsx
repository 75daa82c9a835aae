import { api } from './session.js';

export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  readonly isCut: boolean;
  readonly ms: number;
  /** Whether the rows are the lines of a plan. */
  readonly isPlan?: boolean;
}

/** Sends a query to the console. Throws an ApiFault with the database's message. */
export function ask(path: string, body: object, signal?: AbortSignal): Promise<SqlAnswer> {
  return api.json<SqlAnswer>(path, { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) });
}
