import pg from 'pg';

/** The SQLSTATE of a database error; undefined for socket and driver errors. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** The server asks for a password, and the URL has none. */
export const noPassword = 'the database asks for a password, and the URL has none';
