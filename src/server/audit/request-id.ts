import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const saneId = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

/** The id of a request in its response, in logs and in its audit events: the id that the client sent, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['audit-id'];
  return typeof given === 'string' && saneId.test(given) ? given : randomUUID();
}
